// hci: a Bluetooth adapter of this machine, by the kernel's user channel.
import Glibc
import HCI

/// Takes a Bluetooth adapter away from the kernel and speaks HCI with it, `hci:N`. The adapter must
/// be down; each read and each write is one whole H4 packet.
struct HCIUserChannel: TransportSource {
    static let form = "hci:N"
    static let meaning = "a Bluetooth adapter of this machine, which must be down"
    private let adapter: UInt16
    /// Whether an adapter that is up is taken down for the time.
    var takesOver = false
    private var keeper: AdapterKeeper?

    init(adapter: UInt16) { self.adapter = adapter }

    init?(specification: Substring) {
        // 0xFFFF is the kernel's "no adapter".
        guard let adapter = Endpoint.port(specification), adapter != .max else { return nil }
        self.adapter = adapter
    }

    var place: String { "hci\(adapter)" }

    mutating func open() throws(SystemError) -> Opening {
        let socket: HCISocket
        do throws(SystemError) { socket = try HCISocket() } catch { throw failure(error.code) }
        if takesOver { try takeDown() }
        if let code = socket.take(adapter) { throw failure(code) }
        return .open(socket.descriptor)
    }

    /// Switches off an adapter that is up, and has it switched on again at the end.
    private mutating func takeDown() throws(SystemError) {
        guard let socket = try? HCISocket(), let information = socket.information(adapter) else {
            return
        }
        // Started while the process has what it needs, and before the adapter is touched.
        if keeper == nil { keeper = try AdapterKeeper(of: adapter) }
        guard information.isUp, !HCISocket.isInUserChannel(adapter) else { return }
        if let code = socket.takeDown(adapter) { throw failure(code) }
        keeper?.restore()
    }

    mutating func close() {
        keeper?.end()
        keeper = nil
    }

    /// Why the adapter cannot be had, and what to do.
    func failure(_ code: Int32) -> SystemError {
        var code = code
        if code == EBUSY, let adapter = Adapter.named(adapter) {
            // The kernel says the same of all these.
            switch adapter.state {
            case .taken: code = EUSERS
            case .starting, .free: code = EAGAIN
            case .up, .blocked: break
            }
        }
        let (reason, advice) = sentence(code)
        return SystemError(
            code, operation: "open", object: "hci:\(adapter)", reason: reason, advice: advice)
    }

    private func sentence(_ code: Int32) -> (reason: String?, advice: String?) {
        switch code {
        case EAFNOSUPPORT, EPROTONOSUPPORT:
            (Adapter.noBluetooth, "use --controller virtual, or a controller over TCP")
        case EPERM, EACCES:
            ("an adapter needs the capability CAP_NET_ADMIN", Capabilities.remedy)
        case EBUSY, EALREADY:
            (
                "the adapter is up" + user(HCIHolders.daemon),
                "add --take-over, which takes it down for the time, or do that yourself: "
                    + "bluetoothctl power off, or sudo hciconfig hci\(adapter) down"
            )
        case EUSERS:
            (
                "another program has the adapter"
                    + user(HCIHolders.userChannels.joined(separator: " or ")),
                "end that program first"
            )
        case ENODEV:
            ("there is no such adapter", "peripheral-emu adapters lists those there are")
        case ERFKILL:
            ("the adapter is switched off by rfkill", "run: sudo rfkill unblock bluetooth")
        case EAGAIN: ("the kernel is setting the adapter up", nil)
        default: (nil, nil)
        }
    }

    private func user(_ name: String?) -> String {
        name.map { $0.isEmpty ? "" : ", used by \($0)" } ?? ""
    }

    func read(_ descriptor: Descriptor, into buffer: inout ReadBuffer, _ name: String)
        throws(SystemError) -> Descriptor.Transfer
    {
        do throws(SystemError) {
            return try buffer.fill(from: descriptor, name)
        } catch {
            // So the kernel says that the adapter is no more.
            guard error.code == EPIPE || error.code == ENODEV else { throw error }
            throw SystemError(
                EPIPE, operation: "use", object: name, reason: "the adapter was removed")
        }
    }

    func write(_ bytes: [UInt8], to descriptor: Descriptor, _ name: String) throws(SystemError)
        -> Int
    {
        var start = 0
        while start < bytes.count {
            guard case .packet(_, let end) = H4.frame(bytes.span, from: start) else {
                throw SystemError(
                    EPROTO, operation: "write to", object: name, reason: "this is no HCI packet")
            }
            if try descriptor.write(bytes, start..<end, to: name) == 0 { break }
            start = end
        }
        return start
    }
}

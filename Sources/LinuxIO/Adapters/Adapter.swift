// The Bluetooth adapters of this machine and whether they can be had.
import Glibc
public import Wire

/// A Bluetooth adapter of this machine, as the kernel describes it.
public struct Adapter: Sendable {
    /// Why an adapter cannot be taken as it is.
    public enum State: Equatable, Sendable {
        /// Down and nobody's.
        case free
        /// In use by the kernel's own Bluetooth, which `--take-over` can end.
        case up
        /// A program has its user channel.
        case taken
        /// Switched off by rfkill: by software, or by a switch.
        case blocked(isHard: Bool)
        /// The kernel is about to set it up.
        case starting
    }

    /// The N of hciN.
    public let number: UInt16
    /// All zero where the kernel has not asked for it, or the adapter has none.
    public let address: DeviceAddress
    public let bus: String
    public let state: State
    /// LE, BR/EDR: known once the kernel has set the adapter up.
    public let features: [String]
    /// Who has it; nil where /proc does not show it, or it is nobody's.
    public let holder: String?

    public var name: String { "hci\(number)" }

    private static let folder = "/sys/class/bluetooth"
    /// The names of the kernel's bus types, by number (hci.h).
    private static let buses = [
        "virtual", "usb", "pccard", "uart", "rs232", "pci", "sdio", "spi", "i2c", "smd", "virtio",
    ]

    /// All adapters, by number.
    /// - Throws: EAFNOSUPPORT where the kernel has no Bluetooth.
    public static func all() throws(SystemError) -> [Adapter] {
        let socket: HCISocket
        do throws(SystemError) { socket = try HCISocket() } catch {
            throw SystemError(
                error.code, operation: "list", object: "the adapters",
                reason: error.code == EAFNOSUPPORT ? noBluetooth : error.reason,
                advice: "use --controller virtual, or a controller over TCP")
        }
        let numbers = listFolder(folder).compactMap { name in
            name.hasPrefix("hci") ? UInt16(name.dropFirst(3)) : nil
        }
        return numbers.sorted().compactMap { number in
            socket.information(number).map { Adapter(number, $0) }
        }
    }

    /// The adapter of a number; nil where there is none.
    static func named(_ number: UInt16) -> Adapter? {
        (try? HCISocket())?.information(number).map { Adapter(number, $0) }
    }

    static let noBluetooth = "no Bluetooth in this kernel"

    private init(_ number: UInt16, _ information: HCISocket.Information) {
        self.number = number
        address = information.address
        bus =
            Self.buses.indices.contains(information.bus)
            ? Self.buses[information.bus] : "bus \(information.bus)"
        // LE Supported (Controller), BR/EDR Not Supported (Core 6.0, Vol 2, Part C, 3.3).
        features =
            information.lmpFeatures.map {
                ($0 & 0x40 != 0 ? ["LE"] : []) + ($0 & 0x20 == 0 ? ["BR/EDR"] : [])
            } ?? []
        state = Self.state(number, information)
        holder =
            switch state {
            case .taken: Self.either(HCIHolders.userChannels)
            case .up: HCIHolders.daemon
            case .free, .blocked, .starting: nil
            }
    }

    private static func state(_ number: UInt16, _ information: HCISocket.Information) -> State {
        if HCISocket.isInUserChannel(number) { return .taken }
        if information.isUp { return .up }
        if information.isStarting { return .starting }
        switch block(of: number) {
        case (_, true): return .blocked(isHard: true)
        case (true, false): return .blocked(isHard: false)
        case (false, false): return .free
        }
    }

    /// What rfkill says of an adapter.
    private static func block(of number: UInt16) -> (isSoft: Bool, isHard: Bool) {
        let place = "\(folder)/hci\(number)"
        var found = (isSoft: false, isHard: false)
        for name in listFolder(place) where name.hasPrefix("rfkill") {
            found.isSoft = found.isSoft || isOne("\(place)/\(name)/soft")
            found.isHard = found.isHard || isOne("\(place)/\(name)/hard")
        }
        return found
    }

    private static func isOne(_ path: String) -> Bool {
        (try? readFile(path, octetsMax: 16))?.first == UInt8(ascii: "1")
    }

    private static func either(_ names: [String]) -> String? {
        names.isEmpty ? nil : names.joined(separator: " or ")
    }

    /// The state in words, and who brought it about.
    public var stateText: String {
        switch state {
        case .free: "down, free"
        case .up: "up, used by \(holder ?? "the kernel; by which program /proc does not show")"
        case .taken: "taken by \(holder ?? "a program that /proc does not show")"
        case .blocked(let isHard): isHard ? "blocked by its switch" : "blocked by rfkill"
        case .starting: "being set up by the kernel"
        }
    }

    /// The first adapter that is free, or why there is none.
    public static func firstFree() -> Result<Adapter, NoAdapter> {
        let adapters: [Adapter]
        do throws(SystemError) { adapters = try all() } catch {
            return .failure(NoAdapter(reason: error.reason))
        }
        guard let free = adapters.first(where: { $0.state == .free }) else {
            let reasons = adapters.map { "\($0.name) is \($0.stateText)" }
            return .failure(
                NoAdapter(
                    reason: adapters.isEmpty
                        ? "this machine has no Bluetooth adapter"
                        : reasons.joined(separator: "; ")))
        }
        guard Capabilities.hasNetAdmin else {
            return .failure(
                NoAdapter(reason: "\(free.name) needs CAP_NET_ADMIN: \(Capabilities.remedy)"))
        }
        return .success(free)
    }
}

/// Why no adapter is there to be taken.
public struct NoAdapter: Error, Sendable {
    public let reason: String
}

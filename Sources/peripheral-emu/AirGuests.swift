// The hosts from outside that join the virtual air: over TCP, or as the kernel's adapters.
import Emulator
import HCI
import LinuxIO
import SansIO
import Simulation
import VirtualController
import Wire

/// What hosts from outside join: the air alone, or a world on it.
protocol AirMedium {
    /// The number of the new host's controller; nil where the air is full.
    mutating func addHost() -> Int?
    mutating func removeHost(_ host: Int, at now: Instant)
    /// Takes one whole H4 packet of a host.
    mutating func receive(_ packet: Span<UInt8>, from host: Int, at now: Instant)
    /// Moves what the air has for a host.
    mutating func drain(_ host: Int, into block: inout ByteBlock)
}

extension World: AirMedium {}

extension Air: AirMedium {
    mutating func addHost() -> Int? { isFull ? nil : addController() }
    mutating func removeHost(_ host: Int, at now: Instant) { removeController(host, at: now) }
}

/// All hosts that joined, each with a controller of its own.
struct AirGuests {
    private let server: AirServer?
    private let adapters: VirtualAdapters?
    private var guests: [Guest] = []
    private var buffer = ReadBuffer()

    /// Octets on their way to a guest; what comes after them waits in the air.
    private static let octetsMax = 65_536

    private struct Guest {
        let peer: AirPeer
        let controller: Int
        var framer = H4Framer()
    }

    /// Opens the air's doors. A busy default port is done without; one that was asked for is not.
    init(
        _ options: RunOptions, loop: inout EventLoop, _ reporter: inout Reporter
    ) throws(SystemError) {
        server = try Self.listen(options, &loop, &reporter)
        adapters =
            if let count = options.adapters {
                try VirtualAdapters(count: count, loop: &loop)
            } else { nil }
    }

    /// Whether nobody can ever join.
    var hasNoDoor: Bool { server == nil && adapters == nil }

    private static func listen(
        _ options: RunOptions, _ loop: inout EventLoop, _ reporter: inout Reporter
    ) throws(SystemError) -> AirServer? {
        do throws(SystemError) {
            let server = try AirServer(
                options.air ?? AirServer.endpointDefault, loop: &loop)
            reporter.log(.info, "air: listening on \(server.endpoint)", at: loop.now())
            return server
        } catch {
            if let endpoint = options.air {
                throw SystemError(
                    error.code, operation: "open the air at", object: "\(endpoint)",
                    reason: error.reason, advice: "--air 127.0.0.1:0 takes a free port")
            }
            reporter.log(
                .warning, "air: \(error); no other host can join, --air HOST:PORT chooses a port",
                at: loop.now())
            return nil
        }
    }

    /// Brings the kernel's adapters onto the air, which is still empty enough.
    mutating func begin(on medium: inout some AirMedium) {
        for peer in adapters?.peers ?? [] {
            guard let controller = medium.addHost() else { return }
            guests.append(Guest(peer: peer, controller: controller))
        }
    }

    mutating func handle(
        _ event: ReadyEvent, on medium: inout some AirMedium, _ reporter: inout Reporter,
        loop: inout EventLoop, at now: Instant
    ) throws(SystemError) {
        if let adapters {
            switch try adapters.handle(event, buffer: &buffer) {
            case .opened(let peer):
                reporter.log(.info, "\(peer.name) joined the air", at: now)
            case .bytes(let peer, let count):
                // What the kernel sends is whole packets, of known types.
                _ = take(count, from: peer, on: &medium, at: now)
            case .closed, .nothing: break
            }
        }
        guard let server else { return }
        switch try server.handle(event, loop: &loop, buffer: &buffer) {
        case .opened(let peer):
            guard let controller = medium.addHost() else {
                let text = "\(peer.name) cannot join: the air has no controller left"
                reporter.log(.warning, text, at: now)
                _ = server.drop(peer, reason: "no controller left", loop: &loop)
                return
            }
            guests.append(Guest(peer: peer, controller: controller))
            reporter.log(.info, "\(peer.name) joined the air", at: now)
        case .bytes(let peer, let count):
            guard let octet = take(count, from: peer, on: &medium, at: now) else { return }
            let reason = "octet \(Hex.code(octet)) is no H4 packet type"
            depart(server.drop(peer, reason: reason, loop: &loop), on: &medium, &reporter, at: now)
        case .closed(let peer, let reason):
            depart(.closed(peer, reason: reason), on: &medium, &reporter, at: now)
        case .nothing: break
        }
    }

    /// Writes out what the air has for its guests.
    mutating func flush(
        from medium: inout some AirMedium, _ reporter: inout Reporter, loop: inout EventLoop,
        at now: Instant
    ) throws(SystemError) {
        // A host that does not read is held off by the air, which sees its packets wait.
        for guest in guests where guest.peer.output.count < Self.octetsMax {
            medium.drain(guest.controller, into: &guest.peer.output)
        }
        try adapters?.flush()
        for departure in try server?.flush(&loop) ?? [] {
            depart(departure, on: &medium, &reporter, at: now)
        }
    }

    /// Gives the air what a guest has sent; an octet that begins no packet, where there was one.
    private mutating func take(
        _ count: Int, from peer: AirPeer, on medium: inout some AirMedium, at now: Instant
    ) -> UInt8? {
        guard let index = guests.firstIndex(where: { $0.peer === peer }) else { return nil }
        let bytes = buffer.bytes
        let chunk = bytes.span.extracting(0..<count)
        var offset = 0
        while true {
            switch guests[index].framer.next(in: chunk, offset: &offset) {
            case .inChunk(let range):
                let packet = chunk.extracting(range)
                medium.receive(packet, from: guests[index].controller, at: now)
            case .gathered:
                let packet = guests[index].framer.gathered
                medium.receive(packet.span, from: guests[index].controller, at: now)
            case .needMore: return nil
            case .unknownType(let octet): return octet
            }
        }
    }

    private mutating func depart(
        _ event: AirEvent, on medium: inout some AirMedium, _ reporter: inout Reporter,
        at now: Instant
    ) {
        guard case .closed(let peer, let reason) = event else { return }
        guard let index = guests.firstIndex(where: { $0.peer === peer }) else { return }
        medium.removeHost(guests[index].controller, at: now)
        guests.remove(at: index)
        reporter.log(.info, "\(peer.name) left the air: \(reason)", at: now)
    }
}

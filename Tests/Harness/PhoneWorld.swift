// A phone on the air with a device: what it sends octet by octet, how it pairs, real encryption.
import BLEHost
public import Emulator
import HCI
import OpenSSLCrypto
public import Profiles
public import SMP
public import SansIO
public import Simulation
import VirtualController
public import Wire

/// A device and a phone on one air, in virtual time. The phone is its controller's host as far as
/// tests need one: PDUs as they stand, and `PairingInitiator`.
public struct PhoneWorld {
    public static let address = DeviceAddress(littleEndian: 0xC0FF_EE00_0002)

    public private(set) var world: World
    public private(set) var now = Instant.zero
    /// The device's lines, oldest first.
    public private(set) var lines: [String] = []
    /// ATT PDUs that have come and nobody has taken.
    public private(set) var received: [[UInt8]] = []
    /// PDUs on other channels than ATT and SMP.
    public private(set) var others: [[UInt8]] = []
    /// The device's answers to Pairing Requests.
    public private(set) var responses: [[UInt8]] = []
    public private(set) var isEncrypted = false
    public private(set) var bond: Bond?
    /// Why no key came of the last pairing.
    public private(set) var failure: SMPReason?
    public private(set) var isOver = true
    /// Whether commands of the pairing wait for `releaseCommand`.
    public var holdsCommands = false
    private var commands: [[UInt8]] = []
    private var initiator: PairingInitiator?
    private let guest: Int
    private var handle: ConnectionHandle?
    private var frame: [UInt8] = []
    private var encryptionAnswered = false
    private var down = ByteBlock()
    /// What the person at the device says once it is asked.
    private var spoken: String?
    private var isSilent = false

    /// - Parameter device: with a cipher, or it cannot pair.
    public init(_ device: EmulatedDevice, seed: UInt64 = 1) {
        world = World(
            port: DevicePort(device: device), seed: seed, timing: .ideal, cipher: OpenSSLCipher())
        guest = world.addHost() ?? 0
    }

    public var device: EmulatedDevice { world.port.device }
    public var isConnected: Bool { handle != nil }

    /// From now on the person at the device says nothing by itself.
    public mutating func silence() { isSilent = true }

    // MARK: time

    /// Runs until `isDone` or for `limit`.
    @discardableResult
    public mutating func run(
        within limit: TimeSpan, until isDone: (PhoneWorld) -> Bool = { _ in false }
    ) -> Bool {
        let end = now + limit
        exchange()
        while !isDone(self) {
            if let line = spoken, !isSilent, device.awaitsAnswer {
                spoken = nil
                try? answer(line)
                continue
            }
            guard let next = world.deadline, next <= end else {
                now = end
                return false
            }
            now = max(now, next)
            world.run(at: now)
            exchange()
        }
        return true
    }

    private mutating func exchange() {
        var moved = true
        while moved {
            moved = false
            world.drain(guest, into: &down)
            let packets = h4Packets(down)
            down.removeAll()
            for packet in packets {
                moved = true
                take(packet)
            }
        }
        for case .device(let event, _) in world.events.elements {
            if let line = device.line(for: event, upTo: .debug) { lines.append(line.text) }
        }
        world.events.removeAll()
    }

    // MARK: the controller

    private mutating func send(_ command: some HCICommand) {
        var block = ByteBlock()
        block.append(command: command)
        world.receive(block.bytes.span, from: guest, at: now)
    }

    private mutating func take(_ packet: [UInt8]) {
        guard packet.count > 4 else { return }
        if packet[0] == H4PacketType.acl.rawValue { return take(data: packet) }
        let body = packet.span.extracting(3..<packet.count)
        switch EventCode(rawValue: packet[1]) {
        case .leMeta where packet[3] == LESubevent.connectionComplete.rawValue:
            let event = try? LEConnectionComplete(
                decoding: packet.span.extracting(4..<packet.count))
            if let event, event.status == .success { handle = event.connectionHandle }
        case .disconnectionComplete:
            handle = nil
            frame = []
            isEncrypted = false
            encryptionAnswered = true
            if let outputs = initiator?.fail(nil) { perform(outputs) }
        case .encryptionChange:
            guard let event = try? EncryptionChange(decoding: body) else { return }
            isEncrypted = event.status == .success && event.encryptionEnabled != 0
            encryptionAnswered = true
            if let outputs = initiator?.encrypted(isEncrypted) { perform(outputs) }
        case .encryptionKeyRefreshComplete:
            encryptionAnswered = true
            if let outputs = initiator?.encrypted(true) { perform(outputs) }
        default: break
        }
    }

    private mutating func take(data packet: [UInt8]) {
        guard let header = ACLHeader(packet: packet.span) else { return }
        if header.boundary != .continuing { frame = [] }
        frame += packet[ACLHeader.octets...]
        guard frame.count >= 4 else { return }
        let (length, cid) = (frame.span.uint16(at: 0), frame.span.uint16(at: 2))
        guard frame.count == Int(length) + 4 else { return }
        let pdu = Array(frame[4...])
        switch cid {
        case 4: received.append(pdu)
        case 6:
            if pdu.first == 2 { responses.append(pdu) }
            if let outputs = initiator?.receive(pdu) { perform(outputs) }
        default: others.append(pdu)
        }
    }

    // MARK: what the phone does

    /// Switches both on.
    @discardableResult
    public mutating func powerOn() -> Bool {
        world.powerOn(at: now)
        send(Reset())
        // With the LE Meta event, which it has not by itself.
        var mask = SetEventMask()
        mask.eventMask = 0x2000_1FFF_FFFF_FFFF
        send(mask)
        var address = LESetRandomAddress()
        address.randomAddress = Self.address
        send(address)
        return run(within: .seconds(5)) { $0.device.host.hasEverAdvertised }
    }

    @discardableResult
    public mutating func connect() -> Bool {
        guard let peer = device.randomAddress else { return false }
        var command = LECreateConnection()
        (command.scanInterval, command.scanWindow) = (0x60, 0x60)
        command.peerAddressType = .randomDevice
        command.peerAddress = peer
        command.ownAddressType = .randomDevice
        (command.intervalMin, command.intervalMax) = (24, 24)
        command.supervisionTimeout = 500
        send(command)
        return run(within: .seconds(10)) { $0.isConnected }
    }

    @discardableResult
    public mutating func disconnect() -> Bool {
        guard let handle else { return true }
        var command = Disconnect()
        command.connectionHandle = handle
        command.reason = .remoteUserTerminated
        send(command)
        let isGone = run(within: .seconds(10)) { !$0.isConnected }
        received = []
        // Until the device advertises again.
        run(within: .milliseconds(100))
        return isGone
    }

    /// Sends one PDU and lets what follows happen.
    public mutating func send(_ pdu: [UInt8], cid: UInt16 = 4) {
        transmit(pdu, cid: cid)
        run(within: .milliseconds(100))
    }

    private mutating func transmit(_ pdu: [UInt8], cid: UInt16) {
        guard let handle else { return }
        let frame =
            [UInt16(pdu.count), cid].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
            + pdu
        for start in stride(from: 0, to: frame.count, by: 251) {
            let part = frame[start..<min(start + 251, frame.count)]
            var block = ByteBlock()
            block.append(
                acl: ACLHeader(
                    handle: handle, boundary: start == 0 ? .firstFromHost : .continuing,
                    length: part.count))
            block.append(Array(part))
            world.receive(block.bytes.span, from: guest, at: now)
        }
    }

    /// Takes the next ATT PDU that has come.
    public mutating func takePDU() -> [UInt8]? { received.isEmpty ? nil : received.removeFirst() }

    /// Sends a request and takes its answer.
    public mutating func ask(_ request: [UInt8]) -> [UInt8]? {
        send(request)
        return takePDU()
    }

    /// Does something to the device.
    public mutating func perform(_ action: DeviceAction) {
        world.perform(at: now, action)
        exchange()
    }

    /// Gives the device a person's line.
    public mutating func answer(_ line: String) throws(AnswerError) {
        var refusal: AnswerError?
        let now = now
        world.perform(at: now) { device, out, events in
            do throws(AnswerError) {
                try device.answer(line: line, at: now, sending: &out, emit: &events)
            } catch { refusal = error }
        }
        exchange()
        if let refusal { throw refusal }
    }

    /// Sends the device a line of the control socket; returns the answer.
    public mutating func control(_ session: inout ControlSession, _ line: String) -> String? {
        let (now, octets) = (now, Array(line.utf8))
        let names = AccessoryNames(files: ["device"])
        let answer = session.answer(octets.span, of: names, at: now) { number, action in
            world.perform(on: number, at: now, action)
        }
        exchange()
        return answer
    }

    /// Sets a value from outside.
    public mutating func set(_ value: [UInt8], of handle: UInt16) {
        let now = now
        world.perform(at: now) { device, out, events in
            device.set(value, of: handle, at: now, sending: &out, emit: &events)
        }
        run(within: .milliseconds(100))
    }

    /// Gives the device a new version of its profile.
    public mutating func flash(_ profile: DeviceProfile) {
        let now = now
        world.perform(at: now) { device, out, events in
            device.replace(profile: profile, at: now, sending: &out, emit: &events)
        }
        run(within: .milliseconds(100))
    }

    /// Encrypts with the bond.
    @discardableResult
    public mutating func encrypt() -> Bool {
        guard let bond else { return false }
        enableEncryption(ediv: bond.ediv, rand: bond.rand, key: bond.longTermKey)
        run(within: .seconds(5)) { $0.encryptionAnswered }
        return isEncrypted
    }

    private mutating func enableEncryption(ediv: UInt16, rand: UInt64, key: [UInt8]) {
        guard let handle else { return }
        encryptionAnswered = false
        var command = LEEnableEncryption()
        command.connectionHandle = handle
        command.encryptedDiversifier = ediv
        command.randomNumber = rand
        command.longTermKey = key
        send(command)
    }

    // MARK: pairing

    /// Sends a Pairing Request of these features.
    public mutating func beginPairing(_ features: PairingFeatures, seed: UInt64 = 4) {
        guard let peer = device.randomAddress else { return }
        var new = PairingInitiator(
            features, own: LinkAddress(Self.address, isRandom: true),
            peer: LinkAddress(peer, isRandom: true), cipher: OpenSSLCipher(),
            random: GeneratorRandom(SeededRandom(seed: seed)))
        isOver = false
        failure = nil
        let outputs = new.start()
        initiator = new
        perform(outputs)
    }

    /// Sends one command that was held.
    public mutating func releaseCommand() {
        if !commands.isEmpty { transmit(commands.removeFirst(), cid: 6) }
        run(within: .milliseconds(100))
    }

    /// Sends what was held, and goes on until the pairing is over; people at both sides agree.
    /// - Returns: whether it came to a key.
    @discardableResult
    public mutating func finishPairing() -> Bool {
        holdsCommands = false
        while !commands.isEmpty { transmit(commands.removeFirst(), cid: 6) }
        run(within: .seconds(60)) { $0.isOver }
        run(within: .milliseconds(200))
        return failure == nil && isEncrypted
    }

    @discardableResult
    public mutating func pair(_ features: PairingFeatures, seed: UInt64 = 4) -> Bool {
        beginPairing(features, seed: seed)
        return finishPairing()
    }

    private mutating func perform(_ outputs: [PairingInitiator.Output]) {
        for output in outputs {
            switch output {
            case .send(let pdu):
                if holdsCommands { commands.append(pdu) } else { transmit(pdu, cid: 6) }
            case .encrypt(let ediv, let rand, let key):
                enableEncryption(ediv: ediv, rand: rand, key: key)
            case .needsPasskey:
                for case .showPasskey(let passkey) in device.pairingQuestions.map(\.asked) {
                    if let outputs = initiator?.enter(passkey) { perform(outputs) }
                }
            case .shows(let passkey): spoken = Passkey.digits(passkey)
            case .compares:
                if let outputs = initiator?.compare(matches: true) { perform(outputs) }
                spoken = "yes"
            case .paired(let bond):
                self.bond = bond
                isOver = true
            case .failed(let reason):
                failure = reason ?? .unspecifiedReason
                isOver = true
            }
        }
    }
}

// The built-in central: finds the accessory, reads all it may and follows what it sends.
import Advertising
import BLEHost
import GATT
import HCI
import Profiles
public import SansIO
public import Wire

/// What the built-in central found out.
public enum CentralFinding: Equatable, Sendable {
    /// A line for people, as a phone would show it.
    case line(String)
    /// Everything was seen.
    case finished
    /// The time is over; what is missing, in words.
    case incomplete(String)
}

/// A central with a fixed programme, on a controller of its own: sans-IO.
///
/// It knows nothing of the profile: names and units come from the assigned numbers, as on a phone.
public struct ScriptedCentral: Sendable {
    /// How long the whole programme may take; what is only sent later is not waited for.
    public static let limit = TimeSpan.seconds(15)
    /// How long the disconnection may take behind that.
    static let farewellLimit = TimeSpan.seconds(2)
    /// How many notifications or indications end the programme.
    public static let notificationsMin = 3
    /// How long to wait for a scan response before going on without.
    static let scanResponseLimit = TimeSpan.milliseconds(500)
    /// How long to listen for the other sets of a device once one was heard.
    static let setsLimit = TimeSpan.seconds(5)

    /// Named after what is awaited.
    private enum State: Equatable {
        case off
        case controller
        case advertisement
        /// The device's other sets, and scan responses.
        case rest(until: Instant)
        case connection
        case answer
        case notifications
        case farewell
        case done
    }

    private let address: DeviceAddress
    private var host: CentralHost
    private var framer = H4Framer()
    private let targets: [DeviceAddress]
    private let setCount: Int
    private var state = State.off
    private var start = Instant.zero
    /// One advertisement of each set, and those of them whose scan response is still to come.
    private var sets: [HeardAdvertisement] = []
    private var unanswered: [HeardAdvertisement] = []
    private var services: [DiscoveredService] = []
    private var agenda: [Step] = []
    private var notificationCount = 0
    private var subscriptions = 0
    private var events = Outputs<CentralEvent>()

    /// One GATT procedure to come.
    private struct Step: Equatable {
        var procedure: GATTClient.Procedure
        var subject: String
        var format: ValueFormat = .bytes
    }

    /// - Parameters:
    ///   - targets: the addresses of the accessory's sets; none takes who advertises first.
    ///   - sets: how many sets there are to be heard before it connects, from 1.
    ///   - address: the central's own random address.
    public init(targets: [DeviceAddress], sets: Int = 1, address: DeviceAddress) {
        self.targets = targets
        setCount = max(sets, 1)
        self.address = address
        host = CentralHost(randomAddress: address)
    }

    /// Brings the central's controller up; scanning follows.
    public mutating func powerOn(at now: Instant, sending out: inout ByteBlock) {
        start = now
        state = .controller
        host.start(at: now, sending: &out)
    }

    /// Begins the programme anew, for another accessory.
    mutating func visit(
        _ targets: [DeviceAddress], sets: Int, at now: Instant, sending out: inout ByteBlock
    ) {
        self = ScriptedCentral(targets: targets, sets: sets, address: address)
        powerOn(at: now, sending: &out)
    }

    public var deadline: Instant? {
        switch state {
        case .off, .done: nil
        case .rest(let until): earliest(host.deadline, min(until, start + Self.limit))
        case .controller, .advertisement, .connection, .answer, .notifications:
            earliest(host.deadline, start + Self.limit)
        case .farewell: earliest(host.deadline, start + Self.limit + Self.farewellLimit)
        }
    }

    /// Takes H4 packets from its controller.
    public mutating func receive(
        _ chunk: Span<UInt8>, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<CentralFinding>
    ) {
        var offset = 0
        while case .inChunk(let range) = framer.next(in: chunk, offset: &offset) {
            host.receive(chunk.extracting(range), at: now, sending: &out, emit: &events)
        }
        process(at: now, &out, &emit)
    }

    public mutating func expire(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<CentralFinding>
    ) {
        host.expire(at: now, sending: &out, emit: &events)
        process(at: now, &out, &emit)
        if case .rest(let until) = state, until <= now {
            if sets.count < setCount {
                emit.append(
                    .line(
                        "no more is listened for: \(sets.count) of \(setCount) sets within "
                            + "\(Self.setsLimit)"))
            }
            connect(at: now, &out, &emit)
        }
        switch state {
        case .off, .done: return
        case .notifications where start + Self.limit <= now:
            // All that it has was shown; the rest waits for a write, or for longer.
            emit.append(
                .line(
                    "no more is waited for: \(count) within \(Self.limit), "
                        + "the rest is sent later, at a write or by hand"))
            finish(at: now, &out, &emit)
        case .farewell where now < start + Self.limit + Self.farewellLimit: return
        case .controller, .advertisement, .rest, .connection, .answer, .notifications, .farewell:
            guard start + Self.limit <= now else { return }
            emit.append(.incomplete(missing))
            state = .done
        }
    }

    /// What is still missing; nil once the programme is over.
    public var unfinished: String? { state == .done || state == .off ? nil : missing }

    private var missing: String {
        let target = targets.first.map { " of \($0)" } ?? ""
        return switch state {
        case .off, .controller: "a working controller"
        case .advertisement: "an advertisement\(target)"
        case .rest:
            unanswered.first.map { "a scan response of \($0.address)" } ?? "its other sets"
        case .connection: "a connection with \(found?.address.description ?? "the device")"
        case .answer: "an answer to \(agenda.first?.subject ?? "a request")"
        case .notifications:
            "\(Self.notificationsMin) notifications; \(notificationCount) came"
        case .farewell, .done: "the end of the connection"
        }
    }

    private var count: String {
        notificationCount == 1 ? "1 notification" : "\(notificationCount) notifications"
    }

    // MARK: events

    private mutating func process(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<CentralFinding>
    ) {
        while !events.isEmpty {
            let batch = events.elements
            events.removeAll()
            for event in batch { process(event, at: now, &out, &emit) }
        }
    }

    private mutating func process(
        _ event: CentralEvent, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<CentralFinding>
    ) {
        switch event {
        case .ready:
            state = .advertisement
            host.startScanning(interval: 0x60, window: 0x60, at: now, sending: &out)
        case .report(let report): heard(report, at: now, &out, &emit)
        case .connected:
            emit.append(.line("connected"))
            state = .answer
            agenda = [
                Step(procedure: .exchangeMTU, subject: "the MTU request"),
                Step(procedure: .discover, subject: "the discovery of services"),
            ]
            next(at: now, &out, &emit)
        case .client(let event): process(event, at: now, &out, &emit)
        case .disconnected(let reason):
            if state == .farewell {
                emit.append(.finished)
            } else if state != .done {
                emit.append(.incomplete("the rest: the device disconnected, \(reason)"))
            }
            state = .done
        case .failed(let failure):
            emit.append(.incomplete("a working controller: \(failure)"))
            state = .done
        case .connectionFailed(let status):
            emit.append(.incomplete("a connection: \(status)"))
            state = .done
        case .note: break
        }
    }

    // MARK: finding

    /// What is connected to: the first set that takes a connection, or the first at all.
    private var found: HeardAdvertisement? { sets.first(where: \.isConnectable) ?? sets.first }

    private func isOwn(_ address: DeviceAddress) -> Bool {
        guard targets.isEmpty else { return targets.contains(address) }
        // Sets may have addresses of their own.
        return setCount > 1 || address == sets.first?.address ?? address
    }

    private mutating func heard(
        _ heard: HeardAdvertisement, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<CentralFinding>
    ) {
        guard isOwn(heard.address) else { return }
        switch state {
        case .advertisement, .rest: break
        case .off, .controller, .connection, .answer, .notifications, .farewell, .done: return
        }
        if heard.isScanResponse {
            guard let index = unanswered.firstIndex(where: heard.isOfSet) else { return }
            if let last = sets.last, !heard.isOfSet(last), !heard.data.isEmpty {
                emit.append(.line("scan response of \(heard.address)"))
            }
            unanswered.remove(at: index)
            show(heard.data, &emit)
        } else {
            guard !sets.contains(where: heard.isOfSet) else { return }
            emit.append(
                .line(
                    "found \(heard.address) (\(heard.addressType)) after \(now - start), "
                        + "\(Self.kind(heard)), \(heard.rssi) dBm"))
            show(heard.data, &emit)
            sets.append(heard)
            if heard.isScannable { unanswered.append(heard) }
            if sets.count == setCount {
                state = .rest(until: now + Self.scanResponseLimit)
            } else if sets.count == 1 {
                state = .rest(until: now + Self.setsLimit)
            }
        }
        if sets.count >= setCount, unanswered.isEmpty { connect(at: now, &out, &emit) }
    }

    private static func kind(_ heard: HeardAdvertisement) -> String {
        let kind =
            heard.isConnectable
            ? "connectable" : heard.isScannable ? "scannable" : "non-connectable"
        guard let extended = heard.extended else { return kind }
        let phys = [extended.primaryPHY, extended.secondaryPHY].compactMap { phy(of: $0) }
        let train = TimeSpan(microseconds: Int64(extended.trainInterval) * 1250)
        return kind + ", extended on " + phys.joined(separator: " and ")
            + (extended.sid < 16 ? ", SID \(extended.sid)" : "")
            + (train > .zero ? ", train every \(train)" : "")
    }

    private static func phy(of number: UInt8) -> String? {
        switch number {
        case 1: "1M"
        case 2: "2M"
        case 3: "coded"
        default: nil
        }
    }

    private func show(_ data: [UInt8], _ emit: inout Outputs<CentralFinding>) {
        for structure in ADStructures.decode(data.span) {
            var text = structure.description
            if case .serviceUUIDs(let uuids, _) = structure.content {
                let names = uuids.compactMap { AssignedNames.service($0) }
                if !names.isEmpty { text += " (" + names.joined(separator: ", ") + ")" }
            }
            emit.append(.line("  " + text))
        }
    }

    private mutating func connect(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<CentralFinding>
    ) {
        guard let found else { return }
        host.stopScanning(at: now, sending: &out)
        guard found.isConnectable else {
            finish(at: now, &out, &emit)
            return
        }
        state = .connection
        host.connect(to: found, at: now, sending: &out)
    }

    private mutating func finish(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<CentralFinding>
    ) {
        switch state {
        case .answer, .notifications:
            state = .farewell
            host.disconnect(at: now, sending: &out)
        case .off, .controller, .advertisement, .rest, .connection, .farewell, .done:
            emit.append(.finished)
            state = .done
        }
    }

    // MARK: the GATT programme

    /// Begins the next procedure, or waits for notifications where there is none left.
    private mutating func next(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<CentralFinding>
    ) {
        if let step = agenda.first {
            host.perform(step.procedure, at: now, sending: &out, emit: &events)
        } else if subscriptions == 0 || notificationCount >= Self.notificationsMin {
            finish(at: now, &out, &emit)
        } else {
            state = .notifications
        }
    }

    private mutating func process(
        _ event: GATTClientEvent, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<CentralFinding>
    ) {
        switch event {
        case .mtu(let mtu): emit.append(.line("MTU \(mtu)"))
        case .discovered(let services):
            self.services = services
            plan()
        case .value(_, let bytes):
            if let step = agenda.first {
                emit.append(.line("  \(step.subject) = \(Self.text(bytes, step.format))"))
            }
        case .written:
            if let step = agenda.first {
                subscriptions += 1
                emit.append(.line("subscribed to \(step.subject)"))
            }
        case .failed(_, let failure):
            let subject = agenda.first?.subject ?? "a request"
            emit.append(.line("  \(subject): \(Self.text(failure))"))
        case .notification(let handle, let bytes): sent("notified", handle, bytes, &emit)
        case .indication(let handle, let bytes): sent("indicated", handle, bytes, &emit)
        }
        switch event {
        case .mtu, .discovered, .value, .written, .failed:
            guard state == .answer, !agenda.isEmpty else { return }
            agenda.removeFirst()
            if case .discovered = event { showServices(&emit) }
            next(at: now, &out, &emit)
        case .notification, .indication:
            guard state == .notifications, notificationCount >= Self.notificationsMin else {
                return
            }
            finish(at: now, &out, &emit)
        }
    }

    private mutating func sent(
        _ verb: String, _ handle: UInt16, _ bytes: [UInt8], _ emit: inout Outputs<CentralFinding>
    ) {
        notificationCount += 1
        let characteristic = services.flatMap(\.characteristics).first { $0.valueHandle == handle }
        let name = characteristic.map { Self.name($0.uuid) } ?? "handle \(Hex.code(handle))"
        let format = characteristic.flatMap { AssignedNames.format($0.uuid) } ?? .bytes
        emit.append(.line("\(name) \(verb) \(Self.text(bytes, format))"))
    }

    /// Reads first, subscriptions last: a phone shows a screen before it follows it.
    private mutating func plan() {
        for characteristic in services.flatMap(\.characteristics) {
            let name = Self.name(characteristic.uuid)
            if characteristic.properties.contains(.read) {
                agenda.append(
                    Step(
                        procedure: .read(handle: characteristic.valueHandle), subject: name,
                        format: AssignedNames.format(characteristic.uuid) ?? .bytes))
            }
            for descriptor in characteristic.descriptors
            where descriptor.uuid == GATTType.userDescription {
                agenda.append(
                    Step(
                        procedure: .read(handle: descriptor.handle),
                        subject: "\(name) description", format: .utf8))
            }
        }
        for characteristic in services.flatMap(\.characteristics) {
            guard let cccd = characteristic.cccdHandle else { continue }
            let notifies = characteristic.properties.contains(.notify)
            // Service Changed never comes from a table that does not change.
            guard characteristic.uuid != GATTType.serviceChanged,
                notifies || characteristic.properties.contains(.indicate)
            else { continue }
            agenda.append(
                Step(
                    procedure: .subscribe(cccd: cccd, notify: notifies, indicate: !notifies),
                    subject: Self.name(characteristic.uuid)))
        }
    }

    private func showServices(_ emit: inout Outputs<CentralFinding>) {
        for service in services {
            let name = AssignedNames.service(service.uuid).map { "\($0) " } ?? ""
            emit.append(.line("service \(name)\(service.uuid)"))
            for characteristic in service.characteristics {
                emit.append(
                    .line(
                        "  characteristic \(Self.name(characteristic.uuid)), handle "
                            + "\(Hex.code(characteristic.valueHandle)): "
                            + characteristic.properties.names.joined(separator: ", ")))
            }
        }
        emit.append(.line("values"))
    }

    // MARK: text

    private static func name(_ uuid: BluetoothUUID) -> String {
        AssignedNames.characteristic(uuid) ?? "\(uuid)"
    }

    /// By the assigned format; octets without one as text where they are, else as they are.
    private static func text(_ bytes: [UInt8], _ format: ValueFormat) -> String {
        if format == .bytes, !bytes.isEmpty, bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) {
            return ValueFormat.utf8.describe(bytes)
        }
        return format.describe(bytes)
    }

    private static func text(_ failure: GATTClientFailure) -> String {
        switch failure {
        case .error(let error, _): "refused, \(error)"
        case .invalidResponse: "the answer does not fit the request"
        case .timeout: "no answer within 30 s"
        case .busy: "not asked, another request is open"
        }
    }
}

extension HeardAdvertisement {
    /// Whether this, or the set that it answers for, is that set. Sets of legacy PDUs may share an
    /// address, and are told apart by what they have to say.
    fileprivate func isOfSet(_ set: HeardAdvertisement) -> Bool {
        guard address == set.address, addressType == set.addressType else { return false }
        let (own, other) = (extended?.sid, set.extended?.sid)
        // A scan response may come without the set's identifier.
        guard !isScanResponse else { return own == other || own == 255 }
        return own == other && isConnectable == set.isConnectable
            && isScannable == set.isScannable
            && (extended != nil || outline == set.outline)
    }

    /// The types of its AD structures, with the companies and services of data.
    private var outline: [[UInt8]] {
        ADStructures.decode(data.span).map { structure in
            let hasOwner = [.serviceData16, .manufacturerSpecificData].contains(structure.type)
            return [structure.type.rawValue] + (hasOwner ? structure.bytes.prefix(2) : [])
        }
    }
}

// What follows a write: the rules of `on-write:`, echoes, and stored records.
import BLEHost
import Behaviours
import GATT
import HCI
import Profiles
public import SansIO
public import Wire

/// A record access control point at work.
struct LiveRecords: Sendable {
    let handle: UInt16
    let recordHandle: UInt16?
    let contextHandle: UInt16?
    /// What a request gets while a report is under way.
    let busyError: ATTError
    /// The client that asked last: its link's end ends the report.
    var client: Int?
    var store: RecordStore

    static func all(of plan: AttributePlan) -> [LiveRecords] {
        plan.bindings.compactMap { binding in
            binding.records.map { spec in
                LiveRecords(
                    handle: binding.valueHandle, recordHandle: plan.handle(of: spec.target),
                    contextHandle: spec.contextTarget.flatMap { plan.handle(of: $0) },
                    // The Glucose Service, 1.6, is older than the common number.
                    busyError: binding.serviceName == "glucose"
                        ? ATTError(rawValue: 0x80) : .procedureAlreadyInProgress,
                    store: RecordStore(spec.records))
            }
        }
    }
}

/// The `then:` of a rule that was followed.
struct WaitingActions: Sendable {
    /// Of the value that was written.
    let handle: UInt16
    let written: [UInt8]
    let link: Int
    let deadline: Instant
    let actions: [WriteAction]
}

extension EmulatedDevice {
    /// Echoes of echoes end here.
    private static var echoesMax: Int { 8 }
    /// Rules' texts and the like of one packet; more is dropped.
    static var notesMax: Int { 64 }

    // MARK: values from outside

    /// Replaces a value, or one field of it, as a new sample from outside: it no longer moves by
    /// itself, and subscribers get it as `send:` says.
    ///
    /// - Parameter octets: of the value's or the field's own format.
    /// - Returns: false, and nothing changed, where there is no such value or it does not fit.
    @discardableResult
    public mutating func set(
        _ octets: [UInt8], field: String? = nil, of handle: UInt16, at now: Instant,
        sending out: inout ByteBlock, emit: inout Outputs<DeviceEvent>
    ) -> Bool {
        let isSet = set(octets, field: field, of: handle, isSent: nil, depth: 0, at: now, &out)
        if isSet { endEcho(of: handle) }
        forward(at: now, &out, &emit)
        return isSet
    }

    /// A value that was set from outside repeats no other any more.
    mutating func endEcho(of handle: UInt16) { echoes.removeAll { $0.handle == handle } }

    /// Sends a value to these links where they have asked for it, as a notification or an
    /// indication.
    /// - Returns: those to which it was sent now.
    mutating func notify(
        _ handle: UInt16, to links: [Int], at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<DeviceEvent>
    ) -> [Int] {
        let sent = host.notify(handle, to: links, at: now, sending: &out, emit: &hostEvents)
        forward(at: now, &out, &emit)
        return sent
    }

    /// - Parameter isSent: nil where `send:` says it.
    @discardableResult
    mutating func set(
        _ octets: [UInt8], field: String?, of handle: UInt16, isSent: Bool?, depth: Int,
        at now: Instant, _ out: inout ByteBlock
    ) -> Bool {
        guard let binding = plan.binding(valueHandle: handle),
            let current = host.server.value(of: handle)
        else { return false }
        var whole = octets
        if let field {
            guard let edited = binding.format.replacing(field, by: octets, in: current) else {
                return false
            }
            whole = edited
        }
        guard host.server.setValue(whole, of: handle) else { return false }
        var step = ValueMachine.Step(isUpdated: true, isChanged: whole != current)
        step.isSent =
            binding.send == .onUpdate || (binding.send == .onChange && step.isChanged)
        if let index = values.firstIndex(where: { $0.handle == handle }) {
            step =
                field.map { values[index].machine.setField($0, to: octets, whole: whole) }
                ?? values[index].machine.set(whole)
        }
        if isSent ?? step.isSent {
            host.notify(handle, at: now, sending: &out, emit: &hostEvents)
        }
        echo(handle, depth: depth, at: now, &out)
        return true
    }

    /// Repeats a value that has changed where others echo it.
    mutating func echo(
        _ handle: UInt16, depth: Int = 0, at now: Instant, _ out: inout ByteBlock
    ) {
        guard !echoes.isEmpty, depth < Self.echoesMax,
            let value = host.server.value(of: handle)
        else { return }
        for echo in echoes where echo.of == handle {
            _ = set(
                value, field: nil, of: echo.handle, isSent: nil, depth: depth + 1, at: now, &out)
        }
    }

    // MARK: writes

    /// Follows the writes among what the host has just told.
    mutating func followWrites(at now: Instant, _ out: inout ByteBlock) {
        // What is sent adds events behind those that are looked at.
        for place in 0..<hostEvents.count {
            switch hostEvents.elements[place] {
            case .server(.written(let client, let handle, _)):
                follow(writeTo: handle, by: client, at: now, &out)
            case .disconnected(let link, _, _):
                authorizations.removeAll { $0.link == link }
                for index in records.indices where records[index].client == link {
                    records[index].client = nil
                    records[index].store.cancel()
                    setBusy(index, false)
                }
            case .server, .ready, .failed, .note, .advertising, .advertisingPaused,
                .advertisingStopped, .advertisingRefused, .scanRequested, .connectedFrom,
                .addressRenewed, .connected,
                .connectionUpdated, .phyUpdated, .parametersAnswered, .overflow, .sent,
                .pairingRefused, .security:
                break
            }
        }
    }

    private mutating func follow(
        writeTo handle: UInt16, by client: Int, at now: Instant, _ out: inout ByteBlock
    ) {
        guard let binding = plan.binding(valueHandle: handle),
            let value = host.server.value(of: handle)
        else { return }
        if !binding.reactions.isEmpty,
            let number = host.server.writeRule(for: value.span, of: handle, from: client),
            binding.reactions.indices.contains(number)
        {
            let reaction = binding.reactions[number]
            for action in reaction.actions {
                perform(action, written: value, to: binding, by: client, at: now, &out)
            }
            waiting.removeAll { $0.handle == handle }
            if let later = reaction.later {
                waiting.append(
                    WaitingActions(
                        handle: handle, written: value, link: client, deadline: now + later.after,
                        actions: later.actions))
            }
        }
        echo(handle, at: now, &out)
        for index in records.indices where records[index].handle == handle {
            records[index].client = client
            recordOutputs.removeAll()
            records[index].store.request(value, at: now, emit: &recordOutputs)
            sendRecords(index, at: now, &out)
        }
    }

    private mutating func perform(
        _ action: WriteAction, written: [UInt8], to binding: ValueBinding, by client: Int,
        at now: Instant, _ out: inout ByteBlock
    ) {
        switch action {
        case .authorize(let span): authorize(client, until: now + span)
        case .log(let text): note("\(binding.name): \(text)")
        case .store(let target):
            change(target, to: written, because: binding, at: now, &out)
        case .set(let target, var octets, let places):
            for place in places where octets.indices.contains(place) {
                octets[place] = written.first ?? 0
            }
            change(target, to: octets, because: binding, at: now, &out)
        case .send(let target):
            guard let handle = plan.handle(of: target) else { return }
            host.notify(handle, at: now, sending: &out, emit: &hostEvents)
        }
    }

    /// A rule's change is not sent by itself: `notify` and `indicate` say that.
    private mutating func change(
        _ target: WriteAction.Target, to octets: [UInt8], because binding: ValueBinding,
        at now: Instant, _ out: inout ByteBlock
    ) {
        guard let handle = plan.handle(of: target),
            set(
                octets, field: target.field, of: handle, isSent: false, depth: 0, at: now, &out)
        else {
            return note("\(binding.name): the value does not fit where a rule puts it")
        }
    }

    // MARK: later

    /// When a rule, or its end, is due.
    var reactionsDeadline: Instant? {
        var deadline = recordsDeadline
        for waiting in waiting { deadline = earliest(deadline, waiting.deadline) }
        for authorization in authorizations { deadline = earliest(deadline, authorization.end) }
        return deadline
    }

    mutating func expireReactions(at now: Instant, _ out: inout ByteBlock) {
        while let index = authorizations.firstIndex(where: { $0.end <= now }) {
            let link = authorizations.remove(at: index).link
            host.setAuthorized(false, of: link)
            note("\(peerAddress(link)) is no longer authorized")
        }
        while let index = waiting.firstIndex(where: { $0.deadline <= now }) {
            perform(waiting.remove(at: index), at: now, &out)
        }
    }

    /// Does at once what waits: another table comes, and what is open is not to stay so.
    mutating func performWaiting(at now: Instant, _ out: inout ByteBlock) {
        while !waiting.isEmpty { perform(waiting.removeFirst(), at: now, &out) }
    }

    private mutating func perform(
        _ waiting: WaitingActions, at now: Instant, _ out: inout ByteBlock
    ) {
        guard let binding = plan.binding(valueHandle: waiting.handle) else { return }
        for action in waiting.actions {
            perform(
                action, written: waiting.written, to: binding, by: waiting.link, at: now, &out)
        }
    }

    /// Lets the client of a link do what asks for authorization, until the link ends.
    mutating func authorize(
        _ link: Int, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<DeviceEvent>
    ) {
        authorize(link, until: nil)
        forward(at: now, &out, &emit)
    }

    private func peerAddress(_ link: Int) -> String {
        host.links.indices.contains(link)
            ? "\(host.links[link].information.peerAddress)" : "link \(link)"
    }

    private mutating func authorize(_ link: Int, until end: Instant?) {
        authorizations.removeAll { $0.link == link }
        if let end { authorizations.append((link, end)) }
        host.setAuthorized(true, of: link)
        note("\(peerAddress(link)) is authorized")
    }

    private mutating func note(_ text: String) {
        if notes.count < Self.notesMax { notes.append(text) }
    }

    // MARK: records

    /// When a record is due.
    var recordsDeadline: Instant? {
        var deadline: Instant?
        for records in records { deadline = earliest(deadline, records.store.deadline) }
        return deadline
    }

    mutating func expireRecords(at now: Instant, _ out: inout ByteBlock) {
        for index in records.indices {
            recordOutputs.removeAll()
            records[index].store.expire(at: now, emit: &recordOutputs)
            sendRecords(index, at: now, &out)
        }
    }

    mutating func setBusy(_ index: Int, _ isBusy: Bool) {
        host.server.setBusy(
            isBusy, records[index].handle, butFor: RecordStore.abort,
            error: records[index].busyError)
    }

    private mutating func sendRecords(_ index: Int, at now: Instant, _ out: inout ByteBlock) {
        setBusy(index, records[index].store.isBusy)
        for output in recordOutputs.elements {
            let (octets, handle): ([UInt8], UInt16?) =
                switch output {
                case .notifyRecord(let octets): (octets, records[index].recordHandle)
                case .notifyContext(let octets): (octets, records[index].contextHandle)
                case .indicate(let octets): (octets, records[index].handle)
                }
            guard let handle, host.server.setValue(octets, of: handle) else { continue }
            host.notify(handle, at: now, sending: &out, emit: &hostEvents)
        }
    }
}

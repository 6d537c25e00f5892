// What a device does, as JSON for programs: one object an event.
import Advertising
import BLEHost
import GATT
import HCI
import Profiles
public import SansIO
public import Wire

extension EmulatedDevice {
    /// The object for an event; nil where it matters less than `level` asks, or says nothing.
    ///
    /// Every object has `time` in seconds since power-on, `level`, `event` and `text`, the line for
    /// people; those about a value have `characteristic`, `handle`, `hex` and `value` as well,
    /// those about the advertising interval it in milliseconds, `from` and `to`, and the `reason`.
    public func json(
        for event: DeviceEvent, at time: TimeSpan, upTo level: LogLevel
    ) -> JSONValue? {
        guard let line = line(for: event, upTo: level) else { return nil }
        var members = [
            JSONMember("time", .real(time.seconds)), JSONMember("level", .string(line.level.name)),
            JSONMember("event", .string(Self.name(of: event))),
            JSONMember("text", .string(line.text)),
        ]
        switch event {
        case .host(.server(let event), _): members += self.members(of: event)
        case .accessed(let event, _, let value):
            members += self.members(of: event, value: value)
        case .host(.connected(let link, let connection), _):
            members.append(JSONMember("link", .integer(Int64(link))))
            members.append(JSONMember("peer", .string("\(connection.peerAddress)")))
        case .host(.disconnected(let link, let peer, let reason), _):
            members.append(JSONMember("link", .integer(Int64(link))))
            members.append(JSONMember("peer", .string("\(peer)")))
            members.append(JSONMember("reason", .integer(Int64(reason.rawValue))))
        case .host(.addressRenewed(let address, let set), _):
            if let set { members += member(ofSet: set) }
            members.append(JSONMember("address", .string("\(address)")))
        case .host(.sent(let link, let handle, let value, _), _):
            members.append(JSONMember("link", .integer(Int64(link))))
            members += self.members(of: value, handle)
        case .host(.security(let event), let peer): members += self.members(of: event, peer)
        case .advertising(let interval, _, let reason, let set):
            members += member(ofSet: set)
            members.append(JSONMember("interval", Self.milliseconds(interval)))
            members.append(JSONMember("reason", .string(reason)))
        case .interval(let decision, let set):
            members += member(ofSet: set)
            members.append(JSONMember("from", Self.milliseconds(decision.from)))
            members.append(JSONMember("to", Self.milliseconds(decision.to)))
            members.append(JSONMember("reason", .string(decision.reason)))
        case .answered(let link, let peer, let answer):
            members.append(JSONMember("link", .integer(Int64(link))))
            members.append(JSONMember("peer", .string("\(peer)")))
            members.append(JSONMember("answer", .string(answer.word)))
        case .flashed(let report): members += self.members(of: report)
        case .host(.advertisingStopped(let set), _), .host(.advertisingPaused(let set), _),
            .host(.advertisingRefused(_, let set), _), .host(.scanRequested(let set, _), _),
            .host(.connectedFrom(let set, _), _):
            members += member(ofSet: set)
        case .host, .activity, .presetRefused, .keptValueDropped, .said: break
        }
        return .object(members)
    }

    /// The set's name, where there are several.
    private func member(ofSet set: Int) -> [JSONMember] {
        let sets = profile.advertising
        guard sets.count > 1, sets.indices.contains(set) else { return [] }
        return [JSONMember("set", .string(sets[set].name))]
    }

    private static func milliseconds(_ interval: AdvertisingInterval) -> JSONValue {
        .real(Double(interval.microseconds) / 1000)
    }

    private static func name(of event: DeviceEvent) -> String {
        switch event {
        case .presetRefused: "preset-refused"
        case .keptValueDropped: "kept-value-dropped"
        case .said: "log"
        case .flashed: "flashed"
        case .answered: "answered"
        case .advertising: "advertising"
        case .interval: "interval"
        case .activity: "activity"
        case .accessed(let event, _, _): name(of: event)
        case .host(let event, _):
            switch event {
            case .ready: "ready"
            case .failed: "failed"
            case .note: "note"
            case .advertising: "advertising"
            case .advertisingPaused: "advertising-paused"
            case .advertisingStopped: "advertising-stopped"
            case .advertisingRefused: "advertising-refused"
            case .scanRequested: "scan-requested"
            case .connectedFrom: "connected-from"
            case .addressRenewed: "address-renewed"
            case .connected: "connected"
            case .disconnected: "disconnected"
            case .connectionUpdated: "connection-updated"
            case .phyUpdated: "phy-updated"
            case .parametersAnswered: "parameters-answered"
            case .overflow: "overflow"
            case .sent(_, _, _, let isIndication): isIndication ? "indicated" : "notified"
            case .pairingRefused: "pairing-refused"
            case .security(let event): name(of: event)
            case .server(let event): name(of: event)
            }
        }
    }

    private static func name(of event: ServerEvent) -> String {
        switch event {
        case .mtu: "mtu"
        case .read: "read"
        case .written: "written"
        case .subscribed: "subscribed"
        case .features: "features"
        case .confirmed: "confirmed"
        case .indicationReady: "indication-ready"
        case .refused: "refused"
        case .peerIndication: "peer-indication"
        case .timeout: "timeout"
        }
    }

    private func members(of event: ServerEvent, value: [UInt8] = []) -> [JSONMember] {
        switch event {
        case .mtu(let client, let mtu):
            [JSONMember("link", .integer(Int64(client))), JSONMember("mtu", .integer(Int64(mtu)))]
        case .read(let client, let handle, _), .written(let client, let handle, _):
            [JSONMember("link", .integer(Int64(client)))] + members(of: value, handle)
        case .subscribed(let client, let handle, let notify, let indicate):
            [JSONMember("link", .integer(Int64(client)))] + subject(handle) + [
                JSONMember("notify", .boolean(notify)), JSONMember("indicate", .boolean(indicate)),
            ]
        case .refused(let client, _, let handle, let error):
            [JSONMember("link", .integer(Int64(client)))] + subject(handle) + [
                JSONMember("error", .integer(Int64(error.rawValue)))
            ]
        case .features(let client, _), .confirmed(let client, _),
            .indicationReady(let client, _), .peerIndication(let client, _),
            .timeout(let client):
            [JSONMember("link", .integer(Int64(client)))]
        }
    }

    private func subject(_ handle: UInt16) -> [JSONMember] {
        [
            JSONMember("characteristic", plan.name(of: handle).map { .string($0) } ?? .null),
            JSONMember("handle", .integer(Int64(handle))),
        ]
    }

    private func members(of bytes: [UInt8], _ handle: UInt16) -> [JSONMember] {
        var members = subject(handle) + [JSONMember("hex", .string(Hex.string(bytes)))]
        if let format = plan.binding(valueHandle: handle)?.format {
            members.append(JSONMember("value", format.meaning(of: bytes).json))
        }
        return members
    }
}

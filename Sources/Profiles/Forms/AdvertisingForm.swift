// The `advertising:` part: sets, their interval and their byte budget.
import Advertising
import SansIO
import YAML

extension Form where Value == [AdvertisingSet] {
    static var advertisingSets: Form {
        let says = "a list of advertising sets"
        let list = Form<[AdvertisingSet]>.list(of: .advertisingSet, says: says)
        return Form(says: says, schema: list.schema) { place, context in
            let sets = list.read(place, context)
            if case .sequence(let nodes) = place.node.content, nodes.count > 1 {
                context.report(
                    place.element(1, nodes[1]), "several advertising sets are not supported yet",
                    "keep one set")
            }
            return sets
        }
    }
}

extension Form where Value == AdvertisingSet {
    fileprivate static var advertisingSet: Form {
        map(says: "a map of type, interval and data") { keys in
            let name = keys.optional("set", .text(64, says: "the set's name"))
            let kind = keys.required("type", .advertisingKind)
            let policy = keys.required("interval", .intervalPolicy)
            let errors = keys.context.errors.count
            let data = keys.optional("data", .entries(isInScanResponse: false)) ?? []
            let response = keys.optional("scan-response", .entries(isInScanResponse: true)) ?? []
            let update = keys.optional("update", Form<TimeSpan>.every)
            checkUpdate(keys, isDataWhole: keys.context.errors.count == errors)
            keys.later("pdu", "tx-power", "address", "channels", "duration", "period")
            checkData(data, keys)
            checkResponse(response, kind, keys)
            guard let kind, let policy else { return nil }
            var set = AdvertisingSet(
                name: name ?? "main", kind: kind, policy: policy, data: data, scanResponse: response
            )
            set.update = update
            return set
        }
    }

    private static func checkUpdate(_ keys: Keys, isDataWhole: Bool) {
        let isLive = keys.context.liveFields.contains { $0.source.moves }
        // A structure with errors may be the live one.
        if keys.has("update"), !isLive, isDataWhole {
            keys.report(
                at: "update", "nothing in the data is taken anew",
                "remove it, or add 'fields' to a structure")
        } else if isLive, !keys.has("update") {
            keys.report(
                at: "data", "live fields need to know when they are taken anew",
                "add 'update: every 10 s'")
        }
    }

    private static func checkData(_ data: [AdvertisingStructure], _ keys: Keys) {
        checkBudget(data, keys, key: "data", what: "advertising data")
        let writesFlags = data.filter { $0.parts.contains { $0.label == "flags" } }
        if writesFlags.count > 1 {
            let beacons = writesFlags.compactMap { $0.beacon?.format.name }
            let remedy =
                switch beacons.count {
                case 0: "keep one of them"
                case writesFlags.count: "keep one of '\(beacons.joined(separator: "' and '"))'"
                default: "remove 'flags': '\(beacons[0])' writes them itself"
                }
            keys.report(at: "data", "the flags stand twice", remedy)
        }
    }

    private static func checkResponse(
        _ response: [AdvertisingStructure], _ kind: AdvertisingKind?, _ keys: Keys
    ) {
        checkBudget(response, keys, key: "scan-response", what: "the scan response")
        guard !response.isEmpty else { return }
        if kind == .nonConnectable {
            keys.report(
                at: "scan-response", "a non-connectable set sends no scan response",
                "remove it, or write 'type: scannable'")
        }
        // Core Specification Supplement, Part A, 1.3.1.
        if response.contains(where: { $0.parts.contains { $0.label == "flags" } }) {
            keys.report(
                at: "scan-response", "flags cannot stand in a scan response", "move them to 'data'")
        }
    }

    /// Legacy advertising carries 31 octets; over that, every structure is said with its octets.
    private static func checkBudget(
        _ structures: [AdvertisingStructure], _ keys: Keys, key: String, what: String
    ) {
        let parts = structures.flatMap(\.parts)
        let count = parts.reduce(0) { $0 + $1.octets }
        let limit = AdvertisingLimits.legacyDataOctets
        guard count > limit else { return }
        let items = parts.map { "\($0.label) \($0.octets)" }.joined(separator: ", ")
        keys.report(
            at: key, "\(what) is \(count) of \(limit) bytes: \(items)",
            "remove \(count - limit) \(count - limit == 1 ? "byte" : "bytes")"
                + (key == "data" ? ", or move a structure to 'scan-response'" : ""))
    }
}

extension Form where Value == [AdvertisingStructure] {
    /// The entries of a list; their live fields are kept in the context.
    fileprivate static func entries(isInScanResponse: Bool) -> Form {
        let says = "a list of AD structures"
        let entry = Form<AdvertisingStructure>.structure
        return Form(says: says, schema: { .list(entry.schema(), minimum: 0) }) { place, context in
            guard case .sequence(let nodes) = place.node.content else {
                return mismatch(place, context, says: says)
            }
            var entries: [AdvertisingStructure] = []
            for (index, node) in nodes.enumerated() where !context.isFull {
                context.liveParts.removeAll()
                guard let found = entry.read(place.element(index, node), context) else { continue }
                context.liveFields += context.liveParts.map { part in
                    var field = part
                    (field.isInScanResponse, field.entry) = (isInScanResponse, entries.count)
                    return field
                }
                entries.append(found)
            }
            return entries
        }
    }
}

extension Form where Value == AdvertisingKind {
    fileprivate static var advertisingKind: Form {
        let words = word([
            ("connectable", .connectable), ("scannable", .scannable),
            ("non-connectable", .nonConnectable),
        ])
        let map = Form.map(says: words.says) { keys in
            keys.later("directed")
            return nil
        }
        return either(scalar: words, map: map)
    }
}

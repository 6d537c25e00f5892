// The `advertising:` part: sets, their interval and their byte budget.
import Advertising
import HCI
import SansIO
import YAML

extension Form where Value == [AdvertisingSet] {
    static var advertisingSets: Form {
        let says = "a list of advertising sets"
        let element = Form<AdvertisingSet>.advertisingSet
        return Form(says: says, schema: { .list(element.schema(), minimum: 1) }) { place, context in
            guard case .sequence(let nodes) = place.node.content else {
                return mismatch(place, context, says: says)
            }
            guard !nodes.isEmpty else {
                context.report(place, "the list is empty", "write \(says)")
                return nil
            }
            guard nodes.count <= AdvertisingSet.countMax else {
                context.report(
                    place, "there are \(nodes.count) advertising sets",
                    "keep \(AdvertisingSet.countMax), and write the others into another profile")
                return nil
            }
            var sets: [AdvertisingSet] = []
            for (index, node) in nodes.enumerated() where !context.isFull {
                let first = context.liveFields.count
                guard let set = element.read(place.element(index, node), context) else { continue }
                for field in context.liveFields.indices.dropFirst(first) {
                    context.liveFields[field].set = sets.count
                }
                sets.append(set)
            }
            finish(&sets, place, nodes, context)
            return sets
        }
    }

    /// Several sets: each has a name, and an address of its own unless it says otherwise. The first
    /// that centrals connect to, else the first, goes by the device's.
    private static func finish(
        _ sets: inout [AdvertisingSet], _ place: Place, _ nodes: [YAMLNode],
        _ context: DecodeContext
    ) {
        guard nodes.count > 1, sets.count == nodes.count else { return }
        for (index, node) in nodes.enumerated() {
            let here = place.element(index, node)
            if !node.has("set") {
                context.report(
                    here, "several sets need names", "add 'set: main', or what it is for")
            } else if sets[..<index].contains(where: { $0.name == sets[index].name }) {
                context.report(
                    here, "the name '\(sets[index].name)' stands twice", "write another 'set'")
            }
        }
        let first = sets.firstIndex { $0.kind.isConnectable } ?? 0
        for index in sets.indices where !nodes[index].has("address") && index != first {
            sets[index].address = .randomStatic(nil)
        }
        checkIDs(sets, place, nodes, context)
    }

    /// Sets with one address are told apart by their IDs.
    private static func checkIDs(
        _ sets: [AdvertisingSet], _ place: Place, _ nodes: [YAMLNode], _ context: DecodeContext
    ) {
        let device = context.deviceAddress ?? .randomStatic(nil)
        for (index, set) in sets.enumerated() {
            guard let sid = set.sid, let node = nodes[index].value(of: "sid") else { continue }
            let twin = sets[..<index].first {
                $0.sid == sid && $0.sharesAddress(with: set, device)
            }
            guard let twin else { continue }
            context.report(
                place.element(index, nodes[index]).child("sid", node),
                "the set '\(twin.name)' has the ID \(sid) and the same address",
                "write another 'sid', or another 'address'")
        }
    }
}

extension YAMLNode {
    /// Whether it is a map with this key.
    fileprivate func has(_ key: String) -> Bool { value(of: key) != nil }

    fileprivate func value(of key: String) -> YAMLNode? {
        guard case .mapping(let pairs) = content else { return nil }
        return pairs.first { $0.key == key }?.value
    }
}

extension Form where Value == AdvertisingSet {
    fileprivate static var advertisingSet: Form {
        map(says: "a map of type, interval and data") { keys in
            let name = keys.optional("set", .line(64, says: "the set's name"))
            let kind = keys.required("type", .advertisingKind)
            let policy = keys.required("interval", .intervalPolicy)
            var set = AdvertisingSet(
                name: name ?? "main", kind: kind ?? .connectable,
                policy: policy ?? .fixed(.minimum), data: [])
            set.readRadio(&keys)
            let errors = keys.context.errors.count
            let live = keys.context.liveFields.count
            set.data = keys.optional("data", .entries(of: .data)) ?? []
            set.scanResponse = keys.optional("scan-response", .entries(of: .scanResponse)) ?? []
            set.periodic = keys.optional("periodic", Form<PeriodicTrain>.periodicTrain)
            set.update = keys.optional("update", Form<TimeSpan>.every)
            let own = keys.context.liveFields.dropFirst(live)
            checkUpdate(
                set, keys, own.filter(\.source.moves),
                isDataWhole: keys.context.errors.count == errors)
            if own.contains(where: { $0.source == .encryption }), let update = set.update,
                update < BeaconKey.updateMin
            {
                keys.report(
                    at: "update", "what is encrypted counts the time, in steps of 250 ms",
                    "write 'every 250 ms' or longer")
            }
            set.readTimes(&keys)
            checkData(set, keys)
            checkResponse(set, keys)
            guard kind != nil, policy != nil else { return nil }
            set.check(keys)
            return set
        }
    }

    /// How structures of which nothing is taken anew can be made live.
    private static func remedyOfStill(_ structures: [AdvertisingStructure]) -> String {
        if structures.contains(where: \.takesFields) { return ", or add 'fields' to a structure" }
        let numbers = structures.compactMap(\.beacon).first { beacon in
            beacon.items.contains { if case .number = $0.field.kind { true } else { false } }
        }
        return numbers.map {
            ", or write a generator such as '{sine: {…}}' for a value of '\($0.format.name)'"
        } ?? ""
    }

    private static func checkUpdate(
        _ set: AdvertisingSet, _ keys: Keys, _ moving: [LiveField], isDataWhole: Bool
    ) {
        // A structure with errors may be the live one.
        if keys.has("update"), moving.isEmpty, isDataWhole {
            keys.report(
                at: "update", "nothing in the data is taken anew",
                "remove it"
                    + remedyOfStill(LiveField.Part.allCases.flatMap { set.entries(of: $0) }))
        } else if let field = moving.first, !keys.has("update") {
            keys.report(
                at: field.part.key, "live fields need to know when they are taken anew",
                "add 'update: every 10 s'")
        }
    }

    private static func checkData(_ set: AdvertisingSet, _ keys: Keys) {
        let data = set.data
        checkBudget(data, of: set, keys, key: "data", what: "advertising data")
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
        _ set: AdvertisingSet, _ keys: Keys
    ) {
        let response = set.scanResponse
        checkBudget(response, of: set, keys, key: "scan-response", what: "the scan response")
        guard !response.isEmpty else { return }
        if set.kind == .nonConnectable {
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

    /// Over what the PDUs carry, every structure is said with its octets.
    private static func checkBudget(
        _ structures: [AdvertisingStructure], of set: AdvertisingSet, _ keys: Keys, key: String,
        what: String
    ) {
        let parts = structures.flatMap(\.parts)
        let count = parts.reduce(0) { $0 + $1.octets }
        let limit = set.dataOctetsMax
        guard count > limit else { return }
        let isLegacy = set.pdu == .legacy
        let items = parts.map { "\($0.label) \($0.octets)" }.joined(separator: ", ")
        let hasResponse = set.kind == .connectable || set.kind == .scannable
        keys.report(
            at: key, "\(what) is \(count) of \(limit) bytes: \(items)",
            "remove \(count - limit) \(count - limit == 1 ? "byte" : "bytes")"
                + (isLegacy && key == "data" && hasResponse
                    ? ", or move a structure to 'scan-response'" : "")
                + (isLegacy
                    ? (set.canBeExtended(with: count) ? ", or write 'pdu: extended'" : "")
                    : set.remedyOfFallback))
    }
}

extension LiveField.Part {
    /// The key of a set that has such structures.
    fileprivate var key: String {
        switch self {
        case .data: "data"
        case .scanResponse: "scan-response"
        case .periodic: "periodic"
        }
    }
}

extension Form where Value == [AdvertisingStructure] {
    /// The entries of a list; their live fields are kept in the context.
    static func entries(of part: LiveField.Part) -> Form {
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
                context.liveFields += context.liveParts.map { found in
                    var field = found
                    (field.part, field.entry) = (part, entries.count)
                    return field
                }
                entries.append(found)
            }
            return entries
        }
    }
}

extension AdvertisingStructure {
    /// Whether `fields:` can stand in it.
    fileprivate var takesFields: Bool {
        switch self {
        case .manufacturer, .serviceData, .raw: true
        case .flags, .serviceUUIDs, .name, .txPower, .appearance, .beacon: false
        }
    }
}

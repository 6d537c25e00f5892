// What a text of the profile names: a label, else an assigned name or a UUID that is unique in it.
import Wire

/// The things of one kind that a profile's references can name.
struct References {
    /// One thing with its names.
    struct Entry {
        let label: String?
        /// The assigned name, else the UUID.
        let name: String
        let uuid: BluetoothUUID
        /// Where it stands: `services[0]`.
        let path: String
        /// The indices of its service and, of a characteristic, within that.
        let service: Int
        let characteristic: Int
        /// The label and the name of a characteristic's service.
        var serviceNames: [String] = []
    }

    let entries: [Entry]
    private var labels: [String: Int] = [:]
    private var names: [String: [Int]] = [:]

    private init(_ entries: [Entry]) {
        self.entries = entries
        for (index, entry) in entries.enumerated() {
            if let label = entry.label { labels[label] = index }
            names[entry.name, default: []].append(index)
        }
    }

    /// The services of a profile.
    static func services(_ services: [ServiceSpec]) -> References {
        References(
            services.enumerated().map { index, service in
                Entry(
                    label: service.label, name: service.name, uuid: service.uuid,
                    path: "services[\(index)]", service: index, characteristic: 0)
            })
    }

    /// The characteristics of a profile.
    static func characteristics(_ services: [ServiceSpec]) -> References {
        var entries: [Entry] = []
        for (index, service) in services.enumerated() {
            for (inner, spec) in service.characteristics.enumerated() {
                entries.append(
                    Entry(
                        label: spec.label, name: spec.assignedName, uuid: spec.uuid,
                        path: "services[\(index)].characteristics[\(inner)]", service: index,
                        characteristic: inner,
                        serviceNames: [service.name, service.uuid.description]
                            + (service.label.map { [$0] } ?? [])))
            }
        }
        return References(entries)
    }

    /// All that `text` names: one where the reference is right.
    func named(_ text: String) -> [Entry] {
        if let index = labels[text] { return [entries[index]] }
        if let indices = names[text] { return indices.map { entries[$0] } }
        if let slash = text.firstIndex(of: "/") {
            let service = String(text[..<slash])
            return named(String(text[text.index(after: slash)...]))
                .filter { $0.serviceNames.contains(service) }
        }
        // A number stands for what has a name, another spelling for the UUID.
        let digits = text.hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16) : nil
        guard let uuid = digits.map({ BluetoothUUID($0) }) ?? BluetoothUUID(text) else { return [] }
        return entries.filter { $0.uuid == uuid }
    }

    /// The one that `text` names; nil where it names none or several.
    func one(_ text: String) -> Entry? {
        let named = named(text)
        return named.count == 1 ? named[0] : nil
    }

    /// Its place among the entries.
    func index(of text: String) -> Int? {
        one(text).flatMap { one in entries.firstIndex { $0.path == one.path } }
    }

    /// The one that `text` names, or that it names up to its last point, behind which a field is.
    func target(_ text: String) -> (entry: Entry, field: String?)? {
        if let entry = one(text) { return (entry, nil) }
        guard let point = text.lastIndex(of: "."), let entry = one(String(text[..<point])) else {
            return nil
        }
        return (entry, String(text[text.index(after: point)...]))
    }

    /// Why a reference cannot be followed, and what to write.
    struct Objection: Error {
        var problem: String
        var remedy: String
    }

    /// What a reference to one of the characteristics of these services, or to a field of one, is.
    func resolve(
        _ text: String, in services: [ServiceSpec]
    ) throws(Objection) -> (target: WriteAction.Target, part: FieldPart) {
        guard let (entry, field) = target(text) else {
            let (problem, remedy) =
                objection(to: text, kind: "characteristic")
                ?? ("no such characteristic", "write its label or name")
            throw Objection(problem: problem, remedy: remedy)
        }
        let format = services[entry.service].characteristics[entry.characteristic].format
        let target = WriteAction.Target(
            service: entry.service, characteristic: entry.characteristic, field: field)
        guard let field else { return (target, .whole(format)) }
        guard case .fields(let layout) = format else {
            throw Objection(
                problem: "'\(entry.name)' has no fields",
                remedy: "write '\(text.dropLast(field.count + 1))'")
        }
        guard let part = layout.part(field) else {
            let near = NearestName.of(field, among: layout.names)
            throw Objection(
                problem: "'\(entry.name)' has no field '\(field)'",
                remedy: near.map { "write '\($0)'" }
                    ?? "write one of its fields: \(layout.names.joined(separator: ", "))")
        }
        return (target, part)
    }

    /// What is wrong with a reference, and what to write; nil where it names one.
    func objection(to text: String, kind: String) -> (problem: String, remedy: String)? {
        let named = named(text)
        if named.count == 1 { return nil }
        let shown = "'\(shortened(text))'"
        guard named.isEmpty else {
            let paths = named.prefix(10).map(\.path).joined(separator: ", ")
            return (
                "\(shown) names several: \(paths)",
                "give one of them a 'label' and write that"
                    + (kind == "service" ? "" : ", or 'service/characteristic'")
            )
        }
        var near = NearestName(to: text)
        for entry in entries {
            if let label = entry.label { near.consider(label) }
            near.consider(entry.name)
        }
        let remedy = near.best.map { "write '\($0)'" } ?? "write the label of a \(kind)"
        return ("no \(kind) is called \(shown)", remedy)
    }
}

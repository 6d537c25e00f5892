// One load of one profile: where each node stands, and the errors found so far.
import Advertising
import Behaviours
import Wire
import YAML

/// A node of the file with its path in the profile.
package struct Place {
    var node: YAMLNode
    /// `services[0].characteristics[1].value`; empty at the top.
    var path: String

    /// The text of a scalar; nil for a list or a map.
    var scalar: YAMLScalar? {
        switch node.content {
        case .scalar(let scalar): scalar
        case .sequence, .mapping: nil
        }
    }

    /// What is there, for messages: `'fast'`, `a list`, `nothing`.
    package var found: String {
        switch node.content {
        case .scalar(let scalar):
            scalar.value == .null ? "nothing" : "'\(shortened(scalar.text))'"
        case .sequence: "a list"
        case .mapping: "a map"
        }
    }

    func child(_ key: String, _ node: YAMLNode) -> Place {
        Place(node: node, path: path.isEmpty ? key : path + "." + key)
    }

    func element(_ index: Int, _ node: YAMLNode) -> Place {
        Place(node: node, path: "\(path)[\(index)]")
    }
}

/// What forms share while they read one file. It never leaves the load.
package final class DecodeContext {
    let file: String
    let files: ProfileLoader.FileReader
    private(set) var errors: [ProfileError] = []
    /// The parts that others refer to; the top form reads them first.
    var deviceName: String?
    var deviceAddress: AddressSpec?
    var activity: ActivityUse = .absent
    /// What live advertising data can take its values from.
    var services: [ServiceSpec] = []
    /// The live fields of the set that is read, and those of the structure, whose place in the set
    /// is still to be said.
    var liveFields: [LiveField] = []
    var liveParts: [LiveField] = []
    /// The labels so far, which name one thing each.
    var labels: Set<String> = []
    /// Names of services and characteristics that have errors: what names them is not told, since
    /// they would be there without.
    private var unloaded: Set<String> = []
    /// References so far; what they name may stand further down.
    private var references: [Reference] = []
    private var deferred: [(onWrite: Place?, records: Place?)] = []

    private struct Reference {
        let place: Place
        let kind: ReferenceKind
    }

    enum ReferenceKind: String { case service, characteristic }

    enum ActivityUse {
        case absent, broken
        case present(ActivityRule)
    }

    /// More errors than anyone corrects in one go; the rest is left out.
    static let errorsMax = 100

    init(file: String, files: @escaping ProfileLoader.FileReader) {
        self.file = file
        self.files = files
    }

    /// A context that knows the same, to find out whether something can be read.
    func trial() -> DecodeContext {
        let trial = DecodeContext(file: file, files: files)
        (trial.deviceName, trial.deviceAddress) = (deviceName, deviceAddress)
        trial.activity = activity
        trial.services = services
        trial.unloaded = unloaded
        return trial
    }

    package func report(_ place: Place, _ problem: String, _ remedy: String) {
        report(mark: place.node.mark, path: place.path, problem, remedy)
    }

    func report(mark: YAMLMark, path: String, _ problem: String, _ remedy: String) {
        report(
            ProfileError(
                file: file, line: mark.line, column: mark.column, path: path, problem: problem,
                remedy: remedy))
    }

    /// Keeps parts of a characteristic that name others until all are read; the number is theirs.
    func later(onWrite: Place?, records: Place?) -> Int {
        deferred.append((onWrite, records))
        return deferred.count - 1
    }

    /// Reads the parts that were kept.
    func readDeferred(_ services: inout [ServiceSpec]) {
        guard !deferred.isEmpty else { return }
        let references = References.characteristics(services)
        let all = services
        for service in services.indices {
            for index in services[service].characteristics.indices {
                let own = services[service].characteristics[index]
                guard let number = own.deferred, deferred.indices.contains(number) else { continue }
                let form = ReactionForm(services: all, references: references, own: own)
                let (onWrite, records) = deferred[number]
                services[service].characteristics[index].deferred = nil
                if let onWrite {
                    services[service].characteristics[index].reactions =
                        form.rules.read(onWrite, self) ?? []
                }
                if let records {
                    services[service].characteristics[index].records =
                        form.records.read(records, self)
                }
            }
        }
    }

    /// Notes all that a service or a characteristic with errors may be called by.
    func noteUnloaded(_ place: Place, _ kind: NameKind) {
        guard case .mapping(let pairs) = place.node.content else { return }
        for pair in pairs {
            // A mistyped key counts as well.
            guard let text = place.child(pair.key, pair.value).scalar?.text else { continue }
            unloaded.insert(text)
            guard pair.key == kind.word else { continue }
            if let uuid = BluetoothUUID(text) { unloaded.insert(uuid.description) }
            let name = kind.nearest(to: text)
            if let name { unloaded.insert(name) }
        }
    }

    /// Whether `text` names something with errors, or a field of it, or something in it.
    func isUnloaded(_ text: String) -> Bool {
        if unloaded.isEmpty { return false }
        let ends = text.indices.filter { text[$0] == "." || text[$0] == "/" } + [text.endIndex]
        return ends.contains { end in
            let name = text[..<end]
            return unloaded.contains(String(name))
                || unloaded.contains(String(name.split(separator: "/").last ?? ""))
        }
    }

    /// Notes a reference, to be looked up when all services are known.
    func refer(to kind: ReferenceKind, _ place: Place) {
        references.append(Reference(place: place, kind: kind))
    }

    /// Reports each reference that names nothing, or several things.
    func checkReferences(_ services: [ServiceSpec]) {
        guard !references.isEmpty else { return }
        let all = References.services(services)
        let characteristics = References.characteristics(services)
        for reference in references where !isFull {
            let text = reference.place.scalar?.text ?? ""
            let objection =
                switch reference.kind {
                case .service: all.objection(to: text, kind: "service")
                case .characteristic: characteristics.objection(to: text, kind: "characteristic")
                }
            if let (problem, remedy) = objection, !isUnloaded(text) {
                report(reference.place, problem, remedy)
            }
        }
        checkEchoes(services, characteristics)
    }

    /// Reports echoes that end where they began, so that nothing gives them a value.
    private func checkEchoes(_ services: [ServiceSpec], _ characteristics: References) {
        func echoed(_ index: Int) -> (text: String, index: Int)? {
            let entry = characteristics.entries[index]
            let spec = services[entry.service].characteristics[entry.characteristic]
            guard case .echo(let text) = spec.value else { return nil }
            return characteristics.index(of: text).map { (text, $0) }
        }
        var told: Set<Int> = []
        for (index, entry) in characteristics.entries.enumerated() where !told.contains(index) {
            guard let first = echoed(index) else { continue }
            var (chain, last) = ([index], first)
            while !chain.contains(last.index), let next = echoed(last.index) {
                chain.append(last.index)
                last = next
            }
            let path = entry.path + ".value.echo"
            guard last.index == index,
                let place = references.first(where: {
                    $0.place.path == path && $0.place.scalar?.text == first.text
                })?.place
            else { continue }
            told.formUnion(chain)
            let names = (chain.dropFirst() + [index]).map {
                "'\(characteristics.entries[$0].label ?? characteristics.entries[$0].name)'"
            }
            report(
                place,
                chain.count == 1
                    ? "a value cannot echo itself"
                    : "it echoes \(names.joined(separator: ", which echoes ")): "
                        + "nothing gives a value",
                "write a value that comes from elsewhere")
        }
    }

    /// Whether there are already more errors than are shown.
    var isFull: Bool { errors.count > Self.errorsMax }

    func report(_ error: ProfileError) { if !isFull { errors.append(error) } }

    /// The errors of the profile by place, those of other files behind them.
    var sortedErrors: [ProfileError] {
        var sorted = errors.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            if a.file != b.file { return a.file == file || (b.file != file && a.file < b.file) }
            return (a.line, a.column, left.offset) < (b.line, b.column, right.offset)
        }.map(\.element)
        if sorted.count > Self.errorsMax, let last = sorted.last {
            sorted.removeLast()
            sorted.append(
                ProfileError(
                    file: file, line: last.line, column: last.column, path: "",
                    problem: "there are more errors than the \(Self.errorsMax) shown",
                    remedy: "correct these first"))
        }
        return sorted
    }
}

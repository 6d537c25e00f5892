// The keys of one map, ticked off as they are read; what is left over is an error.
import Wire
import YAML

/// A map being read. A form asks for each key it knows; then every other key is unknown.
package struct Keys {
    package let place: Place
    package let context: DecodeContext
    private let pairs: [YAMLPair]
    private var isRead: [Bool]
    private var known: [String] = []
    /// Known keys that begin another form of the map.
    private var alternatives: [String] = []
    private var missing: [(key: String, says: String)] = []
    /// Where no map is read: what the declaration asks for.
    private let recorder: SchemaRecorder?

    fileprivate init(
        _ place: Place, _ pairs: [YAMLPair], _ context: DecodeContext,
        recorder: SchemaRecorder? = nil
    ) {
        self.recorder = recorder
        self.place = place
        self.context = context
        self.pairs = pairs
        isRead = [Bool](repeating: false, count: pairs.count)
    }

    /// The key's value; nil where the key is absent or its value has errors. A form is only made
    /// for a key that is there.
    package mutating func optional<Value>(
        _ key: String, _ form: @autoclosure () -> Form<Value>
    ) -> Value? {
        if let recorder {
            recorder.add(key, form(), isRequired: false)
            return nil
        }
        guard let index = take(key) else { return nil }
        return form().read(place.child(key, pairs[index].value), context)
    }

    /// The key's value; an absent key is an error.
    package mutating func required<Value>(
        _ key: String, _ form: @autoclosure () -> Form<Value>
    ) -> Value? {
        if let recorder {
            recorder.add(key, form(), isRequired: true)
            return nil
        }
        guard let index = take(key) else {
            missing.append((key, form().says))
            return nil
        }
        return form().read(place.child(key, pairs[index].value), context)
    }

    /// Puts the key's value into `target`, which an absent key leaves as it is.
    mutating func read<Value>(
        _ key: String, into target: inout Value, _ form: @autoclosure () -> Form<Value>
    ) {
        if let value = optional(key, form()) { target = value }
    }

    /// Keys of the format that a later version serves: known, and refused.
    mutating func later(_ keys: String...) {
        for key in keys where has(key) && !isDeclaring {
            refuse(key, "'\(key)' is not supported yet", "remove it")
            known.removeAll { $0 == key }
        }
    }

    /// Keys that stand in another form of the same map: known, so that a mistyped one is told so.
    mutating func mention(_ keys: [String]) {
        guard recorder == nil else { return }
        alternatives += keys.filter { !has($0) }
        known += alternatives
    }

    /// A key that is known and cannot be used.
    mutating func refuse(_ key: String, _ problem: String, _ remedy: String) {
        if take(key) != nil { report(at: key, problem, remedy) }
    }

    /// The place of a key's value, read or not.
    func child(_ key: String) -> Place? {
        pairs.first { $0.key == key }.map { place.child(key, $0.value) }
    }

    /// Whether the key is there, read or not.
    ///
    /// For the schema every key is there, so that what hangs on one is asked for too.
    package func has(_ key: String) -> Bool {
        if let recorder { return recorder.assumed?.contains(key) ?? true }
        return pairs.contains { $0.key == key }
    }

    /// Whether no map is read and only what it may hold is asked for.
    var isDeclaring: Bool { recorder != nil }

    /// The key's own place, to report a conflict between keys.
    package func report(at key: String, _ problem: String, _ remedy: String) {
        guard let pair = pairs.first(where: { $0.key == key }) else {
            return context.report(place, problem, remedy)
        }
        context.report(
            mark: pair.keyMark, path: place.child(key, pair.value).path, problem, remedy)
    }

    private mutating func take(_ key: String) -> Int? {
        known.append(key)
        guard let index = pairs.firstIndex(where: { $0.key == key }) else { return nil }
        isRead[index] = true
        return index
    }

    /// Reports unknown keys, and missing ones that no unknown key was meant to be.
    fileprivate mutating func finish() {
        let absent = known.filter { !has($0) }
        for (index, pair) in pairs.enumerated() where !isRead[index] {
            if context.isFull { return }
            let near =
                NearestName.of(pair.key, among: absent)
                ?? NearestName.of(pair.key, among: known)
            // Who means another form misses nothing of this one.
            let isAlternative = near.map { alternatives.contains($0) } ?? false
            missing.removeAll { $0.key == near || isAlternative }
            context.report(
                mark: pair.keyMark, path: place.child(shortened(pair.key), pair.value).path,
                "unknown key '\(shortened(pair.key))'",
                near.map { "write '\($0)'" } ?? "known keys: \(known.joined(separator: ", "))")
        }
        for (key, says) in missing {
            context.report(place, "the key '\(key)' is missing", "write '\(key):' with \(says)")
        }
    }
}

/// A key that chooses how a value is read.
struct Choice<Value> {
    let key: String
    let form: () -> Form<Value>

    init(_ key: String, _ form: @escaping @autoclosure () -> Form<Value>) {
        self.key = key
        self.form = form
    }
}

extension Form {
    /// A map, read by `body` key by key.
    package static func map(says: String, _ body: @escaping (inout Keys) -> Value?) -> Form {
        Form(says: says, schema: { schema(of: body) }) { place, context in
            guard case .mapping(let pairs) = place.node.content else {
                return mismatch(place, context, says: says)
            }
            var keys = Keys(place, pairs, context)
            let value = body(&keys)
            keys.finish()
            return value
        }
    }

    /// What `body` asks for when nothing is there.
    ///
    /// - Parameter assumed: the keys that are taken to be there; nil for all.
    static func schema(
        assuming assumed: [String]? = nil, of body: (inout Keys) -> Value?
    ) -> Schema {
        let recorder = SchemaRecorder(assuming: assumed)
        let nowhere = Place(
            node: YAMLNode(.mapping([]), mark: YAMLMark(line: 1, column: 1)), path: "")
        let context = DecodeContext(file: "") { _ in .failure(FileFailure(reason: "")) }
        var keys = Keys(nowhere, [], context, recorder: recorder)
        _ = body(&keys)
        return .map(recorder.properties)
    }

    /// A map of one key, which chooses how the value is read: `{sine: {…}}`.
    static func choice(says: String, _ choices: [Choice<Value>], later: [String] = []) -> Form {
        map(says: says) { keys in
            var count = 0
            var chosen: Value?
            for choice in choices {
                if keys.has(choice.key) { count += 1 }
                if count == 2, keys.has(choice.key) {
                    keys.report(at: choice.key, "only one key can stand here", "keep one of them")
                }
                if let value = keys.optional(choice.key, choice.form()) { chosen = value }
            }
            for key in later { keys.later(key) }
            if keys.isEmpty { return mismatch(keys.place, keys.context, says: says) }
            return chosen
        }
    }
}

extension Keys {
    fileprivate var isEmpty: Bool { pairs.isEmpty }
}

// `on-write:` and `records:`, read once all characteristics they may name are known.
import Behaviours
import GATT
import SansIO
import Wire
import YAML

/// Reads what refers to characteristics that may stand further down.
struct ReactionForm {
    let services: [ServiceSpec]
    let references: References
    /// The characteristic that is written.
    let own: CharacteristicSpec

    /// For the schema, which knows no characteristics.
    static var unbound: ReactionForm {
        ReactionForm(
            services: [], references: .characteristics([]),
            own: CharacteristicSpec(
                uuid: BluetoothUUID(0), format: .bytes, value: .constant([])))
    }

    /// More rules for one characteristic than anyone keeps apart.
    static let rulesMax = 64

    var rules: Form<[WriteReaction]> {
        let says = "a list of rules such as '[{do: {log: written}}]'"
        let list = Form<[WriteReaction]>.list(of: rule, says: says)
        return Form(says: says, schema: list.schema) { place, context in
            guard let rules = list.read(place, context) else { return nil }
            guard rules.count <= Self.rulesMax else {
                context.report(
                    place, "there are \(rules.count) rules, the limit is \(Self.rulesMax)",
                    "write fewer")
                return nil
            }
            return rules
        }
    }

    private var rule: Form<WriteReaction> {
        .map(says: "a map of when and do") { keys in
            let condition = keys.optional("when", condition)
            let actions = keys.required(
                "do",
                Form<[Action]>.oneOrMany(action, says: "an action such as '{log: written}'"))
            let later = keys.optional("then", later)
            guard let actions else { return nil }
            var reaction = WriteReaction()
            reaction.condition = condition ?? WriteCondition()
            for action in actions {
                switch action {
                case .reject(let error): reaction.rejection = error
                case .keep: break
                case .actions(let actions): reaction.actions += actions
                }
            }
            reaction.later = later
            if reaction.rejection != nil, actions.count > 1 || later != nil {
                keys.report(
                    at: "do", "what is refused has no other effect", "let 'reject' stand alone")
            }
            return reaction
        }
    }

    /// `{after: 5 s, do: {set: {state: locked}}}`.
    private var later: Form<LaterActions> {
        .map(says: "a map of after and do") { keys in
            let after = keys.required(
                "after",
                .time(
                    .milliseconds(1)...(.seconds(86_400)), limits: "1 ms to 1 d", example: "5 s"))
            let actions = keys.required(
                "do",
                Form<[Action]>.oneOrMany(action, says: "an action such as '{log: locked}'"))
            guard let after, let actions else { return nil }
            var later = LaterActions(after: after, actions: [])
            for action in actions {
                switch action {
                case .reject, .keep:
                    keys.report(
                        at: "do", "the write is over by then", "write another action")
                case .actions(let actions): later.actions += actions
                }
            }
            return later
        }
    }

    private var condition: Form<WriteCondition> {
        .map(says: "a map such as '{longer-than: 20}'") { keys in
            var condition = WriteCondition()
            let count = Form<Int>.integer(0...valueOctetsMax, says: "0 to 512 octets")
            condition.longerThan = keys.optional("longer-than", count)
            condition.shorterThan = keys.optional("shorter-than", count)
            if let length = keys.optional("length", count) {
                condition.longerThan = length - 1
                condition.shorterThan = length + 1
            }
            condition.equals = keys.optional("is", octets(of: own.format))
            keys.read("begins-with", into: &condition.prefix, .octets(valueOctetsMax))
            condition.isSubscribed = keys.optional("subscribed", .boolean)
            condition.integer = integer(&keys)
            return condition
        }
    }

    /// `above` and `below` of a number.
    private func integer(_ keys: inout Keys) -> WriteCondition.IntegerRange? {
        let value = ValueForm(format: own.format)
        let above = keys.optional("above", value.bound)
        let below = keys.optional("below", value.bound)
        guard above != nil || below != nil else { return nil }
        guard let format = value.numbers?.format, format.kind == .integer, format.octets <= 8 else {
            keys.report(
                at: above == nil ? "below" : "above", "the value is no whole number",
                "add 'format: uint16' or another to the characteristic")
            return nil
        }
        // In steps; a bound that is none lies between two.
        func steps(_ value: Double) -> Double { value / format.scale }
        let low = above.map { steps($0).rounded(.down) + 1 } ?? -0x1p62
        let high = below.map { steps($0).rounded(.up) - 1 } ?? 0x1p62
        guard low <= high else {
            keys.report(at: "below", "no number is that", "write a greater 'below'")
            return nil
        }
        return WriteCondition.IntegerRange(
            octets: format.octets, isSigned: format.isSigned,
            range: Int64(max(low, -0x1p62))...Int64(min(high, 0x1p62)))
    }

    /// A value in a format, as octets.
    private func octets(of format: ValueFormat) -> Form<[UInt8]> {
        let part = FieldPart.whole(format)
        return Form(says: part.says, schema: { .value }) { part.octets($0, $1) }
    }

    // MARK: Actions

    private enum Action {
        case reject(ATTError)
        case keep
        case actions([WriteAction])
    }

    private var action: Form<Action> {
        let store = Form<Action>.word([("store", .keep)])
        let map = Form<Action>.choice(
            says: "an action such as '{log: written}'",
            [
                Choice("reject", Form<ATTError>.error.map { .reject($0) }),
                Choice("store", target.map { .actions([.store(into: $0)]) }),
                Choice("set", sets.map { .actions($0) }),
                Choice(
                    "authorize",
                    Form<TimeSpan>.time(
                        .seconds(1)...(.seconds(86_400)), limits: "1 s to 1 d", example: "30 s"
                    ).map { .actions([.authorize($0)]) }),
                Choice("notify", target.map { .actions([.send($0)]) }),
                Choice("indicate", target.map { .actions([.send($0)]) }),
                Choice(
                    "log", Form<String>.text(200, says: "a text").map { .actions([.log($0)]) }),
            ])
        return .either(scalar: store, map: map)
    }

    /// A reference to a characteristic or a field of it.
    var target: Form<WriteAction.Target> {
        let says = "the label or the name of a characteristic"
        return Form(says: says, schema: { .assigned([]) }) { place, context in
            guard let text = place.scalar?.text, !text.isEmpty else {
                return Form<WriteAction.Target>.mismatch(place, context, says: says)
            }
            return find(text, place, context)?.target
        }
    }

    private func find(
        _ text: String, _ place: Place, _ context: DecodeContext
    ) -> (target: WriteAction.Target, part: FieldPart)? {
        do throws(References.Objection) {
            return try references.resolve(text, in: services)
        } catch {
            if !context.isUnloaded(text) { context.report(place, error.problem, error.remedy) }
            return nil
        }
    }

    private func format(of target: WriteAction.Target) -> ValueFormat {
        services[target.service].characteristics[target.characteristic].format
    }

    /// `{receipt: written}`: each key names a characteristic, its value is in that one's format.
    private var sets: Form<[WriteAction]> {
        let says = "a map of characteristics and their values"
        return Form(says: says) { place, context in
            guard case .mapping(let pairs) = place.node.content, !pairs.isEmpty else {
                return Form<[WriteAction]>.mismatch(place, context, says: says)
            }
            var actions: [WriteAction] = []
            for pair in pairs {
                let key = Place(
                    node: YAMLNode(
                        .scalar(YAMLScalar(pair.key, isPlain: true)), mark: pair.keyMark),
                    path: place.child(pair.key, pair.value).path)
                guard let (target, part) = find(pair.key, key, context) else { return nil }
                let value = place.child(pair.key, pair.value)
                if let (octets, places) = Self.answer(value) {
                    actions.append(.set(target, octets, opcodeAt: places))
                    continue
                }
                guard let octets = part.octets(value, context) else { return nil }
                actions.append(.set(target, octets))
            }
            return actions
        }
    }

    /// `{hex: "10..02"}`: octets among which `..` is the first one that was written; nil for all
    /// else.
    private static func answer(_ place: Place) -> (octets: [UInt8], places: [Int])? {
        guard case .mapping(let pairs) = place.node.content, pairs.count == 1,
            pairs[0].key == "hex", case .scalar(let scalar) = pairs[0].value.content,
            !scalar.isPlain, scalar.text.utf8.count <= 2 * valueOctetsMax
        else { return nil }
        var digits = ""
        var places: [Int] = []
        for octet in stride(from: 0, to: scalar.text.count, by: 2) {
            let pair = scalar.text.dropFirst(octet).prefix(2)
            if pair == ".." { places.append(octet / 2) }
            digits += pair == ".." ? "00" : String(pair)
        }
        guard !places.isEmpty, let octets = Hex.bytes(digits) else { return nil }
        return (octets, places)
    }

    // MARK: Records

    var records: Form<RecordsSpec> {
        .map(says: "a map of of and values") { keys in
            let target = keys.required("of", target)
            let contextTarget = keys.optional("context-of", self.target)
            let values = keys.required(
                "values",
                Form<[[UInt8]]>.list(
                    of: octets(ofRecord: target),
                    says: "a list of records", minimum: 0))
            let contexts = keys.optional(
                "contexts",
                Form<[[UInt8]]>.list(
                    of: octets(ofRecord: contextTarget),
                    says: "a list of contexts", minimum: 0))
            guard let target, let values else { return nil }
            var records: [StoredRecord] = []
            for octets in values {
                guard let number = sequenceNumber(octets, target) else {
                    keys.report(
                        at: "values", "the records have no field 'sequence-number'",
                        "let 'of' name a characteristic with that field")
                    return nil
                }
                var record = StoredRecord(number: number, octets: octets)
                if let contextTarget {
                    record.context = contexts?.first {
                        sequenceNumber($0, contextTarget) == number
                    }
                }
                records.append(record)
            }
            return RecordsSpec(target: target, contextTarget: contextTarget, records: records)
        }
    }

    /// A record of `target`; anything where that is not known.
    private func octets(ofRecord target: WriteAction.Target?) -> Form<[UInt8]> {
        guard let target else { return Form(says: "", schema: { .value }) { _, _ in nil } }
        return octets(of: format(of: target))
    }

    private func sequenceNumber(_ octets: [UInt8], _ target: WriteAction.Target) -> UInt16? {
        let field = format(of: target).field("sequence-number", of: octets)
        guard case .number(let number, _)? = field?.value else { return nil }
        return UInt16(exactly: number)
    }
}

extension Form where Value == ATTError {
    /// An error by its name in the specification, or by its number.
    fileprivate static var error: Form {
        let says = "an error such as 'value-not-allowed', or a number such as 0x80"
        let names = Schema.words(ATTError.profileNames.map(\.0))
        return Form(says: says, schema: { .anyOf([names, .integer(1...255)]) }) {
            place, context in
            if case .integer = place.scalar?.value {
                return Form<Int>.integer(1...255, says: says).read(place, context)
                    .map { ATTError(rawValue: UInt8($0)) }
            }
            return word(ATTError.profileNames).read(place, context)
        }
    }
}

extension ATTError {
    /// Names of errors that an application may answer (Core 6.0, Vol 3, Part F, 3.4.1.1; Core
    /// Specification Supplement, Part B).
    fileprivate static var profileNames: [(String, ATTError)] {
        [
            ("write-not-permitted", ATTError(rawValue: 0x03)),
            ("invalid-pdu", ATTError(rawValue: 0x04)),
            ("insufficient-authentication", ATTError(rawValue: 0x05)),
            ("request-not-supported", ATTError(rawValue: 0x06)),
            ("insufficient-authorization", ATTError(rawValue: 0x08)),
            ("invalid-attribute-value-length", ATTError(rawValue: 0x0D)),
            ("unlikely-error", ATTError(rawValue: 0x0E)),
            ("insufficient-encryption", ATTError(rawValue: 0x0F)),
            ("insufficient-resources", ATTError(rawValue: 0x11)),
            ("value-not-allowed", ATTError(rawValue: 0x13)),
            ("write-request-rejected", ATTError(rawValue: 0xFC)),
            ("cccd-improperly-configured", ATTError(rawValue: 0xFD)),
            ("procedure-already-in-progress", ATTError(rawValue: 0xFE)),
            ("out-of-range", ATTError(rawValue: 0xFF)),
        ]
    }
}

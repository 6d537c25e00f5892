// The values of a layout's fields: which are there, what the flags say, and where each comes from.
import Behaviours
import SansIO
import YAML

/// Reads a map of field values, and puts a value together.
struct FieldValueForm {
    let layout: FieldLayout

    init(_ layout: FieldLayout) { self.layout = layout }

    var atRest: ValueSource { Composition(layout).source() ?? .constant([]) }

    /// `{rate: 72, rr-interval: [0.8, 0.82]}`; `clock` fills the parts of date and time.
    var form: Form<ValueSource> {
        .map(says: "a map of field values") { keys in
            var given: [GivenValue] = []
            var clock: TimeSpan?
            for name in layout.names {
                if let place = keys.optional(name, Form<Place>.any(says: "a value")) {
                    given.append(GivenValue(name: name, place: place))
                }
            }
            if !layout.names.contains("clock") {
                clock = keys.optional("clock", Form<TimeSpan>.clock)
            }
            return source(given, clock: clock, at: keys.place, keys.context)
        }
    }

    func source(
        _ given: [GivenValue], clock: TimeSpan? = nil, at place: Place, _ context: DecodeContext
    ) -> ValueSource? {
        var composition = Composition(layout)
        composition.clock = clock
        let given = given.flatMap { spreadBits($0, context) }
        for given in given { composition.decideBits(given, context) }
        for given in given { composition.choose(given, at: place, context) }
        guard let source = composition.source() else { return nil }
        guard source.octets <= valueOctetsMax else {
            context.report(
                place, "the value has \(source.octets) octets, the limit is \(valueOctetsMax)",
                "write fewer")
            return nil
        }
        return source
    }

    /// `features: {bmi: true}` is the same as `bmi: true`.
    private func spreadBits(_ given: GivenValue, _ context: DecodeContext) -> [GivenValue] {
        guard case .mapping(let pairs) = given.place.node.content,
            let index = layout.fields.indices.first(where: {
                layout.fields[$0].name == given.name && !layout.fields[$0].bits.isEmpty
            }),
            let first = pairs.first,
            ValueForm.isBits(first.key, layout.fields[index])
        else { return [given] }
        let bits = Form<[GivenValue]>.map(says: "a map of bit fields") { keys in
            layout.fields[index].bits.compactMap { bits in
                keys.optional(bits.name, Form<Place>.any(says: "a value"))
                    .map { GivenValue(name: bits.name, field: index, place: $0) }
            }
        }
        return bits.read(given.place, context) ?? []
    }
}

extension ValueForm {
    /// Whether a key means a bit field rather than a generator.
    fileprivate static func isBits(_ key: String, _ field: Field) -> Bool {
        field.bits.contains { $0.name == key }
            || !ValueForm(format: field.format).generators.contains { $0.key == key }
    }
}

/// A value in the making.
private struct Composition {
    let layout: FieldLayout
    /// How far the clock that fills dates and times is ahead of UTC; nil without one.
    var clock: TimeSpan?
    /// For each field what it holds, once per repetition.
    private var sources: [[ValueSource]?]
    /// For each field the constants and generators of its bit fields.
    private var packed: [[PackedBits]]
    /// Bits of the flags that are decided, and how.
    private var decided: UInt64 = 0
    private var flags: UInt64 = 0
    private var isBroken = false

    init(_ layout: FieldLayout) {
        self.layout = layout
        sources = layout.fields.map { _ in nil }
        packed = layout.fields.map { _ in [] }
    }

    /// Takes values of bit fields and of the flags, which other fields depend on.
    mutating func decideBits(_ given: GivenValue, _ context: DecodeContext) {
        for index in layout.fields.indices where given.field.map({ $0 == index }) ?? true {
            let field = layout.fields[index]
            if field.isFlags, field.name == given.name {
                let whole = Form<Int>.integer(
                    0...Int(UInt32.max), says: "a whole number such as 0x06")
                guard let value = whole.read(given.place, context) else { return isBroken = true }
                // Only what is set is decided; the others follow from the fields.
                decided |= UInt64(value)
                flags |= UInt64(value)
            }
            guard let bits = field.bits.first(where: { $0.name == given.name }) else { continue }
            // Who gives a bit of a field wants the field.
            if !field.isFlags, allows(field.conditions) { decide(field.conditions) }
            guard let source = bits.source(given.place, context) else { return isBroken = true }
            packed[index].append(
                PackedBits(
                    name: bits.name, lowest: bits.lowest, width: bits.width, source: source))
            if field.isFlags, case .constant(let value) = source {
                decided |= (UInt64.max >> UInt64(64 - bits.width)) << UInt64(bits.lowest)
                flags |= value << UInt64(bits.lowest)
            }
        }
    }

    /// Chooses the field that holds a value: of alternatives the first that the flags allow and
    /// the value fits.
    mutating func choose(_ given: GivenValue, at place: Place, _ context: DecodeContext) {
        let named = layout.fields.indices.filter {
            layout.fields[$0].name == given.name && (given.field ?? $0) == $0
        }
        guard !named.isEmpty, layout.fields[named[0]].isFlags == false else { return }
        let allowed = named.filter { allows(layout.fields[$0].conditions) }
        guard let first = allowed.first else {
            context.report(
                given.place, "'\(given.name)' cannot be there with these flags",
                "remove it, or change the flags")
            isBroken = true
            return
        }
        // Of several the first that the value fits; where none does, the first one says why.
        let index =
            allowed.count == 1
            ? first : allowed.first { layout.fields[$0].takes(given, context) } ?? first
        let field = layout.fields[index]
        decide(field.conditions)
        guard let read = field.sources(given, context) else { return isBroken = true }
        sources[index] = read
    }

    private mutating func decide(_ conditions: [FlagCondition]) {
        for condition in conditions {
            decided |= 1 << UInt64(condition.bit)
            if condition.isSet { flags |= 1 << UInt64(condition.bit) }
        }
    }

    private func allows(_ conditions: [FlagCondition]) -> Bool {
        conditions.allSatisfy { condition in
            decided >> UInt64(condition.bit) & 1 == 0 || condition.holds(in: flags)
        }
    }

    /// The whole value; nil after an error was reported.
    func source() -> ValueSource? {
        guard !isBroken else { return nil }
        var parts: [ValuePart] = []
        for (index, field) in layout.fields.enumerated()
        where field.conditions.allSatisfy({ $0.holds(in: flags) }) {
            if field.isFlags || (!field.bits.isEmpty && sources[index] == nil) {
                parts.append(ValuePart(name: field.name, source: packedSource(index)))
                continue
            }
            for source in sources[index] ?? atRest(field) {
                parts.append(ValuePart(name: field.name, source: source))
            }
        }
        let isConstant = !parts.contains { $0.source.isLive }
        return isConstant
            ? .constant(parts.flatMap { $0.source.initial }) : .composed(parts)
    }

    private func packedSource(_ index: Int) -> ValueSource {
        let field = layout.fields[index]
        let octets = field.format.octets ?? 1
        var bits = packed[index]
        if field.isFlags {
            var rest = flags
            for bits in bits {
                rest &= ~((UInt64.max >> UInt64(64 - bits.width)) << UInt64(bits.lowest))
            }
            bits.append(
                PackedBits(
                    name: field.name, lowest: 0, width: min(8 * octets, 64),
                    source: .constant(rest)))
        }
        let source = ValueSource.packed(octets: octets, bits)
        return source.isLive ? source : .constant(source.initial)
    }

    /// What a field without a value holds: the clock where it is a part of one, else zero.
    private func atRest(_ field: Field) -> [ValueSource] {
        if let clock, field.repetition == .once, let source = field.clocked(clock) {
            return [source]
        }
        if field.isUnused, case .number(let spec) = field.format {
            return [.constant(spec.format.encode(.nan))]
        }
        let rest = ValueForm(format: field.format).atRest
        switch field.repetition {
        case .once: return [rest]
        case .times(let count): return Array(repeating: rest, count: count)
        case .toEnd: return []
        }
    }
}

extension Field {
    /// The field as a part of date and time.
    fileprivate func clocked(_ offset: TimeSpan) -> ValueSource? {
        switch format {
        case .fields(let layout):
            var composition = Composition(layout)
            composition.clock = offset
            return composition.source()
        case .number, .words:
            guard let part = ClockPart(name: name),
                let spec = ValueForm(format: format).numbers
            else { return nil }
            return .generated(.clock(part, offset: offset), encoding: spec.format)
        case .boolean, .appearance, .utf8, .utf16, .bytes: return nil
        }
    }

    /// Whether the field can hold a value.
    fileprivate func takes(_ given: GivenValue, _ context: DecodeContext) -> Bool {
        let trial = context.trial()
        return sources(given, trial) != nil && trial.errors.isEmpty
    }

    /// What the field holds, once per repetition.
    fileprivate func sources(_ given: GivenValue, _ context: DecodeContext) -> [ValueSource]? {
        let place = given.place
        let source: ValueSource?
        if let inline = given.inline, case .fields(let layout) = format {
            source = FieldValueForm(layout).source(inline, at: place, context)
        } else if case .sequence(let nodes) = place.node.content {
            return elements(nodes, place, context)
        } else {
            source = element(place, context)
        }
        guard let source else { return nil }
        switch repetition {
        case .once, .toEnd: return [source]
        case .times(let count): return Array(repeating: source, count: count)
        }
    }

    private func elements(
        _ nodes: [YAMLNode], _ place: Place, _ context: DecodeContext
    ) -> [ValueSource]? {
        guard repetition != .once else {
            return Form<[ValueSource]>.mismatch(
                place, context, says: ValueForm(format: format).says)
        }
        if case .times(let count) = repetition, nodes.count != count {
            context.report(
                place, "'\(name)' has \(nodes.count) values and repeats \(count) times",
                "write \(count)")
            return nil
        }
        var sources: [ValueSource] = []
        for (index, node) in nodes.enumerated() {
            guard let source = element(place.element(index, node), context) else { return nil }
            sources.append(source)
        }
        return sources
    }

    private func element(_ place: Place, _ context: DecodeContext) -> ValueSource? {
        if !bits.isEmpty, case .scalar = place.node.content, let unsigned = format.unsigned {
            let range = 0...Int(min(unsigned.largest, Double(Int32.max) * 2))
            return Form<Int>.integer(range, says: "a whole number, or its bit fields by name")
                .read(place, context).map { .constant(unsigned.encode(Double($0))) }
        }
        let source = ValueForm(format: format).source(place, context)
        if case .echo = source {
            context.report(
                place, "only a whole value can echo another", "write a constant or a generator")
            return nil
        }
        return source
    }
}

extension BitField {
    /// What a constant looks like.
    var says: String {
        guard words.isEmpty else { return WordList(words).says }
        return width == 1 ? "true or false" : "a number from 0 to \(largest)"
    }

    func source(_ place: Place, _ context: DecodeContext) -> PackedBits.Source? {
        guard case .scalar(let scalar) = place.node.content else {
            let format = NumberFormat(octets: 8, isSigned: false, scale: 1, bits: width)
            let number = ValueFormat.number(NumberSpec(format: format, unit: .unitless))
            switch ValueForm(format: number).source(place, context) {
            case .generated(let generator, _): return .generated(generator)
            case .constant, .composed, .packed, .echo, nil: return nil
            }
        }
        if words.isEmpty, width == 1, case .boolean(let value) = scalar.value {
            return .constant(value ? 1 : 0)
        }
        if case .integer = scalar.value {
            let range = 0...Int(min(largest, UInt64(Int64.max)))
            let says = "a number from 0 to \(largest)"
            return Form<Int>.integer(range, says: says).read(place, context)
                .map { .constant(UInt64($0)) }
        }
        guard !words.isEmpty else {
            return Form<PackedBits.Source>.mismatch(place, context, says: says)
        }
        return Form<Int>.word(WordList(words).choices).read(place, context)
            .map { .constant(UInt64($0)) }
    }
}

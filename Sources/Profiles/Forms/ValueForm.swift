// The value of a characteristic or a field: a constant of its format, octets, or a generator.
import Behaviours
import SansIO
import YAML

/// Reads `value:` by the characteristic's format.
struct ValueForm {
    let format: ValueFormat

    /// The value where the profile gives none: zeros of the format's length, or nothing.
    var atRest: ValueSource {
        if case .fields(let layout) = format { return FieldValueForm(layout).atRest }
        return .constant([UInt8](repeating: 0, count: format.octets ?? 0))
    }

    func source(_ place: Place, _ context: DecodeContext) -> ValueSource? {
        switch place.node.content {
        case .scalar(let scalar):
            return constant(scalar, place, context).map { .constant($0) }
        case .mapping(let pairs):
            if case .fields(let layout) = format, !Self.isWhole(pairs) {
                return FieldValueForm(layout).form.read(place, context)
            }
            return map.read(place, context)
        case .sequence: return Form.mismatch(place, context, says: says)
        }
    }

    /// Whether a map says all octets at once, whatever the fields are.
    private static func isWhole(_ pairs: [YAMLPair]) -> Bool {
        pairs.contains { ["hex", "text", "echo"].contains($0.key) }
    }

    /// What a constant of this format looks like.
    var says: String {
        switch format {
        case .number(let spec):
            "a number from \(DecimalText.short(spec.range.lowerBound)) to "
                + DecimalText.short(spec.range.upperBound)
        case .boolean: "true or false"
        case .appearance: "an appearance such as 'thermometer'"
        case .words(let words): WordList(words).says
        case .utf8, .utf16: "a text"
        case .fields(let layout):
            "a map of field values such as '{\(layout.names.first ?? "name"): 0}'"
        case .bytes: "octets such as '{hex: \"01FF\"}', or say the 'format'"
        }
    }

    private func constant(
        _ scalar: YAMLScalar, _ place: Place, _ context: DecodeContext
    ) -> [UInt8]? {
        switch format {
        case .number(let spec):
            guard let number = number(scalar, spec, place, context),
                fits(number, spec, place, context)
            else { return nil }
            return spec.format.encode(number)
        case .boolean:
            return Form<Bool>.boolean.read(place, context).map { [$0 ? 1 : 0] }
        case .appearance:
            let appearance = Form<UInt16>.assigned(.appearance, example: "thermometer")
            return appearance.read(place, context).map {
                [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
            }
        case .words(let words):
            return Form<Int>.word(WordList(words).choices).read(place, context)
                .map { [UInt8(clamping: $0)] }
        case .utf8:
            return Form<String>.text(valueOctetsMax, says: says).read(place, context)
                .map { Array($0.utf8) }
        case .utf16:
            return Form<String>.text(valueOctetsMax, says: says).read(place, context)
                .flatMap { utf16($0, place, context) }
        case .bytes, .fields:
            return Form<[UInt8]>.mismatch(place, context, says: says)
        }
    }

    /// A number, plain or with the unit of its format, as values are shown.
    private func number(
        _ scalar: YAMLScalar, _ spec: NumberSpec, _ place: Place, _ context: DecodeContext
    ) -> Double? {
        let parts = scalar.text.split(
            separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard case .text = scalar.value, let number = parts.first.flatMap({ Quantity.decimal($0) })
        else { return Form<Double>.real(says: says).read(place, context) }
        guard parts.count == 2 else {
            context.report(
                place, "\(place.found) is a text", "write \(scalar.text) without quotes")
            return nil
        }
        let symbol = spec.unit.symbol
        if parts[1] == symbol { return number }
        let other = String(parts[1])
        let hint = UnitConversion.candidates(parts[0], number, other, in: [symbol])
            .first { !symbol.isEmpty && spec.range.contains($0.quantity.number) }?.text
        context.report(
            place, symbol.isEmpty ? "the value has no unit" : "the unit of the value is \(symbol)",
            hint.map { "write '\($0)'" }
                ?? (symbol.isEmpty ? "write the number without a unit" : "write it in \(symbol)"))
        return nil
    }

    private func utf16(_ text: String, _ place: Place, _ context: DecodeContext) -> [UInt8]? {
        let octets = text.utf16.flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
        }
        guard octets.count <= valueOctetsMax else {
            context.report(
                place, "the text has \(octets.count) octets, the limit is \(valueOctetsMax)",
                "write a shorter one")
            return nil
        }
        return octets
    }

    func fits(
        _ number: Double, _ spec: NumberSpec, _ place: Place, _ context: DecodeContext
    ) -> Bool {
        guard !spec.range.contains(number) else { return true }
        let symbol = spec.unit.symbol.isEmpty ? "" : " " + spec.unit.symbol
        context.report(
            place,
            "\(DecimalText.short(number))\(symbol) does not fit: the range is \(spec.rangeText)",
            "write a number within it")
        return false
    }

    private var map: Form<ValueSource> {
        .choice(
            says: says,
            [
                Choice("hex", Form<[UInt8]>.hex(octetsMax: valueOctetsMax).map { .constant($0) }),
                Choice(
                    "text",
                    Form<String>.text(valueOctetsMax, says: "a text")
                        .map { .constant(Array($0.utf8)) }),
                Choice("constant", constantForm),
                Choice(
                    "echo",
                    Form<String>.reference(to: .characteristic).map { .echo(of: $0) }),
            ] + generators,
            later: ["psm-of"])
    }

    /// The keys of a value's map, among which a layout's own fields may stand.
    fileprivate var openSchema: Schema {
        guard case .map(let properties) = map.schema() else { return .any }
        return .open(properties)
    }

    /// The long way to write a constant.
    private var constantForm: Form<ValueSource> {
        Form(says: says, schema: { .value }) { [self] place, context in
            guard case .scalar(let scalar) = place.node.content else {
                return Form<ValueSource>.mismatch(place, context, says: says)
            }
            return constant(scalar, place, context).map { .constant($0) }
        }
    }
}

extension Form where Value == Place {
    /// A value, whose format another key may say: only its generators are known beforehand.
    static var value: Form {
        let format = WireFormat(name: "uint8")?.valueFormat(scale: 1, unit: .unitless) ?? .bytes
        return any(says: "a constant, or a generator such as '{sine: {…}}'")
            .described(ValueForm(format: format).openSchema)
    }
}

extension ValueSource {
    /// Whether samples differ, so that it must be said when they are taken.
    var isLive: Bool {
        switch self {
        case .constant, .echo: false
        case .generated: true
        case .composed(let parts): parts.contains { $0.source.isLive }
        case .packed(_, let bits):
            bits.contains { if case .generated = $0.source { true } else { false } }
        }
    }

    /// The octets of the first sample, as far as they are known: a generated number is zero.
    var initial: [UInt8] {
        switch self {
        case .constant(let octets): return octets
        case .echo: return []
        case .generated(_, let encoding): return [UInt8](repeating: 0, count: encoding.octets)
        case .composed(let parts): return parts.flatMap { $0.source.initial }
        case .packed(let octets, let bits):
            var integer: UInt64 = 0
            for bits in bits {
                if case .constant(let value) = bits.source {
                    integer |= value << UInt64(bits.lowest)
                }
            }
            return (0..<octets).map { UInt8(truncatingIfNeeded: integer >> UInt64(8 * $0)) }
        }
    }

    /// The number of octets, which is the same for all samples.
    var octets: Int { initial.count }
}

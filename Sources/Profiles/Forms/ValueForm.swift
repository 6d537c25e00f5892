// The value of a characteristic: a constant of its format, octets, or a generator.
import Behaviours
import SansIO
import YAML

/// Reads `value:` by the characteristic's format.
struct ValueForm {
    let format: ValueFormat

    /// The value where the profile gives none: zeros of the format's length, or nothing.
    var atRest: ValueSource {
        .constant([UInt8](repeating: 0, count: format.octets ?? 0))
    }

    func source(_ place: Place, _ context: DecodeContext) -> ValueSource? {
        switch place.node.content {
        case .scalar(let scalar): constant(scalar, place, context).map { .constant($0) }
        case .mapping: map.read(place, context)
        case .sequence: Form.mismatch(place, context, says: says)
        }
    }

    /// What a constant of this format looks like.
    private var says: String {
        switch format {
        case .number(let spec):
            "a number from \(DecimalText.short(spec.range.lowerBound)) to "
                + DecimalText.short(spec.range.upperBound)
        case .boolean: "true or false"
        case .appearance: "an appearance such as 'thermometer'"
        case .words(let words): Form<Int>.oneOf(words)
        case .utf8: "a text"
        case .bytes: "octets such as '{hex: \"01FF\"}', or say the 'format'"
        }
    }

    private func constant(
        _ scalar: YAMLScalar, _ place: Place, _ context: DecodeContext
    ) -> [UInt8]? {
        switch format {
        case .number(let spec):
            guard let number = Form<Double>.real(says: says).read(place, context),
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
            let choices = words.enumerated().map { ($0.element, UInt8(clamping: $0.offset)) }
            return Form<UInt8>.word(choices).read(place, context).map { [$0] }
        case .utf8:
            return Form<String>.text(valueOctetsMax, says: says).read(place, context)
                .map { Array($0.utf8) }
        case .bytes:
            return Form<[UInt8]>.mismatch(place, context, says: says)
        }
    }

    private func fits(
        _ number: Double, _ spec: NumberSpec, _ place: Place, _ context: DecodeContext
    ) -> Bool {
        guard !spec.range.contains(number) else { return true }
        let symbol = spec.unit.symbol.isEmpty ? "" : " " + spec.unit.symbol
        context.report(
            place,
            "\(DecimalText.short(number))\(symbol) does not fit: the range is "
                + "\(DecimalText.short(spec.range.lowerBound)) to "
                + "\(DecimalText.short(spec.range.upperBound))\(symbol)",
            "write a number within it")
        return false
    }

    private static let laterKeys = [
        "constant", "sawtooth", "square", "noise", "clock", "drain", "replay", "echo", "activity",
        "psm-of",
    ]

    private var map: Form<ValueSource> {
        .choice(
            says: says,
            [
                Choice("hex", Form<[UInt8]>.hex(octetsMax: valueOctetsMax).map { .constant($0) }),
                Choice(
                    "text",
                    Form<String>.text(valueOctetsMax, says: "a text")
                        .map { .constant(Array($0.utf8)) }),
                Choice("sine", generated(sine)),
                Choice("ramp", generated(ramp)),
                Choice("random-walk", generated(randomWalk)),
                Choice("counter", generated(counter)),
                Choice(
                    "writes-of",
                    generated(Form<String>.reference(to: .characteristic).map { .writes(of: $0) })),
            ],
            later: Self.laterKeys)
    }

    /// A generator makes numbers, so it needs a number format.
    private func generated(_ generator: Form<Generator>) -> Form<ValueSource> {
        Form(says: generator.says) { [format] place, context in
            guard let generator = generator.read(place, context) else { return nil }
            guard case .number(let spec) = format else {
                context.report(
                    place, "a generator makes numbers, and the characteristic's format is none",
                    "add 'format: uint16' or another number format")
                return nil
            }
            return .generated(generator, encoding: spec.format)
        }
    }

    /// A bound of a generator or a range, which the format must be able to hold.
    var bound: Form<Double> {
        let real = Form<Double>.real(says: says)
        return Form(says: says) { [self] place, context in
            guard let number = real.read(place, context) else { return nil }
            guard case .number(let spec) = format else { return number }
            return fits(number, spec, place, context) ? number : nil
        }
    }

    private static var positive: Form<Double> {
        let real = Form<Double>.real(says: "a number above 0")
        return Form(says: real.says) { place, context in
            guard let number = real.read(place, context) else { return nil }
            guard number > 0 else {
                context.report(place, "\(place.found) is not above 0", "write \(real.says)")
                return nil
            }
            return number
        }
    }

    private static func rising(_ low: Double, _ high: Double, _ keys: Keys) -> Bool {
        guard low >= high else { return true }
        let (minimum, maximum) = (DecimalText.short(low), DecimalText.short(high))
        keys.report(
            at: "min", "'min' is \(minimum), not below 'max', which is \(maximum)",
            "write a lower 'min'")
        return false
    }

    private var sine: Form<Generator> {
        .map(says: "a map of min, max and period") { keys in
            let low = keys.required("min", bound)
            let high = keys.required("max", bound)
            let period = keys.required("period", Form<TimeSpan>.period)
            let noise = keys.optional("noise", Self.positive)
            guard let low, let high, Self.rising(low, high, keys), let period else { return nil }
            return .sine(min: low, max: high, period: period, noise: noise ?? 0)
        }
    }

    private var ramp: Form<Generator> {
        .map(says: "a map of from, to and over") { keys in
            let from = keys.required("from", bound)
            let to = keys.required("to", bound)
            let over = keys.required("over", Form<TimeSpan>.period)
            let loops = keys.optional("loop", .boolean)
            guard let from, let to, let over else { return nil }
            return .ramp(from: from, to: to, over: over, loops: loops ?? false)
        }
    }

    private var randomWalk: Form<Generator> {
        .map(says: "a map of min, max and step") { keys in
            let low = keys.required("min", bound)
            let high = keys.required("max", bound)
            let step = keys.required("step", Self.positive)
            let start = keys.optional("start", bound)
            guard let low, let high, Self.rising(low, high, keys), let step else { return nil }
            if let start, !(low...high).contains(start) {
                keys.report(
                    at: "start", "'start' is not within 'min' to 'max'", "write one within them")
            }
            return .randomWalk(min: low, max: high, step: step, start: start)
        }
    }

    private var counter: Form<Generator> {
        let whole = Form<Int>.integer(-1_000_000_000...1_000_000_000, says: "a whole number")
        return .map(says: "a map of start and step") { keys in
            let start = keys.optional("start", whole)
            let step = keys.optional("step", whole)
            return .counter(start: Int64(start ?? 0), step: Int64(step ?? 1))
        }
    }
}

// Generators: `{sine: {…}}` and the like, in the unit of the value they stand for.
import Advertising
import Behaviours
import SansIO
import YAML

extension ValueForm {
    /// The number format that a generator's numbers are written in.
    var numbers: NumberSpec? {
        let octet = NumberSpec(
            format: NumberFormat(octets: 1, isSigned: false, scale: 1), unit: .unitless)
        switch format {
        case .number(let spec): return spec
        case .boolean: return octet.within(0...1)
        case .words(let words): return octet.within(0...Double(max(words.count, 1) - 1))
        case .appearance, .utf8, .utf16, .fields, .bytes: return nil
        }
    }

    var generators: [Choice<ValueSource>] {
        [
            Choice("sine", generated(sine)),
            Choice("ramp", generated(ramp(word: "ramp"))),
            Choice("drain", generated(ramp(word: "drain"))),
            Choice("sawtooth", generated(sawtooth)),
            Choice("square", generated(square)),
            Choice("random-walk", generated(randomWalk)),
            Choice("noise", generated(noise)),
            Choice("counter", generated(counter)),
            Choice(
                "clock",
                generated(Form<TimeSpan>.clock.map { .clock(.unixSeconds, offset: $0) })),
            Choice("replay", generated(replay)),
            Choice("activity", generated(activity)),
            Choice(
                "writes-of",
                generated(
                    Form<String>.reference(to: .characteristic).map { [numbers] in
                        .writes(of: $0, within: numbers?.counts)
                    })),
        ]
    }

    /// A generator makes numbers, so it needs a number format.
    private func generated(_ generator: Form<Generator>) -> Form<ValueSource> {
        Form(says: generator.says, schema: generator.schema) { [self] place, context in
            guard let generator = generator.read(place, context) else { return nil }
            guard let spec = numbers else {
                context.report(
                    place, "a generator makes numbers, and the characteristic's format is none",
                    "add 'format: uint16' or another number format")
                return nil
            }
            guard takes(generator, spec, place, context) else { return nil }
            return .generated(generator, encoding: spec.format)
        }
    }

    /// Whether the numbers of a generator fit that has no bounds to be checked by themselves.
    private func takes(
        _ generator: Generator, _ spec: NumberSpec, _ place: Place, _ context: DecodeContext
    ) -> Bool {
        let (numbers, what): (ClosedRange<Double>, String)
        switch generator {
        // Up to the year 2038: a signed format of 32 bits is a usual one.
        case .clock: (numbers, what) = (0...Double(Int32.max), "seconds since 1970 do")
        case .writes: (numbers, what) = (0...0, "the number of writes, at first 0, does")
        case .activity: (numbers, what) = (0...1, "the activity, 0 to 1, does")
        case .sine, .ramp, .square, .noise, .randomWalk, .counter, .replay: return true
        }
        if spec.range.contains(numbers.lowerBound), spec.range.contains(numbers.upperBound) {
            return true
        }
        context.report(
            place, "\(what) not fit: the range is \(spec.rangeText)", "write another generator")
        return false
    }

    /// A bound of a generator or a range, which the format must be able to hold.
    var bound: Form<Double> {
        let real = Form<Double>.real(says: says)
        return Form(says: says, schema: { .valueNumber }) { [self] place, context in
            guard let number = real.read(place, context) else { return nil }
            guard let spec = numbers else { return number }
            return fits(number, spec, place, context) ? number : nil
        }
    }

    private static var positive: Form<Double> {
        let real = Form<Double>.real(says: "a number above 0")
        return Form(says: real.says, schema: { .valueNumber }) { place, context in
            guard let number = real.read(place, context) else { return nil }
            guard number > 0 else {
                context.report(place, "\(place.found) is not above 0", "write \(real.says)")
                return nil
            }
            return number
        }
    }

    /// `min` and `max`; nil where one is missing, or they do not rise.
    private func limits(_ keys: inout Keys) -> (low: Double, high: Double)? {
        let low = keys.required("min", bound)
        let high = keys.required("max", bound)
        guard let low, let high else { return nil }
        guard low < high else {
            let (minimum, maximum) = (DecimalText.short(low), DecimalText.short(high))
            keys.report(
                at: "min", "'min' is \(minimum), not below 'max', which is \(maximum)",
                "write a lower 'min'")
            return nil
        }
        return (low, high)
    }

    private var sine: Form<Generator> {
        .map(says: "a map of min, max and period") { keys in
            let limits = limits(&keys)
            let period = keys.required("period", Form<TimeSpan>.period)
            let noise = keys.optional("noise", Self.positive)
            guard let (low, high) = limits, let period else { return nil }
            return .sine(min: low, max: high, period: period, noise: noise ?? 0)
        }
    }

    /// `drain` is a ramp that stays at its end: a battery.
    private func ramp(word: String) -> Form<Generator> {
        .map(says: "a map of from, to and over") { keys in
            let from = keys.required("from", bound)
            let to = keys.required("to", bound)
            let over = keys.required("over", Form<TimeSpan>.period)
            let loops = word == "ramp" ? keys.optional("loop", .boolean) : false
            guard let from, let to, let over else { return nil }
            return .ramp(from: from, to: to, over: over, loops: loops ?? false)
        }
    }

    private var sawtooth: Form<Generator> {
        .map(says: "a map of min, max and period") { keys in
            let limits = limits(&keys)
            let period = keys.required("period", Form<TimeSpan>.period)
            guard let (low, high) = limits, let period else { return nil }
            return .ramp(from: low, to: high, over: period, loops: true)
        }
    }

    private var square: Form<Generator> {
        .map(says: "a map of min, max and period") { keys in
            let limits = limits(&keys)
            let period = keys.required("period", Form<TimeSpan>.period)
            let duty = keys.optional("duty", .quantity("%", 0...100, example: "50 %"))
            guard let (low, high) = limits, let period else { return nil }
            return .square(min: low, max: high, period: period, duty: (duty ?? 50) / 100)
        }
    }

    private var noise: Form<Generator> {
        .map(says: "a map of min and max") { keys in
            limits(&keys).map { .noise(min: $0.low, max: $0.high) }
        }
    }

    private var randomWalk: Form<Generator> {
        .map(says: "a map of min, max and step") { keys in
            let limits = limits(&keys)
            let step = keys.required("step", Self.positive)
            let start = keys.optional("start", bound)
            guard let (low, high) = limits, let step else { return nil }
            if let start, !(low...high).contains(start) {
                keys.report(
                    at: "start", "'start' is not within 'min' to 'max'", "write one within them")
            }
            return .randomWalk(min: low, max: high, step: step, start: start)
        }
    }

    private var counter: Form<Generator> {
        let whole = Form<Int>.integer(-1_000_000_000...1_000_000_000, says: "a whole number")
        let first = Form<Int>(says: whole.says, schema: whole.schema) { [self] place, context in
            guard let number = whole.read(place, context) else { return nil }
            guard let spec = numbers else { return number }
            return fits(Double(number), spec, place, context) ? number : nil
        }
        return .map(says: "a map of start and step") { keys in
            let start = keys.optional("start", first)
            let step = keys.optional("step", whole)
            let range = numbers?.counts
            let nearest = range.map { min(max(0, $0.lowerBound), $0.upperBound) } ?? 0
            return .counter(
                start: start.map { Int64($0) } ?? nearest, step: Int64(step ?? 1), within: range)
        }
    }

    private var replay: Form<Generator> {
        .map(says: "a map of csv and column") { keys in
            let path = keys.required("csv", .text(4096, says: "the file's path"))
            let column = keys.required("column", .text(100, says: "the name of a column"))
            let loops = keys.optional("loop", .boolean)
            guard let path, let column else { return nil }
            let samples = Self.column(column, of: path, keys)
            guard let samples else { return nil }
            if let spec = numbers {
                for sample in samples where !spec.range.contains(sample.value) {
                    keys.report(
                        at: "csv",
                        "the column has \(DecimalText.short(sample.value)), which does not fit",
                        "write numbers within \(spec.rangeText)")
                    return nil
                }
            }
            return .replay(
                samples.map { TimedValue(time: $0.time, value: $0.value) }, loops: loops ?? false)
        }
    }

    /// A column of a file, whose path is relative to the profile's folder.
    private static func column(
        _ column: String, of path: String, _ keys: Keys
    ) -> [ActivityRule.Sample]? {
        let context = keys.context
        let full = Form<ActivitySource>.resolve(path, besides: context.file)
        switch context.files(full) {
        case .failure(let failure):
            keys.report(
                at: "csv", "cannot read '\(full)': \(failure.reason)",
                "write the file's path, relative to the profile's folder")
            return nil
        case .success(let bytes):
            do throws(ProfileError) {
                return try ActivityTrace(file: full, column: column).read(bytes)
            } catch {
                context.report(error)
                return nil
            }
        }
    }

    private var activity: Form<Generator> {
        let word = Form<Bool>.word([("level", true), ("active", false)])
        return Form(says: word.says, schema: word.schema) { place, context in
            guard let isLevel = word.read(place, context) else { return nil }
            if case .absent = context.activity {
                context.report(
                    place, "the profile has no activity signal", "add 'activity:' with a source")
            }
            return .activity(isLevel: isLevel)
        }
    }
}

extension Form where Value == TimeSpan {
    /// `utc`, or `{ahead: 60 min}`: how far the clock is ahead of it.
    static var clock: Form {
        let utc = Form<TimeSpan>.word([("utc", .zero)])
        let offset = map(says: "'utc' or '{ahead: 60 min}'") { keys in
            keys.required(
                "ahead",
                .time(
                    .seconds(-14 * 3600)...(.seconds(15 * 3600)), limits: "-14 h to 15 h",
                    example: "60 min"))
        }
        return either(scalar: utc, map: offset)
    }
}

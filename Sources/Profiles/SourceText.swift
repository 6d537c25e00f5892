// Where values come from, in words: `sine 18 to 24 °C in 600 s`.
import Behaviours
import SansIO

extension ValueSource {
    /// What the value is or how it moves.
    func text(in format: ValueFormat) -> String {
        switch self {
        case .constant(let octets): return format.describe(octets)
        case .generated(let generator, _): return generator.text(in: format)
        case .echo(let reference): return "echo of \(reference)"
        case .packed(_, let bits):
            return bits.compactMap { bits in
                if case .generated(let generator) = bits.source {
                    return "\(bits.name) \(generator.text(in: .bytes))"
                }
                return nil
            }.joined(separator: ", ")
        case .composed(let parts):
            guard case .fields(let layout) = format else { return "\(parts.count) fields" }
            if let clock = parts.lazy.compactMap(\.source.clock).first,
                parts.count == parts.filter({ $0.source.clock != nil }).count
            {
                return clock
            }
            let shown = parts.filter { part in
                !layout.fields.contains { $0.name == part.name && $0.isFlags }
            }
            return shown.map { part in
                let format = layout.fields.first {
                    $0.name == part.name && $0.format.accepts(part.source)
                }?.format
                return "\(part.name) " + part.source.text(in: format ?? .bytes)
            }.joined(separator: ", ")
        }
    }

    fileprivate var clock: String? {
        guard case .generated(let generator, _) = self, case .clock = generator else { return nil }
        return generator.text(in: .bytes)
    }
}

extension ValueFormat {
    /// Whether the source makes numbers of this format.
    fileprivate func accepts(_ source: ValueSource) -> Bool {
        guard case .generated(_, let encoding) = source, case .number(let spec) = self else {
            return true
        }
        return spec.format == encoding
    }
}

extension Generator {
    func text(in format: ValueFormat) -> String {
        var unit = ""
        if case .number(let spec) = format, !spec.unit.symbol.isEmpty {
            unit = " " + spec.unit.symbol
        }
        let short = DecimalText.short
        switch self {
        case .sine(let low, let high, let period, let noise):
            return "sine \(short(low)) to \(short(high))\(unit) in \(period)"
                + (noise > 0 ? ", noise \(short(noise))\(unit)" : "")
        case .ramp(let from, let to, let over, let loops):
            return "ramp \(short(from)) to \(short(to))\(unit) in \(over)" + (loops ? ", loop" : "")
        case .square(let low, let high, let period, let duty):
            return "square \(short(low)) and \(short(high))\(unit) in \(period)"
                + (duty == 0.5 ? "" : ", duty \(short(duty * 100)) %")
        case .noise(let low, let high): return "noise \(short(low)) to \(short(high))\(unit)"
        case .randomWalk(let low, let high, let step, let start):
            return "random-walk \(short(low)) to \(short(high))\(unit), step \(short(step))\(unit)"
                + (start.map { ", start \(short($0))\(unit)" } ?? "")
        case .counter(let start, let step, _): return "counter from \(start), step \(step)"
        case .writes(let reference, _): return "writes of \(reference)"
        case .clock(_, let offset):
            return "clock, " + (offset == .zero ? "UTC" : "\(offset) ahead of UTC")
        case .replay(let values, let loops):
            return "replay of \(values.count) values" + (loops ? ", loop" : "")
        case .activity(let isLevel): return isLevel ? "activity level" : "whether active"
        }
    }
}

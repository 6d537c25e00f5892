// A value's source at work: constants, generators, and the fields put together of them.
import SansIO
import Wire

/// A source with what its generators remember.
struct SourceState: Sendable {
    private enum Content: Sendable {
        case constant([UInt8])
        case generated
        case composed([Part])
        case packed(octets: Int, [Bits])
    }

    private struct Part: Sendable {
        let name: String
        var state: SourceState
    }

    private struct Bits: Sendable {
        let name: String
        let lowest: Int
        let format: NumberFormat
        var constant: UInt64
        var generator: GeneratorState?
    }

    private var content: Content
    /// Of a value that is one number. Beside the content, where it changes in place: taken out and
    /// put back it is copied several times.
    private var generator: GeneratorState?
    /// Whether samples differ by themselves.
    private(set) var isLive: Bool

    init(_ source: ValueSource, seed: UInt64, stream: String) {
        switch source {
        case .constant(let octets):
            content = .constant(octets)
            isLive = false
        case .echo:
            content = .constant([])
            isLive = false
        case .generated(let generator, let encoding):
            content = .generated
            self.generator = GeneratorState(
                generator, format: encoding, seed: seed, stream: stream)
            isLive = true
        case .composed(let parts):
            let states = parts.enumerated().map { index, part in
                // Fields of one name are told apart by their place.
                Part(
                    name: part.name,
                    state: SourceState(
                        part.source, seed: seed, stream: "\(stream) \(index) \(part.name)"))
            }
            content = .composed(states)
            isLive = states.contains { $0.state.isLive }
        case .packed(let octets, let bits):
            let states = bits.map { bits in
                switch bits.source {
                case .constant(let value):
                    Bits(
                        name: bits.name, lowest: bits.lowest, format: bits.format, constant: value)
                case .generated(let generator):
                    Bits(
                        name: bits.name, lowest: bits.lowest, format: bits.format, constant: 0,
                        generator: GeneratorState(
                            generator, format: bits.format, seed: seed,
                            stream: "\(stream) \(bits.name)"))
                }
            }
            content = .packed(octets: octets, states)
            isLive = states.contains { $0.generator != nil }
        }
    }

    /// Appends the octets of the next sample.
    mutating func sample(
        at elapsed: TimeSpan, in surroundings: Surroundings, into block: inout ByteBlock
    ) {
        if generator?.sample(at: elapsed, in: surroundings, into: &block) != nil { return }
        // Taken out while it changes: a copy would be made otherwise.
        var content = Content.constant([])
        swap(&content, &self.content)
        switch content {
        case .constant(let octets): block.append(octets)
        case .generated: break
        case .composed(var parts):
            content = .constant([])
            for index in parts.indices {
                parts[index].state.sample(at: elapsed, in: surroundings, into: &block)
            }
            content = .composed(parts)
        case .packed(let octets, var bits):
            content = .constant([])
            var integer: UInt64 = 0
            for index in bits.indices {
                let value =
                    bits[index].generator?.steps(at: elapsed, in: surroundings)
                    ?? bits[index].constant
                integer |= value << UInt64(bits[index].lowest)
            }
            for index in 0..<min(max(octets, 0), 8) {
                block.append(UInt8(truncatingIfNeeded: integer >> UInt64(8 * index)))
            }
            content = .packed(octets: octets, bits)
        }
        swap(&content, &self.content)
    }

    /// Goes on from octets of a sample before a restart.
    /// - Returns: how many of them were this source's own.
    @discardableResult
    mutating func resume(from octets: [UInt8]) -> Int {
        if generator != nil {
            generator?.resume(from: octets.span)
            return generator?.octets ?? 0
        }
        switch content {
        case .constant(let own): return own.count
        case .generated: return 0
        case .composed(var parts):
            var rest = octets[...]
            for index in parts.indices {
                rest = rest.dropFirst(parts[index].state.resume(from: Array(rest)))
            }
            content = .composed(parts)
            return octets.count - rest.count
        case .packed(let width, var bits):
            var integer: UInt64 = 0
            for (place, octet) in octets.prefix(min(max(width, 0), 8)).enumerated() {
                integer |= UInt64(octet) << UInt64(8 * place)
            }
            for index in bits.indices {
                let mask = UInt64.max >> UInt64(64 - bits[index].format.bits)
                let steps = integer >> UInt64(bits[index].lowest) & mask
                bits[index].generator?.resume(fromSteps: steps)
            }
            content = .packed(octets: width, bits)
            return width
        }
    }

    /// Makes one field a constant; false where the source has no such field.
    mutating func setField(_ name: String, to octets: [UInt8]) -> Bool {
        switch content {
        case .constant, .generated: return false
        case .composed(var parts):
            guard let index = parts.firstIndex(where: { $0.name == name }) else {
                for index in parts.indices where parts[index].state.setField(name, to: octets) {
                    content = .composed(parts)
                    return true
                }
                return false
            }
            parts[index].state = SourceState(.constant(octets), seed: 0, stream: "")
            content = .composed(parts)
            return true
        case .packed(let width, var bits):
            guard let index = bits.firstIndex(where: { $0.name == name }) else { return false }
            var integer: UInt64 = 0
            for (place, octet) in octets.prefix(8).enumerated() {
                integer |= UInt64(octet) << UInt64(8 * place)
            }
            bits[index].constant = integer & (UInt64.max >> UInt64(64 - bits[index].format.bits))
            bits[index].generator = nil
            content = .packed(octets: width, bits)
            return true
        }
    }
}

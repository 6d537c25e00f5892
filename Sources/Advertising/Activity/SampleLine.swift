// The lines of a live source: a number, or x,y,z.
public import SansIO
import Wire

/// One line of a live source. Values in g.
public enum SampleLine: Equatable, Sendable {
    /// `0.31`: the magnitude without gravity.
    case magnitude(Double)
    /// `0.01,-0.02,0.99`: with gravity.
    case acceleration(x: Double, y: Double, z: Double)

    /// The longest line, without its end.
    public static let octetsMax = 128
    /// The largest value, either way.
    public static let valueMax = 1000.0

    /// Reads a line without its end. White space around values is ignored.
    ///
    /// - Returns: nil for an empty line and for one that begins with `#`.
    public static func parse(_ line: Span<UInt8>) throws(SampleLineError) -> SampleLine? {
        guard line.count <= octetsMax else { throw .tooLong }
        var fields: [[UInt8]] = [[]]
        for index in line.indices {
            if line[index] == UInt8(ascii: ",") {
                fields.append([])
            } else {
                fields[fields.count - 1].append(line[index])
            }
        }
        fields = fields.map(trimmed)
        if fields.count == 1, fields[0].isEmpty { return nil }
        if fields[0].first == UInt8(ascii: "#") { return nil }
        switch fields.count {
        case 1: return .magnitude(try number(fields[0]))
        case 3:
            return .acceleration(
                x: try number(fields[0]), y: try number(fields[1]), z: try number(fields[2]))
        case let count: throw .fieldCount(count)
        }
    }

    private static func trimmed(_ field: [UInt8]) -> [UInt8] {
        let isBlank = { (octet: UInt8) in octet == 0x20 || octet == 0x09 || octet == 0x0D }
        var field = field[...]
        while let last = field.last, isBlank(last) { field.removeLast() }
        return Array(field.drop(while: isBlank))
    }

    private static func number(_ field: [UInt8]) throws(SampleLineError) -> Double {
        // What Double reads beyond decimals, such as nan and 0x1p3, has other letters.
        let isDecimal = field.allSatisfy { octet in
            (0x30...0x39).contains(octet) || "+-.eE".utf8.contains(octet)
        }
        let text = String(decoding: field, as: UTF8.self)
        guard isDecimal, let value = Double(text) else { throw .notANumber(printable(field)) }
        guard abs(value) <= valueMax else { throw .outOfRange(text) }
        return value
    }

    /// At most 32 characters, those that are not printable ASCII as `?`.
    private static func printable(_ octets: [UInt8]) -> String {
        String(
            decoding: octets.prefix(32).map { (0x20...0x7E).contains($0) ? $0 : 0x3F },
            as: UTF8.self)
    }

    /// The line as the input of an activity signal.
    public func input(source: Int) -> ActivityInput {
        switch self {
        case .magnitude(let value): .sample(value, source: source)
        case .acceleration(let x, let y, let z): .acceleration(x: x, y: y, z: z, source: source)
        }
    }
}

/// Why a line of a live source is not understood.
public enum SampleLineError: Error, Equatable, Sendable, CustomStringConvertible {
    case tooLong
    case fieldCount(Int)
    case notANumber(String)
    case outOfRange(String)

    public var description: String {
        switch self {
        case .tooLong: "longer than \(SampleLine.octetsMax) characters; \(Self.remedy)"
        case .fieldCount(let count): "\(count) values; \(Self.remedy)"
        case .notANumber(let text): "'\(text)' is no number; \(Self.remedy)"
        case .outOfRange(let text): "\(text) g is not within 1000 g either way; \(Self.remedy)"
        }
    }

    private static let remedy = "write a magnitude in g, or x,y,z in g"
}

/// The octets of a live source, cut into lines and read.
public struct SampleLineReader: Sendable {
    private let source: Int
    private var line = ByteBlock(capacity: SampleLine.octetsMax + 1)
    private var number = 1

    /// - Parameter source: the index in the rule's sources.
    public init(source: Int) { self.source = source }

    /// Takes octets as they come. A line that is not understood is the input `sourceLost` with its
    /// number and what is wrong with it; at most one input for each two octets.
    public mutating func take(_ bytes: Span<UInt8>, emit: inout Outputs<ActivityInput>) {
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: "\n") {
                finish(emit: &emit)
            } else if line.count <= SampleLine.octetsMax {
                line.append(bytes[index])
            }
        }
    }

    /// Forgets a line that has not ended and never will.
    public mutating func dropHalf() { line.removeAll() }

    /// The source has ended: its last line may lack an end.
    public mutating func finish(emit: inout Outputs<ActivityInput>) {
        do throws(SampleLineError) {
            if let sample = try SampleLine.parse(line.bytes.span) {
                emit.append(sample.input(source: source))
            }
        } catch {
            emit.append(.sourceLost(reason: "line \(number): \(error)", source: source))
        }
        line.removeAll()
        number += 1
    }
}

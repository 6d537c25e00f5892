// Stored records behind a Record Access Control Point (Glucose Profile; GSS, 3.192).
public import SansIO

/// A stored record.
public struct StoredRecord: Equatable, Sendable {
    /// The sequence number, by which requests name it.
    public var number: UInt16
    public var octets: [UInt8]
    /// What is sent behind it, of another characteristic; nil where there is none.
    public var context: [UInt8]?

    public init(number: UInt16, octets: [UInt8], context: [UInt8]? = nil) {
        self.number = number
        self.octets = octets
        self.context = context
    }
}

/// What a record store asks its device to do.
public enum RecordOutput: Equatable, Sendable {
    case notifyRecord([UInt8])
    case notifyContext([UInt8])
    /// The control point's answer.
    case indicate([UInt8])
}

/// Answers the requests of a Record Access Control Point.
///
/// Source: Glucose Service 1.0.1, 3.5. Records come one at a time, `pause` apart, so that an abort
/// can be written between them.
public struct RecordStore: Sendable {
    /// Between two records; a peripheral sends them in different connection events.
    public static let pause = TimeSpan.milliseconds(50)

    /// The request that ends a report.
    public static let abort = Opcode.abort

    private enum Opcode {
        static let report: UInt8 = 1
        static let delete: UInt8 = 2
        static let abort: UInt8 = 3
        static let reportNumber: UInt8 = 4
        static let numberResponse: UInt8 = 5
        static let response: UInt8 = 6
    }

    /// Response Code Values (GSS, 3.192).
    private enum Response: UInt8 {
        case success = 1
        case opcodeNotSupported, invalidOperator, operatorNotSupported, invalidOperand
        case noRecordsFound, abortUnsuccessful, procedureNotCompleted, operandNotSupported
    }

    private struct Failure: Error {
        let response: Response
    }

    public private(set) var records: [StoredRecord]
    /// Indices of the records that are still to be sent; the next one first.
    private var left: [Int] = []
    /// When the next record is due; nil while no report is under way.
    public private(set) var deadline: Instant?

    public init(_ records: [StoredRecord]) {
        self.records = records.sorted { $0.number < $1.number }
    }

    /// Whether a report is under way: another request but an abort is then refused.
    public var isBusy: Bool { deadline != nil }

    /// Takes a request that was written.
    public mutating func request(
        _ octets: [UInt8], at now: Instant, emit: inout Outputs<RecordOutput>
    ) {
        let opcode = octets.first ?? 0
        do throws(Failure) {
            switch opcode {
            case Opcode.report:
                left = try matching(octets)
                guard !left.isEmpty else { throw Failure(response: .noRecordsFound) }
                deadline = now
            case Opcode.delete:
                let found = try matching(octets)
                guard !found.isEmpty else { throw Failure(response: .noRecordsFound) }
                for index in found.reversed() { records.remove(at: index) }
                answer(opcode, .success, &emit)
            case Opcode.abort:
                guard octets.count >= 2, octets[1] == 0 else {
                    throw Failure(response: .invalidOperator)
                }
                cancel()
                answer(opcode, .success, &emit)
            case Opcode.reportNumber:
                let count = UInt16(clamping: try matching(octets).count)
                emit.append(
                    .indicate([
                        Opcode.numberResponse, 0, UInt8(truncatingIfNeeded: count),
                        UInt8(truncatingIfNeeded: count >> 8),
                    ]))
            default: throw Failure(response: .opcodeNotSupported)
            }
        } catch {
            answer(opcode, error.response, &emit)
        }
    }

    /// Ends a report whose client has gone.
    public mutating func cancel() {
        left.removeAll()
        deadline = nil
    }

    public mutating func expire(at now: Instant, emit: inout Outputs<RecordOutput>) {
        guard let due = deadline, due <= now else { return }
        if left.isEmpty {
            deadline = nil
            return answer(Opcode.report, .success, &emit)
        }
        let index = left.removeFirst()
        deadline = now + Self.pause
        guard records.indices.contains(index) else { return }
        emit.append(.notifyRecord(records[index].octets))
        if let context = records[index].context { emit.append(.notifyContext(context)) }
    }

    private func answer(
        _ opcode: UInt8, _ response: Response, _ emit: inout Outputs<RecordOutput>
    ) {
        emit.append(.indicate([Opcode.response, 0, opcode, response.rawValue]))
    }

    /// The indices of the records that operator and operand name.
    private func matching(_ octets: [UInt8]) throws(Failure) -> [Int] {
        guard octets.count >= 2 else { throw Failure(response: .invalidOperator) }
        let operand = octets[2...]
        switch octets[1] {
        case 1, 5, 6:
            guard operand.isEmpty else { throw Failure(response: .invalidOperand) }
            guard !records.isEmpty else { return [] }
            return octets[1] == 1
                ? Array(records.indices) : [octets[1] == 5 ? 0 : records.count - 1]
        case 2:
            let bounds = try numbers(operand, count: 1)
            return records.indices.filter { records[$0].number <= bounds[0] }
        case 3:
            let bounds = try numbers(operand, count: 1)
            return records.indices.filter { records[$0].number >= bounds[0] }
        case 4:
            let bounds = try numbers(operand, count: 2)
            guard bounds[0] <= bounds[1] else { throw Failure(response: .invalidOperand) }
            return records.indices.filter {
                (bounds[0]...bounds[1]).contains(records[$0].number)
            }
        case 0: throw Failure(response: .invalidOperator)
        default: throw Failure(response: .operatorNotSupported)
        }
    }

    /// The operand's sequence numbers behind their filter type.
    private func numbers(
        _ operand: ArraySlice<UInt8>, count: Int
    ) throws(Failure) -> [UInt16] {
        guard let filter = operand.first else { throw Failure(response: .invalidOperand) }
        guard filter == 1 else { throw Failure(response: .operandNotSupported) }
        let octets = Array(operand.dropFirst())
        guard octets.count == 2 * count else { throw Failure(response: .invalidOperand) }
        return (0..<count).map { UInt16(octets[2 * $0]) | UInt16(octets[2 * $0 + 1]) << 8 }
    }
}

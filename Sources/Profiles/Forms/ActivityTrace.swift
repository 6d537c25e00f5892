// A recorded activity signal: CSV with a header, a rising column `time` in seconds, value columns.
import Advertising
import SansIO

/// Reads one column of a trace file.
struct ActivityTrace {
    let file: String
    let column: String

    /// A year at ten samples a second is refused; a day is well within.
    static let octetsMax = 64 * 1024 * 1024
    static let secondsMax = 366.0 * 86_400

    /// The samples, rising in time. The error says the line of the trace.
    func read(_ bytes: [UInt8]) throws(ProfileError) -> [ActivityRule.Sample] {
        guard bytes.count <= Self.octetsMax else {
            throw error(1, 1, "the trace has \(bytes.count) octets, the limit is 64 MiB", "shorten it")
        }
        var columns: (time: Int, value: Int)?
        var samples: [ActivityRule.Sample] = []
        var lineNumber = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            lineNumber += 1
            let fields = Self.fields(line)
            if fields.allSatisfy(\.text.isEmpty) { continue }
            guard let (timeColumn, valueColumn) = columns else {
                columns = try header(fields, lineNumber)
                continue
            }
            let time = try number(fields, timeColumn, lineNumber, "time")
            let value = try number(fields, valueColumn, lineNumber, column)
            guard (0...Self.secondsMax).contains(time) else {
                throw error(
                    lineNumber, fields[timeColumn].column, "the time is not within 0 to 366 days",
                    "write seconds from power-on")
            }
            let sample = ActivityRule.Sample(
                time: TimeSpan(microseconds: Int64((time * 1e6).rounded())), value: value)
            if let last = samples.last, sample.time <= last.time {
                throw error(
                    lineNumber, fields[timeColumn].column, "the time does not rise",
                    "write the rows by rising time")
            }
            samples.append(sample)
        }
        guard !samples.isEmpty else {
            throw error(
                max(lineNumber, 1), 1, "the trace has no rows",
                "write a header 'time,\(column)' and at least one row")
        }
        return samples
    }

    private struct Field {
        var text: String
        var column: Int
    }

    private static func fields(_ line: ArraySlice<UInt8>) -> [Field] {
        line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { field in
            let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            var trimmed = field.drop(while: isBlank)
            let start = trimmed.startIndex
            while let last = trimmed.last, isBlank(last) { trimmed.removeLast() }
            return Field(
                text: String(decoding: trimmed, as: UTF8.self), column: start - line.startIndex + 1)
        }
    }

    private func header(
        _ fields: [Field], _ line: Int
    ) throws(ProfileError) -> (time: Int, value: Int) {
        let names = fields.map(\.text)
        guard let time = names.firstIndex(of: "time") else {
            throw error(line, 1, "the header has no column 'time'", "name the columns, 'time' one of them")
        }
        guard let value = names.firstIndex(of: column) else {
            throw error(
                line, 1, "the header has no column '\(column)'",
                "name one so, or say another in the profile: \(names.joined(separator: ", "))")
        }
        return (time, value)
    }

    private func number(
        _ fields: [Field], _ index: Int, _ line: Int, _ name: String
    ) throws(ProfileError) -> Double {
        guard index < fields.count else {
            throw error(line, 1, "the row has no value of '\(name)'", "write as many values as columns")
        }
        guard let value = Quantity.decimal(fields[index].text) else {
            throw error(
                line, fields[index].column, "'\(fields[index].text.prefix(40))' is no decimal number",
                "write a number such as 0.05")
        }
        return value
    }

    private func error(
        _ line: Int, _ column: Int, _ problem: String, _ remedy: String
    ) -> ProfileError {
        ProfileError(
            file: file, line: line, column: column, path: "", problem: problem, remedy: remedy)
    }
}

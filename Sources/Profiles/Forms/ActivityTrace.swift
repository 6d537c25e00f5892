// A recorded activity signal: CSV with a header, a rising column `time` in seconds, value columns.
public import Advertising
import SansIO
import Wire

extension ProfileLoader {
    /// Reads a trace that no profile names.
    /// - Parameter column: nil for `magnitude`.
    public static func trace(
        path: String, column: String?, bytes: [UInt8]
    ) throws(ProfileErrors) -> TraceSource {
        do throws(ProfileError) {
            let trace = ActivityTrace(file: path, column: column)
            return TraceSource(samples: try trace.read(bytes))
        } catch { throw ProfileErrors(list: [error]) }
    }
}

/// Reads one column of a trace file.
struct ActivityTrace {
    let file: String
    let column: String

    /// - Parameter column: `magnitude` where the user names none.
    init(file: String, column: String?) {
        self.file = file
        self.column = column ?? "magnitude"
    }

    /// A year at ten samples a second is refused; a day is well within.
    static let octetsMax = 64 * 1024 * 1024
    static let secondsMax = 366.0 * 86_400

    /// The samples, rising in time. The error says the line of the trace.
    func read(_ bytes: [UInt8]) throws(ProfileError) -> [ActivityRule.Sample] {
        guard bytes.count <= Self.octetsMax else {
            throw error(
                1, 1, "the trace has \(bytes.count) octets, the limit is 64 MiB", "shorten it")
        }
        let octets = bytes.span
        var columns: (time: Int, value: Int)?
        var samples: [ActivityRule.Sample] = []
        // Spreadsheets begin a file with a byte order mark.
        var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var line = 0
        while start < octets.count {
            var end = start
            while end < octets.count, octets[end] != UInt8(ascii: "\n") { end += 1 }
            line += 1
            let row = Row(start: start, end: end, line: line)
            start = end + 1
            if row.isBlank(octets) { continue }
            if let (time, value) = columns {
                try append(row, time, value, octets, to: &samples)
            } else {
                columns = try header(row.texts(octets), line)
            }
        }
        guard !samples.isEmpty else {
            throw error(
                max(line, 1), 1, "the trace has no rows",
                "write a header 'time,\(column)' and at least one row")
        }
        return samples
    }

    private func append(
        _ row: Row, _ timeColumn: Int, _ valueColumn: Int, _ octets: Span<UInt8>,
        to samples: inout [ActivityRule.Sample]
    ) throws(ProfileError) {
        let (time, place) = try number(row, timeColumn, "time", octets)
        let (value, _) = try number(row, valueColumn, column, octets)
        guard (0...Self.secondsMax).contains(time) else {
            throw error(
                row.line, place, "the time is not within 0 to 366 days",
                "write seconds from power-on")
        }
        let sample = ActivityRule.Sample(
            time: TimeSpan(microseconds: Int64((time * 1e6).rounded())), value: value)
        if let last = samples.last, sample.time <= last.time {
            throw error(
                row.line, place, "the time does not rise", "write the rows by rising time")
        }
        samples.append(sample)
    }

    private func header(
        _ names: [String], _ line: Int
    ) throws(ProfileError) -> (time: Int, value: Int) {
        guard let time = names.firstIndex(of: "time") else {
            throw error(
                line, 1, "the header has no column 'time'", "name the columns, 'time' one of them")
        }
        guard let value = names.firstIndex(of: column) else {
            throw error(
                line, 1, "the header has no column '\(column)'",
                "name one so, or say another in the profile: \(names.joined(separator: ", "))")
        }
        return (time, value)
    }

    private func number(
        _ row: Row, _ index: Int, _ name: String, _ octets: Span<UInt8>
    ) throws(ProfileError) -> (value: Double, column: Int) {
        guard let field = row.field(index, octets) else {
            throw error(
                row.line, 1, "the row has no value of '\(name)'", "write as many values as columns")
        }
        let place = field.lowerBound - row.start + 1
        guard let value = Quantity.decimal(octets.extracting(field)) else {
            let text = String(decoding: octets.copied(field), as: UTF8.self)
            throw error(
                row.line, place, "'\(text.prefix(40))' is no decimal number",
                "write a number such as 0.05")
        }
        return (value, place)
    }

    private func error(
        _ line: Int, _ column: Int, _ problem: String, _ remedy: String
    ) -> ProfileError {
        ProfileError(
            file: file, line: line, column: column, path: "", problem: problem, remedy: remedy)
    }
}

/// One line of the trace: its fields are looked up in place, for traces have many lines.
private struct Row {
    let start: Int
    let end: Int
    let line: Int

    private static func isBlank(_ octet: UInt8) -> Bool {
        octet == 0x20 || octet == 0x09 || octet == 0x0D
    }

    func isBlank(_ octets: Span<UInt8>) -> Bool {
        for index in start..<end where !Self.isBlank(octets[index]) { return false }
        return true
    }

    /// The octets of the field at `index`, counted from 0, without blanks around it.
    func field(_ index: Int, _ octets: Span<UInt8>) -> Range<Int>? {
        var count = 0
        var first = start
        for place in start...end where place == end || octets[place] == UInt8(ascii: ",") {
            if count == index { return trimmed(first, place, octets) }
            count += 1
            first = place + 1
        }
        return nil
    }

    private func trimmed(_ first: Int, _ last: Int, _ octets: Span<UInt8>) -> Range<Int> {
        var (first, last) = (first, last)
        while first < last, Self.isBlank(octets[first]) { first += 1 }
        while last > first, Self.isBlank(octets[last - 1]) { last -= 1 }
        return first..<last
    }

    func texts(_ octets: Span<UInt8>) -> [String] {
        var texts: [String] = []
        while let range = field(texts.count, octets) {
            texts.append(String(decoding: octets.copied(range), as: UTF8.self))
        }
        return texts
    }
}

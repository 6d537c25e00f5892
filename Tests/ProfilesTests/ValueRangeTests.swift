// No source leaves the range of its value: counters begin anew within it, others are refused.
import Advertising
import Behaviours
import SansIO
import Testing
import Wire

@testable import Profiles

/// A place of a number in a profile.
struct NumberPlace: CustomTestStringConvertible, Sendable {
    var name: String
    var range: ClosedRange<Double>
    /// How far a sent number may be from the one meant.
    var precision: Double
    /// The profile but for the value, which stands at `VALUE`.
    var profile: String
    var testDescription: String { name }

    func text(_ value: String) -> String { profile.replacing("VALUE", with: value) }

    /// The places in beacons, and those of assigned characteristics that are one number.
    static let all: [NumberPlace] = beacons + characteristics

    private static var beacons: [NumberPlace] {
        var all: [NumberPlace] = []
        for format in BeaconFormat.all where format.isWritten {
            let required = format.fields.filter {
                $0.initial == nil && $0.own == nil && !$0.name.isEmpty
            }
            for field in format.fields {
                guard case .number(let number) = field.kind else { continue }
                let others = required.filter { $0.name != field.name }
                    .map { "\($0.name): \(constant($0))" }
                let objects =
                    format.objects.isEmpty ? [] : ["objects: [{object: packet-id, value: 1}]"]
                all.append(
                    place(format, field, number, others + objects + ["\(field.name): VALUE"]))
            }
            for object in format.objects {
                guard case .number(let number) = object.kind, let tag = object.tag else { continue }
                all.append(
                    place(
                        format, object, number,
                        ["objects: [{object: \(Hex.code(tag)), value: VALUE}]"]))
            }
        }
        return all
    }

    private static func place(
        _ format: BeaconFormat, _ field: BeaconField, _ number: BeaconNumber, _ entries: [String]
    ) -> NumberPlace {
        NumberPlace(
            name: "\(format.name) \(field.name) \(field.tag.map { Hex.code($0) } ?? "")",
            range: number.range, precision: number.scale,
            profile: "{peripheral-emu: 1, device: {name: T}, activity: {source: gatt, hold: 1 s}, "
                + "advertising: [{set: a, type: non-connectable, address: random-static, "
                + "pdu: extended, interval: 1 s, update: every 1 s, "
                + "data: [{\(format.name): {\(entries.joined(separator: ", "))}}]}], "
                + "services: [{service: 0x1234, characteristics: "
                + "[{characteristic: 0x5678, label: other, write: open}]}]}\n")
    }

    static func constant(_ field: BeaconField) -> String {
        switch field.kind {
        case .number(let number):
            "\(DecimalText.short(min(max(3, number.range.lowerBound), number.range.upperBound)))"
                + (number.unit.isEmpty ? "" : " " + number.unit)
        case .boolean: "true"
        case .words(let words): words.first?.word ?? ""
        case .company: "0xFFFF"
        case .uuid: "\"5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10\""
        case .address: "\"C0:11:22:33:44:55\""
        case .octets(let range): "\"\(String(repeating: "00", count: range.lowerBound))\""
        case .text: "a"
        case .counted, .typed, .fixed: "\"00\""
        case .url: "\"https://a.com/\""
        }
    }

    private static var characteristics: [NumberPlace] {
        (UInt16(0x2A00)...0x2CFF).compactMap { number in
            guard case .number(let spec) = AssignedNames.format(BluetoothUUID(number)) else {
                return nil
            }
            return NumberPlace(
                name: AssignedNames.characteristic(BluetoothUUID(number)) ?? Hex.code(number),
                range: spec.range,
                precision: spec.format.kind == .integer ? spec.format.scale : 1e-3,
                profile: "{peripheral-emu: 1, device: {name: T}, "
                    + "activity: {source: gatt, hold: 1 s}, services: [{service: 0x1234, "
                    + "characteristics: [{characteristic: \(Hex.code(number)), read: open, "
                    + "update: every 1 s, value: VALUE}, "
                    + "{characteristic: 0x5678, label: other, write: open}]}]}\n")
        }
    }
}

@Suite struct ValueRangeTests {
    /// The one generated source of a profile.
    static func source(_ text: String) throws -> ValueSource {
        let profile = try ReferenceTests.read(text)
        for field in profile.liveFields {
            if case .generated(let source) = field.source { return source }
        }
        let spec = try #require(profile.services.first?.characteristics.first)
        return spec.value
    }

    /// The numbers of `count` samples.
    static func numbers(_ source: ValueSource, _ count: Int) throws -> [Double] {
        guard case .generated(_, let format) = source else { return [] }
        var machine = ValueMachine(
            source, update: .seconds(1), send: .manual, start: .zero, seed: 1, stream: "")
        return (0..<count).compactMap { second in
            if second > 0 {
                _ = machine.expire(at: Instant(microseconds: Int64(second) * 1_000_000))
            }
            return format.decode(machine.value.span)
        }
    }

    @Test("there are places of numbers to test")
    func places() {
        #expect(NumberPlace.all.filter { $0.profile.contains("data:") }.count > 90)
        #expect(NumberPlace.all.filter { !$0.profile.contains("data:") }.count > 50)
    }

    @Test("a counter begins anew where the range of its value ends, wherever it stands")
    func counters() throws {
        for place in NumberPlace.all {
            let low = max(place.range.lowerBound.rounded(.up), -1e9)
            let high = min(place.range.upperBound.rounded(.down), 1e9)
            let first = max(high - 1, low)
            let size = high - low + 1
            let start = "start: \(DecimalText.short(first))"
            let up = try Self.numbers(Self.source(place.text("{counter: {\(start)}}")), 5)
            #expect(up.count == 5 && up.allSatisfy { place.range.contains($0) }, "\(place.name)")
            guard place.range.upperBound <= 1e9, place.range.lowerBound >= -1e9 else { continue }
            for (index, number) in up.enumerated() {
                let place1 = (first - low + Double(index)).truncatingRemainder(dividingBy: size)
                #expect(
                    abs(number - low - place1) <= place.precision / 2 + 1e-9,
                    "\(place.name): \(up)")
            }
            let down = try Self.numbers(
                Self.source(
                    place.text("{counter: {start: \(DecimalText.short(low)), step: -1}}")), 2)
            #expect(abs(down[1] - high) <= place.precision / 2 + 1e-9, "\(place.name): \(down)")
        }
    }

    @Test("a counter without a start begins within the range")
    func initial() throws {
        for place in NumberPlace.all {
            let first = try Self.numbers(Self.source(place.text("{counter: {}}")), 1)
            #expect(first.count == 1 && place.range.contains(first[0]), "\(place.name): \(first)")
        }
    }

    @Test("a start outside the range is refused with its place")
    func starts() {
        for place in NumberPlace.all {
            for start in [place.range.lowerBound - 1, place.range.upperBound + 1]
            where abs(start) < 1e9 {
                let start = DecimalText.short(start.rounded(start < 0 ? .down : .up))
                let errors = ReferenceTests.objections(place.text("{counter: {start: \(start)}}"))
                #expect(
                    errors.first?.contains("counter.start: \(start)") == true
                        && errors.first?.contains("does not fit: the range is ") == true,
                    "\(place.name): \(errors)")
            }
        }
    }

    @Test("a source whose numbers have fixed bounds is refused where they do not fit")
    func fixedBounds() throws {
        let sources: [(text: String, range: ClosedRange<Double>)] = [
            ("{clock: utc}", 0...2_147_483_647), ("{activity: level}", 0...1),
            ("{activity: active}", 0...1), ("{writes-of: other}", 0...0),
        ]
        for place in NumberPlace.all {
            for (text, range) in sources {
                var profile = place.text(text)
                if text.contains("writes-of") {
                    profile.replace("read: open, update: every 1 s", with: "read: open")
                }
                let errors = ReferenceTests.objections(profile)
                let fits =
                    place.range.contains(range.lowerBound)
                    && place.range.contains(range.upperBound)
                #expect(errors.isEmpty == fits, "\(place.name): \(text) \(errors)")
                #expect(fits || errors[0].contains("not fit: the range is "), "\(errors)")
            }
        }
    }
}

@Suite struct EchoTests {
    private static func errors(_ characteristics: String) -> [String] {
        ReferenceTests.objections(
            "{peripheral-emu: 1, device: {name: T}, services: [{service: 0x1234, "
                + "characteristics: [\(characteristics)]}]}\n"
        ).dropLast().map { $0 }
    }

    @Test("a value that echoes itself is refused")
    func itself() {
        #expect(
            Self.errors("{characteristic: battery-level, read: open, value: {echo: battery-level}}")
                == [
                    "test.yaml:1:145: services[0].characteristics[0].value.echo: "
                        + "a value cannot echo itself; write a value that comes from elsewhere"
                ])
    }

    @Test("echoes in a circle are refused once, those that lead to it are not", arguments: 2...12)
    func circle(count: Int) {
        let all = (0..<count).map { index in
            "{characteristic: \(Hex.code(UInt16(0x5000 + index))), label: c\(index), read: open, "
                + "value: {echo: c\((index + 1) % count)}}"
        }
        let outside = "{characteristic: 0x6000, label: out, read: open, value: {echo: c1}}"
        let found = Self.errors(([outside] + all).joined(separator: ", "))
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.contains("characteristics[1].value.echo: it echoes 'c1', ") == true)
        #expect(found.first?.contains("'c0': nothing gives a value; ") == true)
        // Cut open, it is a chain.
        let chain = all.dropLast() + ["{characteristic: 0x7000, label: c\(count - 1), read: open}"]
        #expect(Self.errors(([outside] + chain).joined(separator: ", ")) == [])
    }

    @Test("what is not a whole value of a characteristic cannot echo")
    func parts() {
        let field = Self.errors(
            "{characteristic: 0x5678, read: open, fields: [{name: a, format: utf8, "
                + "value: {echo: other}}]}, {characteristic: 0x5679, label: other, read: open}")
        #expect(field.count == 1 && field[0].contains("only a whole value can echo"), "\(field)")
        let advertised = ReferenceTests.objections(
            "{peripheral-emu: 1, device: {name: T}, advertising: [{type: connectable, "
                + "interval: 1 s, update: every 1 s, data: [{manufacturer: {company: 0xFFFF, "
                + "fields: [{format: uint8, value: {echo: battery-level}}]}}]}], "
                + "services: [{service: battery, characteristics: "
                + "[{characteristic: battery-level, read: open}]}]}\n")
        #expect(
            advertised.first?.contains("write the field '{value-of: battery-level}'") == true,
            "\(advertised)")
    }
}

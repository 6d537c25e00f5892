// The value of one field of a beacon: a constant in its unit, a generator or another value.
import Advertising
import Behaviours
import Wire
import YAML

/// What a profile says for a field.
enum BeaconReading {
    case constant(BeaconValue)
    case live(LiveFieldSource, factor: Double)
}

/// Reads a field as its format declares it.
struct BeaconValueForm {
    let field: BeaconField

    var form: Form<BeaconReading> {
        switch field.kind {
        case .number(let number): live(constant(number), number)
        case .boolean:
            live(Form<Bool>.boolean.map { .constant(.boolean($0)) }, .flag)
        case .words(let words):
            Form<UInt8>.word(words.map { ($0.word, $0.code) }).map { .constant(.word($0)) }
        case .company:
            Form<UInt16>.assigned(.company, example: "radius-networks-inc")
                .map { .constant(.company($0)) }
        case .uuid: Form<BluetoothUUID>.beaconUUID.map { .constant(.uuid($0)) }
        case .address: Form<DeviceAddress>.address.map { .constant(.address($0)) }
        case .octets(let range): octets(range)
        case .text, .counted(isText: true):
            Form<String>.text(structureOctetsMax, says: "a text")
                .map { .constant(.octets(Array($0.utf8))) }
        case .counted(isText: false):
            Form<[UInt8]>.hex(octetsMax: structureOctetsMax).map { .constant(.octets($0)) }
        case .typed: Form<[UInt8]>.exactly(0...15).map { .constant(.octets($0)) }
        case .url: Form<[UInt8]>.eddystoneURL.map { .constant(.octets($0)) }
        case .fixed: Form<BeaconReading>(says: "nothing") { _, _ in nil }
        }
    }

    private var structureOctetsMax: Int { AdvertisingDataLimits.structureDataOctets }

    private func constant(_ number: BeaconNumber) -> Form<BeaconReading> {
        let low = DecimalText.short(number.range.lowerBound)
        let high = DecimalText.short(number.range.upperBound)
        let isWhole = number.scale == 1
        guard number.unit.isEmpty else {
            let usual = number.unit == "dBm" ? -59.0 : number.unit == "hPa" ? 1013 : 3
            let near = min(max(usual, number.range.lowerBound), number.range.upperBound)
            return Form<Double>.quantity(
                number.unit, number.range,
                example: "\(DecimalText.short(near)) \(number.unit)", isWhole: isWhole
            ).map { .constant(.number($0)) }
        }
        guard isWhole, number.octets <= 6 else {
            let real = Form<Double>.real(says: "a number from \(low) to \(high)")
            return Form<BeaconReading>(says: real.says, schema: real.schema) { place, context in
                guard let value = real.read(place, context) else { return nil }
                guard number.range.contains(value) else {
                    context.report(
                        place, "\(place.found) is not within \(low) to \(high)",
                        "write \(real.says)")
                    return nil
                }
                return .constant(.number(value))
            }
        }
        let range = Int(number.range.lowerBound)...Int(number.range.upperBound)
        return Form<Int>.integer(range, says: "\(low) to \(high)")
            .map { .constant(.number(Double($0))) }
    }

    // MARK: live numbers

    /// A constant as a scalar, a generator or another value as a map.
    private func live(
        _ constant: Form<BeaconReading>, _ number: BeaconNumber
    ) -> Form<BeaconReading> {
        let says = constant.says + ", or a generator such as '{sine: {…}}'"
        let generators = ValueForm(format: .number(number.spec)).generators.map { choice in
            Choice(choice.key, choice.form().map { BeaconReading.live(.generated($0), factor: 1) })
        }
        let map = Form<BeaconReading>.choice(
            says: says, generators + [Choice("value-of", value(number))])
        return Form(
            says: constant.says, schema: { .anyOf([constant.schema(), .generator]) }
        ) { place, context in
            switch place.node.content {
            case .scalar, .sequence: constant.read(place, context)
            case .mapping: map.read(place, context)
            }
        }
    }

    /// The number that a characteristic's value is.
    private func value(_ number: BeaconNumber) -> Form<BeaconReading> {
        let reference = Form<String>.reference(to: .characteristic)
        return Form<BeaconReading>(says: reference.says, schema: reference.schema) {
            place, context in
            guard let name = reference.read(place, context) else { return nil }
            // A reference that names nothing is reported where all are.
            guard let entry = References.characteristics(context.services).one(name) else {
                return .live(.value(of: name), factor: 1)
            }
            let spec = context.services[entry.service].characteristics[entry.characteristic]
            let numbers = ValueForm(format: spec.format).numbers?.range
            func fits(_ factor: Double) -> Bool {
                guard let numbers, number.range.upperBound >= numbers.lowerBound * factor,
                    number.range.lowerBound <= numbers.upperBound * factor
                else {
                    context.report(
                        place, "'\(name)' never fits: the range is \(number.spec.rangeText)",
                        "name another value")
                    return false
                }
                return true
            }
            switch spec.format {
            case .boolean, .words: return fits(1) ? .live(.value(of: spec.name), factor: 1) : nil
            case .number(let source):
                let unit = source.unit.symbol
                guard let factor = UnitFactor.of(unit, in: number.unit) else {
                    context.report(
                        place, "'\(name)' is in \(unit), which is no \(number.unit)",
                        "name a value in \(number.unit)")
                    return nil
                }
                return fits(factor) ? .live(.value(of: spec.name), factor: factor) : nil
            case .appearance, .utf8, .utf16, .fields, .bytes:
                context.report(
                    place, "'\(name)' is no number",
                    "name a characteristic whose format is a number")
                return nil
            }
        }
    }

    // MARK: octets

    /// Hexadecimal digits, octets that are new at each update, or those of a value.
    private func octets(_ range: ClosedRange<Int>) -> Form<BeaconReading> {
        let hex = Form<[UInt8]>.exactly(range, or: "'random'")
        let reference = Form<String>.reference(to: .characteristic)
        let map = Form<BeaconReading>.choice(
            says: hex.says,
            [Choice("value-of", reference.map { .live(.value(of: $0), factor: 1) })])
        let schema = { Schema.anyOf([hex.schema(), .generator]) }
        return Form(says: hex.says, schema: schema) { place, context in
            if case .mapping = place.node.content { return map.read(place, context) }
            if place.scalar?.text == "random" {
                return .live(.generated(.random(octets: range.upperBound)), factor: 1)
            }
            return hex.read(place, context).map { .constant(.octets($0)) }
        }
    }
}

/// Units that say the same in other multiples.
private enum UnitFactor {
    private static let factors: [(from: String, to: String, Double)] = [
        ("Pa", "hPa", 0.01), ("kPa", "hPa", 10), ("mV", "V", 0.001), ("ms", "s", 0.001),
        ("m", "mm", 1000), ("mm", "m", 0.001), ("m/s²", "g", 1 / 9.80665),
    ]

    /// What makes a number of one unit one of the other; nil where nothing does.
    static func of(_ unit: String, in other: String) -> Double? {
        if unit == other || unit.isEmpty || other.isEmpty { return 1 }
        return factors.first { $0.from == unit && $0.to == other }?.2
    }
}

extension BeaconNumber {
    /// How a generator's numbers become the field's: in its own steps, so that counters wrap where
    /// it does; where its steps do not begin at zero, as they are.
    fileprivate var spec: NumberSpec {
        let unit = MeasurementUnit(name: unit, symbol: unit, number: 0x2700)
        let format =
            offset == 0
            ? NumberFormat(octets: octets, isSigned: isSigned, scale: scale, bits: bits)
            : NumberFormat(octets: 8, isSigned: true, scale: 1, kind: .float)
        return NumberSpec(format: format, unit: unit).within(range)
    }
}

extension ValueSource {
    /// Octets of which each is any, anew at each sample.
    fileprivate static func random(octets: Int) -> ValueSource {
        let octet = NumberFormat(octets: 1, isSigned: false, scale: 1)
        // The ends are as likely as the rest.
        let source = ValueSource.generated(.noise(min: -0.49, max: 255.49), encoding: octet)
        return .composed((0..<octets).map { ValuePart(name: "\($0)", source: source) })
    }
}

extension Form where Value == [UInt8] {
    /// So many octets in hexadecimal digits; messages tell of another way to say it.
    static func exactly(_ range: ClosedRange<Int>, or other: String? = nil) -> Form {
        let (low, high) = (range.lowerBound, range.upperBound)
        let count = low == high ? "\(low)" : "\(low) to \(high)"
        let says =
            "\(count) \(high == 1 ? "octet" : "octets") of hexadecimal digits in quotes"
            + (other.map { ", or \($0)" } ?? "")
        let digits = hex(octetsMax: AdvertisingDataLimits.structureDataOctets)
        return Form(says: says, schema: digits.schema) { place, context in
            guard let scalar = place.scalar, scalar.value != .null, Hex.bytes(scalar.text) != nil
            else {
                return mismatch(place, context, says: says)
            }
            guard let octets = digits.read(place, context) else { return nil }
            guard range.contains(octets.count) else {
                context.report(
                    place, "it has \(octets.count) \(octets.count == 1 ? "octet" : "octets")",
                    "write \(says)")
                return nil
            }
            return octets
        }
    }

    /// A web address that fits.
    fileprivate static var eddystoneURL: Form {
        let says = "a URL such as 'https://example.com/'"
        let text = Form<String>.text(512, says: says)
        return Form(says: says, schema: { .text(pattern: "^https?://") }) { place, context in
            guard let url = text.read(place, context) else { return nil }
            guard let octets = EddystoneURLCode.octets(of: url) else {
                context.report(
                    place, "\(place.found) is no URL that Eddystone can hold",
                    "begin it with 'https://' or 'http://', and write other characters as '%20'")
                return nil
            }
            guard octets.count <= EddystoneURLCode.octetsMax else {
                context.report(
                    place,
                    "the URL takes \(octets.count) of \(EddystoneURLCode.octetsMax) octets",
                    "write a shorter one, or that of a shortening service")
                return nil
            }
            // A host begins with a letter, a digit, or '[' before an address.
            let first = octets.dropFirst().first.map { Character(UnicodeScalar($0)) }
            guard let first, first.isLetter || first.isNumber || first == "[" || first == "%" else {
                context.report(place, "the URL has no host", "write \(says)")
                return nil
            }
            return octets
        }
    }
}

extension Form where Value == BluetoothUUID {
    /// The 128-bit UUID of a beacon.
    fileprivate static var beaconUUID: Form {
        let says = "a 128-bit UUID in quotes"
        return Form(says: says, schema: { .text() }) { place, context in
            guard let scalar = place.scalar, let uuid = BluetoothUUID(scalar.text) else {
                return mismatch(place, context, says: says)
            }
            return uuid
        }
    }
}

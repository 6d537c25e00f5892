// Assigned names, UUIDs, addresses and hexadecimal text.
import Wire
import YAML

/// The tables that a name can stand in.
enum NameKind {
    case service, characteristic, descriptor, company, appearance, unit

    var table: NumberedLines {
        switch self {
        case .service: AssignedNameTables.services
        case .characteristic: AssignedNameTables.characteristics
        case .descriptor: AssignedNameTables.descriptors
        case .company: AssignedNameTables.companies
        case .appearance: AssignedNameTables.appearances
        case .unit: AssignedNameTables.units
        }
    }

    var word: String {
        switch self {
        case .service: "service"
        case .characteristic: "characteristic"
        case .descriptor: "descriptor"
        case .company: "company"
        case .appearance: "appearance"
        case .unit: "unit"
        }
    }

    var article: String { (self == .appearance ? "an " : "a ") + word }

    /// Names that an editor offers; there are too many companies.
    var completions: [String] {
        var names: [String] = []
        if self != .company { table.forEachName { names.append($0) } }
        return names
    }

    /// The nearest assigned name.
    func nearest(to text: String) -> String? {
        var nearest = NearestName(to: text)
        table.forEachName { nearest.consider($0) }
        return nearest.best
    }
}

/// What a text is that stands where an assigned name or number may stand.
private enum NumberText {
    case number(UInt16)
    /// Four hexadecimal digits without `0x`, which YAML may even take for a number: 1812, 2E37.
    case bare
    /// Begins as a number and is none.
    case malformed
    case other

    init(_ text: String) {
        if text.hasPrefix("0x") || text.hasPrefix("0X") {
            let digits = text.dropFirst(2)
            if text.hasPrefix("0x"), digits.utf8.count == 4, Self.areHex(digits),
                let value = UInt16(digits, radix: 16)
            {
                self = .number(value)
            } else {
                self = .malformed
            }
        } else {
            self = text.utf8.count == 4 && Self.areHex(text[...]) ? .bare : .other
        }
    }

    static func areHex(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { Hex.value(of: $0) != nil }
    }
}

extension Form where Value == UInt16 {
    /// An assigned name of `kind`, or its number as `0x0341`.
    static func assigned(_ kind: NameKind, example: String) -> Form {
        let says = "a name such as '\(example)', or a number such as '0x0341'"
        return Form(says: says, schema: { .assigned(kind.completions) }) { place, context in
            guard let scalar = place.scalar, scalar.value != .null else {
                return mismatch(place, context, says: says)
            }
            switch NumberText(scalar.text) {
            case .number(let value): return value
            case .malformed:
                context.report(
                    place, "\(place.found) is not a number of four hexadecimal digits",
                    "write \(says)")
                return nil
            case .bare, .other: break
            }
            if let number = kind.table.number(of: scalar.text) { return number }
            if case .bare = NumberText(scalar.text) {
                context.report(
                    place, "'\(scalar.text)' is no number of \(kind.article) without 0x",
                    "write '0x\(scalar.text.uppercased())'")
                return nil
            }
            if case .integer(let value) = scalar.value, let number = UInt16(exactly: value) {
                context.report(
                    place, "the number of \(kind.article) is written in hexadecimal",
                    "write '\(Hex.code(number))'")
                return nil
            }
            reportUnknown(kind, scalar.text, place, context, says: says)
            return nil
        }
    }

    fileprivate static func reportUnknown(
        _ kind: NameKind, _ text: String, _ place: Place, _ context: DecodeContext, says: String
    ) {
        context.report(
            place, "unknown \(kind.word) \(place.found)",
            "write \(kind.nearest(to: text).map { "'\($0)'" } ?? says)")
    }
}

extension Form where Value == BluetoothUUID {
    /// An assigned name of `kind`, a number as `0x180F`, or a 128-bit UUID in its usual form.
    static func uuid(_ kind: NameKind, example: String) -> Form {
        let says = "a name such as '\(example)', a number such as '0x180F' or a 128-bit UUID"
        return Form(says: says, schema: { .assigned(kind.completions) }) { place, context in
            guard let scalar = place.scalar, scalar.value != .null else {
                return mismatch(place, context, says: says)
            }
            let text = scalar.text
            if let uuid = BluetoothUUID(text) { return uuid }
            switch NumberText(text) {
            case .number(let value): return BluetoothUUID(value)
            case .malformed:
                context.report(
                    place, "\(place.found) is not a 16-bit UUID of four hexadecimal digits",
                    "write \(says)")
                return nil
            case .bare, .other: break
            }
            if let number = kind.table.number(of: text) { return BluetoothUUID(number) }
            if case .bare = NumberText(text) {
                context.report(
                    place, "'\(text)' is no UUID without 0x", "write '0x\(text.uppercased())'")
                return nil
            }
            if text.utf8.count == 32, let bytes = Hex.bytes(text), bytes.count == 16 {
                let reversed = [UInt8](bytes.reversed())
                let uuid = BluetoothUUID(littleEndian: reversed.span)
                context.report(
                    place, "a 128-bit UUID is written with hyphens",
                    "write '\(uuid?.description ?? text)'")
                return nil
            }
            Form<UInt16>.reportUnknown(kind, text, place, context, says: says)
            return nil
        }
    }
}

extension Form where Value == [UInt8] {
    /// Pairs of hexadecimal digits, quoted: YAML takes many for numbers.
    static func hex(octetsMax: Int) -> Form {
        let says = "pairs of hexadecimal digits in quotes such as '\"01FF\"'"
        let schema = Schema.text(pattern: "^ *([0-9A-Fa-f]{2} *)*$")
        return Form(says: says, schema: { schema }) { place, context in
            guard let scalar = place.scalar else { return mismatch(place, context, says: says) }
            let isQuoted = !scalar.isPlain
            guard let bytes = Hex.bytes(scalar.text), isQuoted || !bytes.isEmpty else {
                return mismatch(place, context, says: says)
            }
            guard isQuoted else {
                context.report(
                    place, "hexadecimal text stands without quotes", "write '\"\(scalar.text)\"'")
                return nil
            }
            guard bytes.count <= octetsMax else {
                context.report(
                    place, "the value has \(bytes.count) octets, the limit is \(octetsMax)",
                    "write fewer")
                return nil
            }
            return bytes
        }
    }

    /// `{hex: "01FF"}` or `{text: Hello}`.
    static func octets(_ octetsMax: Int) -> Form {
        choice(
            says: "'{hex: \"01FF\"}' or '{text: Hello}'",
            [
                Choice("hex", hex(octetsMax: octetsMax)),
                Choice("text", Form<String>.text(octetsMax, says: "text").map { Array($0.utf8) }),
            ])
    }
}

extension Form where Value == DeviceAddress {
    /// The map to write in place of an address alone.
    static func longAddress(_ text: String) -> String? {
        DeviceAddress(text) == nil ? nil : "{type: random-static, value: \"\(text)\"}"
    }

    /// An address in quotes, most significant octet first.
    static var address: Form {
        let says = "an address in quotes such as '\"C0:11:22:33:44:55\"'"
        let schema = Schema.text(pattern: "^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$")
        return Form(says: says, schema: { schema }) { place, context in
            guard let scalar = place.scalar, let address = DeviceAddress(scalar.text) else {
                return mismatch(place, context, says: says)
            }
            guard !scalar.isPlain else {
                context.report(
                    place, "the address stands without quotes", "write '\"\(scalar.text)\"'")
                return nil
            }
            return address
        }
    }
}

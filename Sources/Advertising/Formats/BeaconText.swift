// Beacons as lines for people: the format, then each field that is there.
import Wire

extension Beacon: CustomStringConvertible {
    /// `ruuvi temperature 24.3 °C, humidity 53.49 %, …`; only what is there and not as usual.
    public var description: String {
        let texts = items.filter { !$0.isUsual }.compactMap { item in
            item.text.map { item.field.name + ($0.isEmpty ? "" : " ") + $0 }
        }
        return texts.isEmpty ? format.name : "\(format.name) \(texts.joined(separator: ", "))"
    }
}

extension BeaconItem {
    /// Whether it says nothing: no number, and as it is without a word of the profile.
    fileprivate var isUsual: Bool {
        if case .number = value { return false }
        return value == field.initial
    }

    /// What it holds, without the field's name; nil where nothing is there.
    public var text: String? {
        switch (field.kind, value) {
        case (.fixed, _), (_, .absent): nil
        case (.number(let number), .number(let value)):
            Self.short(value) + (number.unit.isEmpty ? "" : " " + number.unit)
        case (.words(let words), .word(let code)):
            words.first { $0.code == code }?.word ?? Hex.code(code)
        case (_, .number(let value)): Self.short(value)
        case (_, .boolean(let value)): value ? "yes" : "no"
        case (_, .word(let code)): Hex.code(code)
        case (_, .company(let company)): Hex.code(company)
        case (_, .uuid(let uuid)): uuid.description
        case (_, .address(let address)): address.description
        case (.url, .octets(let octets)): EddystoneURLCode.text(octets)
        case (.text, .octets(let octets)), (.counted(isText: true), .octets(let octets)):
            quotedLine(String(decoding: octets, as: UTF8.self))
        case (_, .octets(let octets)): octets.isEmpty ? "none" : Hex.string(octets)
        }
    }

    /// Without a trailing `.0`.
    private static func short(_ value: Double) -> String {
        let text = "\(value == 0 ? 0 : value)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

// Names that the Bluetooth SIG has assigned, in the profile's spelling.
public import Wire

/// Looks up assigned names, both ways. Names are in lower case with hyphens.
public enum AssignedNames {
    /// The service's name; nil for a UUID of 128 bits, and one that is not assigned.
    public static func service(_ uuid: BluetoothUUID) -> String? {
        uuid.short.flatMap { AssignedNameTables.services.rest(of: $0) }
    }

    /// The characteristic's name; nil as for services.
    public static func characteristic(_ uuid: BluetoothUUID) -> String? {
        uuid.short.flatMap { AssignedNameTables.characteristics.rest(of: $0) }
    }

    /// The descriptor's name; nil as for services.
    public static func descriptor(_ uuid: BluetoothUUID) -> String? {
        uuid.short.flatMap { AssignedNameTables.descriptors.rest(of: $0) }
    }

    /// The company's name by its identifier; nil also where two companies share the name.
    public static func company(_ identifier: UInt16) -> String? {
        AssignedNameTables.companies.rest(of: identifier)
    }

    /// The appearance's name by category and subcategory (Assigned Numbers, 2.6).
    public static func appearance(_ value: UInt16) -> String? {
        AssignedNameTables.appearances.rest(of: value)
    }

    /// The unit by its name or its symbol: `degree-celsius`, `°C`.
    static func unit(_ name: String) -> MeasurementUnit? {
        if let unit = AssignedNameTables.units.number(of: name).flatMap({ unit($0) }) {
            return unit
        }
        if let own = MeasurementUnit.own.first(where: { $0.name == name || $0.symbol == name }) {
            return own
        }
        guard let number = AssignedNameTables.units.number(ofLast: name) else { return nil }
        return unit(number)
    }

    /// The unit by its assigned number, 0x27xx.
    static func unit(_ number: UInt16) -> MeasurementUnit? {
        guard let line = AssignedNameTables.units.rest(of: number) else { return nil }
        let words = line.split(separator: " ")
        guard words.count == 2 else { return nil }
        return MeasurementUnit(
            name: String(words[0]), symbol: words[1] == "-" ? "" : String(words[1]), number: number)
    }

    /// How a characteristic's value is laid out; nil where the table does not know.
    public static func format(_ uuid: BluetoothUUID) -> ValueFormat? { format(uuid, depth: 0) }

    static func format(_ uuid: BluetoothUUID, depth: Int) -> ValueFormat? {
        guard let short = uuid.short else { return nil }
        if let line = AssignedNameTables.layouts.rest(of: short) {
            return LayoutLine(depth: depth).layout(line).map { .fields($0) }
        }
        guard let line = AssignedNameTables.formats.rest(of: short) else { return nil }
        let words = line.split(separator: " ").map { String($0) }
        if words[0] == "words" { return .words(Array(words.dropFirst())) }
        if words[0] == "appearance" { return .appearance }
        guard let wire = WireFormat(name: words[0]) else { return nil }
        guard words.count >= 3 else { return wire.valueFormat(scale: 1, unit: .unitless) }
        let format = wire.valueFormat(
            scale: Double(words[1]) ?? 1, unit: unit(words[2]) ?? .unitless)
        guard words.count == 5, case .number(let number) = format,
            let low = Double(words[3]), let high = Double(words[4]), low <= high
        else { return format }
        return .number(number.within(low...high))
    }
}

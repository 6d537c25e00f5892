// Names that the Bluetooth SIG has assigned, in the profile's spelling.
public import Wire

/// Looks up assigned names, both ways.
public enum AssignedNames {
    public static func service(_ uuid: BluetoothUUID) -> String? { nil }
    public static func characteristic(_ uuid: BluetoothUUID) -> String? { nil }
    public static func descriptor(_ uuid: BluetoothUUID) -> String? { nil }
}

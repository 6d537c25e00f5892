// Where the benchmark's model files stand below the folder of profiles, and how they are read.
public import PowerModel
public import Profiles

/// The kinds of model files, each in a folder of its own.
public enum ModelKind: String, CaseIterable, Sendable {
    case soc = "power/socs"
    case battery = "power/batteries"
    case sensor = "power/sensors"
    case scanner = "power/scanners"

    /// The folder below the folder of profiles.
    public var folder: String { rawValue }

    /// For messages.
    public var word: String {
        switch self {
        case .soc: "chip"
        case .battery: "battery"
        case .sensor: "sensor"
        case .scanner: "scanner"
        }
    }

    /// What the file of a model of this name is called, below the folder of profiles.
    public func file(of name: String) -> String { folder + "/" + name.lowercased() + ".yaml" }
}

/// Reads model files. Every error has its line and column.
public enum ModelLoader {
    public static func chip(
        path: String, bytes: [UInt8]
    ) throws(ProfileErrors) -> ChipModel {
        try ProfileLoader.read(.chip, path: path, bytes: bytes)
    }

    public static func battery(
        path: String, bytes: [UInt8]
    ) throws(ProfileErrors) -> Battery {
        try ProfileLoader.read(.battery, path: path, bytes: bytes)
    }

    public static func sensor(
        path: String, bytes: [UInt8]
    ) throws(ProfileErrors) -> SensorCurrent {
        try ProfileLoader.read(.sensor, path: path, bytes: bytes)
    }

    /// The published values.
    public static func publishedValues(
        path: String, bytes: [UInt8]
    ) throws(ProfileErrors) -> [PublishedValue] {
        try ProfileLoader.read(.publishedValues, path: path, bytes: bytes)
    }
}

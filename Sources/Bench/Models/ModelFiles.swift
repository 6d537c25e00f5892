// Where the benchmark's model files stand below the folder of profiles.

/// The kinds of model files, each in a folder of its own.
public enum ModelKind: String, CaseIterable, Sendable {
    case soc = "power/socs"
    case battery = "power/batteries"
    case sensor = "power/sensors"
    case scanner = "power/scanners"

    /// The folder below the folder of profiles.
    public var folder: String { rawValue }
}

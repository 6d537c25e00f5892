// The way in: a profile's bytes become a checked DeviceProfile, or all its errors at once.

/// Reads profiles.
public enum ProfileLoader {
    /// Reads a file that the profile names; the path is already relative to the profile's folder.
    public typealias FileReader = (String) -> Result<[UInt8], FileFailure>

    /// Loads and checks a profile.
    ///
    /// - Parameters:
    ///   - path: the profile's path, for messages and to find the files it names.
    ///   - bytes: the file's content, at most 4 MiB.
    ///   - files: reads the files the profile names.
    /// - Throws: every error found, by line and column.
    public static func load(
        path: String, bytes: [UInt8], files: FileReader
    ) throws(ProfileErrors) -> DeviceProfile {
        throw ProfileErrors(list: [])
    }
}

/// Why a file that a profile names could not be read: the system's words.
public struct FileFailure: Error, Equatable, Sendable {
    public var reason: String
    public init(reason: String) { self.reason = reason }
}

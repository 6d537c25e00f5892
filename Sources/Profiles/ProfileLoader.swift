// The way in: a profile's bytes become a checked DeviceProfile, or all its errors at once.
import GATT
import YAML

/// Reads profiles.
public enum ProfileLoader {
    /// Reads a file that the profile names. The path is the profile's folder and what stands there.
    public typealias FileReader = (String) -> Result<[UInt8], FileFailure>

    /// Loads and checks a profile.
    ///
    /// - Parameters:
    ///   - path: the profile's path, for messages and to find the files it names.
    ///   - bytes: the file's content, at most 4 MiB.
    ///   - files: reads the files the profile names; it is not kept.
    /// - Throws: every error found, by line and column.
    public static func load(
        path: String, bytes: [UInt8], files: @escaping FileReader
    ) throws(ProfileErrors) -> DeviceProfile {
        let context = DecodeContext(file: path, files: files)
        let document: YAMLDocument
        do throws(YAMLError) {
            document = try YAMLDocument.parse(bytes)
        } catch {
            context.report(mark: error.mark, path: "", error.problem, error.remedy)
            throw ProfileErrors(list: context.sortedErrors)
        }
        for problem in document.problems {
            context.report(mark: problem.mark, path: "", problem.problem, problem.remedy)
        }
        let profile = Form<DeviceProfile>.profile.read(
            Place(node: document.root, path: ""), context)
        if let profile, context.errors.isEmpty {
            checkTable(profile, document.root, context)
        }
        guard let profile, context.errors.isEmpty else {
            throw ProfileErrors(list: context.sortedErrors)
        }
        return profile
    }
}

/// Why a file that a profile names could not be read: the system's words.
public struct FileFailure: Error, Equatable, Sendable {
    public var reason: String
    public init(reason: String) { self.reason = reason }
}

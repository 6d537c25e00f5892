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
        let root = try root(of: bytes, context)
        let profile = Form<DeviceProfile>.profile.read(root, context)
        if let profile, context.errors.isEmpty {
            checkTable(profile, root.node, context)
        }
        guard let profile, context.errors.isEmpty else {
            throw ProfileErrors(list: context.sortedErrors)
        }
        return profile
    }

    /// Reads a file of another format of ours by its form, with the same kind of errors.
    package static func read<Value>(
        _ form: Form<Value>, path: String, bytes: [UInt8]
    ) throws(ProfileErrors) -> Value {
        let context = DecodeContext(file: path) { _ in .failure(FileFailure(reason: "")) }
        let value = form.read(try root(of: bytes, context), context)
        guard let value, context.errors.isEmpty else {
            throw ProfileErrors(list: context.sortedErrors)
        }
        return value
    }

    /// The top of a file's tree; what is wrong with the rest of it is in the context.
    private static func root(
        of bytes: [UInt8], _ context: DecodeContext
    ) throws(ProfileErrors) -> Place {
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
        return Place(node: document.root, path: "")
    }
}

/// Why a file that a profile names could not be read: the system's words.
public struct FileFailure: Error, Equatable, Sendable {
    public var reason: String
    public init(reason: String) { self.reason = reason }
}

// `bench`: battery life against discovery latency, and the model against published values.
import Bench
import LinuxIO
import PowerModel
import Profiles
import YAML

enum BenchCommand {
    static func run(_ options: BenchOptions, _ console: inout Console) -> ExitCode {
        switch options.action {
        case .validate: return validate(&console)
        case .run: return BenchRunCommand.run(options, &console)
        case .merge(let paths): return BenchRunCommand.merge(paths, options, &console)
        }
    }

    private static let publishedValues = "power/validation.yaml"

    private static func validate(_ console: inout Console) -> ExitCode {
        var chips: [ChipModel] = []
        for name in BundledProfiles.names(in: ModelKind.soc.folder) {
            guard let chip = ModelFile.load(.soc, name, &console, ModelLoader.chip) else {
                return .failure
            }
            chips.append(chip)
        }
        guard let path = BundledProfiles.file(publishedValues) else {
            console.error(
                "\(publishedValues) is not installed; name the folder of profiles by "
                    + "PERIPHERAL_EMU_PROFILES")
            return .failure
        }
        guard let values = ModelFile.read(path, &console, ModelLoader.publishedValues) else {
            return .failure
        }
        let validation = Validation(values, chips: chips)
        console.print(validation.text)
        return validation.isMet ? .done : .unmet
    }
}

/// Model files from the file system: bundled ones by name, others by path.
enum ModelFile {
    typealias Loader<Model> = (String, [UInt8]) throws(ProfileErrors) -> Model

    /// The model called `name`; nil where it is missing or wrong, which has been said.
    static func load<Model>(
        _ kind: ModelKind, _ name: String, _ console: inout Console, _ loader: Loader<Model>
    ) -> Model? {
        let isPath = name.contains("/") || name.hasSuffix(".yaml")
        if isPath { return read(name, &console, loader) }
        guard let path = BundledProfiles.file(kind.file(of: name)) else {
            let names = BundledProfiles.names(in: kind.folder)
            console.error(
                names.isEmpty
                    ? "\(kind.folder) is not installed; name the folder of profiles by "
                        + "PERIPHERAL_EMU_PROFILES"
                    : "there is no \(kind.word) \"\(name)\"; write a file's path, or one of "
                        + names.joined(separator: ", "))
            return nil
        }
        return read(path, &console, loader)
    }

    /// The model in a file; nil where it is wrong, which has been said.
    static func read<Model>(
        _ path: String, _ console: inout Console, _ loader: Loader<Model>
    ) -> Model? {
        do throws(SystemError) {
            let bytes = try readFile(path, octetsMax: YAMLDocument.octetsMax)
            do throws(ProfileErrors) { return try loader(path, bytes) } catch {
                for error in error.list { console.error("\(error)") }
            }
        } catch { console.error("\(error)") }
        return nil
    }
}

// Profiles from the file system.
import Advertising
import Emulator
import Glibc
import LinuxIO
import Profiles
import Wire
import YAML

/// Loads profiles and prints what is wrong with them.
extension DeviceProfile {
    /// The random static addresses that it says in so many words.
    fileprivate var statedAddresses: [DeviceAddress] {
        var addresses: [DeviceAddress?] = []
        switch device.address {
        case .randomStatic(let address), .resolvablePrivate(let address, _):
            addresses.append(address)
        case .publicDevice, .nonResolvablePrivate: break
        }
        for set in advertising {
            if case .randomStatic(let address) = set.address { addresses.append(address) }
        }
        return addresses.compactMap { $0 }
    }
}

enum ProfileFile {
    /// The largest file that a profile may name: a trace of a day at 100 Hz.
    static let referencedOctetsMax = 256 << 20

    /// The files that an accessory depends on.
    final class Files {
        var paths: [String] = []
    }

    /// The name of a profile's file, without folder and `.yaml`.
    static func name(of path: String) -> String {
        let file = path.split(separator: "/").last.map { String($0) } ?? path
        return file.hasSuffix(".yaml") ? String(file.dropLast(5)) : file
    }

    /// The profiles of a run; nil where anything is wrong, which has been said.
    static func loadAll(
        for options: RunOptions, _ console: inout Console
    ) -> (profiles: [DeviceProfile], files: [Files])? {
        let files = options.profiles.map { _ in Files() }
        // What is wrong with one hides nothing of the others.
        var profiles: [DeviceProfile] = []
        for number in options.profiles.indices {
            if let profile = load(number, for: options, files[number], &console) {
                profiles.append(profile)
            }
        }
        guard profiles.count == files.count, haveOwnAddresses(profiles, &console) else {
            return nil
        }
        let readers = profiles.filter(\.followsStandardInput)
        guard readers.count <= 1 else {
            console.error(
                "standard input can move one accessory, and \(readers[0].file) and "
                    + "\(readers[1].file) follow it; give one another source, by "
                    + "--activity NAME/SOURCE")
            return nil
        }
        return (profiles, files)
    }

    /// Whether no two accessories say the same address, which would be one device to centrals.
    private static func haveOwnAddresses(
        _ profiles: [DeviceProfile], _ console: inout Console
    ) -> Bool {
        var taken: [(address: DeviceAddress, profile: DeviceProfile)] = []
        for profile in profiles {
            let addresses = profile.statedAddresses
            if let same = taken.first(where: { addresses.contains($0.address) }) {
                console.error(
                    "\(same.profile.device.name) of \(same.profile.file) and "
                        + "\(profile.device.name) of \(profile.file) have the same address "
                        + "\(same.address); write another into one of them")
                return false
            }
            taken += addresses.map { ($0, profile) }
        }
        return true
    }

    /// A profile of a run, with what the command line puts in the place of its parts; nil where
    /// anything is wrong, which has been said.
    /// - Parameter number: the accessory's.
    static func load(
        _ number: Int = 0, for options: RunOptions, _ files: Files, _ console: inout Console
    ) -> DeviceProfile? {
        if case .csv(let path, _) = options.substitutes[number].activity {
            files.paths.append(path)
        }
        guard var profile = loadWithSource(options.profiles[number], &console, files)?.profile,
            ActivityOption.apply(options, of: number, to: &profile, &console),
            ValueOption.apply(options, of: number, to: &profile, &console),
            PairingOption.apply(options, of: number, to: &profile, &console)
        else { return nil }
        return profile
    }

    /// The profile at `path`, with the file's content; nil where it is wrong, which has been said.
    static func loadWithSource(
        _ path: String, _ console: inout Console, _ files: Files = Files()
    ) -> (profile: DeviceProfile, source: [UInt8])? {
        let path = BundledProfiles.path(of: path) ?? path
        files.paths.append(path)
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try readFile(path, octetsMax: YAMLDocument.octetsMax)
        } catch {
            let hint =
                error.code == ENOENT
                ? BundledProfiles.hint(for: path, among: BundledProfiles.all.map(\.name)) : nil
            console.error("\(error)" + (hint.map { "; \($0)" } ?? ""))
            return nil
        }
        do throws(ProfileErrors) {
            let profile = try ProfileLoader.load(path: path, bytes: bytes) { path in
                files.paths.append(path)
                do throws(SystemError) {
                    return .success(try readFile(path, octetsMax: referencedOctetsMax))
                } catch { return .failure(FileFailure(reason: error.reason)) }
            }
            return (profile, bytes)
        } catch {
            for error in error.list { console.error("\(error)") }
            return nil
        }
    }

    /// The trace at `path`; nil where it is wrong, which has been said.
    static func trace(_ path: String, column: String?, _ console: inout Console) -> TraceSource? {
        do throws(SystemError) {
            let bytes = try readFile(path, octetsMax: referencedOctetsMax)
            do throws(ProfileErrors) {
                return try ProfileLoader.trace(path: path, column: column, bytes: bytes)
            } catch { for error in error.list { console.error("\(error)") } }
        } catch { console.error("\(error)") }
        return nil
    }
}

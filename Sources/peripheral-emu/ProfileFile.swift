// Profiles from the file system.
import Advertising
import Emulator
import LinuxIO
import Profiles
import YAML

/// Loads profiles and prints what is wrong with them.
enum ProfileFile {
    /// The largest file that a profile may name: a trace of a day at 100 Hz.
    static let referencedOctetsMax = 256 << 20

    /// The profile at `path`; nil where it is wrong, which has been said.
    static func load(_ path: String, _ console: inout Console) -> DeviceProfile? {
        loadWithSource(path, &console)?.profile
    }

    /// The same with the file's content.
    static func loadWithSource(
        _ path: String, _ console: inout Console
    ) -> (profile: DeviceProfile, source: [UInt8])? {
        let path = BundledProfiles.path(of: path) ?? path
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try readFile(path, octetsMax: YAMLDocument.octetsMax + 1)
        } catch {
            console.error("\(error)")
            return nil
        }
        do throws(ProfileErrors) {
            let profile = try ProfileLoader.load(path: path, bytes: bytes) { path in
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

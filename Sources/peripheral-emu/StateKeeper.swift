// What a run keeps over a restart: where, and each change before its answer goes out.
import Emulator
import Glibc
import LinuxIO
import Profiles
import SQLiteStore
import SansIO

/// Where state is kept.
enum StateChoice: Equatable {
    /// Where there is something to keep and time is real, in a folder of the profile's own.
    case automatic
    case none
    case folder(String)

    init(_ text: String) throws(UsageError) {
        guard !text.isEmpty else {
            throw UsageError("--state: a folder has no empty name; write --state DIR or none")
        }
        self = text == "none" ? .none : .folder(text)
    }

    /// The folder for a profile's state; nil where the user has no home and names none.
    /// - Parameter profile: a path or a bundled profile's name, as it was given.
    func path(profile: String) -> String? {
        switch self {
        case .none: return nil
        case .folder(let path): return path
        case .automatic:
            guard let base = Self.base else { return nil }
            return "\(base)/peripheral-emu/\(Self.name(of: profile))"
        }
    }

    /// `heart-rate` of a bundled profile, `heart-rate-1F00BEEF` of a file: the number tells files
    /// of one name in different folders apart.
    private static func name(of profile: String) -> String {
        guard BundledProfiles.path(of: profile) == nil else { return profile }
        let file = profile.split(separator: "/").last.map { String($0) } ?? profile
        let name = file.hasSuffix(".yaml") ? String(file.dropLast(5)) : file
        let above = profile.dropLast(file.count)
        let folder = realPath(above.isEmpty ? "." : String(above)) ?? ""
        var random = SeededRandom(seed: 0, stream: "\(folder)/\(file)")
        let number = String(random.next() >> 32, radix: 16, uppercase: true)
        return name + "-" + String(repeating: "0", count: 8 - number.count) + number
    }

    /// XDG Base Directory Specification: a relative path there does not count.
    private static var base: String? {
        func variable(_ name: String) -> String? {
            unsafe getenv(name).map { unsafe String(cString: $0) }.flatMap {
                $0.hasPrefix("/") ? $0 : nil
            }
        }
        return variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
    }
}

/// The state folder of a run, held until its end.
final class StateKeeper {
    /// What was kept before.
    let state: DeviceState
    private let folder: PrivateFolder
    private var database: StateDatabase?

    static let fileName = "/state.db"

    private init(_ folder: PrivateFolder, _ database: StateDatabase, _ state: DeviceState) {
        self.folder = folder
        self.database = database
        self.state = state
    }

    /// Why a run does not begin.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// Opens the state of a run.
    /// - Returns: nil where none is kept; why, where that is not as asked for, has been said.
    static func open(
        _ options: RunOptions, _ profile: DeviceProfile, _ console: inout Console
    ) throws(Refusal) -> StateKeeper? {
        if options.state == .none { return nil }
        if options.state == .automatic {
            guard profile.asksForState, !options.virtualTime else { return nil }
        }
        guard let path = options.state.path(profile: options.profiles.first ?? profile.file) else {
            goOn(without: "there is no home folder for it; name one by --state DIR", &console)
            return nil
        }
        // A limit of file sizes is a failure to be told, no end.
        _ = Glibc.signal(SIGXFSZ, SIG_IGN)
        let folder: PrivateFolder
        do throws(SystemError) { folder = try PrivateFolder(path: path) } catch {
            guard error.code == EBUSY else {
                try giveUp(error, options, &console)
                return nil
            }
            throw Refusal(description: "\(error); end it first, or write another --state DIR")
        }
        do throws(SystemError) {
            if options.erases { try erase(path + fileName, &console) }
            try makePrivateFile(path + fileName)
        } catch {
            try giveUp(error, options, &console)
            return nil
        }
        return try open(folder, &console)
    }

    /// A folder that was asked for and cannot be used is no run. One that is full is, as one that
    /// becomes full later.
    private static func giveUp(
        _ error: SystemError, _ options: RunOptions, _ console: inout Console
    ) throws(Refusal) {
        let isFull = [EDQUOT, EFBIG, EIO, ENOSPC].contains(error.code)
        guard case .folder = options.state, !isFull else {
            return goOn(without: "\(error)", &console)
        }
        throw Refusal(
            description: "state: \(error); write another --state DIR, or --state none to keep "
                + "nothing")
    }

    private static func open(
        _ folder: PrivateFolder, _ console: inout Console
    ) throws(Refusal) -> StateKeeper? {
        let file = folder.path + fileName
        do throws(StoreError) {
            let database = try StateDatabase(path: file)
            let keeper = StateKeeper(folder, database, try database.load())
            let count = keeper.state.bonds.count
            console.log(
                LogLine(.info, "state: \(folder.path), \(count) \(count == 1 ? "bond" : "bonds")"))
            return keeper
        } catch {
            if case .failed(let reason) = error {
                goOn(without: "cannot use \(file): \(reason)", &console)
                return nil
            }
            throw Refusal(description: text(of: error, file))
        }
    }

    /// A damaged or newer file in words, and what to do.
    static func text(of error: StoreError, _ file: String) -> String {
        switch error {
        case .newer:
            "\(file) was written by a newer peripheral-emu: \(error); run that, write another "
                + "--state DIR, or forget it by --erase"
        case .damaged:
            "\(file) is damaged: \(error); --erase begins anew and keeps it as \(damagedName(file))"
        case .failed: "cannot use \(file): \(error)"
        }
    }

    private static func goOn(without reason: String, _ console: inout Console) {
        console.log(
            LogLine(.warning, "state: \(reason); the accessory goes on and keeps nothing"))
    }

    /// A name that no damaged file has yet.
    private static func damagedName(_ file: String) -> String {
        var (name, number) = (file + ".damaged", 2)
        while exists(name) {
            name = "\(file).damaged-\(number)"
            number += 1
        }
        return name
    }

    /// Removes the file; what may be worth a look is kept aside.
    private static func erase(_ file: String, _ console: inout Console) throws(SystemError) {
        guard exists(file) else { return }
        var isDamaged = false
        do throws(StoreError) { _ = try StateDatabase(path: file, creates: false).load() } catch {
            if case .damaged = error { isDamaged = true }
        }
        if isDamaged {
            let name = damagedName(file)
            try renameFile(file, to: name)
            console.log(LogLine(.info, "state: the damaged file is kept as \(name)"))
        }
        // Its journal would be taken for the new file's.
        for suffix in ["", "-journal", "-wal", "-shm"] { try removeFile(file + suffix) }
    }

    /// Stores what has changed. After a failure, which is told once, nothing is kept any more.
    func store(_ changes: [StateChange], _ reporter: inout Reporter, at now: Instant) {
        guard !changes.isEmpty, let database else { return }
        do throws(StoreError) { try database.store(changes) } catch {
            self.database = nil
            reporter.log(
                .warning,
                "state: cannot write \(folder.path)\(Self.fileName): \(error); "
                    + "the accessory goes on, and what comes from here on is not kept", at: now)
        }
    }
}

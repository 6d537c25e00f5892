// Tells when files have changed, by inotify on their folders: editors put new files in their place.
import CLinux
import Glibc
public import SansIO

/// Watches files, whether they are there or not, and says once when what happens to them is over.
///
/// Symbolic links are watched along with what they point to. A folder that is gone is looked for
/// once a second; otherwise nothing wakes the process while nothing happens.
public final class FileWatcher {
    /// A file's name in a folder that the kernel watches.
    private struct Place {
        let folder: String
        let name: String
        /// The kernel's number of the folder; nil while there is none.
        var watch: Int32?
    }

    private let descriptor: Descriptor
    private let token: Token
    private var buffer = ReadBuffer()
    private var places: [Place] = []
    /// When the changes so far are to be told: a while after the last one, or the limit.
    private var settled: Instant?
    private var limit: Instant?
    /// When missing folders are looked for again.
    private var search: Instant?

    /// Why a folder that is there cannot be watched.
    public private(set) var failure: SystemError?

    /// How long nothing must happen before a change is told: an editor writes in several steps.
    public static let settleTime = TimeSpan.milliseconds(80)
    /// The longest that changes without a pause keep it from being told.
    public static let settleLimit = TimeSpan.seconds(1)
    static let searchPeriod = TimeSpan.seconds(1)
    /// Links in a row, as the kernel's own limit.
    private static let linksMax = 40

    public init(loop: inout EventLoop) throws(SystemError) {
        do throws(SystemError) {
            descriptor = Descriptor(
                try systemCall("watch", "files") { inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK)) })
        } catch {
            throw error.code == EMFILE
                ? error.advising("raise fs.inotify.max_user_instances by sysctl") : error
        }
        token = loop.makeToken()
        try loop.watch(descriptor, as: token, for: .readable)
    }

    deinit { descriptor.close() }

    /// Watches these files from now on, and no others. Those that were not watched before count as
    /// changed: they may have been since they were read.
    public func follow(_ paths: [String], at now: Instant) {
        let old = places
        places.removeAll()
        for path in paths { addPlaces(of: path) }
        for index in places.indices {
            let folder = places[index].folder
            let before = old.first { $0.folder == folder && $0.watch != nil }?.watch
            places[index].watch = before ?? add(folder)
            let name = places[index].name
            let isNew = !old.contains { $0.folder == folder && $0.name == name }
            if isNew, places[index].watch != nil { note(at: now) }
        }
        let kept = Set(places.compactMap(\.watch))
        for watch in Set(old.compactMap(\.watch)).subtracting(kept) { remove(watch) }
        search = places.contains { $0.watch == nil } ? now + Self.searchPeriod : nil
    }

    private func addPlaces(of path: String) {
        var path = path
        for _ in 0..<Self.linksMax {
            let slash = path.lastIndex(of: "/")
            let folder = slash.map { String(path[...$0]) } ?? "./"
            let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
            if !places.contains(where: { $0.folder == folder && $0.name == name }) {
                places.append(Place(folder: folder, name: name))
            }
            guard let target = linkTarget(path) else { return }
            path = target.hasPrefix("/") ? target : folder + target
        }
    }

    private func add(_ folder: String) -> Int32? {
        let events =
            IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
            | IN_ATTRIB | IN_MOVE_SELF
        let watch = unsafe inotify_add_watch(descriptor.number, folder, UInt32(events))
        if watch >= 0 { return watch }
        let code = errno
        if code != ENOENT, code != ENOTDIR {
            let advice = code == ENOSPC ? "raise fs.inotify.max_user_watches by sysctl" : nil
            failure = SystemError(code, operation: "watch", object: folder, advice: advice)
        }
        return nil
    }

    private func remove(_ watch: Int32) { _ = inotify_rm_watch(descriptor.number, watch) }

    // MARK: the loop

    /// When `takeChange` must be called next.
    public var deadline: Instant? { earliest(settled, search) }

    /// Takes an event of the loop; one of somebody else's is ignored.
    public func handle(_ event: ReadyEvent, at now: Instant) throws(SystemError) {
        guard event.token == token else { return }
        guard case .count(let count) = try buffer.fill(from: descriptor, "inotify") else { return }
        let header = MemoryLayout<inotify_event>.size
        var offset = 0
        while offset + header <= count {
            let event = unsafe buffer.bytes.withUnsafeBytes {
                unsafe $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            }
            let end = offset + header + Int(event.len)
            guard end <= count else { return }
            let name = buffer.bytes[(offset + header)..<end].prefix { $0 != 0 }
            take(event, String(decoding: name, as: UTF8.self), at: now)
            offset = end
        }
    }

    private func take(_ event: inotify_event, _ name: String, at now: Instant) {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return note(at: now) }
        if event.mask & UInt32(IN_IGNORED | IN_MOVE_SELF) != 0 {
            if event.mask & UInt32(IN_MOVE_SELF) != 0 { remove(event.wd) }
            for index in places.indices where places[index].watch == event.wd {
                places[index].watch = nil
                search = now
                note(at: now)
            }
        } else if places.contains(where: { $0.watch == event.wd && $0.name == name }) {
            note(at: now)
        }
    }

    private func note(at now: Instant) {
        let limit = limit ?? now + Self.settleLimit
        self.limit = limit
        settled = min(now + Self.settleTime, limit)
    }

    /// Whether files have changed since the last call, and are at rest now.
    public func takeChange(at now: Instant) -> Bool {
        if let search, search <= now { find(at: now) }
        guard let settled, settled <= now else { return false }
        self.settled = nil
        limit = nil
        return true
    }

    /// Looks for folders that are missing.
    private func find(at now: Instant) {
        for index in places.indices where places[index].watch == nil {
            places[index].watch = add(places[index].folder)
            if places[index].watch != nil { note(at: now) }
        }
        search = places.contains { $0.watch == nil } ? now + Self.searchPeriod : nil
    }
}

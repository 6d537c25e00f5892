// All live sources of an activity signal on one loop.
public import Advertising
import Glibc
public import SansIO

/// Reads the live sources of a rule.
///
/// The owner calls `takeTurn` in each turn of the loop, and when `deadline` has come; what comes in
/// are inputs for the device.
public final class LiveActivity {
    private struct Entry {
        let name: String
        let token: Token
        var reader: any ActivityReader
        /// What the kernel cannot watch, a plain file for one, is read until its end at once.
        var isAlwaysReady = false
    }

    private var entries: [Entry] = []
    private var buffer = ReadBuffer()

    /// Opens all live sources among `sources`; nil where there is none.
    public init?(_ sources: [ActivitySource], loop: inout EventLoop) throws(SystemError) {
        for (index, source) in sources.enumerated() {
            guard case .live(let live) = source else { continue }
            var reader = ActivityReaders.reader(of: live, source: index)
            try reader.open()
            entries.append(
                Entry(name: "\(live)", token: loop.makeToken(), reader: reader))
            try watch(entries.count - 1, &loop)
        }
        if entries.isEmpty { return nil }
    }

    /// Lets go of all sources before the end.
    public func close(_ loop: inout EventLoop) {
        for index in entries.indices {
            loop.unwatch(entries[index].token)
            entries[index].reader.close()
        }
        entries.removeAll()
    }

    deinit { for index in entries.indices { entries[index].reader.close() } }

    /// What is followed, for messages.
    public var names: [String] { entries.map(\.name) }

    private func watch(_ index: Int, _ loop: inout EventLoop) throws(SystemError) {
        let token = entries[index].token
        guard let descriptor = entries[index].reader.descriptor else {
            entries[index].isAlwaysReady = false
            loop.unwatch(token)
            return
        }
        guard !entries[index].isAlwaysReady else { return }
        do throws(SystemError) {
            try loop.watch(descriptor, as: token, for: .readable)
        } catch {
            guard error.code == EPERM else { throw error }
            entries[index].isAlwaysReady = true
        }
    }

    /// When something must be read without an event.
    public var deadline: Instant? {
        var first: Instant?
        for entry in entries {
            first = earliest(first, entry.isAlwaysReady ? .zero : entry.reader.deadline)
        }
        return first
    }

    /// Reads what this turn's events of the loop are about, and what is due at `now`.
    /// - Throws: a source that can no longer be watched.
    public func takeTurn(
        of loop: inout EventLoop, at now: Instant, emit: inout Outputs<ActivityInput>
    ) throws(SystemError) {
        for event in loop.events {
            // Those of others are none of its own.
            guard let index = entries.firstIndex(where: { $0.token == event.token }) else {
                continue
            }
            try read(index, &loop, at: now, &emit)
        }
        for index in entries.indices {
            let deadline = entries[index].reader.deadline
            guard entries[index].isAlwaysReady || deadline.map({ $0 <= now }) == true
            else { continue }
            try read(index, &loop, at: now, &emit)
        }
    }

    private func read(
        _ index: Int, _ loop: inout EventLoop, at now: Instant, _ emit: inout Outputs<ActivityInput>
    ) throws(SystemError) {
        entries[index].reader.read(at: now, through: &buffer, emit: &emit)
        try watch(index, &loop)
    }
}

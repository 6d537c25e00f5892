// The one loop of the real world: epoll, one timer, two signals, one owner.
import CLinux
import Glibc
public import SansIO

/// What the loop reports a descriptor under. The loop makes each once and never again.
public struct Token: Hashable, Comparable, Sendable {
    let value: UInt32
    public static func < (left: Token, right: Token) -> Bool { left.value < right.value }
}

/// What to wait for on a descriptor. A hang-up is always reported.
public struct Interest: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let readable = Interest(rawValue: 1)
    public static let writable = Interest(rawValue: 2)
}

/// A descriptor that has something to do.
public struct ReadyEvent: Equatable, Sendable {
    public let token: Token
    public let isReadable: Bool
    public let isWritable: Bool
    /// The other side is gone or the descriptor is broken: the next read says which.
    public let isHangup: Bool
}

/// A wish of the user or the system that the program end.
public enum EndSignal: Equatable, Sendable {
    /// SIGINT
    case interrupt
    /// SIGTERM, or SIGHUP of a terminal that was closed
    case terminate
}

/// Waits for descriptors, one deadline and the signals that end the program.
///
/// The owner calls `wait`, looks at `events` and `signal`, and asks its machines for the next
/// deadline; nothing is called back. While nothing is due, the process is not woken.
@safe public struct EventLoop: ~Copyable {
    /// What the last `wait` found, in the kernel's order. An event may be for a descriptor that
    /// was unwatched while handling an earlier one of the same turn: its token is then unknown.
    public private(set) var events: [ReadyEvent]
    /// The signal that the last `wait` received.
    public private(set) var signal: EndSignal?
    /// How often the process was woken: one for each `wait` that had to sleep or poll.
    public private(set) var wakeUpCount: Int

    private let poll: Descriptor
    private let timer: Descriptor
    private let signals: Descriptor
    private var ready: [epoll_event]
    private var watched: [Token: Watch]
    private var armed: Instant?
    private var nextToken: UInt32
    private let startUnixMicroseconds: Int64
    private let start: Instant

    private struct Watch {
        let descriptor: Descriptor
        var interest: Interest
    }

    /// Descriptors looked at in one turn; the rest come in the next one.
    private static let readyMax = 64
    /// Tags of the loop's own descriptors, beyond every token.
    private static let timerTag = UInt64(UInt32.max) + 1
    private static let signalTag = UInt64(UInt32.max) + 2

    /// Opens the loop. From now on SIGINT, SIGTERM and SIGHUP arrive only in `signal`; SIGPIPE,
    /// which a peer could cause, is ignored.
    public init() throws(SystemError) {
        // All that can fail comes first: a value that cannot be copied is made at one stroke.
        let (poll, timer, signals) = try Self.open()
        self.poll = poll
        self.timer = timer
        self.signals = signals
        events = []
        signal = nil
        wakeUpCount = 0
        unsafe ready = [epoll_event](repeating: epoll_event(), count: Self.readyMax)
        watched = [:]
        armed = nil
        nextToken = 0
        start = Self.clock(CLOCK_MONOTONIC)
        startUnixMicroseconds = Self.clock(CLOCK_REALTIME).microseconds
    }

    private static func open() throws(SystemError) -> (Descriptor, Descriptor, Descriptor) {
        let poll = Descriptor(
            try systemCall("create", "epoll") { epoll_create1(Int32(O_CLOEXEC)) })
        let timer = Descriptor(
            try systemCall("create", "timerfd") {
                timerfd_create(CLOCK_MONOTONIC, Int32(O_CLOEXEC | O_NONBLOCK))
            })
        _ = Glibc.signal(SIGPIPE, SIG_IGN)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGINT)
        unsafe sigaddset(&set, SIGTERM)
        unsafe sigaddset(&set, SIGHUP)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        let signals = Descriptor(
            try systemCall("create", "signalfd") {
                unsafe signalfd(-1, &set, Int32(O_CLOEXEC | O_NONBLOCK))
            })
        // The timer reports each firing once and is never read: arming it anew clears it.
        try control(poll, EPOLL_CTL_ADD, timer, EPOLLIN.rawValue | EPOLLET.rawValue, timerTag)
        try control(poll, EPOLL_CTL_ADD, signals, EPOLLIN.rawValue, signalTag)
        return (poll, timer, signals)
    }

    /// The monotonic clock: microseconds since the system's boot.
    public func now() -> Instant { Self.clock(CLOCK_MONOTONIC) }

    /// The wall clock at `instant`, in microseconds since 1970-01-01T00:00:00Z. It was read once,
    /// at the loop's start, so later changes of the system's time do not bend a capture.
    public func unixMicroseconds(at instant: Instant) -> Int64 {
        (Instant(microseconds: startUnixMicroseconds) + (instant - start)).microseconds
    }

    /// A new name for a descriptor to be watched.
    public mutating func makeToken() -> Token {
        defer { nextToken += 1 }
        return Token(value: nextToken)
    }

    /// Watches `descriptor` as `token`. Cheap when nothing has changed since the last call; another
    /// descriptor takes the place of the former one. The loop keeps the descriptor alive.
    public mutating func watch(
        _ descriptor: Descriptor, as token: Token, for interest: Interest
    ) throws(SystemError) {
        if let watch = watched[token], watch.descriptor === descriptor, descriptor.isOpen {
            guard watch.interest != interest else { return }
            try Self.control(
                poll, EPOLL_CTL_MOD, descriptor, Self.flags(interest), UInt64(token.value))
        } else {
            unwatch(token)
            try Self.control(
                poll, EPOLL_CTL_ADD, descriptor, Self.flags(interest), UInt64(token.value))
        }
        watched[token] = Watch(descriptor: descriptor, interest: interest)
    }

    /// Stops watching; the loop lets go of the descriptor. Unknown tokens are ignored.
    public mutating func unwatch(_ token: Token) {
        guard let watch = watched.removeValue(forKey: token), watch.descriptor.isOpen else {
            return
        }
        _ = epoll_ctl(poll.number, EPOLL_CTL_DEL, watch.descriptor.number, nil)
    }

    /// Sleeps until a descriptor is ready, a signal comes or `deadline` has been reached; nil waits
    /// without end. A deadline that has passed only looks at what is ready.
    public mutating func wait(until deadline: Instant?) throws(SystemError) {
        events.removeAll(keepingCapacity: true)
        signal = nil
        let isDue = deadline.map { $0 <= now() } ?? false
        if !isDue, deadline != armed { try arm(deadline) }
        let (number, limit, timeout) = (poll.number, Int32(Self.readyMax), Int32(isDue ? 0 : -1))
        let count = try systemCall("wait for", "events") {
            unsafe epoll_wait(number, &ready, limit, timeout)
        }
        wakeUpCount += 1
        for index in 0..<Int(count) { try unsafe take(ready[index]) }
    }

    private mutating func take(_ event: epoll_event) throws(SystemError) {
        let tag = unsafe event.data.u64
        if tag == Self.timerTag {
            armed = nil
        } else if tag == Self.signalTag {
            var info = signalfd_siginfo()
            let size = MemoryLayout<signalfd_siginfo>.size
            let count = unsafe read(signals.number, &info, size)
            guard count == size else { return }
            signal = Int32(truncatingIfNeeded: info.ssi_signo) == SIGINT ? .interrupt : .terminate
        } else {
            let flags = unsafe event.events
            let hangup = EPOLLHUP.rawValue | EPOLLERR.rawValue
            events.append(
                ReadyEvent(
                    token: Token(value: UInt32(truncatingIfNeeded: tag)),
                    isReadable: flags & EPOLLIN.rawValue != 0,
                    isWritable: flags & EPOLLOUT.rawValue != 0,
                    isHangup: flags & hangup != 0))
        }
    }

    /// Sets the timer to an absolute time that lies ahead, or stops it.
    private mutating func arm(_ deadline: Instant?) throws(SystemError) {
        var setting = itimerspec()
        if let deadline {
            setting.it_value.tv_sec = Int(deadline.microseconds / 1_000_000)
            setting.it_value.tv_nsec = Int(deadline.microseconds % 1_000_000) * 1_000
        }
        let number = timer.number
        _ = try systemCall("set", "the timer") {
            unsafe timerfd_settime(number, Int32(TFD_TIMER_ABSTIME), &setting, nil)
        }
        armed = deadline
    }

    private static func control(
        _ poll: Descriptor, _ operation: Int32, _ descriptor: Descriptor, _ flags: UInt32,
        _ tag: UInt64
    ) throws(SystemError) {
        var event = unsafe epoll_event()
        unsafe event.events = flags
        unsafe event.data.u64 = tag
        _ = try systemCall("watch", "a descriptor") {
            unsafe epoll_ctl(poll.number, operation, descriptor.number, &event)
        }
    }

    private static func flags(_ interest: Interest) -> UInt32 {
        (interest.contains(.readable) ? EPOLLIN.rawValue : 0)
            | (interest.contains(.writable) ? EPOLLOUT.rawValue : 0)
    }

    private static func clock(_ clock: Int32) -> Instant {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Instant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
    }
}

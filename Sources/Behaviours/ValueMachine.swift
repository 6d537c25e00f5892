// One characteristic's value over time: when it is sampled, and when subscribers get it.
public import SansIO
import Wire

/// The value of one characteristic as the profile's `value:`, `update:` and `send:` say.
///
/// The first sample is taken at power-on, so a read always has a value. The n-th update is at
/// `start` + n * period whatever the lateness of the driver; missed ones are made up for by one.
public struct ValueMachine: Sendable {
    /// What a step did.
    public struct Step: Equatable, Sendable {
        /// A new sample was taken; a constant never is, for a central may have written over it.
        public var isUpdated: Bool
        /// The sample's octets differ from those before.
        public var isChanged: Bool
        /// Subscribers should get the value now.
        public var isSent: Bool

        public init(isUpdated: Bool = false, isChanged: Bool = false, isSent: Bool = false) {
            self.isUpdated = isUpdated
            self.isChanged = isChanged
            self.isSent = isSent
        }
    }

    private var source: SourceState
    /// What the generators take from outside; the driver keeps it up to date.
    public var surroundings: Surroundings
    private var send: SendRule
    private let start: Instant
    private var updates: Periodic
    private var sends: Periodic
    private var current: ByteBlock
    private var before: ByteBlock

    /// - Parameters:
    ///   - update: the update period; nil where the first sample stays.
    ///   - start: power-on.
    ///   - stream: what the value is, different for each characteristic.
    public init(
        _ source: ValueSource, update: TimeSpan?, send: SendRule, start: Instant, seed: UInt64,
        stream: String, surroundings: Surroundings = Surroundings()
    ) {
        self.surroundings = surroundings
        self.source = SourceState(source, seed: seed, stream: stream)
        self.send = send
        self.start = start
        updates = Periodic(start: start, period: update)
        sends = Periodic(start: start, period: send.period)
        before = ByteBlock(capacity: 8)
        current = ByteBlock(capacity: 8)
        self.source.sample(at: .zero, in: surroundings, into: &current)
    }

    /// The octets of the last sample.
    public var value: [UInt8] { current.bytes }

    /// When `expire` must be called next; nil where nothing happens by itself.
    public var deadline: Instant? { earliest(updates.next, sends.next) }

    /// Does what is due at `now`; where the step is an update, `value` is the new sample then.
    public mutating func expire(at now: Instant) -> Step {
        let update = updates.fire(at: now)
        let isEvery = sends.fire(at: now) != nil
        var step = Step()
        if let update { step = sample(at: update) }
        switch send {
        case .every: step.isSent = isEvery
        case .onUpdate: step.isSent = update != nil
        case .onChange, .manual, .asFastAsPossible: break
        }
        return step
    }

    /// Takes a new sample outside the updates, which `value` is then; a constant stays as it is.
    public mutating func sample(at now: Instant) -> Step {
        guard source.isLive else { return Step() }
        swap(&current, &before)
        current.removeAll()
        source.sample(at: now - start, in: surroundings, into: &current)
        return sent(isChanged: current.bytes != before.bytes)
    }

    /// Goes on with other times of updates and sending, counted from `now`.
    public mutating func follow(update: TimeSpan?, send: SendRule, at now: Instant) {
        if max(update ?? .zero, .zero) != updates.period {
            updates = Periodic(start: now, period: update)
        }
        if send != self.send { sends = Periodic(start: now, period: send.period) }
        self.send = send
    }

    /// Replaces the value from outside; it no longer moves by itself.
    public mutating func set(_ bytes: [UInt8]) -> Step {
        let isChanged = current.bytes != bytes
        source = SourceState(.constant(bytes), seed: 0, stream: "")
        current.removeAll()
        current.append(bytes)
        return sent(isChanged: isChanged)
    }

    /// Takes up the octets of a sample before a restart: counters count on from there, and it is
    /// the value until the next sample. A constant is what it was set or written to.
    /// - Returns: false, and nothing changed, where they are none of this source.
    public mutating func resume(from bytes: [UInt8]) -> Bool {
        if source.isLive {
            guard bytes.count == current.count else { return false }
            source.resume(from: bytes)
        } else {
            source = SourceState(.constant(bytes), seed: 0, stream: "")
        }
        current.removeAll()
        current.append(bytes)
        return true
    }

    /// Replaces one field from outside; the others go on. `whole` are all octets with it.
    public mutating func setField(_ name: String, to octets: [UInt8], whole: [UInt8]) -> Step {
        guard source.setField(name, to: octets) else { return set(whole) }
        let isChanged = current.bytes != whole
        current.removeAll()
        current.append(whole)
        return sent(isChanged: isChanged)
    }

    private func sent(isChanged: Bool) -> Step {
        var step = Step(isUpdated: true, isChanged: isChanged)
        switch send {
        case .onUpdate: step.isSent = true
        case .onChange: step.isSent = isChanged
        case .every, .manual, .asFastAsPossible: break
        }
        return step
    }
}

// One characteristic's value over time: when it is sampled, and when subscribers get it.
public import SansIO
public import Wire

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

    private var generator: GeneratorState?
    private let send: SendRule
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
        stream: String
    ) {
        self.send = send
        self.start = start
        updates = Periodic(start: start, period: update)
        switch send {
        case .every(let period): sends = Periodic(start: start, period: period)
        case .onUpdate, .onChange, .manual: sends = Periodic(start: start, period: nil)
        }
        before = ByteBlock(capacity: 8)
        current = ByteBlock(capacity: 8)
        switch source {
        case .constant(let bytes): current.append(bytes)
        case .generated(let generator, let encoding):
            var state = GeneratorState(generator, format: encoding, seed: seed, stream: stream)
            state.sample(at: .zero, into: &current)
            self.generator = state
        }
    }

    /// The octets of the last sample.
    public var value: [UInt8] { current.bytes }

    /// When `expire` must be called next; nil where nothing happens by itself.
    public var deadline: Instant? { earliest(updates.next, sends.next) }

    /// Does what is due at `now`. Where the step is an update, `bytes` becomes the octets of the
    /// new sample; else it stays as it is. Allocates nothing once `bytes` has its size.
    public mutating func expire(at now: Instant, into bytes: inout ByteBlock) -> Step {
        var step = Step()
        let update = updates.fire(at: now)
        if let update, generator != nil {
            swap(&current, &before)
            current.removeAll()
            generator?.sample(at: update - start, into: &current)
            bytes.removeAll()
            bytes.append(current.bytes)
            step.isUpdated = true
            step.isChanged = current.bytes != before.bytes
        }
        let isEvery = sends.fire(at: now) != nil
        step.isSent =
            switch send {
            case .onUpdate: update != nil
            case .onChange: step.isChanged
            case .every: isEvery
            case .manual: false
            }
        return step
    }
}

// The activity signal as a machine: all its sources, and what they are together.
public import SansIO

/// Detects the activity of a rule's sources; `ActivityRule` is its data sheet.
///
/// Recorded and made values count from `start`; it wakes for them only when the outcome changes.
/// Each change carries its exact instant; where the driver is so late that several changes are due,
/// only the last is told, and none where the state is the same again.
public struct ActivityDetector: Machine, Sendable {
    public typealias Input = ActivityInput
    public typealias Output = ActivityEvent

    private var channels: [any ActivityChannel]
    private let tellsLevel: Bool
    /// All sources together, up to the latest step; `told` is what has been told of it.
    private var status = ActivityStatus()
    private var told = ActivityStatus()
    private var change: ActivityChange?
    private var levelAt: Instant
    /// The latest instant told: a clock that jumps back stands still here until it has caught up.
    private var latest: Instant

    /// - Parameters:
    ///   - start: power-on.
    ///   - tellsLevel: whether changes of the level are events too; else the level stays 0.
    ///   - timeOfDay: at `start`, since midnight, for the day's rhythm.
    ///   - seed: of the generators.
    public init(
        _ rule: ActivityRule, start: Instant, tellsLevel: Bool = false,
        timeOfDay: TimeSpan = .zero, seed: UInt64 = 0
    ) {
        self.tellsLevel = tellsLevel
        levelAt = start
        latest = start
        channels = rule.sources.indices.map {
            rule.sources[$0].channel(
                rule, start: start, timeOfDay: timeOfDay, seed: seed, stream: "activity \($0)",
                tellsLevel: tellsLevel)
        }
    }

    /// The state that has been told.
    public var state: ActivityState { told.state }

    /// The level that has been told, 0 to 1.
    public var level: Double { Double(told.level) / Double(ActivityStatus.levelsMax) }

    /// Why the signal is lost; nil while it is not.
    public var loss: String? {
        channels.contains { $0.isMotion } ? nil : channels.lazy.compactMap(\.status.loss).first
    }

    public mutating func handle(
        _ input: ActivityInput, at now: Instant, emit: inout Outputs<ActivityEvent>
    ) {
        // What is due before comes first; at the same instant the input does.
        while let deadline, deadline < now { step(at: deadline, &emit) }
        latest = max(latest, now)
        let now = latest
        for index in channels.indices where input.source == nil || input.source == index {
            let before = channels[index].status
            channels[index].take(input, at: now)
            note(index, before, at: now, &emit)
        }
        tell(&emit)
    }

    /// The device was in use before it was started again; at its start.
    public mutating func resume(at now: Instant, emit: inout Outputs<ActivityEvent>) {
        for index in channels.indices {
            let before = channels[index].status
            channels[index].resume(at: now)
            note(index, before, at: now, &emit)
        }
        tell(&emit)
    }

    /// When a source may change by itself; nil once all stay as they are.
    public var deadline: Instant? {
        var first: Instant?
        for channel in channels { first = earliest(first, channel.deadline) }
        return first
    }

    public mutating func expire(at now: Instant, emit: inout Outputs<ActivityEvent>) {
        while let deadline, deadline <= now { step(at: deadline, &emit) }
        tell(&emit)
    }

    private mutating func step(at now: Instant, _ emit: inout Outputs<ActivityEvent>) {
        latest = max(latest, now)
        for index in channels.indices {
            guard let deadline = channels[index].deadline, deadline <= now else { continue }
            let before = channels[index].status
            channels[index].expire(at: now)
            note(index, before, at: now, &emit)
        }
    }

    /// A source may have changed: tells its loss, and keeps what all are together for `tell`.
    private mutating func note(
        _ index: Int, _ before: ActivityStatus, at now: Instant,
        _ emit: inout Outputs<ActivityEvent>
    ) {
        let after = channels[index].status
        guard after != before else { return }
        if let loss = after.loss, before.loss == nil {
            emit.append(.sourceLost(source: index, reason: loss, at: now))
            if !hasMotion(besides: index) { emit.append(.signalLost(reason: loss, at: now)) }
        } else if before.loss != nil, after.loss == nil {
            emit.append(.sourceReturned(source: index, at: now))
            if !hasMotion(besides: index) { emit.append(.signalReturned(at: now)) }
        }
        let all = channels.reduce(into: ActivityStatus(state: .asleep)) {
            $0.state = max($0.state, $1.status.state)
            $0.level = max($0.level, $1.status.level)
        }
        if all.state != status.state, let reason = channels[index].reason {
            change = ActivityChange(at: now, state: all.state, reason: reason)
        }
        if all.level != status.level { levelAt = now }
        status = all
    }

    private func hasMotion(besides index: Int) -> Bool {
        channels.indices.contains { $0 != index && channels[$0].isMotion }
    }

    private mutating func tell(_ emit: inout Outputs<ActivityEvent>) {
        if let change, change.state != told.state {
            told.state = change.state
            emit.append(.changed(change))
        }
        change = nil
        guard status.level != told.level else { return }
        told.level = status.level
        emit.append(.level(level, at: levelAt))
    }
}

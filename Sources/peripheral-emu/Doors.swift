// Who speaks to the accessories of a run beside centrals: live activity, clients of the control
// socket, a person who answers, and who edits profiles.
import Advertising
import Emulator
import LinuxIO
import Profiles
import SansIO

/// Every way in from this side, open from the begin to the end of a live run.
struct Doors {
    private let names: AccessoryNames
    /// By the accessories' numbers.
    private var activities: [LiveActivity?] = []
    /// By the accessories' numbers; none without `--watch`.
    private var watches: [ProfileWatch] = []
    private let control: ControlDoor?
    private let answers: AnswerDoor?
    private var felt = Outputs<ActivityInput>()
    private var clock = WallClock()

    init(
        _ options: RunOptions, _ profiles: [DeviceProfile], _ files: [ProfileFile.Files],
        _ loop: inout EventLoop, _ reporter: inout Reporter
    ) throws(SystemError) {
        names = options.names
        for (number, profile) in profiles.enumerated() {
            let activity = try LiveActivity(profile.activity?.sources ?? [], loop: &loop)
            for name in activity?.names ?? [] {
                reporter.log(.info, "activity: following \(name)", of: number, at: loop.now())
            }
            activities.append(activity)
        }
        if let path = options.control {
            control = try ControlDoor(path: path, loop: &loop)
            reporter.log(.info, "control: listening at \(path)", at: loop.now())
        } else {
            control = nil
        }
        // Standard input is only for who can be asked, and only once: activity may come there.
        if profiles.contains(where: \.canAsk) {
            answers = try AnswerDoor(options, profiles, loop: &loop)
            reporter.answerHint = AnswerDoor.hint(options, answers)
        } else {
            answers = nil
        }
        guard options.watches else { return }
        for (number, profile) in profiles.enumerated() {
            watches.append(try ProfileWatch(options, profile, of: number, files[number], &loop))
            reporter.log(.info, "watching \(profile.file)", of: number, at: loop.now())
        }
    }

    /// When something must be done without an event.
    var deadline: Instant? {
        var deadline = control?.deadline
        for watch in watches { deadline = earliest(deadline, watch.deadline) }
        for activity in activities { deadline = earliest(deadline, activity?.deadline) }
        return deadline
    }

    /// To be called before the loop waits.
    /// - Parameter isAsked: whether an accessory waits for an answer.
    /// - Returns: when `serve` has something to do though the loop says nothing.
    func listen(
        isAsked: @autoclosure () -> Bool, _ loop: inout EventLoop
    ) throws(SystemError) -> Instant? {
        earliest(deadline, try answers?.listen(isAsked: isAsked(), &loop))
    }

    /// Takes an event of the loop; one of somebody else's is ignored.
    func handle(
        _ event: ReadyEvent, at now: Instant, _ loop: inout EventLoop
    ) throws(SystemError) {
        try control?.handle(event, loop: &loop)
        answers?.handle(event, loop: &loop)
        for watch in watches { try watch.handle(event, at: now) }
    }

    /// Does what has come in for the accessories.
    mutating func serve(
        _ loop: inout EventLoop, _ reporter: inout Reporter, at now: Instant,
        _ perform: DevicePerformer
    ) throws(SystemError) {
        try feel(&loop, at: now, perform)
        control?.answer(&reporter, of: names, at: now, perform)
        answers?.answer(&reporter, of: names, at: now, perform)
        flash(&loop, &reporter, at: now, perform)
    }

    /// Tells the accessories the time of day, where it has jumped or was never told.
    mutating func tellTime(at now: Instant, _ perform: DevicePerformer) {
        guard let time = clock.jump(at: now) else { return }
        for number in names.all.indices {
            perform(number) { device, out, events in
                device.setTimeOfDay(time, at: now, sending: &out, emit: &events)
            }
        }
    }

    /// Writes out what clients of the control socket are to get.
    func flush(
        _ loop: inout EventLoop, _ reporter: inout Reporter, at now: Instant
    ) throws(SystemError) {
        try control?.flush(&reporter, loop: &loop, at: now)
    }

    /// Gives the accessories what their live sources have for them.
    private mutating func feel(
        _ loop: inout EventLoop, at now: Instant, _ perform: DevicePerformer
    ) throws(SystemError) {
        for (number, activity) in activities.enumerated() {
            guard let activity else { continue }
            try activity.takeTurn(of: &loop, at: now, emit: &felt)
            guard !felt.isEmpty else { continue }
            let inputs = felt.elements
            perform(number) { device, out, events in
                for input in inputs { device.feel(input, at: now, sending: &out, emit: &events) }
            }
            felt.removeAll()
        }
    }

    /// Gives the accessories new versions of their profiles, where there are some.
    private mutating func flash(
        _ loop: inout EventLoop, _ reporter: inout Reporter, at now: Instant,
        _ perform: DevicePerformer
    ) {
        for (number, watch) in watches.enumerated() {
            guard let profile = watch.next(at: now, &reporter) else { continue }
            var refusal: String?
            perform(number) { device, _, _ in refusal = device.refusal(of: profile) }
            guard
                watch.take(
                    profile, refusal: refusal, at: now, &loop, &activities[number], &reporter)
            else { continue }
            tellTime(at: now, perform)
            perform(number) { device, out, events in
                device.replace(profile: profile, at: now, sending: &out, emit: &events)
            }
        }
    }
}

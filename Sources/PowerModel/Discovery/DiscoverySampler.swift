// How long a scanner that is started at a random instant takes to find an advertiser.
public import SansIO

/// What keeps PDUs from being received.
public struct Reception: Equatable, Sendable {
    /// The probability that a PDU on the scanner's channel in its window is lost, 0 to 1.
    public var loss: Double
    /// Other advertisers within reach.
    public var crowd: Int
    /// Their advInterval in microseconds.
    public var crowdInterval: Int64
    /// Longer than this nobody searches; microseconds.
    public var patience: Int64

    public init(
        loss: Double = 0, crowd: Int = 0, crowdInterval: Int64 = 1_022_500,
        patience: Int64 = LatencySums.latencyMax
    ) {
        self.loss = loss
        self.crowd = crowd
        self.crowdInterval = crowdInterval
        self.patience = patience
    }

    /// Each of the crowd costs time in every event that is heard.
    public static let crowdMax = 1_000
}

/// Draws latencies: from the start of a scanner to the end of the first PDU that it receives.
///
/// The scanner's phase is kept from event to event, so that nothing is divided in between. PDUs
/// follow one another at their air time and 300 µs; a PDU is received if all of it falls into the
/// window of its channel.
public struct DiscoverySampler: Sendable {
    private let timeline: AdvertisingTimeline
    private let starts: StartSpans
    /// By kind of stretch.
    private let courses: [Course]
    /// The scanner's three channels, one after the other.
    private let cycle: Int64
    private let reception: Reception

    /// From the end of a PDU to the next channel's.
    static let channelChange: Int64 = 300
    static let channels: Int64 = 3
    /// Events after a stretch's first one that are walked to; later ones are in no step with it.
    private static let eventsWalked: Int64 = 8

    /// - Parameters:
    ///   - timeline: with one stretch or more, or nothing is ever found.
    ///   - starts: not empty.
    public init(
        _ scanner: ScannerModel, on timeline: AdvertisingTimeline, from starts: StartSpans,
        _ reception: Reception = Reception()
    ) {
        self.timeline = timeline
        self.starts = starts
        courses = timeline.kinds.map { Course($0, scanner) }
        cycle = Self.channels * scanner.interval
        self.reception = reception
    }

    /// Draws `count` latencies.
    public func sample(_ count: Int, _ random: inout SeededRandom, into sums: inout LatencySums) {
        guard starts.total > 0 else { return }
        var draws = random
        var crowd = Crowd(count: reception.crowd, interval: reception.crowdInterval)
        for _ in 0..<count {
            let start = starts.instant(draws.below(starts.total))
            crowd.forget()
            if let latency = latency(from: start, &draws, &crowd) {
                sums.add(latency)
            } else {
                sums.addNeverFound()
            }
        }
        random = draws
    }

    /// One kind of stretch against the scanner: the arcs of the scanner's cycle in which an event
    /// must start for its first, second and third PDU to be received, and what follows from one
    /// event to the next.
    private struct Course: Sendable {
        let second: Int64
        let third: Int64
        /// An arc's length without its first microsecond; negative where no PDU fits.
        let length: Int64
        let airTime: Int64
        let step: Int64
        let interval: Int64
        /// The interval by which the phase moves on, within the cycle.
        let move: Int64

        init(_ kind: AdvertisingTimeline.Kind, _ scanner: ScannerModel) {
            airTime = kind.airTime
            step = airTime + DiscoverySampler.channelChange
            interval = kind.interval
            let cycle = DiscoverySampler.channels * scanner.interval
            let shift = scanner.interval - step
            second = (shift % cycle + cycle) % cycle
            third = (2 * shift % cycle + cycle) % cycle
            length = scanner.window - airTime
            move = interval % cycle
        }
    }

    /// nil: not found before patience or the timeline ended.
    @inline(__always)
    private func latency(
        from start: Int64, _ random: inout SeededRandom, _ crowd: inout Crowd
    ) -> Int64? {
        let limit = start.addingReportingOverflow(reception.patience)
        let latest = limit.overflow ? Int64.max : limit.partialValue
        var index = timeline.index(after: start)
        // Any phase is as likely at any instant, so it is drawn where it is needed first.
        var phase = random.below(cycle)
        var phaseAt: Int64?
        while index < timeline.count {
            let course = courses[Int(timeline.kindIndices[index])]
            let first = firstEvent(index, course, from: start, &random)
            guard first <= latest else { return nil }
            if let phaseAt { phase = (phase + (first - phaseAt)) % cycle }
            phaseAt = first
            let end = walk(
                course, first, phase, min(latest, timeline.ends[index]), &random, &crowd)
            if let end { return end - start }
            index += 1
        }
        return nil
    }

    /// The first event of a stretch that starts at `start` or later.
    @inline(__always)
    private func firstEvent(
        _ index: Int, _ course: Course, from start: Int64, _ random: inout SeededRandom
    ) -> Int64 {
        let begin = timeline.starts[index]
        guard begin < start else { return begin }
        guard start - begin < Self.eventsWalked * (course.interval + AdvertisingDelay.max) else {
            return start + AdvertisingDelay.wait(course.interval, &random)
        }
        var event = begin
        while event < start {
            event += course.interval + random.below(AdvertisingDelay.max + 1)
        }
        return event
    }

    /// Goes from event to event of a stretch.
    /// - Returns: when the first PDU that is received ends; nil where none does before `end`.
    @inline(__always)
    private func walk(
        _ course: Course, _ first: Int64, _ firstPhase: Int64, _ end: Int64,
        _ random: inout SeededRandom, _ crowd: inout Crowd
    ) -> Int64? {
        let isSure = reception.loss <= 0 && reception.crowd <= 0
        var event = first
        var phase = firstPhase
        while event < end {
            // Bit k: the PDU on channel 37 + k falls into its window. Without a branch, for one in
            // three is not predicted well.
            let reachable =
                reaches(phase, course.length, 1)
                | reaches(phase &- course.second, course.length, 2)
                | reaches(phase &- course.third, course.length, 4)
            if reachable != 0 {
                let heard =
                    isSure
                    ? Int64(reachable.trailingZeroBitCount)
                    : received(reachable, event, course.airTime, &random, &crowd)
                let last = event + heard * course.step + course.airTime
                if heard >= 0, last <= end { return last }
            }
            let delay = random.below(AdvertisingDelay.max + 1)
            event &+= course.interval &+ delay
            phase &+= course.move &+ delay
            // Once without a branch, for it is needed about as often as not.
            let over = phase &- cycle
            phase = over &+ (over >> 63 & cycle)
            while phase >= cycle { phase &-= cycle }
        }
        return nil
    }

    /// `bit` where the distance from an arc's begin, in either direction, is within its length.
    @inline(__always)
    private func reaches(_ distance: Int64, _ length: Int64, _ bit: Int64) -> Int64 {
        let along = distance &+ (distance >> 63 & cycle)
        return (along &- length &- 1) >> 63 & bit
    }

    /// The number of the first PDU that is neither lost nor collided with; -1 where there is none.
    @inline(never)
    private func received(
        _ reachable: Int64, _ event: Int64, _ airTime: Int64, _ random: inout SeededRandom,
        _ crowd: inout Crowd
    ) -> Int64 {
        guard crowd.isClear(at: event, airTime: airTime, &random) else { return -1 }
        for channel in 0..<DiscoverySampler.channels where reachable >> channel & 1 == 1 {
            if random.unit() >= reception.loss { return channel }
        }
        return -1
    }
}

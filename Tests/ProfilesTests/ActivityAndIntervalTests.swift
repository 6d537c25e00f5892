// Every key of `activity:` and of interval policies, and what it comes to.
import Advertising
import HCI
import Profiles
import SansIO
import Testing

@Suite struct ActivityAndIntervalTests {
    private func ms(_ milliseconds: Double) -> AdvertisingInterval {
        AdvertisingInterval(steps: UInt16((milliseconds / 0.625).rounded()))
    }

    private func rule(_ text: String) throws -> ActivityRule {
        try #require(
            try load(
                "peripheral-emu: 1\ndevice: {name: T}\nactivity: " + text,
                files: ["a.csv": "time,x\n0,1\n"]
            ).activity)
    }

    private func policy(_ text: String) throws -> IntervalPolicy {
        let activity =
            "{source: stdin, active-above: 1 g, idle-below: 1 g, hold: 1 s, "
            + "asleep-after: 1 min}"
        return try #require(
            try load(
                "peripheral-emu: 1\ndevice: {name: T}\nactivity: \(activity)\n"
                    + "advertising: [{type: connectable, interval: \(text)}]"
            ).advertising.first?.policy)
    }

    @Test("every key of the detector reaches its rule")
    func detector() throws {
        let found = try rule(
            """
            {source: stdin, active-above: 0.2 g, idle-below: 0.1 g, hold: 5 s, window: 2 s,
             asleep-after: 10 min, wake-samples: 3, stall-after: 8 s, gravity: 0.98 g,
             full-scale: 2 g}
            """)
        var expected = ActivityRule(
            sources: [.live(.stdin)], activeAbove: 0.2, idleBelow: 0.1, hold: .seconds(5))
        expected.window = .seconds(2)
        expected.asleepAfter = .seconds(600)
        expected.wakeSamples = 3
        expected.stallAfter = .seconds(8)
        expected.gravity = 0.98
        expected.fullScale = 2
        #expect(found == expected)
    }

    @Test("every source can be written, several combined, and use needs no thresholds")
    func sources() throws {
        let found = try rule(
            """
            {source: [
              {csv: a.csv, column: x, speed: 60, repeat: true}, {iio: lis3dh, rate: 50 Hz},
              {iio: bma}, {fifo: f}, {socket: /s}, stdin, gatt,
              {generator: {bursts: {every: 10 min, length: 30 s, magnitude: 0.3 g}}},
              {generator: {day-rhythm: {from: "07:00", to: "22:30:15", magnitude: 0.2 g}}},
              {generator: {random: {every: 1 s, magnitude: 0.1 g}}}],
             active-above: 1 g, idle-below: 1 g, hold: 1 s}
            """
        ).sources
        let expected: [ActivitySource] = [
            .trace(
                TraceSource(samples: [.init(time: .zero, value: 1)], speed: 60, repeats: true)),
            .live(.iio(name: "lis3dh", every: .milliseconds(20))),
            .live(.iio(name: "bma", every: .milliseconds(40))), .live(.fifo(path: "f")),
            .live(.socket(path: "/s")), .live(.stdin), .gatt,
            .bursts(BurstSource(every: .seconds(600), length: .seconds(30), magnitude: 0.3)),
            .dayRhythm(
                DayRhythmSource(
                    from: .seconds(7 * 3600), to: .seconds(22 * 3600 + 30 * 60 + 15),
                    magnitude: 0.2)),
            .random(RandomSource(every: .seconds(1), magnitude: 0.1)),
        ]
        #expect(found == expected)
        #expect(try rule("{source: gatt, hold: 30 s}").sources == [.gatt])
    }

    @Test("every policy can be written")
    func policies() throws {
        let phases = [
            IntervalPhase(interval: ms(152.5), for: .seconds(5)),
            IntervalPhase(interval: ms(1022.5), for: .seconds(20)),
        ]
        let cases: [(String, IntervalRule)] = [
            ("100 ms", .fixed(ms(100))),
            ("{policy: fixed, interval: 100 ms}", .fixed(ms(100))),
            (
                "{policy: two-phase, boost: {interval: 20 ms, for: 30 s}, slow: 1285 ms}",
                .twoPhase(
                    boost: IntervalPhase(interval: ms(20), for: .seconds(30)), slow: ms(1285))
            ),
            (
                "{policy: loop, phases: [{interval: 152.5 ms, for: 5 s}, "
                    + "{interval: 1022.5 ms, for: 20 s}]}", .loop(phases)
            ),
            (
                "{policy: steps, steps: [{interval: 152.5 ms, for: 5 s}, {interval: 2 s}]}",
                .steps([phases[0], IntervalPhase(interval: ms(2000), for: .zero)])
            ),
            (
                "{policy: schedule, times: [{from: \"07:00\", interval: 152.5 ms}, "
                    + "{from: \"22:00\", interval: 2 s}]}",
                .schedule([
                    ScheduleEntry(from: .seconds(7 * 3600), interval: ms(152.5)),
                    ScheduleEntry(from: .seconds(22 * 3600), interval: ms(2000)),
                ])
            ),
            (
                "{policy: activity, active: 100 ms, idle: 1 s, asleep: 5 s}",
                .activity(.states(active: ms(100), idle: ms(1000), asleep: ms(5000)))
            ),
            (
                "{policy: activity, idle: 1 s, levels: [{from: 0.2, interval: 500 ms}, "
                    + "{from: 0.6, interval: 100 ms}], hysteresis: 0.1}",
                .activity(
                    .levels(
                        base: ms(1000),
                        [
                            ActivityStep(from: 0.2, interval: ms(500)),
                            ActivityStep(from: 0.6, interval: ms(100)),
                        ], hysteresis: 0.1))
            ),
            (
                "{policy: activity, curve: {slow: 1285 ms, fast: 152.5 ms}}",
                .activity(.curve(slow: ms(1285), fast: ms(152.5)))
            ),
        ]
        for (text, rule) in cases {
            #expect(try policy(text) == IntervalPolicy(rule), "\(text)")
        }
    }

    @Test("boost, fallback, dwell, rate limit and snap hold for any policy")
    func limits() throws {
        let found = try policy(
            """
            {policy: activity, active: 100 ms, idle: 1 s, boost: {interval: 20 ms, for: 30 s},
             fallback: 2 s, dwell: 3 s, rate-limit: {changes: 6, per: 1 min}, snap: apple}
            """)
        #expect(
            found
                == IntervalPolicy(
                    .activity(.states(active: ms(100), idle: ms(1000), asleep: nil)),
                    boost: IntervalPhase(interval: ms(20), for: .seconds(30)), fallback: ms(2000),
                    limits: IntervalLimits(
                        dwell: .seconds(3), rate: RateLimit(count: 6, per: .seconds(60)),
                        snap: .apple)))
    }

    @Test("the report says all of it")
    func report() throws {
        let profile = try load(
            """
            peripheral-emu: 1
            device: {name: T}
            activity: {source: [stdin, gatt], active-above: 0.2 g, idle-below: 0.1 g, hold: 5 s,
              window: 2 s, asleep-after: 10 min, wake-samples: 3, stall-after: 8 s}
            advertising:
              - type: connectable
                interval: {policy: activity, active: 100 ms, idle: 1 s, dwell: 3 s, snap: apple,
                  boost: {interval: 20 ms, for: 30 s}, rate-limit: {changes: 6, per: 1 min}}
            """)
        let lines = CheckReport.text(of: profile).split(separator: "\n").map { String($0) }
        #expect(
            lines[4...6] == [
                "  activity above 0.2 g, idle after 5 s below 0.1 g, RMS over 2 s, lost after 8 s "
                    + "without a value, asleep after 600 s, woken by 3 values in a row",
                "    from stdin", "    from what centrals do, each for 5 s",
            ])
        #expect(
            lines[7...11] == [
                "advertising main, connectable, interval 100 ms while active, 1000 ms while idle",
                "  boost 20 ms for 30 s", "  each for 3 s or longer", "  at most 6 changes in 60 s",
                "  snapped to Apple's list",
            ])
    }

    @Test("live fields of the data have their places, sources and the largest length")
    func liveFields() throws {
        let profile = try load(
            """
            peripheral-emu: 1
            device: {name: T}
            activity: {source: gatt, hold: 1 s}
            advertising:
              - type: connectable
                interval: 1 s
                update: every 10 s
                data:
                  - flags: [no-br-edr]
                  - manufacturer: {company: 0xFFFF, fields: [{hex: "AA"}, {activity: level},
                      {format: uint16, value: {counter: {}}}, {format: uint8, value: 7}]}
                scan-response:
                  - service-data: {service: battery, fields: [{value-of: battery-level},
                      {activity: state}, {value-of: name, octets: 5}]}
            services:
              - service: battery
                characteristics:
                  - {characteristic: battery-level, read: open, value: 87}
                  - {characteristic: 0x1234, label: name, read: open, format: utf8, value: abc}
            """)
        let set = try #require(profile.advertising.first)
        #expect(set.update == .seconds(10))
        #expect(set.data.last == .manufacturer(company: 0xFFFF, data: [0xAA, 0, 0, 0, 7]))
        #expect(set.scanResponse.map(\.payload.count) == [7])
        let sources = profile.liveFields.map { "\($0.part) \($0.entry) \($0.range)" }
        #expect(
            sources == [
                "data 1 1..<2", "data 1 2..<4", "scanResponse 0 0..<1", "scanResponse 0 1..<2",
                "scanResponse 0 2..<7",
            ])
        #expect(
            profile.liveFields.filter { $0.part == .scanResponse }.map(\.source) == [
                .value(of: "battery-level"), .activityState, .value(of: "name"),
            ])
        let report = CheckReport.text(of: profile)
        #expect(report.contains("  every 10 s: manufacturer octet 1 = activity level in percent\n"))
        #expect(report.contains("  every 10 s: service-data16 octets 2 to 6 = the value of name\n"))
    }

    @Test("live fields of a periodic train have their part, and go by the set's update")
    func liveTrain() throws {
        let profile = try load(
            """
            peripheral-emu: 1
            device: {name: T}
            advertising:
              - type: non-connectable
                interval: 1 s
                pdu: extended
                update: every 2 s
                periodic:
                  interval: 100 ms
                  data:
                    - {name: complete}
                    - manufacturer: {company: 0xFFFF, fields: [{format: uint16,
                        value: {counter: {}}}]}
            """)
        let field = try #require(profile.liveFields.first)
        #expect(profile.liveFields.count == 1 && field.part == .periodic && field.entry == 1)
        #expect(profile.advertising[0].entries(of: .periodic).count == 2)
        let report = CheckReport.text(of: profile)
        #expect(
            report.contains("  periodic train every 100.0 ms, 9 bytes: 02 09 54 05 FF FF FF 00 00"))
        #expect(report.contains("  every 2 s: train manufacturer octets 0 to 1 = a generator\n"))
    }

    @Test("when a set is on the air is read, and told")
    func times() throws {
        func lines(_ set: String) throws -> [String] {
            let profile = try load(
                "peripheral-emu: 1\ndevice: {name: T}\nadvertising: [{interval: 1 s, \(set)}]\n")
            return CheckReport.text(of: profile).split(separator: "\n").map(String.init).filter {
                $0.contains("on the air")
            }
        }
        #expect(
            try lines("type: non-connectable, duration: 10 s, period: 1 min") == [
                "  on the air for 10 s of each 60 s"
            ])
        #expect(
            try lines("type: connectable, duration: 20 ms") == [
                "  on the air for 20 ms after power-on and each disconnection"
            ])
        #expect(
            try lines("type: scannable, duration: 7 d") == [
                "  on the air for 604800 s after power-on"
            ])
        #expect(try lines("type: connectable") == [])
    }
}

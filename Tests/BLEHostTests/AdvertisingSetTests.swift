// Several advertising sets on one controller: handles, turns, refusals, links.
import Advertising
import GATT
import HCI
import SansIO
import Testing
import Wire

@testable import BLEHost

@Suite struct AdvertisingSetTests {
    @Test("each set has a handle, an address, data and an interval of its own")
    func own() throws {
        var rig = try SetRig((0..<16).map { SetRig.plan($0) })
        rig.drain()
        #expect(rig.controller.onAir == Array(0..<16) && rig.isClean)
        for (handle, set) in rig.controller.sets {
            let address = DeviceAddress(littleEndian: 0xC0FF_EE00_0001 + UInt64(handle))
            #expect(set.address == address && set.data == [1, handle])
            #expect(set.intervalSteps == 160 && set.parameters.advertisingSid == handle & 15)
        }
        let before = rig.controller.received.count
        rig.setInterval(400, of: 7)
        rig.drain()
        #expect(
            rig.controller.received[before...] == [
                "LE Set Extended Advertising Enable", "LE Set Extended Advertising Parameters",
                "LE Set Extended Advertising Enable",
            ])
        #expect(rig.controller.sets.filter { $0.value.intervalSteps == 400 }.map(\.key) == [7])
        #expect(rig.advertised.last == "7 250 ms" && rig.controller.onAir.count == 16)
    }

    @Test(
        "thousands of changes, connections and disconnections earn no Command Disallowed",
        arguments: [1, 3])
    func neverDisallowed(connectionsMax: Int) throws {
        for seed in 0..<20 {
            var random = SeededRandom(seed: UInt64(seed), stream: "sets")
            let types: [AdvertisingPlan.EventType] = [.connectable, .nonConnectable, .scannable]
            let count = 2 + Int(random.below(4))
            let plans = (0..<count).map { place in
                SetRig.plan(place, place == 0 ? .connectable : types[Int(random.below(3))]) {
                    if $0.type == .nonConnectable { $0.pdu = .extended(ExtendedPDU()) }
                }
            }
            var rig = try SetRig(plans, connectionsMax: connectionsMax)
            rig.controller.base.commandCredits = UInt8(1 + random.below(4))
            rig.drain()
            var (steps, data) = ([UInt16](repeating: 160, count: count), plans.map(\.data))
            var links: [UInt16] = []
            var nextHandle: UInt16 = 0x40
            for _ in 0..<400 {
                rig.now = rig.now + .microseconds(random.below(2000))
                let set = Int(random.below(Int64(count)))
                switch Int(random.below(10)) {
                case 0...1:
                    steps[set] = UInt16(160 + random.below(2000))
                    rig.setInterval(steps[set], of: set)
                case 2...4: rig.deliverCommand()
                case 5...7: rig.deliverEvent()
                case 8:
                    let able = rig.controller.sets.filter {
                        $0.value.isEnabled && $0.value.properties.contains(.connectable)
                    }
                    guard links.count < connectionsMax, let set = able.keys.sorted().first
                    else { break }
                    nextHandle += 1
                    links.append(nextHandle)
                    rig.events += rig.controller.connect(to: set, handle: nextHandle)
                case 9 where !links.isEmpty:
                    let handle = links.remove(at: Int(random.below(Int64(links.count))))
                    rig.events.append(ScriptedController.disconnected(handle: handle, .success))
                default:
                    let isLong = plans[set].pdu != .legacy && Int(random.below(2)) == 0
                    data[set] = [UInt8](repeating: UInt8(set), count: isLong ? 600 : 5)
                    rig.setData(data[set], of: set)
                }
            }
            rig.drain()
            #expect(rig.isClean, "\(rig.controller.disallowed) \(rig.controller.refusals)")
            let hasRoom = links.count < connectionsMax
            for (place, plan) in plans.enumerated() {
                let entry = try #require(rig.controller.sets[UInt8(place)])
                #expect(entry.isEnabled == (hasRoom || !plan.type.isConnectable))
                guard entry.isEnabled else { continue }
                #expect(entry.intervalSteps == Int(steps[place]) && entry.data == data[place])
            }
        }
    }

    @Test("on a slow controller a change takes one set off the air, for its commands alone")
    func slow() throws {
        let (count, trip) = (32, TimeSpan.milliseconds(20))
        var controller = SetController()
        controller.setsMax = count
        controller.base.commandCredits = 1
        var rig = try SetRig(
            (0..<count).map { place in
                SetRig.plan(place) { if place % 2 == 0 { $0.pdu = .extended(ExtendedPDU()) } }
            }, controller)
        rig.drain()
        rig.told = []
        var random = SeededRandom(seed: 5, stream: "slow")
        var wanted = [UInt16](repeating: 160, count: count)
        var (gaps, since): ([TimeSpan], Instant?) = ([], nil)
        for step in 0..<6_000 {
            rig.now = rig.now + trip
            if step < 5_900, random.below(4) == 0 {
                let set = Int(random.below(Int64(count)))
                if random.below(3) > 0 {
                    wanted[set] = UInt16(160 + random.below(2000))
                    rig.setInterval(wanted[set], of: set)
                } else {
                    rig.setData([1, UInt8(step & 0xFF)], of: set)
                }
            }
            rig.deliverCommand()
            let off = count - rig.controller.onAir.count
            #expect(off <= 1, "\(off) sets are off the air at once")
            if off == 1 { since = since ?? rig.now }
            if off == 0, let begin = since {
                gaps.append(rig.now - begin)
                since = nil
            }
            rig.deliverEvent()
        }
        rig.drain()
        #expect(rig.isClean, "\(rig.controller.disallowed) \(rig.controller.refusals)")
        #expect(rig.controller.onAir.count == count)
        for set in 0..<count {
            #expect(rig.controller.sets[UInt8(set)]?.intervalSteps == Int(wanted[set]))
        }
        // Disable, set and enable, one answer each; data that wait go with them.
        #expect(gaps.count > 500)
        #expect(gaps.allSatisfy { (trip * 2...trip * 3).contains($0) })
        let told = rig.told.compactMap {
            if case .advertising(_, let gap, _) = $0 { gap } else { nil }
        }
        #expect(told == gaps)
    }

    @Test("a link belongs to the set that the controller says has ended for it")
    func links() throws {
        var rig = try SetRig(
            [SetRig.plan(0, .connectable), SetRig.plan(1, .connectable), SetRig.plan(2)],
            connectionsMax: 2)
        rig.drain()
        rig.receive(rig.controller.connect(to: 1, handle: 0x41))
        rig.receive(rig.controller.connect(to: 0, handle: 0x42))
        let sets = rig.told.compactMap {
            if case .connectedFrom(let set, let link) = $0 { "\(link) \(set)" } else { nil }
        }
        #expect(sets == ["0 1", "1 0"] && rig.controller.onAir == [2])
        #expect(rig.host.ownLinkAddress(of: 0).address == SetRig.plan(1).address)
        #expect(rig.host.ownLinkAddress(of: 1).address == SetRig.plan(0).address)
        rig.receive([ScriptedController.disconnected(handle: 0x41, .remoteUserTerminated)])
        #expect(rig.controller.onAir == [0, 1, 2] && rig.isClean)
    }

    // MARK: controllers that cannot

    @Test("on one advertiser sets take turns, each as often as it wants on average")
    func turns() throws {
        var rig = try SetRig(
            [SetRig.plan(0), SetRig.plan(1, .scannable), SetRig.plan(2)],
            SetController(isExtended: false))
        rig.drain()
        rig.setInterval(800, of: 1)
        rig.setInterval(1600, of: 2)
        rig.wait(.seconds(30))
        #expect(rig.advertised == ["0 100 ms", "1 500 ms", "2 1000 ms"] && rig.isClean)
        #expect(rig.notes.count { $0.contains("3 sets take turns on one advertiser") } == 1)
        // A third of a second each.
        let enables = rig.controller.received.count { $0 == "LE Set Advertising Enable 1" }
        #expect((88...92).contains(enables))
        let addresses = Set(rig.controller.base.randomAddresses.suffix(3))
        #expect(addresses == Set((0..<3).compactMap { SetRig.plan($0).address }))
        rig.perform { host, now, out, emit in host.stop(at: now, sending: &out, emit: &emit) }
        rig.drain()
        #expect(!rig.controller.base.isAdvertising && rig.host.isQuiet)
        let stopped = rig.told.count {
            if case .advertisingStopped = $0 { true } else { false }
        }
        #expect(stopped == 3)
    }

    @Test("a set that rests leaves its turns to the others, and is told once each way")
    func restingInTurns() throws {
        var rig = try SetRig(
            (0..<3).map { SetRig.plan($0) }, SetController(isExtended: false))
        rig.drain()
        for set in 1..<3 { rig.setInterval(800, of: set) }
        rig.wait(.seconds(5))
        func rest(_ isResting: Bool, _ set: Int) {
            rig.perform { host, now, out, emit in
                host.setResting(isResting, of: set, at: now, sending: &out, emit: &emit)
            }
            rig.drain()
        }
        func stopped() -> [Int] {
            rig.told.compactMap {
                if case .advertisingStopped(let set) = $0 { set } else { nil }
            }
        }
        for set in 0..<3 {
            rig.told = []
            rest(true, set)
            rig.wait(.seconds(5))
            #expect(stopped() == [set] && rig.controller.base.isAdvertising == (set < 2))
            #expect(rig.advertised.isEmpty)
        }
        let before = rig.controller.received.count
        rig.wait(.seconds(5))
        #expect(rig.controller.received.count == before)
        rig.told = []
        rest(false, 2)
        rig.wait(.seconds(5))
        // Alone it has the advertiser for itself.
        #expect(rig.advertised == ["2 500 ms"] && rig.controller.base.steps == 800)
        rest(false, 0)
        rest(false, 1)
        rig.wait(.seconds(5))
        #expect(rig.advertised == ["2 500 ms", "0 100 ms", "1 500 ms"])
        #expect(rig.isClean && stopped().isEmpty)
    }

    @Test(
        "thousands of pauses among changes and links earn no Command Disallowed",
        arguments: [false, true])
    func resting(isExtended: Bool) throws {
        for seed in 0..<20 {
            var random = SeededRandom(seed: UInt64(seed), stream: "rests")
            let count = 4
            let plans = (0..<count).map { place in
                SetRig.plan(place, place == 0 ? .connectable : .nonConnectable) {
                    $0.fallback = .legacy
                    guard isExtended, place == 1 else { return }
                    $0.pdu = .extended(ExtendedPDU())
                    $0.periodic = TrainPlan(interval: 80, data: [1, 2])
                }
            }
            var rig = try SetRig(plans, SetController(isExtended: isExtended))
            rig.controller.base.commandCredits = UInt8(1 + random.below(4))
            rig.drain()
            var isResting = [Bool](repeating: false, count: count)
            var isLinked = false
            for _ in 0..<400 {
                rig.now = rig.now + .milliseconds(random.below(10))
                let set = Int(random.below(Int64(count)))
                switch Int(random.below(10)) {
                case 0...1:
                    isResting[set].toggle()
                    let rests = isResting[set]
                    rig.perform { host, now, out, emit in
                        host.setResting(rests, of: set, at: now, sending: &out, emit: &emit)
                    }
                case 2: rig.setInterval(UInt16(160 + random.below(2000)), of: set)
                case 3...5: rig.deliverCommand()
                case 6...7: rig.deliverEvent()
                case 8 where isExtended && !isLinked && rig.controller.onAir.contains(0):
                    isLinked = true
                    rig.events += rig.controller.connect(to: 0, handle: 0x40)
                case 9 where isLinked:
                    isLinked = false
                    rig.events.append(ScriptedController.disconnected(handle: 0x40, .success))
                default:
                    rig.perform { host, now, out, emit in
                        host.expire(at: now, sending: &out, emit: &emit)
                    }
                }
            }
            rig.drain()
            #expect(rig.isClean, "\(rig.controller.disallowed) \(rig.controller.refusals)")
            let awake = (0..<count).filter { !isResting[$0] && !(isLinked && $0 == 0) }
            if isExtended {
                #expect(rig.controller.onAir.map { Int($0) } == awake)
                #expect(rig.controller.sets[1]?.isPeriodic == awake.contains(1))
            } else {
                #expect(rig.controller.base.isAdvertising == !awake.isEmpty)
            }
        }
    }

    @Test("a connectable set shares one advertiser only where it says so")
    func sharing() throws {
        let alone = SetRig.plan(0, .connectable)
        var refused = try SetRig([alone, SetRig.plan(1)], SetController(isExtended: false))
        refused.drain()
        let failure = try #require(refused.failures.first)
        #expect(failure.contains("'set0' does not share one advertiser"))
        #expect(failure.contains("fallback: legacy") && failure.contains("fallback: skip"))
        #expect(!refused.controller.base.isAdvertising)

        let skipped = SetRig.plan(1) { $0.fallback = .skip }
        var skipping = try SetRig([alone, skipped], SetController(isExtended: false))
        skipping.drain()
        #expect(skipping.advertised == ["0 100 ms"] && skipping.failures.isEmpty)
        #expect(skipping.notes.contains { $0.contains("the set 'set1' is left out") })
        skipping.wait(.seconds(5))
        #expect(skipping.advertised.count == 1)

        let willing = SetRig.plan(0, .connectable) { $0.fallback = .legacy }
        var sharing = try SetRig([willing, SetRig.plan(1)], SetController(isExtended: false))
        sharing.drain()
        sharing.wait(.seconds(2))
        #expect(sharing.advertised == ["0 100 ms", "1 100 ms"])
        // Connected in its turn: the beacon goes on alone.
        while sharing.host.advertising.turns?.current != 0 { sharing.wait(.milliseconds(100)) }
        sharing.controller.base.isAdvertising = false
        sharing.receive([ScriptedController.connected(handle: 0x40)])
        let given = sharing.controller.base.randomAddresses.count
        sharing.wait(.seconds(5))
        #expect(sharing.controller.base.isAdvertising)
        #expect(
            sharing.controller.base.randomAddresses[given...]
                .allSatisfy { $0 == SetRig.plan(1).address })
        sharing.receive([ScriptedController.disconnected(handle: 0x40, .remoteUserTerminated)])
        sharing.wait(.seconds(5))
        #expect(sharing.advertised.last == "0 100 ms", "\(sharing.advertised)")
        #expect(sharing.isClean, "\(sharing.controller.disallowed)")
    }

    @Test("too few sets: those that may be are left out, else one advertiser is shared")
    func tooFew() throws {
        var controller = SetController()
        controller.setsMax = 2
        var rig = try SetRig(
            [SetRig.plan(0), SetRig.plan(1) { $0.fallback = .skip }, SetRig.plan(2)], controller)
        rig.drain()
        #expect(rig.controller.onAir == [0, 2] && rig.isClean)
        #expect(
            rig.notes == ["the controller has 2 advertising sets: the set 'set1' is left out"])
        var sharing = try SetRig((0..<3).map { SetRig.plan($0) }, controller)
        sharing.drain()
        sharing.wait(.seconds(5))
        #expect(sharing.controller.sets.isEmpty && sharing.isClean)
        #expect(sharing.advertised.count == 3 && sharing.controller.base.isAdvertising)
    }

    @Test("extended PDUs are refused, left out or replaced on a controller without")
    func without() throws {
        for fallback in [AdvertisingFallback.legacy, .skip, nil] {
            let plan = SetRig.plan(0) {
                $0.pdu = .extended(ExtendedPDU())
                $0.fallback = fallback
            }
            var rig = try SetRig([plan], SetController(isExtended: false))
            rig.drain()
            #expect(rig.controller.base.isAdvertising == (fallback == .legacy))
            #expect(rig.failures.isEmpty == (fallback != nil))
            // With no set left, that is said.
            let isSilent = rig.notes.contains { $0.contains("nothing is on the air") }
            #expect(isSilent == (fallback == .skip), "\(rig.notes)")
        }
        var coded = ExtendedPDU()
        coded.primary = .leCoded
        var rig = try SetRig([SetRig.plan(0) { $0.pdu = .extended(coded) }])
        rig.drain()
        #expect(rig.failures.isEmpty)
        var plain = SetController()
        plain.base.leFeatures = 1 << 12
        rig = try SetRig([SetRig.plan(0) { $0.pdu = .extended(coded) }], plain)
        rig.drain()
        #expect(rig.failures.first?.contains("no LE Coded PHY") == true)
    }

    @Test("a set that the controller refuses is told, and the others go on")
    func refused() throws {
        var rig = try SetRig((0..<3).map { SetRig.plan($0) })
        // It says 16 and has two.
        rig.drain()
        rig = try SetRig((0..<3).map { SetRig.plan($0) })
        rig.controller.setsMax = 2
        rig.controller.base.supportedCommands[36] &= 0x7F
        rig.drain()
        #expect(rig.controller.onAir == [0, 1] && rig.failures.isEmpty)
        let refused = rig.told.contains {
            if case .advertisingRefused(.memoryCapacityExceeded, 2) = $0 { true } else { false }
        }
        #expect(refused)
    }
}

// Every kind of advertising set in place of every other one while the device is at work.
import Emulator
import HCI
import Harness
import Profiles
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct FlashSetTests {
    private static let peer = "\"C0:11:22:33:44:55\""
    private static let name = "data: [{name: complete}]"
    private static func octets(_ count: Int) -> String {
        "{raw: {type: 255, data: {text: \(String(repeating: "a", count: count))}}}"
    }
    private static let power = "scan-response: [{tx-power: 0 dBm}]"

    /// A set's keys without its name.
    static let kinds: [(name: String, text: String)] = [
        ("connectable", "type: connectable, \(name), \(power)"),
        ("scannable", "type: scannable, \(name), \(power)"),
        ("non-connectable", "type: non-connectable, \(name)"),
        ("directed", "type: {directed: {peer: \(peer)}}"),
        ("high duty", "type: {directed: {peer: \(peer), duty: high}}"),
        ("extended connectable", "type: connectable, pdu: extended, \(name)"),
        (
            "extended scannable",
            "type: scannable, pdu: extended, scan-response: [\(octets(250)), \(octets(250))]"
        ),
        ("extended", "type: non-connectable, pdu: extended, \(name)"),
        ("anonymous", "type: non-connectable, pdu: {extended: {anonymous: true}}, \(name)"),
        (
            "periodic",
            "type: non-connectable, pdu: extended, \(name), "
                + "periodic: {interval: 100 ms, \(name)}"
        ),
        ("coded", "type: non-connectable, pdu: {extended: {primary: coded}}, \(name)"),
        ("extended directed", "type: {directed: {peer: \(peer)}}, pdu: extended, \(name)"),
        (
            "long",
            "type: non-connectable, pdu: extended, data: [\(octets(250)), \(octets(250))]"
        ),
        ("fast", "type: scannable, scan-response: [{name: complete}]"),
        (
            "falling back",
            "type: non-connectable, pdu: extended, fallback: legacy, \(name)"
        ),
        ("skipped", "type: non-connectable, pdu: extended, fallback: skip, \(name)"),
    ]

    private static func set(_ kind: Int, _ name: String) -> String {
        let interval = kinds[kind].name == "fast" ? "20 ms" : "100 ms"
        return "  - {set: \(name), interval: \(interval), \(kinds[kind].text)}\n"
    }

    private static func profile(_ sets: [String]) throws -> DeviceProfile {
        try FlashRig.load(
            "device: {name: T}\n" + (sets.isEmpty ? "" : "advertising:\n" + sets.joined()))
    }

    /// Profiles of one set of each kind, and one without any; another set may stand before it.
    private static func profiles(beside other: String = "") throws -> [DeviceProfile] {
        let before = other.isEmpty ? [] : ["  - {set: other, interval: 100 ms, \(other)}\n"]
        return try [profile(before)]
            + kinds.indices.map { try profile(before + [set($0, "main")]) }
    }

    private static func kind(_ index: Int) -> String {
        index == 0 ? "none" : kinds[index - 1].name
    }

    @Test(
        "any kind of set takes any other's place, as if it had been there from the start",
        arguments: ["", "type: non-connectable, address: random-static", "type: connectable"])
    func pairs(other: String) throws {
        let profiles = try Self.profiles(beside: other)
        let fresh = profiles.map { FlashRig($0).sets }
        for (from, old) in profiles.enumerated() {
            for (to, new) in profiles.enumerated() where to != from {
                var rig = FlashRig(old)
                rig.disabled = []
                let refusal = rig.flash(new)
                let what = "\(Self.kind(from)) -> \(Self.kind(to))"
                #expect(refusal == nil, "\(what)")
                #expect(rig.refused.isEmpty && rig.resets == 1, "\(what): \(rig.refused)")
                #expect(rig.sets == fresh[to], "\(what)")
                // What is the same stays on the air.
                #expect(other.isEmpty || !rig.disabled.contains(0), "\(what)")
            }
        }
    }

    @Test(
        "on a controller without sets too; what it cannot have is refused, and the old one stays",
        arguments: ["", "type: non-connectable"])
    func legacyPairs(other: String) throws {
        let profiles = try Self.profiles(beside: other)
        let fresh = profiles.map { profile in
            var rig = FlashRig(profile, features: [])
            rig.wait(.seconds(3))
            return rig
        }
        func isAble(_ index: Int) -> Bool { !fresh[index].aired.isEmpty || index == 0 }
        for (from, old) in profiles.enumerated() where isAble(from) {
            for (to, new) in profiles.enumerated() where to != from {
                let what = "\(Self.kind(from)) -> \(Self.kind(to))"
                // One that is skipped is off the air, and needs nothing else.
                let isSkipped = to > 0 && Self.kind(to) == "skipped"
                var rig = FlashRig(old, features: [])
                rig.wait(.seconds(3))
                let before = rig.aired
                rig.aired = []
                let refusal = rig.flash(new)
                rig.wait(.seconds(3))
                #expect((refusal == nil) == (isAble(to) || isSkipped), "\(what): \(refusal ?? "")")
                #expect(rig.refused.isEmpty && rig.resets == 1, "\(what): \(rig.refused)")
                if refusal == nil {
                    // What was skipped in the old one and the new one stays as it is.
                    let isSame = rig.aired.isEmpty && fresh[to].aired.isSubset(of: before)
                    #expect(rig.aired == fresh[to].aired || isSame, "\(what)")
                } else {
                    #expect(refusal?.contains("fallback") == true)
                    #expect(rig.aired.isSubset(of: before), "\(what)")
                    #expect(rig.sets[255]?.isOn == fresh[from].sets[255]?.isOn, "\(what)")
                }
            }
        }
    }

    @Test("sets that come, go and change places end as if they had been so from the start")
    func lists() throws {
        for seed in UInt64(1)...8 {
            var random = SeededRandom(seed: seed, stream: "lists")
            func next() throws -> DeviceProfile {
                var names = (0..<6).map { "s\($0)" }
                var sets: [String] = []
                for _ in 0..<random.below(5) {
                    let name = names.remove(at: Int(random.below(Int64(names.count))))
                    sets.append(Self.set(Int(random.below(Int64(Self.kinds.count))), name))
                }
                return try Self.profile(sets)
            }
            var rig = FlashRig(try next())
            for step in 0..<25 {
                let profile = try next()
                #expect(rig.flash(profile) == nil)
                #expect(rig.sets == FlashRig(profile).sets, "seed \(seed), step \(step)")
                if random.below(2) == 0 { rig.wait(.seconds(2)) }
            }
            #expect(rig.refused.isEmpty && rig.resets == 1, "\(rig.refused)")
        }
    }

    @Test("links outlive any change of sets, and the last version is on the air after them")
    func linked() throws {
        let text = "device: {name: T, connections: 2}\nadvertising:\n"
        var random = SeededRandom(seed: 3, stream: "linked")
        func next() throws -> DeviceProfile {
            let sets = (0...random.below(3)).map { place in
                Self.set(Int(random.below(Int64(Self.kinds.count))), "s\(place)")
            }
            return try FlashRig.load(text + sets.joined())
        }
        var device = EmulatedDevice(
            profile: try FlashRig.load(text + Self.set(0, "s0")), seed: 1)
        device.expectFlash()
        var world = GuestWorld(device)
        world.powerOn()
        world.connect()
        for _ in 0..<60 {
            #expect(world.flash(try next()) == nil)
            world.run(for: .milliseconds(random.below(300)))
            #expect(world.isConnected)
        }
        #expect(!world.lines.contains { $0.contains("refuse") }, "\(world.lines)")
        #expect(world.flash(try FlashRig.load(text + Self.set(0, "s0"))) == nil)
        #expect(world.disconnect() && world.connect())
    }

    // MARK: more than a controller has

    private static func beacons(_ count: Int, _ first: String = "") throws -> DeviceProfile {
        try FlashRig.load(
            "device: {name: T}\nadvertising:\n" + first
                + (0..<count).map {
                    "  - {set: s\($0), type: non-connectable, interval: 100 ms}\n"
                }.joined())
    }

    @Test("too many sets are treated as at power-on: they take turns, or are refused")
    func tooMany() throws {
        var rig = FlashRig(try Self.beacons(31))
        #expect(rig.sets.values.count(where: \.isOn) == 31)
        let main = "  - {set: main, type: connectable, interval: 100 ms}\n"
        let refusal = try #require(rig.flash(try Self.beacons(33, main)))
        #expect(refusal.contains("has 32 advertising sets"), "\(refusal)")
        #expect(refusal.contains("'main' does not share one advertiser"), "\(refusal)")
        #expect(rig.sets.values.count(where: \.isOn) == 31 && rig.resets == 1)
        #expect(rig.flash(try Self.beacons(33)) == nil)
        #expect(rig.lines.contains { $0.contains("33 sets take turns on one advertiser") })
        #expect(rig.resets == 2 && rig.sets.keys.sorted() == [255])
        // Back again.
        #expect(rig.flash(try Self.beacons(32)) == nil)
        #expect(rig.sets.values.count(where: \.isOn) == 32 && rig.resets == 3)
        #expect(rig.refused.isEmpty, "\(rig.refused)")
    }

    @Test("turns would end a link, so they wait for its end")
    func tooManyWhileLinked() throws {
        let main = "  - {set: main, type: connectable, interval: 100 ms, fallback: legacy}\n"
        var device = EmulatedDevice(profile: try Self.beacons(1, main), seed: 1)
        device.expectFlash()
        var world = GuestWorld(device)
        world.powerOn()
        world.connect()
        let many = try Self.beacons(33, main)
        #expect(world.flash(many)?.contains("ends 1 open links") == true)
        #expect(world.isConnected)
        world.disconnect()
        #expect(world.flash(many) == nil)
        world.run(for: .seconds(1))
        #expect(world.lines.contains { $0.contains("34 sets take turns") })
        world.connect()
        #expect(world.flash(try Self.beacons(1, main))?.contains("1 open links") == true)
    }

    @Test("a set without an ID takes the first from its place on that its address has free")
    func setIDs() throws {
        func ids(_ sets: [String]) throws -> [UInt8] {
            try FlashRig.load(
                "device: {name: T}\nadvertising:\n"
                    + sets.enumerated().map {
                        "  - {set: s\($0.offset), type: non-connectable, interval: 100 ms, "
                            + "pdu: extended, address: \($0.element)}\n"
                    }.joined()
            ).setIDs
        }
        #expect(try ids(["device, sid: 1", "device", "device"]) == [1, 2, 3])
        #expect(try ids(["device", "random-static, sid: 2", "device"]) == [0, 2, 2])
        let many = try ids([String](repeating: "device", count: 15) + ["device, sid: 3"])
        #expect(Set(many).count == 16 && many.last == 3)
        #expect(try ids([String](repeating: "public", count: 17)).last == 0)
    }

    // MARK: addresses

    @Test("a set's other address is used at once, a device's at the next start")
    func addresses() throws {
        let own = "address: {type: random-static, value: \"C0:11:22:33:44:99\"}, "
        let texts = ["", own, "address: public, ", "address: device, "]
        let profiles = try texts.map { address in
            try FlashRig.load(
                "device: {name: T}\nadvertising:\n"
                    + "  - {set: main, type: connectable, interval: 100 ms}\n"
                    + "  - {set: more, \(address)type: non-connectable, interval: 100 ms}\n")
        }
        for features in [ControllerFeatures.all, .extendedAdvertising] {
            let fresh = profiles.map { FlashRig($0, features: features).sets }
            #expect(fresh[1][1]?.address == [0x99, 0x44, 0x33, 0x22, 0x11, 0xC0])
            for (from, old) in profiles.enumerated() {
                for (to, new) in profiles.enumerated() where from != to {
                    var rig = FlashRig(old, features: features)
                    #expect(rig.flash(new) == nil && rig.sets == fresh[to])
                    #expect(rig.refused.isEmpty, "\(rig.refused)")
                }
            }
        }
        var rig = FlashRig(profiles[0])
        let before = rig.sets
        let device = "{name: T, address: {type: random-static, value: \"C0:11:22:33:44:98\"}}"
        let other = try FlashRig.load(
            "device: \(device)\nadvertising:\n"
                + "  - {set: main, type: connectable, interval: 100 ms}\n"
                + "  - {set: more, type: non-connectable, interval: 100 ms}\n")
        #expect(rig.flash(other) == nil && rig.sets == before)
        #expect(
            rig.lines.last?.hasPrefix("not before the next start: the address C0:11:22:33:44:98")
                == true, "\(rig.lines.suffix(3))")
    }
}

// Private addresses of both sides: bonds are found behind them, before and after a restart.
import Emulator
import Harness
import OpenSSLCrypto
import Profiles
import SMP
import SansIO
import Testing
import Wire

@Suite struct PrivacyTests {
    private static let toolbox = Toolbox(OpenSSLCipher())
    private static let centralKey = [UInt8](repeating: 0x77, count: 16)
    private static let centralIdentity = LinkAddress(
        DeviceAddress(littleEndian: 0x0200_0000_0002), isRandom: false)

    private static func profile(
        _ address: String = "random-static", connections: Int = 1,
        security: String = "security: {io: none}"
    ) throws -> DeviceProfile {
        let text = """
            peripheral-emu: 1
            device: {name: T, address: \(address), connections: \(connections)}
            \(security)
            advertising: [{type: connectable, interval: 20 ms}]
            services:
              - service: 0x1234
                characteristics:
                  - characteristic: 0x5678
                    label: secret
                    read: \(security.isEmpty ? "open" : "encrypted")
                    notify: \(security.isEmpty ? "open" : "encrypted")
                    value: {hex: "4711"}
            """
        return try ProfileLoader.load(path: "t.yaml", bytes: Array(text.utf8)) { _ in
            .failure(FileFailure(reason: "none"))
        }
    }

    /// A private address of a device with this key.
    private static func made(_ key: [UInt8], _ number: UInt32) throws -> DeviceAddress {
        try #require(toolbox.resolvableAddress(key, random: number))
    }

    private static func isMade(_ address: LinkAddress, with key: [UInt8]) -> Bool {
        toolbox.resolves(address, with: key)
    }

    /// Pairs on the open link by Just Works; the central goes by `own` on the air.
    private static func pair(
        _ world: inout PairingWorld, own: LinkAddress, peer: LinkAddress
    ) throws -> Bond {
        var features = PairingFeatures()
        features.ioCapability = IOCapability.noInputNoOutput.rawValue
        features.authReq = [.bonding, .secureConnections]
        features.initiatorKeyDistribution = [.identity]
        features.responderKeyDistribution = [.identity]
        var initiator = PairingInitiator(
            features, own: own, peer: peer, cipher: OpenSSLCipher(),
            random: GeneratorRandom(SeededRandom(seed: 8)))
        initiator.identity = centralIdentity
        initiator.identityKey = centralKey
        world.pair(initiator)
        return try #require(world.central.bond)
    }

    private static func find(
        _ world: inout PairingWorld, _ isWanted: (LinkAddress) -> Bool = { _ in true }
    ) throws -> LinkAddress {
        let found = world.find(isWanted)
        return try #require(found)
    }

    private static func octets(_ handle: UInt16) -> [UInt8] {
        [UInt8(handle & 0xFF), UInt8(handle >> 8)]
    }

    // MARK: the central's private addresses

    @Test(
        "a bonded central with a new private address is served with bond and subscriptions",
        arguments: [true, false])
    func bondedCentral(hasPrivacy: Bool) throws {
        var world = PairingWorld(try Self.profile(), hasPrivacy: hasPrivacy)
        let secret = [0x0A] + Self.octets(world.device.valueHandle("secret"))
        let cccd = Self.octets(world.device.cccdHandle("secret"))
        world.powerOn()
        let peer = try Self.find(&world)
        let first = try Self.made(Self.centralKey, 1)
        #expect(world.connect(to: peer, as: first) == true)
        let bond = try Self.pair(
            &world, own: LinkAddress(first, isRandom: true), peer: peer)
        #expect(world.state.bonds.map(\.peer) == [Self.centralIdentity])
        #expect(world.request([0x12] + cccd + [1, 0]) == [0x13])
        #expect(world.disconnect() == true)

        for number in 2...5 as ClosedRange<UInt32> {
            if number == 4 { world.restart() }
            _ = world.find()
            let address = try Self.made(Self.centralKey, number)
            #expect(world.connect(to: peer, as: address) == true)
            // Known, but not proven: no key is 0x05, no encryption 0x0F.
            #expect(world.request(secret) == [1] + secret + [0x0F])
            #expect(world.encrypt(bond) == .success)
            #expect(world.request(secret) == [0x0B, 0x47, 0x11])
            #expect(world.request([0x0A] + cccd) == [0x0B, 1, 0])
            #expect(world.disconnect() == true)
        }
        let shown = hasPrivacy ? Self.centralIdentity.address : try Self.made(Self.centralKey, 5)
        #expect(world.lines.contains { $0.hasPrefix("\(shown) connected") })
    }

    @Test(
        "a central whose address resolves to nobody is a stranger, also with the right key",
        arguments: [true, false])
    func stranger(hasPrivacy: Bool) throws {
        var world = PairingWorld(try Self.profile(), hasPrivacy: hasPrivacy)
        let secret = [0x0A] + Self.octets(world.device.valueHandle("secret"))
        world.powerOn()
        let peer = try Self.find(&world)
        let first = try Self.made(Self.centralKey, 1)
        #expect(world.connect(to: peer, as: first) == true)
        let bond = try Self.pair(&world, own: LinkAddress(first, isRandom: true), peer: peer)
        #expect(world.disconnect() == true)
        for restarts in [false, true] {
            if restarts { world.restart() }
            _ = world.find()
            let other = try Self.made([UInt8](repeating: 0x55, count: 16), 9)
            #expect(world.connect(to: peer, as: other) == true)
            #expect(world.request(secret) == [1] + secret + [0x05])
            #expect(world.encrypt(bond) == .pinOrKeyMissing)
            #expect(world.request(secret) == [1] + secret + [0x05])
            #expect(world.disconnect() == true)
        }
    }

    @Test("a bonded central may also come back with its identity address")
    func identityAddress() throws {
        var world = PairingWorld(try Self.profile())
        world.powerOn()
        let peer = try Self.find(&world)
        let first = try Self.made(Self.centralKey, 1)
        #expect(world.connect(to: peer, as: first) == true)
        let bond = try Self.pair(&world, own: LinkAddress(first, isRandom: true), peer: peer)
        #expect(world.disconnect() == true)
        _ = world.find()
        #expect(world.connect(to: peer) == true)
        #expect(world.encrypt(bond) == .success)
    }

    @Test(
        "a central that pairs again behind a new address keeps one bond", arguments: [true, false])
    func again(hasPrivacy: Bool) throws {
        var world = PairingWorld(try Self.profile(), hasPrivacy: hasPrivacy)
        world.powerOn()
        let peer = try Self.find(&world)
        var bond: Bond?
        for number in 1...3 as ClosedRange<UInt32> {
            let address = try Self.made(Self.centralKey, number)
            #expect(world.connect(to: peer, as: address) == true)
            bond = try Self.pair(&world, own: LinkAddress(address, isRandom: true), peer: peer)
            #expect(world.disconnect() == true)
            _ = world.find()
        }
        #expect(world.state.bonds.map(\.peer) == [Self.centralIdentity])
        #expect(world.state.bonds.first?.longTermKey == bond?.longTermKey)
    }

    // MARK: the device's private addresses

    @Test("a bonded central finds the device behind each new address, also after a restart")
    func device() throws {
        var world = PairingWorld(try Self.profile("{type: resolvable-private, renewal: 1 min}"))
        let secret = [0x0A] + Self.octets(world.device.valueHandle("secret"))
        world.powerOn()
        let first = try Self.find(&world)
        #expect(first.isResolvable)
        let identity = try #require(world.device.randomAddress)
        #expect(world.connect(to: first) == true)
        let bond = try Self.pair(&world, own: Self.centralIdentity, peer: first)
        let key = try #require(bond.peerIdentityKey)
        #expect(world.central.initiator?.peerIdentity == LinkAddress(identity, isRandom: true))
        #expect(Self.isMade(first, with: key) && world.state.identityKey == key)
        #expect(world.disconnect() == true)

        var seen = [first]
        for turn in 0..<4 {
            if turn == 2 { world.restart() }
            world.run(within: .seconds(90))
            let found = try Self.find(&world) { Self.isMade($0, with: key) }
            #expect(!seen.contains(found))
            seen.append(found)
            #expect(world.connect(to: found) == true)
            #expect(world.encrypt(bond) == .success)
            #expect(world.request(secret) == [0x0B, 0x47, 0x11])
            #expect(world.disconnect() == true)
        }
        #expect(world.state.address == identity && world.device.randomAddress == identity)
    }

    @Test("an address that changes meanwhile does not touch the links")
    func connected() throws {
        var world = PairingWorld(
            try Self.profile("{type: resolvable-private, renewal: 1 min}", connections: 2))
        let secret = [0x0A] + Self.octets(world.device.valueHandle("secret"))
        world.powerOn()
        let first = try Self.find(&world)
        #expect(world.connect(to: first) == true)
        world.run(within: .seconds(200))
        // The pairing is about the addresses that the link was made with.
        _ = try Self.pair(&world, own: Self.centralIdentity, peer: first)
        #expect(world.request(secret) == [0x0B, 0x47, 0x11])
        let now = try Self.find(&world)
        #expect(now != first && now.isResolvable)
        #expect(world.lines.count { $0.hasSuffix("from now on") } == 3)
    }

    @Test("equal seeds give equal addresses, and the control socket tells the one in use")
    func deterministic() throws {
        let profile = try Self.profile("resolvable-private")
        var runs: [[LinkAddress]] = []
        for seed in [1, 1, 2] as [UInt64] {
            var world = PairingWorld(profile, seed: seed)
            world.powerOn()
            var seen: [LinkAddress] = []
            for _ in 0..<3 {
                if let found = world.find() { seen.append(found) }
                #expect(world.device.host.privateAddress == seen.last?.address)
                world.run(within: .seconds(900))
            }
            #expect(Set(seen).count == 3)
            runs.append(seen)
        }
        #expect(runs[0] == runs[1] && runs[0] != runs[2])
    }

    @Test("a device that nobody resolves tells no identity, and changes its address likewise")
    func nonResolvable() throws {
        for security in ["", "security: {io: none, bonding: false}"] {
            var world = PairingWorld(
                try Self.profile("non-resolvable-private", security: security))
            world.powerOn()
            let first = try Self.find(&world)
            #expect(first.address.littleEndian >> 46 == 0 && first.isRandom)
            if !security.isEmpty {
                #expect(world.connect(to: first) == true)
                let bond = try Self.pair(&world, own: Self.centralIdentity, peer: first)
                #expect(bond.peerIdentityKey == nil && world.state.bonds.isEmpty)
                #expect(world.disconnect() == true)
            }
            world.run(within: .seconds(900))
            let second = try Self.find(&world)
            #expect(second != first && second.address.littleEndian >> 46 == 0)
        }
    }

    @Test("a profile flashed meanwhile changes the kind of address with the next start")
    func flashed() throws {
        var world = PairingWorld(try Self.profile("resolvable-private"))
        world.powerOn()
        let new = try Self.profile()
        let now = world.now
        world.perform { device, out, events in
            device.replace(profile: new, at: now, sending: &out, emit: &events)
        }
        #expect(
            world.lines.last == "not before the next start: the kind of the address")
        let found = try Self.find(&world)
        #expect(found.isResolvable)
    }
}

// Private addresses: made as the specification's sample, resolved with the right key alone.
import OpenSSLCrypto
import SMP
import SansIO
import Testing
import Wire

@Suite struct PrivateAddressTests {
    static let toolbox = Toolbox(OpenSSLCipher())
    /// The IRK of Core 6.0, Vol 3, Part H, D.7, in wire order.
    static let sampleKey = [UInt8](
        (Hex.bytes("EC0234A357C8AD05341010A60A397D9B") ?? []).reversed())

    @Test("a random number and a key make the specification's address")
    func sample() {
        // prand 708194, hash 0DFBAA.
        let address = Self.toolbox.resolvableAddress(Self.sampleKey, random: 0x70_8194)
        #expect(address?.description == "70:81:94:0D:FB:AA")
    }

    @Test("an address is resolvable, never all zeros or ones, and its own key alone resolves it")
    func resolved() throws {
        var random = SeededRandom(seed: 1)
        let other = [UInt8](repeating: 0x42, count: 16)
        for number in [0, 0x3F_FFFF, 0xFFFF_FFFF] + (0..<200).map({ _ in random.next() }) {
            let made = Self.toolbox.resolvableAddress(
                Self.sampleKey, random: UInt32(truncatingIfNeeded: number))
            let address = LinkAddress(try #require(made), isRandom: true)
            let prand = address.address.littleEndian >> 24 & 0x3F_FFFF
            #expect(address.isResolvable && prand != 0 && prand != 0x3F_FFFF)
            #expect(Self.toolbox.resolves(address, with: Self.sampleKey))
            #expect(!Self.toolbox.resolves(address, with: other))
            #expect(
                !Self.toolbox.resolves(
                    LinkAddress(address.address, isRandom: false), with: Self.sampleKey))
        }
    }

    @Test("a key of zeros, which some peers tell, resolves nobody")
    func zeroKey() throws {
        let zero = [UInt8](repeating: 0, count: 16)
        let address = try #require(Self.toolbox.resolvableAddress(zero, random: 5))
        #expect(!Self.toolbox.resolves(LinkAddress(address, isRandom: true), with: zero))
    }

    private func manager(_ bond: Bond? = nil, cipher: OpenSSLCipher? = OpenSSLCipher())
        -> SecurityManager
    {
        var configuration = SecurityConfiguration()
        configuration.policy = .any
        configuration.identityKey = Self.sampleKey
        var manager = SecurityManager(
            configuration, cipher: cipher, random: GeneratorRandom(SeededRandom(seed: 3)))
        if let bond { manager.restore([bond]) }
        return manager
    }

    @Test("a device's private addresses differ, are of their kind, and need a cipher to resolve")
    func own() throws {
        var manager = manager()
        var seen: Set<DeviceAddress> = []
        for _ in 0..<50 {
            let made = (manager.privateAddress(.resolvable), manager.privateAddress(.nonResolvable))
            let resolvable = try #require(made.0)
            #expect(
                Self.toolbox.resolves(
                    LinkAddress(resolvable, isRandom: true), with: Self.sampleKey))
            let other = try #require(made.1)
            #expect(other.littleEndian >> 46 == 0 && other.littleEndian != 0)
            #expect(seen.insert(resolvable).inserted && seen.insert(other).inserted)
        }
        var plain = self.manager(cipher: nil)
        let made = (plain.privateAddress(.resolvable), plain.privateAddress(.nonResolvable))
        #expect(made.0 == nil && made.1 != nil)
    }

    @Test("a bonded peer is known by an address that resolves, and by what the controller says")
    func bonded() throws {
        var bond = Bond(
            peer: PairingAddresses.identity, longTermKey: [UInt8](1...16),
            quality: KeyQuality(isAuthenticated: false, isSecureConnections: true, size: 16))
        bond.peerIdentityKey = [UInt8](repeating: 0x66, count: 16)
        var manager = manager(bond)
        let own = LinkAddress(DeviceAddress(littleEndian: 0xC000_0000_0001), isRandom: true)
        func link(_ key: [UInt8]) throws -> LinkAddress {
            let address = try #require(Self.toolbox.resolvableAddress(key, random: 0x12345))
            return LinkAddress(address, isRandom: true)
        }
        let (right, wrong) = (try link(bond.peerIdentityKey ?? []), try link(Self.sampleKey))
        for (peer, identity, isKnown) in [
            (right, nil, true), (wrong, nil, false), (wrong, PairingAddresses.identity, true),
            (right, PairingAddresses.identity, true), (PairingAddresses.identity, nil, true),
        ] as [(LinkAddress, LinkAddress?, Bool)] {
            manager.connect(0, own: own, peer: peer, identity: identity)
            #expect((manager.bond(of: 0) != nil) == isKnown, "\(peer)")
        }
    }
}

enum PairingAddresses {
    static let identity = LinkAddress(
        DeviceAddress(littleEndian: 0x0012_3456_789A), isRandom: false)
}

// Own private addresses, bonded peers with theirs, and the controller's resolving list.
import GATT
import HCI
import OpenSSLCrypto
import SMP
import SansIO
import Testing
import Wire

@testable import BLEHost

/// A host with private addresses, or with bonds, on a scripted controller.
private struct PrivacyRig {
    static let ownKey = [UInt8](repeating: 0x33, count: 16)
    static let toolbox = Toolbox(OpenSSLCipher())
    static let identity = DeviceAddress(littleEndian: 0xC0FF_EE00_0001)
    static let resolving = [(34, 3), (34, 5), (34, 6), (35, 1), (39, 2)]

    var rig: PeripheralRig

    init(
        _ privacy: AddressPrivacy? = nil, bonds: [Bond] = [], isExtended: Bool = false,
        connectionsMax: Int = 1, listSize: UInt8 = 0, cipher: OpenSSLCipher? = OpenSSLCipher()
    ) throws {
        rig = try PeripheralRig(connectionsMax: connectionsMax)
        var configuration = PeripheralConfiguration(
            plan: AdvertisingPlan(
                type: .connectable, ownAddressType: .randomDevice, data: [2, 1, 6],
                scanResponse: []),
            interval: AdvertisingInterval(steps: 160), randomAddress: Self.identity,
            connectionsMax: connectionsMax)
        configuration.privacy = privacy
        configuration.security.policy = .any
        configuration.security.identityKey = Self.ownKey
        configuration.cipher = cipher
        configuration.keys = GeneratorRandom(SeededRandom(seed: 5))
        rig.host = PeripheralHost(
            configuration, server: GATTServer(table: try PeripheralRig.table([1])))
        rig.host.restore(bonds)
        if !isExtended { rig.controller.supportedCommands[36] = 0 }
        rig.controller.resolvingListSize = listSize
        if listSize > 0 { rig.controller.leFeatures = 1 << 6 }
        rig.start()
    }

    static func bond(_ number: UInt8, key: UInt8? = nil) -> Bond {
        var bond = Bond(
            peer: LinkAddress(
                DeviceAddress(littleEndian: 0x0012_3456_7800 + UInt64(number)), isRandom: false),
            longTermKey: [UInt8](repeating: number, count: 16),
            quality: KeyQuality(isAuthenticated: false, isSecureConnections: true, size: 16))
        bond.peerIdentityKey = [UInt8](repeating: key ?? number, count: 16)
        return bond
    }

    /// A private address of the peer with this key.
    static func address(_ key: UInt8, random: UInt32 = 77) throws -> DeviceAddress {
        try #require(
            toolbox.resolvableAddress([UInt8](repeating: key, count: 16), random: random))
    }

    mutating func connect(_ change: (inout LEEnhancedConnectionComplete) -> Void) {
        var event = LEEnhancedConnectionComplete()
        event.connectionHandle = ConnectionHandle(rawValue: 0x40)
        event.role = 1
        event.connectionInterval = 24
        event.supervisionTimeout = 500
        change(&event)
        rig.controller.isAdvertising = false
        rig.receive(ScriptedController.packet(event))
    }

    mutating func disconnect() {
        rig.receive(ScriptedController.disconnected(handle: 0x40, .remoteUserTerminated))
    }

    /// The commands since the last call.
    mutating func commands() -> [String] {
        defer { rig.controller.received = [] }
        return rig.controller.received
    }
}

@Suite struct PrivacyTests {
    @Test(
        "a set renews its own private addresses, and no other's; it is off for that alone",
        arguments: [PrivateAddressKind.resolvable, .nonResolvable])
    func ownOfSet(kind: PrivateAddressKind) throws {
        let plans = [SetRig.plan(0), SetRig.plan(1), SetRig.plan(2)].enumerated().map {
            place, plan in
            var plan = plan
            if place == 1 {
                plan.address = nil
                plan.privacy = AddressPrivacy(kind: kind, renewal: .seconds(60))
            }
            return AdvertisingSetup(plan: plan, interval: AdvertisingInterval(steps: 160))
        }
        var configuration = PeripheralConfiguration(
            sets: plans, randomAddress: SetRig.deviceAddress)
        configuration.security.identityKey = PrivacyRig.ownKey
        configuration.cipher = OpenSSLCipher()
        configuration.keys = GeneratorRandom(SeededRandom(seed: 5))
        var rig = try SetRig(configuration, SetController())
        rig.start()
        rig.drain()
        var seen: [DeviceAddress] = []
        for _ in 0..<4 {
            seen.append(try #require(rig.controller.sets[1]?.address))
            #expect(rig.host.randomAddress(of: 1) == seen.last)
            rig.wait(.seconds(60))
        }
        #expect(Set(seen).count == 4 && rig.isClean && rig.controller.onAir == [0, 1, 2])
        for address in seen {
            let isOurs = PrivacyRig.toolbox.resolves(
                LinkAddress(address, isRandom: true), with: PrivacyRig.ownKey)
            #expect(isOurs == (kind == .resolvable), "\(address)")
        }
        #expect(rig.controller.sets[0]?.address == SetRig.plan(0).address)
        #expect(rig.controller.sets[2]?.address == SetRig.plan(2).address)
        let told = rig.told.compactMap { event -> DeviceAddress? in
            guard case .addressRenewed(let address, 1) = event else { return nil }
            return address
        }
        #expect(told.starts(with: seen) && told.count == 5)
        let pauses = rig.told.compactMap {
            if case .advertisingPaused(let set) = $0 { set } else { nil }
        }
        #expect(pauses == [1, 1, 1, 1])
    }

    static let quarter = AddressPrivacy(kind: .resolvable, renewal: .seconds(900))

    @Test(
        "a private address is renewed off the air, in both families", arguments: [false, true])
    func renewal(isExtended: Bool) throws {
        var privacy = try PrivacyRig(Self.quarter, isExtended: isExtended)
        _ = privacy.commands()
        privacy.rig.wait(.seconds(899))
        #expect(privacy.commands() == [])
        privacy.rig.wait(.seconds(1))
        let enable = "LE Set Extended Advertising Enable"
        #expect(
            privacy.commands()
                == (isExtended
                    ? [
                        enable, "LE Set Random Address", "LE Set Advertising Set Random Address",
                        enable,
                    ]
                    : [
                        "LE Set Advertising Enable 0", "LE Set Random Address",
                        "LE Set Advertising Enable 1",
                    ]))
        privacy.rig.wait(.seconds(3600))
        let addresses = privacy.rig.controller.randomAddresses
        // In the extended family the controller and the set have one each.
        #expect(addresses.count == (isExtended ? 12 : 6) && Set(addresses).count == 6)
        for address in addresses {
            #expect(
                PrivacyRig.toolbox.resolves(
                    LinkAddress(address, isRandom: true), with: PrivacyRig.ownKey))
        }
        #expect(privacy.rig.host.privateAddress == addresses.last)
        #expect(privacy.rig.controller.disallowedCount == 0 && privacy.rig.failures.isEmpty)
    }

    @Test("non-resolvable addresses are renewed likewise")
    func nonResolvable() throws {
        let privacy = AddressPrivacy(kind: .nonResolvable, renewal: .seconds(1))
        var rig = try PrivacyRig(privacy, cipher: nil)
        rig.rig.wait(.seconds(10))
        let addresses = rig.rig.controller.randomAddresses
        #expect(addresses.count == 11 && Set(addresses).count == 11)
        #expect(addresses.allSatisfy { $0.littleEndian >> 46 == 0 })
    }

    @Test("with a link and no advertising the address waits for the next time on the air")
    func connected() throws {
        var privacy = try PrivacyRig(Self.quarter)
        let first = privacy.rig.controller.randomAddresses
        privacy.connect { _ in }
        _ = privacy.commands()
        privacy.rig.wait(.seconds(2000))
        #expect(privacy.commands() == [] && privacy.rig.host.privateAddress == first.last)
        privacy.disconnect()
        #expect(
            privacy.commands() == ["LE Set Random Address", "LE Set Advertising Enable 1"])
        #expect(privacy.rig.host.privateAddress != first.last)
    }

    @Test("an address that the controller refuses is done without")
    func refused() throws {
        var privacy = try PrivacyRig(Self.quarter)
        let first = privacy.rig.host.privateAddress
        privacy.rig.controller.refused[.leSetRandomAddress] = .commandDisallowed
        privacy.rig.wait(.seconds(2000))
        #expect(privacy.rig.host.privateAddress == first && privacy.rig.failures.isEmpty)
        #expect(privacy.rig.controller.isAdvertising)
        #expect(privacy.rig.notes.count { $0.contains("LE Set Random Address") } == 1)
    }

    @Test("a controller that comes back is given a new address")
    func restarted() throws {
        var privacy = try PrivacyRig(Self.quarter)
        let first = privacy.rig.host.privateAddress
        privacy.rig.start()
        #expect(privacy.rig.host.privateAddress != first)
    }

    // MARK: the resolving list

    @Test("bonded peers are told to a controller that resolves, before it advertises")
    func told() throws {
        let bonds = (1...4).map { PrivacyRig.bond($0) }
        var privacy = try PrivacyRig(bonds: bonds, listSize: 3)
        let list = privacy.commands().drop { $0 != "LE Add Device To Resolving List" }
        // The one unused longest finds no room.
        #expect(privacy.rig.controller.resolvingList == bonds[1...].map(\.peer.address))
        #expect(
            Array(list.prefix(7))
                == [
                    "LE Add Device To Resolving List", "LE Set Privacy Mode",
                    "LE Add Device To Resolving List", "LE Set Privacy Mode",
                    "LE Add Device To Resolving List", "LE Set Privacy Mode",
                    "LE Set Address Resolution Enable 1",
                ])
        #expect(privacy.rig.controller.isResolving && privacy.rig.controller.isAdvertising)
        // A bond that is forgotten is forgotten by the controller too.
        privacy.rig.perform { host, now, out, emit in
            host.forget(bonds[3].peer, at: now, sending: &out, emit: &emit)
        }
        #expect(privacy.rig.controller.resolvingList == bonds[..<3].map(\.peer.address))
        #expect(
            Array(privacy.commands().prefix(4))
                == [
                    "LE Set Advertising Enable 0", "LE Set Address Resolution Enable 0",
                    "LE Clear Resolving List", "LE Add Device To Resolving List",
                ])
        for bond in bonds[..<3] {
            privacy.rig.perform { host, now, out, emit in
                host.forget(bond.peer, at: now, sending: &out, emit: &emit)
            }
        }
        #expect(privacy.rig.controller.resolvingList == [])
        #expect(privacy.rig.controller.isAdvertising)
        #expect(!privacy.rig.controller.isResolving && privacy.rig.controller.disallowedCount == 0)
    }

    @Test("of two bonds with one key the controller is told the one used last")
    func sameKey() throws {
        let bonds = [PrivacyRig.bond(1, key: 9), PrivacyRig.bond(2, key: 9)]
        let zero = PrivacyRig.bond(3, key: 0)
        let privacy = try PrivacyRig(bonds: bonds + [zero], listSize: 8)
        #expect(privacy.rig.controller.resolvingList == [bonds[1].peer.address])
    }

    @Test(
        "without one of the commands, the feature, or a use for it, the host resolves alone",
        arguments: PrivacyRig.resolving.indices)
    func notListed(index: Int) throws {
        var privacy = try PrivacyRig(bonds: [PrivacyRig.bond(1)])
        let (octet, bit) = PrivacyRig.resolving[index]
        privacy.rig.controller.resolvingListSize = 8
        privacy.rig.controller.leFeatures = index == 0 ? 0 : 1 << 6
        if index > 0 { privacy.rig.controller.supportedCommands[octet] &= ~(1 << UInt8(bit)) }
        _ = privacy.commands()
        privacy.rig.start()
        let commands = privacy.commands()
        #expect(!commands.contains { $0.contains("Resolv") || $0.contains("Privacy") })
        #expect(commands.contains("LE Set Event Mask 000000000000001F"))
        let address = try PrivacyRig.address(1)
        privacy.connect {
            $0.peerAddressType = .randomDevice
            $0.peerAddress = address
        }
        #expect(privacy.rig.host.security.bond(of: 0)?.peer == PrivacyRig.bond(1).peer)
    }

    @Test(
        "a controller that refuses a command of the list is left alone with it",
        arguments: [
            Opcode.leAddDeviceToResolvingList, .leSetPrivacyMode, .leSetAddressResolutionEnable,
        ])
    func refusedList(opcode: Opcode) throws {
        var privacy = try PrivacyRig(bonds: [PrivacyRig.bond(1)], listSize: 8)
        privacy.rig.controller.refused[opcode] = .unknownCommand
        privacy.rig.start()
        #expect(privacy.rig.controller.isAdvertising && privacy.rig.failures.isEmpty)
        #expect(privacy.rig.controller.resolvingList.isEmpty)
        #expect(privacy.rig.notes.contains { $0.contains("\(opcode)") })
        _ = privacy.commands()
        privacy.rig.wait(.seconds(100))
        #expect(privacy.commands() == [])
    }

    // MARK: peers

    @Test("a peer is known by what the controller resolved, by what the host resolves, or not")
    func peers() throws {
        let bond = PrivacyRig.bond(1)
        for isResolved in [true, false] {
            var privacy = try PrivacyRig(bonds: [bond], listSize: 8)
            #expect(privacy.commands().contains("LE Set Event Mask 000000000000021F"))
            let address = try PrivacyRig.address(1, random: 1234)
            privacy.connect {
                $0.peerAddressType = isResolved ? .publicIdentity : .randomDevice
                $0.peerAddress = isResolved ? bond.peer.address : address
                if isResolved { $0.peerResolvablePrivateAddress = address }
            }
            #expect(privacy.rig.host.security.bond(of: 0)?.peer == bond.peer)
            let link = privacy.rig.host.links[0].information
            #expect(link.peerPrivateAddress == (isResolved ? address : nil))
            privacy.disconnect()
            let stranger = try PrivacyRig.address(2)
            privacy.connect {
                $0.peerAddressType = .randomDevice
                $0.peerAddress = stranger
            }
            #expect(privacy.rig.host.security.bond(of: 0) == nil)
        }
    }
}

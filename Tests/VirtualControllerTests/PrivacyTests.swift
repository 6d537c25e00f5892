// Privacy of the virtual controller: its resolving list, and private addresses on the air.
import HCI
import OpenSSLCrypto
import SMP
import SansIO
import Testing
import VirtualController
import Wire

/// A peripheral on port 0 and a central on port 1 that know each other's keys.
private struct PrivateBench {
    static let peripheralKey = [UInt8](1...16)
    static let centralKey = [UInt8](17...32)
    static let toolbox = Toolbox(OpenSSLCipher())

    var bench: Bench
    let identities: [DeviceAddress]

    init(enhanced: Bool = true) {
        bench = Bench()
        bench.air.cipher = OpenSSLCipher()
        for port in 0...1 { bench.prepare(port, enhanced: enhanced) }
        identities = (0...1).map { DeviceAddress(littleEndian: 0x0200_0000_0001 + UInt64($0)) }
    }

    static func isMade(_ address: DeviceAddress, with key: [UInt8]) -> Bool {
        toolbox.resolves(LinkAddress(address, isRandom: true), with: key)
    }

    /// What the host on `port` tells of the other one.
    @discardableResult
    mutating func add(
        _ port: Int, peerKey: [UInt8]? = nil, localKey: [UInt8]? = nil
    ) -> HCIStatus? {
        let keys = [Self.peripheralKey, Self.centralKey]
        let identity = identities[1 - port]
        return bench.status(port, LEAddDeviceToResolvingList()) {
            $0.peerIdentityAddress = identity
            $0.peerIRK = peerKey ?? keys[1 - port]
            $0.localIRK = localKey ?? keys[port]
        }
    }

    @discardableResult
    mutating func resolve(_ port: Int, _ on: Bool = true) -> HCIStatus? {
        bench.status(port, LESetAddressResolutionEnable()) {
            $0.addressResolutionEnable = on ? 1 : 0
        }
    }

    mutating func setDevicePrivacy(_ port: Int) {
        let identity = identities[1 - port]
        let status = bench.status(port, LESetPrivacyMode()) {
            $0.peerIdentityAddress = identity
            $0.privacyMode = 1
        }
        #expect(status == .success)
    }

    /// The peripheral advertises with addresses of the controller's own making.
    mutating func advertise(type: UInt8 = 0, filterPolicy: UInt8 = 0) {
        let peer = identities[1]
        bench.advertise(0, type: type) {
            $0.ownAddressType = .publicIdentity
            $0.peerAddress = peer
            $0.filterPolicy = filterPolicy
        }
    }

    /// The central connects with a private address; the events at both ends.
    mutating func connect(
        own: AddressType = .publicIdentity, peer: AddressType = .publicIdentity
    ) -> [LEEnhancedConnectionComplete?] {
        let identity = identities[0]
        let status = bench.connect(1) {
            $0.peerAddressType = peer
            $0.peerAddress = identity
            $0.ownAddressType = own
        }
        #expect(status == .success)
        bench.run(for: .seconds(2))
        return (0...1).map { bench.events($0, LEEnhancedConnectionComplete.self).first?.event }
    }
}

@Suite struct PrivacyTests {
    @Test("without a cipher there is no privacy, with one it is in the features and the commands")
    func features() throws {
        var plain = Bench()
        #expect(try plain.required(0, LEReadLocalSupportedFeatures()).leFeatures >> 6 & 1 == 0)
        #expect(plain.status(0, LEReadResolvingListSize()) == .unknownCommand)
        var bench = PrivateBench().bench
        #expect(try bench.required(0, LEReadLocalSupportedFeatures()).leFeatures >> 6 & 1 == 1)
        let bits = try bench.required(0, ReadLocalSupportedCommands()).supportedCommands
        #expect(bits[34] & 0xF8 == 0xF8 && bits[35] & 0x07 == 0x07 && bits[39] & 0x04 == 0x04)
        #expect(try bench.required(0, LEReadResolvingListSize()).resolvingListSize == 16)
    }

    @Test("the resolving list takes each peer and each key once, and no more than its size")
    func list() {
        var privacy = PrivateBench()
        #expect(privacy.add(0) == .success)
        #expect(privacy.add(0) == .invalidParameters)
        func add(_ bench: inout Bench, _ number: UInt64, key: UInt8) -> HCIStatus? {
            bench.status(0, LEAddDeviceToResolvingList()) {
                $0.peerIdentityAddressType = .randomDevice
                $0.peerIdentityAddress = DeviceAddress(littleEndian: 0xC000_0000_0000 | number)
                $0.peerIRK = [UInt8](repeating: key, count: 16)
            }
        }
        for number in 1...15 as ClosedRange<UInt64> {
            #expect(add(&privacy.bench, number, key: UInt8(number)) == .success)
        }
        #expect(add(&privacy.bench, 16, key: 15) == .invalidParameters)
        #expect(add(&privacy.bench, 16, key: 16) == .memoryCapacityExceeded)
        func remove(_ bench: inout Bench, _ number: UInt64) -> HCIStatus? {
            bench.status(0, LERemoveDeviceFromResolvingList()) {
                $0.peerIdentityAddressType = .randomDevice
                $0.peerIdentityAddress = DeviceAddress(littleEndian: 0xC000_0000_0000 | number)
            }
        }
        #expect(remove(&privacy.bench, 3) == .success)
        #expect(remove(&privacy.bench, 3) == .unknownConnectionIdentifier)
        #expect(add(&privacy.bench, 16, key: 0) == .success)
        #expect(privacy.bench.status(0, LEClearResolvingList()) == .success)
        #expect(add(&privacy.bench, 17, key: 0) == .success)
        // Keys of zeros are none, so that several may have them.
        #expect(add(&privacy.bench, 18, key: 0) == .success)
        privacy.bench.status(0, Reset())
        #expect(remove(&privacy.bench, 17) == .unknownConnectionIdentifier)
    }

    @Test("parameters out of range are refused")
    func ranges() {
        var privacy = PrivateBench()
        #expect(
            privacy.bench.status(0, LESetAddressResolutionEnable()) {
                $0.addressResolutionEnable = 2
            } == .invalidParameters)
        for (seconds, status) in [
            (0, .invalidParameters), (1, .success), (3600, .success), (3601, .invalidParameters),
        ] as [(UInt16, HCIStatus)] {
            let answer = privacy.bench.status(0, LESetResolvablePrivateAddressTimeout()) {
                $0.rpaTimeout = seconds
            }
            #expect(answer == status)
        }
        privacy.add(0)
        #expect(
            privacy.bench.status(0, LESetPrivacyMode()) { $0.privacyMode = 2 }
                == .invalidParameters)
        #expect(privacy.bench.status(0, LESetPrivacyMode()) == .unknownConnectionIdentifier)
        #expect(
            privacy.bench.status(0, LEAddDeviceToResolvingList()) {
                $0.peerIdentityAddressType = .publicIdentity
            } == .invalidParameters)
        #expect(
            privacy.bench.status(0, LEReadPeerResolvableAddress()) == .unknownConnectionIdentifier)
        #expect(
            privacy.bench.status(0, LEReadLocalResolvableAddress()) == .unknownConnectionIdentifier)
    }

    @Test("while addresses are being resolved the list stays as it is")
    func disallowed() {
        var privacy = PrivateBench()
        privacy.add(0)
        privacy.resolve(0)
        privacy.advertise()
        #expect(privacy.add(0) == .commandDisallowed)
        #expect(
            privacy.bench.status(0, LERemoveDeviceFromResolvingList()) == .commandDisallowed)
        #expect(privacy.bench.status(0, LEClearResolvingList()) == .commandDisallowed)
        #expect(privacy.bench.status(0, LESetPrivacyMode()) == .commandDisallowed)
        #expect(privacy.resolve(0, false) == .commandDisallowed)
        #expect(privacy.bench.status(0, LESetAdvertisingEnable()) == .success)
        // Scanning and initiating stand in the way too; a list that is not used does not.
        privacy.bench.scan(0)
        #expect(privacy.bench.status(0, LEClearResolvingList()) == .commandDisallowed)
        privacy.bench.status(0, LESetScanEnable())
        #expect(privacy.resolve(0, false) == .success)
        privacy.bench.connect(0)
        #expect(privacy.bench.status(0, LEClearResolvingList()) == .success)
        #expect(privacy.resolve(0) == .commandDisallowed)
    }

    @Test("both ends go by private addresses, and each knows the other one's identity")
    func connection() throws {
        var privacy = PrivateBench()
        for port in 0...1 {
            privacy.add(port)
            privacy.resolve(port)
        }
        privacy.advertise()
        let events = privacy.connect()
        let keys = [PrivateBench.peripheralKey, PrivateBench.centralKey]
        for port in 0...1 {
            let event = try #require(events[port])
            #expect(event.status == .success)
            #expect(event.peerAddressType == .publicIdentity)
            #expect(event.peerAddress == privacy.identities[1 - port])
            #expect(PrivateBench.isMade(event.localResolvablePrivateAddress, with: keys[port]))
            #expect(PrivateBench.isMade(event.peerResolvablePrivateAddress, with: keys[1 - port]))
            #expect(
                event.localResolvablePrivateAddress
                    == events[1 - port]?.peerResolvablePrivateAddress)
        }
        let identity = privacy.identities[1]
        let peer = privacy.bench.answer(0, LEReadPeerResolvableAddress()) {
            $0.peerIdentityAddress = identity
        }
        #expect(peer?.address == events[0]?.peerResolvablePrivateAddress)
        let local = privacy.bench.answer(0, LEReadLocalResolvableAddress()) {
            $0.peerIdentityAddress = identity
        }
        #expect(local?.address == events[0]?.localResolvablePrivateAddress)
        // A second link to the same peer does not exist, whatever its address.
        let peripheralIdentity = privacy.identities[0]
        let second = privacy.bench.connect(1) {
            $0.peerAddress = peripheralIdentity
            $0.peerAddressType = .publicIdentity
        }
        #expect(second == .connectionAlreadyExists)
    }

    @Test("the event of before privacy has the address on the air")
    func plainEvent() throws {
        var privacy = PrivateBench(enhanced: false)
        for port in 0...1 {
            privacy.add(port)
            privacy.resolve(port)
        }
        privacy.advertise()
        _ = privacy.connect()
        let event = try #require(privacy.bench.events(0, LEConnectionComplete.self).first?.event)
        #expect(event.peerAddressType == .randomDevice)
        #expect(PrivateBench.isMade(event.peerAddress, with: PrivateBench.centralKey))
    }

    @Test("reports name the identity where the scanner resolves, else the address on the air")
    func reports() throws {
        var privacy = PrivateBench()
        privacy.add(0)
        privacy.add(1)
        privacy.advertise()
        privacy.bench.scan(1, active: true)
        privacy.bench.run(for: .seconds(1))
        let plain = try #require(privacy.bench.reports(1).first?.report)
        #expect(plain.addressType == .randomDevice)
        #expect(PrivateBench.isMade(plain.address, with: PrivateBench.peripheralKey))
        privacy.bench.status(1, LESetScanEnable())
        privacy.resolve(1)
        privacy.bench.forget()
        privacy.bench.scan(1, active: true)
        privacy.bench.run(for: .seconds(1))
        let reports = privacy.bench.reports(1).map(\.report)
        #expect(!reports.isEmpty && reports.contains { $0.eventType == 4 })
        #expect(
            reports.allSatisfy {
                $0.addressType == .publicIdentity && $0.address == privacy.identities[0]
            })
    }

    @Test("an own private address changes with the host's time-out, on the air and in the answer")
    func timeout() throws {
        var privacy = PrivateBench()
        privacy.add(0)
        privacy.bench.status(0, LESetResolvablePrivateAddressTimeout()) { $0.rpaTimeout = 60 }
        privacy.advertise()
        privacy.bench.scan(1)
        var seen: [DeviceAddress] = []
        for _ in 0..<300 {
            privacy.bench.forget()
            privacy.bench.run(for: .seconds(1))
            for (_, report) in privacy.bench.reports(1) where seen.last != report.address {
                seen.append(report.address)
            }
        }
        #expect(seen.count == 5 && Set(seen).count == 5)
        #expect(
            seen.allSatisfy { PrivateBench.isMade($0, with: PrivateBench.peripheralKey) })
    }

    @Test("without a local key, and towards others, types 2 and 3 are the host's own addresses")
    func fallback() throws {
        for (type, isListed, expected) in [
            (AddressType.publicIdentity, true, AddressType.publicDevice),
            (.randomIdentity, true, .randomDevice), (.randomIdentity, false, .randomDevice),
        ] {
            var privacy = PrivateBench()
            if isListed { privacy.add(0, localKey: [UInt8](repeating: 0, count: 16)) }
            let peer = privacy.identities[1]
            privacy.bench.advertise(0) {
                $0.ownAddressType = type
                $0.peerAddress = peer
            }
            privacy.bench.scan(1)
            privacy.bench.run(for: .seconds(1))
            let report = try #require(privacy.bench.reports(1).first?.report)
            #expect(report.addressType == expected)
            #expect(
                report.address
                    == (expected == .publicDevice ? privacy.identities[0] : Bench.address))
        }
    }

    @Test("in network privacy mode a peer with a key is not heard by its identity address")
    func modes() {
        for (isDevicePrivacy, hasKey) in [(false, true), (true, true), (false, false)] {
            var privacy = PrivateBench()
            privacy.add(0, peerKey: hasKey ? nil : [UInt8](repeating: 0, count: 16))
            if isDevicePrivacy { privacy.setDevicePrivacy(0) }
            privacy.resolve(0)
            privacy.bench.advertise(0) { $0.ownAddressType = .publicDevice }
            let events = privacy.connect(own: .publicDevice, peer: .publicDevice)
            let isHeard = isDevicePrivacy || !hasKey
            #expect((events[0] != nil) == isHeard)
            if isHeard { #expect(events[0]?.peerAddressType == .publicDevice) }
        }
    }

    @Test("the filter accept list holds identities, also of peers with private addresses")
    func acceptList() {
        for isListed in [true, false] {
            var privacy = PrivateBench()
            for port in 0...1 {
                privacy.add(port)
                privacy.resolve(port)
            }
            let identity = privacy.identities[1]
            if isListed {
                privacy.bench.status(0, LEAddDeviceToFilterAcceptList()) { $0.address = identity }
            }
            privacy.advertise(filterPolicy: 3)
            #expect((privacy.connect()[0] != nil) == isListed)
        }
    }

    @Test("a directed advertisement reaches its target behind a private address")
    func directed() throws {
        for isResolving in [true, false] {
            var privacy = PrivateBench()
            privacy.add(0)
            privacy.add(1)
            privacy.resolve(0)
            if isResolving { privacy.resolve(1) }
            privacy.advertise(type: 4)
            let events = privacy.connect()
            #expect((events[1]?.status == .success) == isResolving)
        }
    }

    @Test("a peer whose address resolves to nobody is reported as it is")
    func stranger() throws {
        var privacy = PrivateBench()
        privacy.add(0)
        privacy.add(1, localKey: [UInt8](repeating: 9, count: 16))
        for port in 0...1 { privacy.resolve(port) }
        privacy.advertise()
        let event = try #require(privacy.connect()[0])
        #expect(event.peerAddressType == .randomDevice)
        #expect(event.peerResolvablePrivateAddress == DeviceAddress())
        #expect(
            PrivateBench.isMade(event.peerAddress, with: [UInt8](repeating: 9, count: 16)))
    }
}

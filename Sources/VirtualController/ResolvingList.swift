// Privacy of a controller: whose private addresses it knows, and those that it makes itself.
import HCI
import SMP
import SansIO
import Wire

/// One peer of a resolving list (Core 6.0, Vol 6, Part B, 4.7).
struct ResolvingEntry {
    let identity: AirAddress
    /// All zero: the peer has no private addresses.
    let peerKey: [UInt8]
    /// All zero: towards this peer the controller has none.
    let localKey: [UInt8]
    /// Whether the peer is also heard by its identity address.
    var isDevicePrivacy = false
    /// The private address that the peer had last.
    var peerAddress: DeviceAddress?

    var hasPeerKey: Bool { peerKey.contains { $0 != 0 } }
    var hasLocalKey: Bool { localKey.contains { $0 != 0 } }
}

/// One controller's resolving list.
struct ResolvingList {
    var entries: [ResolvingEntry] = []
    var isEnabled = false
    /// How long an own private address is used, in seconds.
    var timeout: UInt16 = 900

    func index(of identity: AirAddress) -> Int? {
        entries.firstIndex { $0.identity == identity }
    }

    var period: TimeSpan { .seconds(Int64(timeout)) }
}

extension AirAddress {
    var link: LinkAddress { LinkAddress(address, isRandom: isRandom) }
    var isResolvable: Bool { link.isResolvable }
}

extension AddressType {
    /// Whether the controller makes private addresses, where it has a key for them.
    var isIdentity: Bool { self == .publicIdentity || self == .randomIdentity }
}

extension Air {
    /// Private addresses are made and resolved with the cipher, and not without.
    var hasPrivacy: Bool { cipher != nil }

    /// What the controller on `port` supports (Core 6.0, Vol 6, Part B, 4.6).
    func leFeatures(_ port: Int) -> UInt64 {
        controllers[port].features.leFeatures | (hasPrivacy ? Capabilities.privacyFeature : 0)
    }

    // MARK: peers

    /// The entry of the peer that has `address` on the air; nil where the controller on `port`
    /// resolves nothing or does not know it.
    func entry(_ port: Int, of address: AirAddress) -> Int? {
        guard controllers[port].resolving.isEnabled, address.isResolvable, let cipher else {
            return nil
        }
        let toolbox = Toolbox(cipher)
        return controllers[port].resolving.entries.firstIndex {
            toolbox.resolves(address.link, with: $0.peerKey)
        }
    }

    /// Who has `address`, as far as the controller on `port` knows.
    func identity(_ port: Int, of address: AirAddress) -> AirAddress {
        entry(port, of: address).map { controllers[port].resolving.entries[$0].identity } ?? address
    }

    /// The same with HCI's type: 2 and 3 for resolved addresses.
    mutating func resolve(_ port: Int, _ address: AirAddress) -> (AddressType, DeviceAddress) {
        guard let entry = entry(port, of: address) else { return (address.type, address.address) }
        controllers[port].resolving.entries[entry].peerAddress = address.address
        let identity = controllers[port].resolving.entries[entry].identity
        return (identity.isRandom ? .randomIdentity : .publicIdentity, identity.address)
    }

    /// Whether the controller on `port` hears a device with this address: in network privacy mode
    /// it does not hear a peer with a key by its identity address (Core 6.0, Vol 6, Part B, 6).
    func admits(_ port: Int, _ address: AirAddress) -> Bool {
        guard controllers[port].resolving.isEnabled,
            let index = controllers[port].resolving.index(of: address)
        else { return true }
        let entry = controllers[port].resolving.entries[index]
        return entry.isDevicePrivacy || !entry.hasPeerKey
    }

    // MARK: own addresses

    /// The own address of this type towards a peer; nil for a random one that the host has not set.
    /// Types 2 and 3 are private where the peer's entry has a local key.
    func ownAddress(_ port: Int, _ type: AddressType, towards peer: AirAddress?) -> AirAddress? {
        ownAddress(port, type, towards: peer, random: controllers[port].randomAddress)
    }

    /// The same of an advertiser: sets have random addresses of their own.
    func ownAddress(_ set: Int) -> AirAddress? {
        guard let port = advertisers[set].port else { return nil }
        let random =
            advertisers[set].handle == nil
            ? controllers[port].randomAddress : advertisers[set].randomAddress
        return ownAddress(
            port, advertisers[set].ownAddressType, towards: advertisers[set].peer, random: random)
    }

    private func ownAddress(
        _ port: Int, _ type: AddressType, towards peer: AirAddress?, random: DeviceAddress?
    ) -> AirAddress? {
        if type.isIdentity, let peer, let index = controllers[port].resolving.index(of: peer) {
            let entry = controllers[port].resolving.entries[index]
            if entry.hasLocalKey, let address = privateAddress(port, entry.localKey) {
                return AirAddress(isRandom: true, address: address)
            }
        }
        guard type == .randomDevice || type == .randomIdentity else {
            return AirAddress(isRandom: false, address: controllers[port].publicAddress)
        }
        return random.map { AirAddress(isRandom: true, address: $0) }
    }

    /// The private address that `key` makes now: one for each period of the host's time-out, so
    /// that it does not depend on who hears it.
    func privateAddress(_ port: Int, _ key: [UInt8]) -> DeviceAddress? {
        guard let cipher else { return nil }
        let period = controllers[port].resolving.period
        let turn = clock.microseconds / period.microseconds
        var random = SeededRandom(
            seed: seed &+ UInt64(bitPattern: turn), stream: "private address \(port)")
        return Toolbox(cipher).resolvableAddress(
            key, random: UInt32(truncatingIfNeeded: random.next()))
    }

    /// Gives an advertiser the addresses of the period that has begun.
    mutating func renewAddresses(_ set: Int) {
        guard let end = advertisers[set].addressEnd, end <= clock,
            let own = ownAddress(set)
        else { return }
        advertisers[set].rename(
            own, target: target(set), until: addressEnd(set, advertisers[set].ownAddressType))
    }

    /// When the addresses that the controller makes change next; nil where it makes none.
    func addressEnd(_ set: Int, _ type: AddressType) -> Instant? {
        guard type.isIdentity, let port = advertisers[set].port else { return nil }
        let period = controllers[port].resolving.period
        return .zero + period * (clock.microseconds / period.microseconds + 1)
    }

    /// Whom a directed advertisement names.
    func target(_ set: Int) -> AirAddress {
        let peer = advertisers[set].peer
        guard advertisers[set].ownAddressType.isIdentity, let port = advertisers[set].port,
            let index = controllers[port].resolving.index(of: peer)
        else { return peer }
        let entry = controllers[port].resolving.entries[index]
        guard entry.hasPeerKey, let address = privateAddress(port, entry.peerKey) else {
            return peer
        }
        return AirAddress(isRandom: true, address: address)
    }

    /// Whether a directed advertisement for `target` is one for the controller on `port`, which
    /// would answer as `own`.
    func isTarget(_ port: Int, _ target: AirAddress, own: AirAddress?) -> Bool {
        if target == own { return true }
        let list = controllers[port].resolving
        guard list.isEnabled, let cipher else { return false }
        let toolbox = Toolbox(cipher)
        return list.entries.contains { toolbox.resolves(target.link, with: $0.localKey) }
    }
}

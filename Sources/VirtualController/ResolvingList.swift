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

    var leFeatures: UInt64 {
        Capabilities.leFeatures | (hasPrivacy ? Capabilities.privacyFeature : 0)
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
        if type.isIdentity, let peer, let index = controllers[port].resolving.index(of: peer) {
            let entry = controllers[port].resolving.entries[index]
            if entry.hasLocalKey, let address = privateAddress(port, entry.localKey) {
                return AirAddress(isRandom: true, address: address)
            }
        }
        let isRandom = type == .randomDevice || type == .randomIdentity
        return controllers[port].ownAddress(isRandom ? .randomDevice : .publicDevice)
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

    /// Gives the advertiser on `port` the addresses of the period that has begun.
    mutating func renewAddresses(_ port: Int) {
        guard let end = controllers[port].advertiser.addressEnd, end <= clock else { return }
        let advertiser = controllers[port].advertiser
        guard let own = ownAddress(port, advertiser.ownAddressType, towards: advertiser.peer)
        else { return }
        controllers[port].advertiser.rename(
            own, target: target(port), until: addressEnd(port, advertiser.ownAddressType))
    }

    /// When the addresses that the controller makes change next; nil where it makes none.
    func addressEnd(_ port: Int, _ type: AddressType) -> Instant? {
        guard type.isIdentity else { return nil }
        let period = controllers[port].resolving.period
        return .zero + period * (clock.microseconds / period.microseconds + 1)
    }

    /// Whom a directed advertisement of `port` names.
    func target(_ port: Int) -> AirAddress {
        let advertiser = controllers[port].advertiser
        let type = advertiser.ownAddressType
        guard type.isIdentity, let index = controllers[port].resolving.index(of: advertiser.peer)
        else { return advertiser.peer }
        let entry = controllers[port].resolving.entries[index]
        guard entry.hasPeerKey, let address = privateAddress(port, entry.peerKey) else {
            return advertiser.peer
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

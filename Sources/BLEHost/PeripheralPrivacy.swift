// Privacy of a peripheral: its own private addresses, and the controller's resolving list.
import HCI
public import SMP
public import SansIO
public import Wire

/// That a device goes by private addresses, and how long by each.
public struct AddressPrivacy: Hashable, Sendable {
    public var kind: PrivateAddressKind
    /// From 1 s on.
    public var renewal: TimeSpan

    public init(kind: PrivateAddressKind, renewal: TimeSpan) {
        self.kind = kind
        self.renewal = renewal
    }
}

/// A peer whose private addresses the controller resolves.
struct ResolvedPeer: Hashable, Sendable {
    var identity: LinkAddress
    var identityKey: [UInt8]
}

extension PeripheralHost {
    /// The private address in use; nil where there is none.
    public var privateAddress: DeviceAddress? {
        privacy == nil ? nil : usedAddress ?? session.randomAddress
    }

    /// Takes a new private address; without a cipher the address stays.
    mutating func renewAddress(at now: Instant) {
        guard let privacy else { return }
        renewalAt = now + privacy.renewal
        guard let address = security.privateAddress(privacy.kind) else { return }
        deviceAddress = address
        advertising.setDeviceAddress(address)
    }

    /// Takes new private addresses for the sets that go by their own and have none, or for which
    /// one is due.
    /// - Parameter all: for the others too.
    mutating func renewSetAddresses(at now: Instant, all: Bool = false) {
        for (set, control) in advertising.controls.enumerated() {
            guard let privacy = control.plan.privacy else { continue }
            if !all, let due = control.renewalAt, due > now { continue }
            // Without a cipher the address stays.
            let address =
                security.privateAddress(privacy.kind) ?? control.address ?? deviceAddress
            advertising.setAddress(address, of: set, until: now + privacy.renewal)
        }
    }

    mutating func expirePrivacy(at now: Instant, _ out: inout ByteBlock) {
        guard let due = earliest(renewalAt, advertising.renewalAt), due <= now else { return }
        if let due = renewalAt, due <= now { renewAddress(at: now) }
        renewSetAddresses(at: now)
        reconcile(at: now, &out)
    }

    /// The device's random address that the controller has taken for a set; nil for none yet.
    private var usedAddress: DeviceAddress? {
        advertising.controls.first { $0.plan.goesByDevice }?.usedAddress
    }

    /// The random address that a set advertises with, or will; nil for the controller's public one.
    public func randomAddress(of set: Int) -> DeviceAddress? {
        guard advertising.controls.indices.contains(set) else { return nil }
        let control = advertising.controls[set]
        guard control.plan.ownAddressType != .publicDevice else { return nil }
        guard control.plan.privacy == nil else { return control.usedAddress ?? control.address }
        return control.plan.address ?? privateAddress ?? control.address ?? session.randomAddress
    }

    /// The address that a set advertises with, or will once the controller is up.
    public func address(of set: Int) -> DeviceAddress {
        randomAddress(of: set) ?? session.information.publicAddress
    }

    /// The address that a link has on this side: that of the set it was made from.
    func ownLinkAddress(of link: Int) -> LinkAddress {
        let controls = advertising.controls
        let control = linkSets[link].flatMap { controls.indices.contains($0) ? controls[$0] : nil }
        let isPublic = control?.plan.ownAddressType == .publicDevice
        let random = control?.usedAddress ?? usedAddress ?? session.randomAddress
        return (isPublic ? nil : random).map { LinkAddress($0, isRandom: true) }
            ?? LinkAddress(session.information.publicAddress, isRandom: false)
    }

    var usesResolvingList: Bool { session.information.resolvingListSize > 0 }

    /// The bonded peers that the controller is told, those used last where not all find room. Two
    /// with one key would be refused.
    var resolvedPeers: [ResolvedPeer] {
        var peers: [ResolvedPeer] = []
        for bond in security.bonds.reversed()
        where peers.count < session.information.resolvingListSize {
            guard let key = bond.peerIdentityKey, key.contains(where: { $0 != 0 }),
                !peers.contains(where: { $0.identityKey == key })
            else { continue }
            peers.append(ResolvedPeer(identity: bond.peer, identityKey: key))
        }
        // In an order that does not change with use.
        return peers.sorted { $0.identity.order < $1.identity.order }
    }
}

extension LinkAddress {
    fileprivate var order: UInt64 { address.littleEndian << 1 | (isRandom ? 1 : 0) }
}

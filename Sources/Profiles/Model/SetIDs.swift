// The IDs that advertising sets are told apart by on the air.
import Advertising

extension SetAddress {
    /// Which of a device's addresses it is; nil for one that no other set can have.
    func identity(_ device: AddressSpec) -> SetAddress? {
        switch self {
        case .publicDevice: self
        case .randomStatic(let address): address == nil ? nil : self
        case .privateAddress: nil
        case .device:
            switch device {
            case .publicDevice: .publicDevice
            case .randomStatic(let address?): .randomStatic(address)
            case .randomStatic(nil), .resolvablePrivate, .nonResolvablePrivate: self
            }
        }
    }
}

extension AdvertisingSet {
    /// Whether scanners tell both by their IDs alone.
    func sharesAddress(with other: AdvertisingSet, _ device: AddressSpec) -> Bool {
        guard pdu != .legacy, other.pdu != .legacy else { return false }
        let identity = address.identity(device)
        return identity != nil && identity == other.address.identity(device)
    }
}

extension DeviceProfile {
    /// Advertising_SID of each set: the one that it asks for, else the first from its place on that
    /// no other set with its address has. With more than 16 of them some are alike.
    public var setIDs: [UInt8] {
        var ids = advertising.map(\.sid)
        for (index, set) in advertising.enumerated() where set.sid == nil {
            let taken = advertising.indices.filter {
                $0 != index && advertising[$0].sharesAddress(with: set, device.address)
            }.compactMap { ids[$0] }
            let place = UInt8(truncatingIfNeeded: index)
            ids[index] = (0...15).map { (place &+ $0) & 15 }.first { !taken.contains($0) }
        }
        return ids.enumerated().map { index, id in id ?? UInt8(truncatingIfNeeded: index) & 15 }
    }
}

// What the built-in central is to look for.
import Advertising
import BLEHost
public import Emulator
public import Profiles
public import Wire

extension DeviceProfile {
    /// How many of its sets any central hears: directed ones are for one alone.
    public var setsForAnyone: Int {
        advertising.count { set in
            switch set.kind {
            case .connectable, .scannable, .nonConnectable: true
            case .directed: false
            }
        }
    }
}

extension EmulatedDevice {
    /// The addresses of its sets; nil where one is the controller's, or not the same for long.
    public var lastingAddresses: [DeviceAddress]? {
        guard !profile.device.address.isPrivate else { return nil }
        var addresses: [DeviceAddress] = []
        for (number, set) in profile.advertising.enumerated() {
            switch set.address {
            case .device:
                guard let randomAddress else { return nil }
                addresses.append(randomAddress)
            case .randomStatic: addresses.append(host.address(of: number))
            case .publicDevice, .privateAddress: return nil
            }
        }
        return addresses
    }
}

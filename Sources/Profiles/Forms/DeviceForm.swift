// The top of a profile and its `device:` part.
import Advertising
import GATT
import HCI
import SMP
import SansIO
import Wire
import YAML

extension Form where Value == DeviceProfile {
    /// The whole file.
    static var profile: Form {
        map(says: "a profile, beginning with 'peripheral-emu: 1'") { keys in
            let context = keys.context
            _ = keys.required("peripheral-emu", .formatVersion)
            let device = keys.required("device", .device)
            (context.deviceName, context.deviceAddress) = (device?.name, device?.address)
            let server = keys.optional("server", .server)
            if keys.has("activity") { context.activity = .broken }
            let activity = keys.optional("activity", .activity)
            if let activity { context.activity = .present(activity) }
            var services = keys.optional("services", .services) ?? []
            // Advertising data may take values of services, which stand further down.
            context.services = services
            let advertising = keys.optional("advertising", .advertisingSets)
            context.checkReferences(services)
            context.readDeferred(&services)
            let lint = keys.optional("lint", .lint)
            let security = keys.optional("security", .security)
            Form<AddressSpec>.check(device?.address, security, keys)
            checkSets(advertising ?? [], device, security, keys)
            keys.later("l2cap", "faults", "scenario", "expect")
            guard let device else { return nil }
            var profile = DeviceProfile(file: context.file, device: device)
            profile.server = server ?? ServerSpec()
            profile.security = security
            profile.activity = activity
            profile.advertising = advertising ?? []
            profile.liveFields = context.liveFields
            profile.lint = lint ?? LintSpec()
            profile.services = services
            return profile
        }
    }
}

extension Form where Value == DeviceProfile {
    /// The addresses of sets, which need peers as the device's does.
    private static func checkSets(
        _ sets: [AdvertisingSet], _ device: DeviceSpec?, _ security: SecurityConfiguration?,
        _ keys: Keys
    ) {
        guard let device, security != nil || !keys.has("security"),
            let place = keys.child("advertising"),
            case .sequence(let nodes) = place.node.content, nodes.count == sets.count
        else { return }
        let canBond = security.map { $0.policy != .refused && $0.bonding } ?? false
        for (index, set) in sets.enumerated() {
            guard case .privateAddress(let isResolvable, _) = set.address else { continue }
            let here = place.element(index, nodes[index])
            if isResolvable, !canBond {
                keys.context.report(
                    here, "nobody can bond, so that nobody ever resolves its addresses",
                    "add 'security: {io: none}', or write 'address: non-resolvable-private'")
            } else if isResolvable, !device.address.hasIdentity {
                keys.context.report(
                    here, "a resolvable address needs an identity that bonded centrals learn",
                    "write 'address: random-static' in 'device'")
            } else if !isResolvable, canBond, set.kind.isConnectable {
                keys.context.report(
                    here, "a bonded central could never find it again",
                    "write 'address: resolvable-private', or 'bonding: false' in 'security'")
            }
        }
    }
}

extension AddressSpec {
    /// Whether the host knows an address to tell as the identity.
    fileprivate var hasIdentity: Bool {
        switch self {
        case .randomStatic, .resolvablePrivate: true
        case .publicDevice, .nonResolvablePrivate: false
        }
    }
}

extension Form where Value == Int {
    fileprivate static var formatVersion: Form {
        Form(says: "the format's version, 1", schema: { .integer(1...1) }) { place, context in
            guard case .integer(let version) = place.scalar?.value else {
                return mismatch(place, context, says: "the format's version, 1")
            }
            guard version == 1 else {
                context.report(place, "the format's version \(version) is not known", "write 1")
                return nil
            }
            return 1
        }
    }
}

extension Form where Value == DeviceSpec {
    fileprivate static var device: Form {
        map(says: "a map with the device's name") { keys in
            // The Device Name characteristic is at most 248 octets (Core 6.0, Vol 3, Part C, 12.1).
            let name = keys.required(
                "name", .line(248, minimum: 0, says: "the name that centrals see"))
            let appearance = keys.optional(
                "appearance", .assigned(.appearance, example: "thermometer"))
            let address = keys.optional("address", .deviceAddress)
            let connections = keys.optional(
                "connections",
                .integer(1...GATTServer.clientsMax, says: "how many centrals at once, such as 1"))
            let connection = keys.optional("connection", .connectionRequest)
            var device = DeviceSpec(name: name ?? "")
            device.appearance = appearance ?? 0
            device.address = address ?? .randomStatic(nil)
            device.connections = connections ?? 1
            device.connection = connection
            return name == nil ? nil : device
        }
    }
}

extension Form where Value == TimeSpan {
    /// How long a private address serves: the range of LE Set Resolvable Private Address Timeout
    /// (Core 6.0, Vol 4, Part E, 7.8.45).
    static var renewal: Form {
        time(.seconds(1)...(.seconds(3600)), limits: "1 s to 1 h", example: "15 min")
    }
}

extension Form where Value == AddressSpec {
    /// The words, each with what `type:` alone means.
    private static let types: [(String, AddressSpec)] = [
        ("random-static", .randomStatic(nil)), ("public", .publicDevice),
        (
            "resolvable-private",
            .resolvablePrivate(identity: nil, renewal: AddressSpec.usualRenewal)
        ),
        ("non-resolvable-private", .nonResolvablePrivate(renewal: AddressSpec.usualRenewal)),
    ]

    fileprivate static var deviceAddress: Form {
        let type = word(types)
        let long = map(says: "a map of type, value and renewal") { keys in
            let type = keys.required("type", type)
            let value = keys.optional("value", Form<DeviceAddress>.address)
            let renewal = keys.optional("renewal", Form<TimeSpan>.renewal)
            guard let type else { return nil }
            if let value, type != .publicDevice, !keys.isRandomStatic(value) { return nil }
            return detailed(type, value, renewal, keys)
        }
        return either(scalar: type, map: long, long: Form<DeviceAddress>.longAddress)
    }

    /// The address of this type with what the long form says besides.
    private static func detailed(
        _ type: AddressSpec, _ value: DeviceAddress?, _ renewal: TimeSpan?, _ keys: Keys
    ) -> AddressSpec? {
        switch type {
        case .randomStatic, .publicDevice:
            if renewal != nil {
                keys.report(
                    at: "renewal", "only private addresses are renewed",
                    "remove it, or write 'type: resolvable-private'")
            }
            guard type == .publicDevice else { return .randomStatic(value) }
            guard value != nil else { return type }
            keys.report(
                at: "value", "a public address is the controller's own and cannot be set",
                "remove it, or write 'type: random-static'")
            return nil
        case .resolvablePrivate(_, let usual):
            return .resolvablePrivate(identity: value, renewal: renewal ?? usual)
        case .nonResolvablePrivate(let usual):
            if value != nil {
                keys.report(
                    at: "value", "a non-resolvable private address is always a new one",
                    "remove it, or write 'type: random-static'")
            }
            return .nonResolvablePrivate(renewal: renewal ?? usual)
        }
    }

    /// A private address needs peers that can, or must not, find the device again.
    fileprivate static func check(
        _ address: AddressSpec?, _ security: SecurityConfiguration?, _ keys: Keys
    ) {
        // A 'security' with errors says nothing yet.
        guard let address, security != nil || !keys.has("security"),
            let device = keys.child("device"), case .mapping(let pairs) = device.node.content,
            let pair = pairs.first(where: { $0.key == "address" })
        else { return }
        let canBond = security.map { $0.policy != .refused && $0.bonding } ?? false
        let place = device.child("address", pair.value)
        switch address {
        case .resolvablePrivate where !canBond:
            keys.context.report(
                place, "nobody can bond, so that nobody ever resolves its addresses",
                "add 'security: {io: none}', or write 'non-resolvable-private'")
        case .nonResolvablePrivate where canBond:
            keys.context.report(
                place, "a bonded central could never find it again",
                "write 'resolvable-private', or 'bonding: false' in 'security'")
        case .randomStatic, .publicDevice, .resolvablePrivate, .nonResolvablePrivate: break
        }
    }
}

extension Keys {
    /// Whether `value:` is a random static address (Core 6.0, Vol 6, Part B, 1.3.2.1); else it is
    /// reported.
    func isRandomStatic(_ address: DeviceAddress) -> Bool {
        if address.isRandomStatic { return true }
        let isTop = address.littleEndian >> 46 == 3
        report(
            at: "value",
            "\(address) is no random static address: "
                + (isTop
                    ? "its lower 46 bits must not all be equal" : "its two top bits must be 1"),
            isTop ? "change one of its other octets" : "begin it with C0 to FF")
        return false
    }
}

extension Form where Value == ConnectionRequest {
    /// Limits of LE Set Connection Parameters (Core 6.0, Vol 4, Part E, 7.8.18).
    fileprivate static var connectionRequest: Form {
        let longest = TimeSpan.seconds(32)
        return map(says: "a map of interval, latency and timeout") { keys in
            let interval = Form<TimeSpan>.time(
                .microseconds(7500)...(.seconds(4)), limits: "7.5 ms to 4 s", example: "30 ms")
            let range = keys.required("interval", .bounds(interval))
            let latency = keys.optional(
                "latency", .integer(0...499, says: "how many connection events may be skipped"))
            let timeout = keys.required(
                "timeout",
                .time(
                    .milliseconds(100)...longest, limits: "100 ms to 32 s", example: "4 s"))
            guard let range, let timeout else { return nil }
            let least = range.high * Int64(2 * (1 + (latency ?? 0)))
            guard timeout > least else {
                keys.report(
                    at: "timeout", "the timeout is not longer than (1 + latency) x interval x 2",
                    least < longest
                        ? "write more than '\(least)'"
                        : "write 'timeout: 32 s' with at most 'latency: "
                            + "\((longest.microseconds - 1) / (2 * range.high.microseconds) - 1)', "
                            + "or a shorter interval")
                return nil
            }
            return ConnectionRequest(
                minimum: steps(range.low), maximum: steps(range.high),
                latency: UInt16(latency ?? 0), timeout: timeout)
        }
    }

    private static func steps(_ time: TimeSpan) -> ConnectionInterval {
        let step = ConnectionInterval.stepMicroseconds
        return ConnectionInterval(steps: UInt16(clamping: (time.microseconds + step / 2) / step))
    }
}

extension Form where Value == (low: TimeSpan, high: TimeSpan) {
    /// One time, or a list of the shortest and the longest.
    fileprivate static func bounds(_ time: Form<TimeSpan>) -> Form {
        let says = "the shortest and the longest time such as '[15 ms, 30 ms]'"
        let schema = { Schema.anyOf([time.schema(), .list(time.schema(), minimum: 2)]) }
        return Form(says: says, schema: schema) { place, context in
            guard case .sequence(let nodes) = place.node.content else {
                return time.read(place, context).map { ($0, $0) }
            }
            guard nodes.count == 2 else {
                context.report(place, "the list has \(nodes.count) entries", "write \(says)")
                return nil
            }
            guard let low = time.read(place.element(0, nodes[0]), context),
                let high = time.read(place.element(1, nodes[1]), context)
            else { return nil }
            guard low <= high else {
                context.report(place, "the first time is longer than the second", "exchange them")
                return nil
            }
            return (low, high)
        }
    }
}

// A life of bonds, subscriptions and values, drawn from a seed, to be stored step by step.
import Advertising
public import Emulator
import SMP
import SansIO
import Wire

/// What a device would store, one step after the other: equal for equal seeds.
public struct StateWorkload: Sendable {
    private var random: SeededRandom
    /// After the steps so far.
    public private(set) var state = DeviceState()
    public private(set) var steps = 0

    public init(seed: UInt64) { random = SeededRandom(seed: seed, stream: "state") }

    private mutating func octets(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    private mutating func address() -> DeviceAddress {
        DeviceAddress(littleEndian: 0xC000_0000_0000 | UInt64(random.below(8)))
    }

    private mutating func bond() -> Bond {
        var bond = Bond(
            peer: LinkAddress(address(), isRandom: true), longTermKey: octets(16),
            ediv: UInt16(random.below(65_536)), rand: random.next(),
            quality: KeyQuality(
                isAuthenticated: random.below(2) == 0, isSecureConnections: random.below(2) == 0,
                size: UInt8(7 + random.below(10))))
        if random.below(2) == 0 { bond.peerIdentityKey = octets(16) }
        if random.below(3) == 0 { bond.peerSignatureKey = octets(16) }
        return bond
    }

    private mutating func client() -> KeptClient {
        var client = KeptClient(peer: address())
        client.features = UInt8(random.below(8))
        client.isChangeAware = random.below(2) == 0
        if random.below(3) == 0 {
            let start = UInt16(1 + random.below(100))
            client.serviceChanged = start...(start + UInt16(random.below(1000)))
        }
        for number in 0..<random.below(5) {
            client.subscriptions.append(
                .init(place: "0x1234.0/\(number)", bits: UInt8(1 + random.below(3))))
        }
        return client
    }

    /// The next step's changes.
    public mutating func next() -> [StateChange] {
        let changes = draw()
        for change in changes { state.apply(change) }
        steps += 1
        return changes
    }

    private mutating func draw() -> [StateChange] {
        switch random.below(6) {
        case 0: return [.address(address()), .identityKey(octets(16)), .databaseHash(octets(16))]
        case 1:
            let bond = bond()
            let others = state.bonds.filter { $0.peer != bond.peer }
            return [.bonds(others.suffix(5) + [bond])]
        case 2: return [.client(client()), .value(value())]
        case 3:
            guard let oldest = state.bonds.first else { return [.activity(.active)] }
            return [
                .bonds(Array(state.bonds.dropFirst())), .clientForgotten(oldest.peer.address),
            ]
        case 4: return [.value(value()), .activity(random.below(2) == 0 ? .idle : .active)]
        default: return [.value(value()), .value(value()), .value(value())]
        }
    }

    private mutating func value() -> KeptValue {
        KeptValue(
            place: "0x1234.0/0x\(4660 + random.below(6))",
            octets: octets(Int(random.below(513))))
    }

    /// The state with its values in the order of their places.
    public static func sorted(_ state: DeviceState) -> DeviceState {
        var state = state
        state.values.sort { $0.place < $1.place }
        return state
    }
}

// What a peripheral host is told, and what it tells.
public import GATT
public import HCI
public import L2CAP
public import SMP
public import SansIO
public import Wire

/// What a peripheral host is told at power-on.
public struct PeripheralConfiguration: Sendable {
    /// The advertising sets, by their numbers; none: it does not advertise.
    public var sets: [AdvertisingSetup]
    /// The random address to use; nil for the public one.
    public var randomAddress: DeviceAddress?
    /// Private addresses take the random address's place.
    public var privacy: AddressPrivacy?
    /// Connections at once; advertising stops at the limit.
    public var connectionsMax: Int
    /// The connection parameters to ask each central for; nil asks for none.
    public var connectionRequest: ConnectionParameterUpdateRequest?
    /// How it pairs.
    public var security = SecurityConfiguration()
    /// The cipher of pairing; without one it is refused.
    public var cipher: (any SecurityCipher)?
    /// Where keys come from; without it pairing is refused.
    public var keys: (any SecurityRandom)?

    public init(
        sets: [AdvertisingSetup], randomAddress: DeviceAddress?, connectionsMax: Int = 1
    ) {
        self.sets = sets
        self.randomAddress = randomAddress
        self.connectionsMax = connectionsMax
    }

    /// One set.
    public init(
        plan: AdvertisingPlan, interval: AdvertisingInterval, randomAddress: DeviceAddress?,
        connectionsMax: Int = 1
    ) {
        self.init(
            sets: [AdvertisingSetup(plan: plan, interval: interval)],
            randomAddress: randomAddress, connectionsMax: connectionsMax)
    }

    /// Whether the host must know more of the controller than one legacy set asks for.
    var asksForSets: Bool { sets.count > 1 || sets.contains { $0.plan.asksForSets } }
}

/// What a peripheral host tells its device.
public enum PeripheralEvent: Sendable {
    case ready(ControllerInformation)
    case failed(ControllerFailure)
    case note(ControllerNote)
    /// A set is on the air; of one that takes turns, the interval is an average. `gap`: how long
    /// it was off for a change of the interval, from the answer to Disable to that to Enable; nil
    /// where it was not on before.
    case advertising(AdvertisingInterval, gap: TimeSpan?, set: Int)
    /// Off the air, to go on with another interval at once.
    case advertisingPaused(set: Int)
    case advertisingStopped(set: Int)
    case advertisingRefused(HCIStatus, set: Int)
    /// A scanner has asked for the set's scan response.
    case scanRequested(set: Int, LinkAddress)
    /// The link was made from this set; told where there are several.
    case connectedFrom(set: Int, link: Int)
    /// Another private address is in use.
    /// Of one set that has its own, else of all that go by the device's.
    case addressRenewed(DeviceAddress, set: Int?)
    case connected(link: Int, ConnectionInformation)
    /// The slot may already hold another connection; `peer` is whose link ended.
    case disconnected(link: Int, peer: DeviceAddress, HCIStatus)
    case connectionUpdated(link: Int, ConnectionInformation)
    /// The link is on other PHYs now.
    case phyUpdated(link: Int, ConnectionInformation)
    /// The central's answer to the request for connection parameters; false also where none came.
    case parametersAnswered(link: Int, accepted: Bool)
    /// The value has more than the MTU - 3 octets that there is room for: it was cut, or not sent.
    /// Said once until the MTU or the link changes.
    case overflow(link: Int, handle: UInt16, room: Int, isCut: Bool)
    /// A value was sent, as these octets; told only while the host's `reportsSending` is true.
    case sent(link: Int, handle: UInt16, [UInt8], isIndication: Bool)
    /// A central asked to pair and was told that it is not supported.
    case pairingRefused(link: Int)
    /// Pairing and encryption; never commands and keys themselves.
    case security(SecurityEvent)
    case server(ServerEvent)

    /// The link that it is about; nil where it is about none.
    public var link: Int? {
        switch self {
        case .connected(let link, _), .disconnected(let link, _, _),
            .connectionUpdated(let link, _), .phyUpdated(let link, _),
            .parametersAnswered(let link, _), .overflow(let link, _, _, _),
            .sent(let link, _, _, _), .pairingRefused(let link), .connectedFrom(_, let link):
            link
        case .security(let event): event.link
        case .server(let event): event.client
        case .ready, .failed, .note, .advertising, .advertisingPaused, .advertisingStopped,
            .advertisingRefused, .addressRenewed, .scanRequested:
            nil
        }
    }
}

// The state of one virtual controller and its way to its host.
import HCI
import SansIO
import Wire

/// What a host sets up in its controller, and what waits for the host.
struct Controller {
    var isPresent = true
    let publicAddress: DeviceAddress
    /// H4 packets for the host.
    var output = ByteBlock(capacity: 256)

    var eventMask = Capabilities.eventMaskDefault
    var leEventMask = Capabilities.leEventMaskDefault
    var randomAddress: DeviceAddress?
    var acceptList: [AirAddress] = []
    var resolving = ResolvingList()
    var channelClassification = Capabilities.channelMapAll
    /// connInitialMaxTxOctets and connInitialMaxTxTime.
    var suggestedLength = DataLength()
    var preferredTxPHYs = PHY.preferencesBoth
    var preferredRxPHYs = PHY.preferencesBoth

    var advertiser: Advertiser
    var scanner = Scanner()
    var initiator: Initiator?
    /// Slots of this controller's links in the air's table, oldest first.
    var links: [Int] = []
    /// ACL packets of the host that have not been completed, over all links.
    var packetsHeld = 0
    var lastHandle: UInt16 = 0
    var random: SeededRandom

    init(address: DeviceAddress, seed: UInt64, port: Int) {
        publicAddress = address
        advertiser = Advertiser(random: SeededRandom(seed: seed, stream: "advDelay \(port)"))
        random = SeededRandom(seed: seed, stream: "LE Rand \(port)")
    }

    /// The state that Reset leaves; what waits for the host, the links' handles and the random
    /// numbers go on.
    mutating func reset() {
        eventMask = Capabilities.eventMaskDefault
        leEventMask = Capabilities.leEventMaskDefault
        randomAddress = nil
        acceptList = []
        resolving = ResolvingList()
        channelClassification = Capabilities.channelMapAll
        suggestedLength = DataLength()
        preferredTxPHYs = PHY.preferencesBoth
        preferredRxPHYs = PHY.preferencesBoth
        advertiser.reset()
        scanner = Scanner()
        initiator = nil
        links = []
        packetsHeld = 0
    }

    /// Whether it hears advertisements.
    var isListening: Bool { scanner.isEnabled || initiator != nil }

    /// Whether the host has left so much unread that the controller is out of buffers.
    var isBacklogged: Bool { output.count >= Capabilities.backlogMax }

    /// The address of this type on the air; nil for a random one that the host has not set.
    func ownAddress(_ type: AddressType) -> AirAddress? {
        guard type == .randomDevice else {
            return AirAddress(isRandom: false, address: publicAddress)
        }
        return randomAddress.map { AirAddress(isRandom: true, address: $0) }
    }

    /// Hands `event` to the host unless a mask forbids it.
    mutating func send<Event: HCIEvent>(_ event: Event) {
        if wants(Event.code, Event.subevent) { output.append(event: event) }
    }

    /// Event masks: bit n stands for event code n + 1, and for LE subevent n + 1 (Core 6.0, Vol 4,
    /// Part E, 7.3.1, 7.8.1). Answers to commands and completed packets cannot be masked.
    func wants(_ code: EventCode, _ subevent: LESubevent?) -> Bool {
        switch code {
        case .commandComplete, .commandStatus, .numberOfCompletedPackets: return true
        default: break
        }
        guard Self.isSet(code.rawValue, in: eventMask) else { return false }
        guard let subevent else { return true }
        return Self.isSet(subevent.rawValue, in: leEventMask)
    }

    private static func isSet(_ code: UInt8, in mask: UInt64) -> Bool {
        (1...64).contains(code) && mask >> UInt64(code - 1) & 1 == 1
    }

    /// A connection handle that no link of this controller has, as late as possible after its last
    /// use, so that a host's late packet does not meet a new link.
    mutating func nextHandle(inUse: (ConnectionHandle) -> Bool) -> ConnectionHandle {
        repeat {
            lastHandle = lastHandle >= ConnectionHandle.maximum.rawValue ? 1 : lastHandle + 1
        } while inUse(ConnectionHandle(rawValue: lastHandle))
        return ConnectionHandle(rawValue: lastHandle)
    }
}

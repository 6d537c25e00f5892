// The state of one virtual controller and its way to its host.
import HCI
import SansIO
import Wire

/// Which commands a host advertises, scans and connects with: after a reset one family only (Core
/// 6.0, Vol 4, Part E, 3.1.1).
enum CommandFamily {
    case legacy, extended

    /// Nil for commands of neither family, and for those that the controller does not serve.
    init?(of opcode: Opcode, _ features: ControllerFeatures) {
        guard features.contains(.extendedAdvertising) else { return nil }
        switch opcode {
        case .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower,
            .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
            .leSetScanParameters, .leSetScanEnable, .leCreateConnection:
            self = .legacy
        case .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters,
            .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
            .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
            .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet,
            .leClearAdvertisingSets, .leSetExtendedScanParameters, .leSetExtendedScanEnable,
            .leExtendedCreateConnection:
            self = .extended
        case .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData,
            .leSetPeriodicAdvertisingEnable, .lePeriodicAdvertisingCreateSync,
            .lePeriodicAdvertisingCreateSyncCancel, .lePeriodicAdvertisingTerminateSync,
            .leAddDeviceToPeriodicAdvertiserList, .leRemoveDeviceFromPeriodicAdvertiserList,
            .leClearPeriodicAdvertiserList, .leReadPeriodicAdvertiserListSize:
            guard features.contains(.periodicAdvertising) else { return nil }
            self = .extended
        default: return nil
        }
    }
}

/// What a host sets up in its controller, and what waits for the host.
struct Controller {
    var isPresent = true
    let publicAddress: DeviceAddress
    let features: ControllerFeatures
    /// H4 packets for the host.
    var output = ByteBlock(capacity: 256)

    var eventMask = Capabilities.eventMaskDefault
    var leEventMask = Capabilities.leEventMaskDefault
    var randomAddress: DeviceAddress?
    /// Nil until the host has chosen.
    var family: CommandFamily?
    var acceptList: [AirAddress] = []
    /// Whether the filter accept list has the entry for anonymous advertisers.
    var acceptsAnonymous = false
    var resolving = ResolvingList()
    var channelClassification = Capabilities.channelMapAll
    /// connInitialMaxTxOctets and connInitialMaxTxTime.
    var suggestedLength = DataLength()
    var preferredTxPHYs: UInt8
    var preferredRxPHYs: UInt8

    /// This controller's advertisers in the air's table: first that of the legacy commands, then
    /// the sets in the order of their creation.
    var sets: [Int]
    /// Sets that have been created, and the events of those that are gone.
    var setsCreated = 0
    var eventsOfRemoved = 0
    var scanner = Scanner()
    var initiator: Initiator?
    /// Trains that are followed, the train that is sought, and whose trains may be.
    var syncs: [Sync] = []
    var syncRequest: SyncRequest?
    var periodicList: [PeriodicAdvertiser] = []
    var lastSyncHandle: UInt16 = 0
    /// Slots of this controller's links in the air's table, oldest first.
    var links: [Int] = []
    /// ACL packets of the host that have not been completed, over all links.
    var packetsHeld = 0
    var lastHandle: UInt16 = 0
    var random: SeededRandom

    /// - Parameter legacy: the legacy commands' advertiser in the air's table.
    init(
        address: DeviceAddress, features: ControllerFeatures, seed: UInt64, port: Int, legacy: Int
    ) {
        publicAddress = address
        self.features = features
        preferredTxPHYs = features.phyPreferences
        preferredRxPHYs = features.phyPreferences
        sets = [legacy]
        random = SeededRandom(seed: seed, stream: "LE Rand \(port)")
    }

    /// The state that Reset leaves; what waits for the host, the links' handles and the random
    /// numbers go on.
    mutating func reset() {
        eventMask = Capabilities.eventMaskDefault
        leEventMask = Capabilities.leEventMaskDefault
        randomAddress = nil
        family = nil
        acceptList = []
        acceptsAnonymous = false
        resolving = ResolvingList()
        channelClassification = Capabilities.channelMapAll
        suggestedLength = DataLength()
        preferredTxPHYs = features.phyPreferences
        preferredRxPHYs = features.phyPreferences
        scanner = Scanner()
        initiator = nil
        syncs = []
        syncRequest = nil
        periodicList = []
        links = []
        packetsHeld = 0
    }

    /// Whether it hears advertisements.
    var isListening: Bool { scanner.isEnabled || initiator != nil }

    /// Whether the host has left so much unread that the controller is out of buffers.
    var isBacklogged: Bool { output.count >= Capabilities.backlogMax }

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

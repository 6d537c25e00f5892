// What a controller session tells its host, and what can go wrong with a controller.
public import HCI
import L2CAP
import SMP
public import Wire

/// Why a controller cannot be used, or no longer.
public enum ControllerFailure: Error, Equatable, Sendable {
    /// A command without which nothing works was not answered.
    case commandTimeout(Opcode)
    /// A command without which nothing works was refused.
    case commandRefused(Opcode, HCIStatus)
    /// Hardware Error (Core 6.0, Vol 4, Part E, 7.7.16).
    case hardwareError(UInt8)
    /// The controller answered a Reset that nobody sent: it has restarted.
    case unexpectedReset
    /// The controller cannot do what the advertising sets ask for; why, and what to do.
    case cannotAdvertise(String)
}

extension ControllerFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .commandTimeout(let opcode):
            "the controller did not answer \(opcode) within 2 s"
        case .commandRefused(let opcode, let status):
            "the controller refused \(opcode): \(status)"
        case .hardwareError(let code):
            "the controller reports hardware error \(Hex.code(code))"
        case .unexpectedReset: "the controller was reset"
        case .cannotAdvertise(let why): why
        }
    }
}

/// Something that the host did without, or ignored; one line in the log.
public enum ControllerNote: Equatable, Sendable {
    case notListed(Opcode)
    case refused(Opcode, HCIStatus)
    case unanswered(Opcode)
    case malformedEvent(EventCode, String)
    case unknownConnection(UInt16)
    case linkOverflow(ConnectionHandle)
    case tooManyLinks(ConnectionHandle)
    case noCredits
    /// So many malformed events and events about nothing were ignored since power-on.
    case ignoredEvents(Int)
    /// The controller does not advertise so often; said once.
    case intervalRounded(from: AdvertisingInterval, to: AdvertisingInterval)
    /// This set is not advertised; why.
    case setLeftOut(String, String)
    /// All sets are left out; why.
    case nothingAdvertised(String)
    /// This set is sent in legacy PDUs; why.
    case setInLegacyPDUs(String, String)
    /// So many sets share one advertiser; why.
    case setsTakeTurns(Int, String)
    /// The controller does not tell of scan requests; why.
    case noScanRequests(String)
}

extension ControllerNote: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notListed(let opcode):
            "the controller does not list \(opcode): done without"
        case .refused(let opcode, let status):
            "the controller refused \(opcode) with \(status): done without"
        case .unanswered(let opcode):
            "the controller did not answer \(opcode): done without"
        case .malformedEvent(let code, let why):
            "the controller sent a malformed \(code) (\(why)): ignored"
        case .unknownConnection(let handle):
            "the controller names connection \(Hex.code(handle)), which does not exist: ignored"
        case .linkOverflow(let handle):
            "connection \(Hex.code(handle.rawValue)) takes no data and keeps asking: disconnected"
        case .tooManyLinks(let handle):
            "connection \(Hex.code(handle.rawValue)) is more than \(LinkTable.linksMax) at once: "
                + "disconnected"
        case .noCredits:
            "the controller allows no further command for 2 s: sent one at a time all the same"
        case .ignoredEvents(let count):
            "the controller has sent \(count) events that were ignored"
        case .intervalRounded(let from, let to):
            "the controller cannot advertise every \(from) here: \(to) instead, "
                + "and so with all intervals below"
        case .setLeftOut(let name, let why): "\(why): the set '\(name)' is left out"
        case .nothingAdvertised(let why):
            "\(why): no set is left, and nothing is on the air; use another controller, or write "
                + "'fallback: legacy' at a set"
        case .setInLegacyPDUs(let name, let why):
            "\(why): the set '\(name)' is sent in legacy PDUs"
        case .setsTakeTurns(let count, let why):
            "\(why): \(count) sets take turns on one advertiser, each with the interval on average "
                + "that is told"
        case .noScanRequests(let why): "\(why): it tells of no scan requests"
        }
    }
}

/// What a controller is and can do.
public struct ControllerInformation: Equatable, Sendable {
    /// HCI_Version, 0x06 is 4.0, 0x0E is 6.0 (Assigned Numbers, 2.1).
    public internal(set) var hciVersion: UInt8 = 0
    /// The manufacturer by its company identifier (Assigned Numbers, 7).
    public internal(set) var company: UInt16 = 0
    /// The public address; all zero where the controller has none.
    public internal(set) var publicAddress = DeviceAddress()
    /// LE feature bits (Core 6.0, Vol 6, Part B, 4.6).
    public internal(set) var leFeatures: UInt64 = 0
    /// ACL data octets a packet, and packets, that the controller buffers for LE.
    public internal(set) var aclOctets = 27
    public internal(set) var aclPackets = 1
    /// How many peers the controller resolves the private addresses of.
    var resolvingListSize = 0
    /// Whether the host would have it do so.
    var isAskedToResolve = false
    /// Whether the host asks for more than one advertising set in legacy PDUs.
    var isAskedForSets = false
    /// How many sets, and how many octets of data in one; nil while that is not known.
    var advertisingSets: Int?
    var advertisingDataOctets: Int?
    var supportedCommands = [UInt8](repeating: 0, count: 64)
    /// Whether buffers were read; until then one packet of the smallest size is assumed.
    var hasOwnLEBuffers = false

    /// `4.0` to `6.0`, or the number.
    public var versionName: String {
        let names = ["4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4", "6.0"]
        let index = Int(hciVersion) - 6
        return names.indices.contains(index) ? names[index] : Hex.code(hciVersion)
    }

    /// Whether the controller lists the command at `bit` of `octet` (6.27), or lists nothing at
    /// all.
    func lists(_ octet: Int, _ bit: Int) -> Bool {
        supportedCommands.allSatisfy { $0 == 0 } || supportedCommands[octet] >> UInt8(bit) & 1 == 1
    }

    /// LE Extended Advertising: by its feature bit, or by its commands' bits (6.27).
    var hasExtendedAdvertising: Bool {
        hasFeature(LEFeature.extendedAdvertising)
            || supportedCommands[36] >> 2 & 1 == 1 && supportedCommands[36] >> 5 & 1 == 1
    }

    /// Whether more is asked of extended advertising than one set in legacy PDUs.
    var usesSets: Bool { isAskedForSets && hasExtendedAdvertising }

    /// Whether the controller's resolving list can be used: LE Privacy, every command of it, and
    /// the one that lets a bonded peer come back with its identity address too, as many do.
    var resolvesAddresses: Bool {
        let commands = [(34, 3), (34, 5), (34, 6), (35, 1), (39, 2)]
        return isAskedToResolve && hasFeature(LEFeature.privacy)
            && commands.allSatisfy { supportedCommands[$0.0] >> UInt8($0.1) & 1 == 1 }
    }

    func hasFeature(_ bit: Int) -> Bool { leFeatures >> UInt64(bit) & 1 == 1 }
}

/// A connection as the controller announced it.
public struct ConnectionInformation: Equatable, Sendable {
    /// The controller's number for it, unique among the open ones.
    public var handle: ConnectionHandle
    /// 0x00 central, 0x01 peripheral: this host's role.
    public var isPeripheral: Bool
    public var peerAddress: DeviceAddress
    public var peerAddressType: AddressType
    /// The address on the air, where the controller has found out whose it is.
    public var peerPrivateAddress: DeviceAddress?
    /// In steps of 1.25 ms.
    public var interval: ConnectionInterval
    /// Connection events the peripheral may skip.
    public var latency: UInt16
    /// In steps of 10 ms.
    public var supervisionTimeout: UInt16
    /// The PHYs it is on: 1 LE 1M, 2 LE 2M, 3 LE Coded (Core 6.0, Vol 4, Part E, 7.7.65.12).
    public var txPHY: UInt8 = 1
    public var rxPHY: UInt8 = 1

    /// Whether the controller has resolved the peer's address: types 2 and 3 (Core 6.0, Vol 4, Part
    /// E, 7.7.65.10).
    var isPeerIdentity: Bool {
        peerAddressType == .publicIdentity || peerAddressType == .randomIdentity
    }

    /// `LE 2M`, or `LE 2M to send and LE 1M to receive`.
    public var phyText: String {
        func name(_ phy: UInt8) -> String {
            let names = ["LE 1M", "LE 2M", "LE Coded"]
            return (1...names.count).contains(Int(phy)) ? names[Int(phy) - 1] : "PHY \(phy)"
        }
        guard txPHY != rxPHY else { return name(txPHY) }
        return "\(name(txPHY)) to send and \(name(rxPHY)) to receive"
    }

    /// Whether a request for these parameters would change nothing.
    func satisfies(_ request: ConnectionParameterUpdateRequest) -> Bool {
        (request.intervalMin...max(request.intervalMin, request.intervalMax))
            .contains(interval.steps)
            && latency == request.latency && supervisionTimeout == request.timeout
    }
}

/// What a session tells its host. `link` is the index of the link's slot.
enum SessionEvent: Equatable, Sendable {
    case ready
    case failed(ControllerFailure)
    case note(ControllerNote)
    /// A command of the host's own was answered.
    case answered(Opcode, HCIStatus)
    case connected(link: Int, ConnectionInformation)
    case connectionFailed(HCIStatus)
    case disconnected(link: Int, peer: DeviceAddress, HCIStatus)
    case connectionUpdated(link: Int)
    case phyUpdated(link: Int)
    /// The controller awaits `answerKey`.
    case keyRequested(link: Int, ediv: UInt16, rand: UInt64)
    case encryptionChanged(link: Int, isSuccess: Bool, isEnabled: Bool)
    case report(HeardAdvertisement)
    /// Advertising in a set has ended: for a connection on `link`, or since its time was over.
    case setTerminated(handle: UInt8, link: Int?)
    /// A scanner has asked a set for its scan response.
    case scanRequested(handle: UInt8, LinkAddress)
}

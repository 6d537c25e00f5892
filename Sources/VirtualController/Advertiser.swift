// One advertising set of a controller: parameters, data, and when each PDU is on the air.
import HCI
import SansIO
import Wire

/// An address with its type, as the air carries it.
struct AirAddress: Equatable {
    var isRandom: Bool
    var address: DeviceAddress

    var type: AddressType { isRandom ? .randomDevice : .publicDevice }
}

extension AdvertisingEventProperties {
    /// Those of Advertising_Type in LE Set Advertising Parameters (Core 6.0, Vol 4, Part E, 7.8.5).
    init?(legacyType: UInt8) {
        switch legacyType {
        case 0: self = [.connectable, .scannable, .legacy]
        case 1: self = [.connectable, .directed, .highDutyCycle, .legacy]
        case 2: self = [.scannable, .legacy]
        case 3: self = .legacy
        case 4: self = [.connectable, .directed, .legacy]
        default: return nil
        }
    }

    var isConnectable: Bool { contains(.connectable) }
    var isScannable: Bool { contains(.scannable) }
    var isDirected: Bool { contains(.directed) }
    var isHighDuty: Bool { contains(.highDutyCycle) }
    var isLegacy: Bool { contains(.legacy) }
    var isAnonymous: Bool { contains(.anonymous) }

    /// Event_Type of LE Advertising Report.
    var legacyReport: UInt8 {
        if isDirected { return 1 }
        if isConnectable { return 0 }
        return isScannable ? 2 : 3
    }

    /// Event_Type of LE Extended Advertising Report, whose first five bits are these but for one.
    var report: ExtendedEventType {
        ExtendedEventType(rawValue: rawValue & 0b1_0111)
    }
}

/// One advertiser: that of the legacy commands, or a set of the extended ones.
///
/// While nobody listens, events are skipped in a loop that draws the same advDelays as heard ones,
/// so what an advertiser does never depends on who hears it.
struct Advertiser {
    /// What ends next on the air.
    enum Step: Equatable {
        /// A PDU on a primary channel: the advertisement, or the pointer to it.
        case advertisement
        /// AUX_ADV_IND and the AUX_CHAIN_INDs behind it.
        case auxiliary
        case scanResponse
        /// CONNECT_IND from the controller on this port.
        case connectIndication(port: Int)
    }

    /// The controller's port; nil once the set has been removed.
    var port: Int?
    /// Nil for the legacy commands' advertiser.
    let handle: UInt8?

    var properties: AdvertisingEventProperties = [.connectable, .scannable, .legacy]
    /// Microseconds from one event to the next, advDelay not included.
    var interval: Int64 = 1_280_000
    var ownAddressType = AddressType.publicDevice
    var peer = AirAddress(isRandom: false, address: DeviceAddress())
    /// Bits 0, 1 and 2 for channels 37, 38 and 39.
    var channelMap: UInt8 = 0b111
    var filterPolicy: UInt8 = 0
    var data: [UInt8] = []
    var scanResponse: [UInt8] = []

    // What only the extended commands set.
    /// The set's own; the legacy advertiser has its controller's.
    var randomAddress: DeviceAddress?
    var primaryPHY = PHY.le1M
    var secondaryPHY = PHY.le1M
    /// In dBm.
    var power = Radio.transmitPower
    var sid: UInt8 = 0
    /// Advertising DID: another one for other data.
    var did: UInt16
    var notifiesScanRequests = false
    /// Whether fragments of the data or of the scan response are still to come.
    var isDataPartial = false
    var isResponsePartial = false
    var periodic = PeriodicTrain()

    private(set) var isEnabled = false
    /// The address in use since advertising was enabled.
    private(set) var address = AirAddress(isRandom: false, address: DeviceAddress())
    /// Whom a directed advertisement names on the air.
    private(set) var target = AirAddress(isRandom: false, address: DeviceAddress())
    /// When the controller takes other addresses; nil where they are the host's.
    private(set) var addressEnd: Instant?
    /// When the host's duration, or high duty cycle directed advertising, ends.
    private(set) var end: Instant?
    /// Events after which advertising ends; 0 is never.
    private(set) var eventsMax = 0
    private var eventsBefore = 0
    /// Events that are over, since the controller came into being.
    private(set) var events = 0
    private(set) var step = Step.advertisement
    private(set) var channel = 0
    private(set) var start = Instant.zero
    /// When what is on the air now ends.
    private(set) var stepEnd = Instant.zero
    /// Controllers that have heard where the auxiliary PDU of this event is.
    var followers = PortSet()
    /// Scanners that wait for the scan response.
    var requesters: [Int] = []

    private var eventStart = Instant.zero
    private var random: SeededRandom

    init(port: Int, handle: UInt8?, did: UInt16 = 0, random: SeededRandom) {
        self.port = port
        self.handle = handle
        self.did = did & 0x0FFF
        self.random = random
    }

    /// Back to what Reset leaves (Core 6.0, Vol 4, Part E, 7.3.2); advDelay goes on where it was.
    mutating func reset() {
        guard let port else { return }
        var fresh = Advertiser(port: port, handle: handle, random: random)
        fresh.events = events
        self = fresh
    }

    mutating func rename(_ own: AirAddress, target: AirAddress, until end: Instant?) {
        address = own
        self.target = target
        addressEnd = end
    }

    /// - Parameters: how long and how many events the host wants; nil and 0 are without end.
    mutating func enable(at now: Instant, duration: TimeSpan? = nil, eventsMax: Int = 0) {
        limit(from: now, duration: duration, eventsMax: eventsMax)
        isEnabled = true
        eventStart = now + .microseconds(Radio.firstAdvertisingEvent)
        beginEvent()
    }

    /// Sets the end of what is enabled, counted from now.
    mutating func limit(from now: Instant, duration: TimeSpan?, eventsMax: Int) {
        end = duration.map { now + $0 }
        self.eventsMax = eventsMax
        eventsBefore = events
    }

    /// Events that are over since advertising was enabled.
    var eventsDone: Int { events - eventsBefore }

    mutating func disable() { isEnabled = false }

    /// The next event's start; of one whose advDelay has not been drawn, where it is on average.
    func nextEvent(after now: Instant) -> Instant {
        guard eventStart < now else { return eventStart }
        return eventStart + .microseconds(interval + Radio.advertisingDelayMax / 2)
    }

    /// What a PDU on a primary channel takes.
    var airTime: Int64 {
        guard properties.isLegacy else {
            return Radio.airTime(octets: Radio.pointerOctets, phy: primaryPHY)
        }
        return Radio.airTime(octets: properties.isDirected ? 12 : 6 + data.count)
    }

    /// From the end of the last PDU on a primary channel to the event's end; 0 in legacy events.
    private var auxiliaryTime: Int64 {
        properties.isLegacy ? 0 : Radio.minimumAuxiliaryFrameSpace + advertisement.airTime
    }

    /// An event in which nobody answers.
    private var eventTime: Int64 {
        let channels = Int64(channelMap.nonzeroBitCount)
        return channels * airTime + (channels - 1) * Radio.channelChange + auxiliaryTime
    }

    /// The longest event, with a scan response, in microseconds.
    var longestEvent: Int64 {
        guard !properties.isLegacy, properties.isScannable else { return eventTime }
        return eventTime + requestTime + response.airTime
    }

    /// Skips the PDUs that are over at `now`, unheard, whole events of them in one short loop.
    mutating func skip(to now: Instant) {
        let limit = now.microseconds - eventTime
        var at = eventStart.microseconds
        var count = events
        var draws = random
        while at <= limit {
            at += nextEventSpan(&draws)
            count += 1
        }
        random = draws
        events = count
        eventStart = Instant(microseconds: at)
        beginEvent()
        while stepEnd <= now { advance() }
    }

    /// T_advEvent: interval and advDelay; high duty cycle directed advertising has no advDelay.
    private func nextEventSpan(_ draws: inout SeededRandom) -> Int64 {
        if properties.isHighDuty { return Radio.highDutyInterval }
        return interval + draws.below(Radio.advertisingDelayMax + 1)
    }

    private var firstChannel: Int { channelMap.trailingZeroBitCount }
    var isFirstChannel: Bool { channel == firstChannel }

    private mutating func beginEvent() {
        channel = firstChannel
        followers.removeAll()
        begin(.advertisement, at: eventStart, lasting: airTime)
    }

    private mutating func begin(_ next: Step, at time: Instant, lasting span: Int64) {
        step = next
        start = time
        stepEnd = time + .microseconds(span)
    }

    /// From the end of an advertisement to the start of the scan response.
    private var requestTime: Int64 {
        let phy = properties.isLegacy ? PHY.le1M : secondaryPHY
        return 2 * Radio.interFrameSpace + Radio.airTime(octets: Radio.scanRequestOctets, phy: phy)
    }

    /// Answers the scanners in `requesters`: SCAN_REQ, then the scan response.
    mutating func beginScanResponse() {
        let time =
            properties.isLegacy
            ? Radio.airTime(octets: 6 + scanResponse.count) : response.airTime
        begin(.scanResponse, at: stepEnd + .microseconds(requestTime), lasting: time)
    }

    mutating func beginConnectIndication(from port: Int) {
        let phy = properties.isLegacy ? PHY.le1M : secondaryPHY
        var time = Radio.airTime(octets: Radio.connectIndicationOctets, phy: phy)
        if !properties.isLegacy {
            time += Radio.interFrameSpace
            time += Radio.airTime(octets: Radio.connectResponseOctets, phy: phy)
        }
        begin(
            .connectIndication(port: port), at: stepEnd + .microseconds(Radio.interFrameSpace),
            lasting: time)
    }

    /// Goes on to the next channel, to the auxiliary PDU, or to the next event.
    mutating func advance() {
        // Answers to a legacy PDU are on its own channel, those to an auxiliary PDU end the event.
        guard step == .advertisement || properties.isLegacy else { return endEvent() }
        var next = channel + 1
        while next < Radio.advertisingChannels, channelMap >> UInt8(next) & 1 == 0 { next += 1 }
        guard next < Radio.advertisingChannels else {
            guard !properties.isLegacy else { return endEvent() }
            return begin(
                .auxiliary, at: stepEnd + .microseconds(Radio.minimumAuxiliaryFrameSpace),
                lasting: advertisement.airTime)
        }
        channel = next
        begin(.advertisement, at: stepEnd + .microseconds(Radio.channelChange), lasting: airTime)
    }

    private mutating func endEvent() {
        events += 1
        var draws = random
        eventStart = eventStart + .microseconds(nextEventSpan(&draws))
        random = draws
        beginEvent()
    }

    // MARK: Extended PDUs

    /// AUX_ADV_IND and what follows it; scannable ones have no data.
    var advertisement: AuxiliarySegment {
        AuxiliarySegment(
            headerOctets: headerOctets, dataOctets: properties.isScannable ? 0 : data.count,
            phy: secondaryPHY)
    }

    /// AUX_SCAN_RSP and what follows it: AdvA and ADI.
    var response: AuxiliarySegment {
        AuxiliarySegment(
            headerOctets: Radio.extendedHeaderOctets + 8, dataOctets: scanResponse.count,
            phy: secondaryPHY)
    }

    /// Octets before the data in AUX_ADV_IND: ADI, AdvA, TargetA, TxPower and SyncInfo.
    private var headerOctets: Int {
        var octets = Radio.extendedHeaderOctets + 2
        if !properties.isAnonymous { octets += 6 }
        if properties.isDirected { octets += 6 }
        if properties.contains(.includeTxPower) { octets += 1 }
        if periodic.isRunning { octets += Radio.syncInfoOctets }
        return octets
    }

    /// Whether the data are in the one PDU that a connectable advertisement has.
    var fitsOnePDU: Bool { headerOctets + data.count <= Radio.payloadOctetsMax }
}

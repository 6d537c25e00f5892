// Legacy advertising of one controller: parameters, data, and when each PDU is on the air.
import HCI
import SansIO
import Wire

/// An address with its type, as the air carries it.
struct AirAddress: Equatable {
    var isRandom: Bool
    var address: DeviceAddress

    var type: AddressType { isRandom ? .randomDevice : .publicDevice }
}

/// Advertising_Type of LE Set Advertising Parameters (Core 6.0, Vol 4, Part E, 7.8.5).
enum AdvertisingType: UInt8 {
    case connectableScannable = 0
    case directedHighDuty = 1
    case scannable = 2
    case nonConnectable = 3
    case directedLowDuty = 4

    var isDirected: Bool { self == .directedHighDuty || self == .directedLowDuty }
    var isConnectable: Bool { self == .connectableScannable || isDirected }
    var isScannable: Bool { self == .connectableScannable || self == .scannable }
    /// Event_Type of LE Advertising Report.
    var report: UInt8 { isDirected ? 1 : rawValue }
}

/// One controller's advertiser.
///
/// While nobody listens, events are skipped in a loop that draws the same advDelays as heard ones,
/// so what an advertiser does never depends on who hears it.
struct Advertiser {
    /// What ends next on the air.
    enum Step: Equatable {
        case advertisement
        case scanResponse
        /// CONNECT_IND from the controller on this port.
        case connectIndication(port: Int)
    }

    var type = AdvertisingType.connectableScannable
    /// Microseconds from one event to the next, advDelay not included.
    var interval: Int64 = 1_280_000
    var ownAddressType = AddressType.publicDevice
    var peer = AirAddress(isRandom: false, address: DeviceAddress())
    /// Bits 0, 1 and 2 for channels 37, 38 and 39.
    var channelMap: UInt8 = 0b111
    var filterPolicy: UInt8 = 0
    var data: [UInt8] = []
    var scanResponse: [UInt8] = []

    private(set) var isEnabled = false
    /// The address in use since advertising was enabled.
    private(set) var address = AirAddress(isRandom: false, address: DeviceAddress())
    /// Whom a directed advertisement names on the air.
    private(set) var target = AirAddress(isRandom: false, address: DeviceAddress())
    /// When the controller takes other addresses; nil where they are the host's.
    private(set) var addressEnd: Instant?
    /// When high duty cycle directed advertising ends.
    private(set) var end: Instant?
    /// Events that are over, since the controller came into being.
    private(set) var events = 0
    private(set) var step = Step.advertisement
    private(set) var channel = 0
    private(set) var start = Instant.zero
    /// When what is on the air now ends.
    private(set) var stepEnd = Instant.zero
    /// Scanners that wait for the scan response.
    var requesters: [Int] = []

    private var eventStart = Instant.zero
    private var random: SeededRandom

    init(random: SeededRandom) { self.random = random }

    /// Back to what Reset leaves (Core 6.0, Vol 4, Part E, 7.3.2); advDelay goes on where it was.
    mutating func reset() {
        var fresh = Advertiser(random: random)
        fresh.events = events
        self = fresh
    }

    mutating func rename(_ own: AirAddress, target: AirAddress, until end: Instant?) {
        address = own
        self.target = target
        addressEnd = end
    }

    mutating func enable(at now: Instant) {
        isEnabled = true
        end = type == .directedHighDuty ? now + .microseconds(Radio.highDutyDuration) : nil
        eventStart = now + .microseconds(Radio.firstAdvertisingEvent)
        beginEvent()
    }

    mutating func disable() { isEnabled = false }

    /// The next event's start; of one whose advDelay has not been drawn, where it is on average.
    func nextEvent(after now: Instant) -> Instant {
        guard eventStart < now else { return eventStart }
        return eventStart + .microseconds(interval + Radio.advertisingDelayMax / 2)
    }

    /// Octets of the advertising PDU behind its header.
    private var octets: Int { type.isDirected ? 12 : 6 + data.count }
    private var airTime: Int64 { Radio.airTime(octets: octets) }

    /// Skips the PDUs that are over at `now`, unheard, whole events of them in one short loop.
    mutating func skip(to now: Instant) {
        let channels = Int64(channelMap.nonzeroBitCount)
        let length = channels * airTime + (channels - 1) * Radio.channelChange
        let limit = now.microseconds - length
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
        if type == .directedHighDuty { return Radio.highDutyInterval }
        return interval + draws.below(Radio.advertisingDelayMax + 1)
    }

    private var firstChannel: Int { channelMap.trailingZeroBitCount }
    var isFirstChannel: Bool { channel == firstChannel }

    private mutating func beginEvent() {
        channel = firstChannel
        begin(.advertisement, at: eventStart, lasting: airTime)
    }

    private mutating func begin(_ next: Step, at time: Instant, lasting span: Int64) {
        step = next
        start = time
        stepEnd = time + .microseconds(span)
    }

    /// Answers the scanners in `requesters`: SCAN_REQ, then the scan response.
    mutating func beginScanResponse() {
        let request = 2 * Radio.interFrameSpace + Radio.airTime(octets: Radio.scanRequestOctets)
        let response = Radio.airTime(octets: 6 + scanResponse.count)
        begin(.scanResponse, at: stepEnd + .microseconds(request), lasting: response)
    }

    mutating func beginConnectIndication(from port: Int) {
        let time = Radio.airTime(octets: Radio.connectIndicationOctets)
        begin(
            .connectIndication(port: port), at: stepEnd + .microseconds(Radio.interFrameSpace),
            lasting: time)
    }

    /// Goes on to the next channel, or to the next event.
    mutating func advance() {
        var next = channel + 1
        while next < Radio.advertisingChannels, channelMap >> UInt8(next) & 1 == 0 { next += 1 }
        guard next < Radio.advertisingChannels else {
            events += 1
            var draws = random
            eventStart = eventStart + .microseconds(nextEventSpan(&draws))
            random = draws
            return beginEvent()
        }
        channel = next
        begin(.advertisement, at: stepEnd + .microseconds(Radio.channelChange), lasting: airTime)
    }
}

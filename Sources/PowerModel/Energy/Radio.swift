// What radio events cost: a chip at one voltage and one transmit power.
public import SansIO
import Wire

/// One advertising event, by what decides its cost.
public enum AdvertisingEvent: Hashable, Sendable {
    /// One PDU a channel.
    ///
    /// - Parameters:
    ///   - data: octets of advertising data, 0 to 31.
    ///   - listens: whether it is connectable or scannable.
    ///   - channels: how many of the three primary channels are used.
    case legacy(data: Int, listens: Bool, channels: Int = 3)
    /// ADV_EXT_IND on each primary channel, then AUX_ADV_IND on a secondary one and the
    /// AUX_CHAIN_INDs that have the rest of its data.
    case extended(
        listens: Bool, primary: RadioPHY, auxiliary: AuxiliaryPDUs, channels: Int = 3)
    /// AUX_SYNC_IND of a periodic advertising train and its AUX_CHAIN_INDs.
    case periodic(AuxiliaryPDUs)
}

/// PDUs on secondary channels that follow each other.
public struct AuxiliaryPDUs: Hashable, Sendable {
    public var count: Int
    /// What they take together, without the time between them.
    public var airTime: TimeSpan

    public init(count: Int, airTime: TimeSpan) {
        self.count = max(count, 1)
        self.airTime = airTime
    }
}

/// Charge and time of an event, by phase.
public struct EventCost: Equatable, Sendable {
    /// Microcoulombs by `RadioPhase.number`.
    public private(set) var charges: [Double]
    /// Microseconds that the chip does not sleep.
    public private(set) var time: Double

    public static let none = EventCost()

    private init() {
        charges = [Double](repeating: 0, count: RadioPhase.allCases.count)
        time = 0
    }

    /// The whole charge in microcoulombs.
    public var charge: Double { charges.reduce(0, +) }

    fileprivate mutating func add(
        _ phase: RadioPhase, _ count: Int, time: Double, current: Double
    ) {
        self.time += Double(count) * time
        // Microseconds times milliamperes are nanocoulombs.
        charges[phase.number] += Double(count) * time * current / 1_000
    }
}

/// A chip at one voltage and one transmit power.
public struct Radio: Equatable, Sendable {
    public let chip: SystemOnChip
    /// Volts.
    public let voltage: Double
    /// dBm.
    public let power: Int8
    private let transmitCurrent: Double
    private let factor: Double

    /// T_IFS in microseconds.
    private static let interFrameSpace = 150.0

    /// nil where the chip has no such transmit power, or cannot work at the voltage.
    public init?(_ chip: SystemOnChip, voltage: Double, power: Int8) {
        guard let setting = chip.transmit.first(where: { $0.power == power }),
            chip.supply.contains(voltage), voltage > 0
        else { return nil }
        self.chip = chip
        self.voltage = voltage
        self.power = power
        transmitCurrent = setting.current
        factor = Mathematics.pow(chip.referenceVoltage / voltage, chip.voltageExponent)
    }

    /// The largest current of an event in milliamperes at `voltage`.
    public var peakCurrent: Double { peakCurrent(at: voltage) }

    /// The same when the supply has fallen to `voltage`.
    public func peakCurrent(at voltage: Double) -> Double {
        let largest = chip.phases.map(\.current).max() ?? 0
        return max(largest, transmitCurrent)
            * Mathematics.pow(chip.referenceVoltage / max(voltage, 0.1), chip.voltageExponent)
    }

    /// What an advertising event takes when nobody answers.
    public func cost(of event: AdvertisingEvent) -> EventCost {
        switch event {
        case .legacy(let data, let listens, let channels):
            let used = min(max(channels, 1), 3)
            var cost = frame(channels: used)
            transmit(&cost, used, AdvertisingPDU.legacy(data: data), .le1M)
            if listens { listen(&cost, used) }
            return cost
        case .extended(let listens, let primary, let auxiliary, let channels):
            let used = min(max(channels, 1), 3)
            var cost = frame(channels: used + auxiliary.count)
            transmit(&cost, used, AdvertisingPDU.extendedIndication, primary)
            transmit(&cost, 1, auxiliary.airTime)
            // Requests follow the auxiliary packet only.
            if listens { listen(&cost, 1) }
            return cost
        case .periodic(let auxiliary):
            var cost = frame(channels: auxiliary.count)
            transmit(&cost, 1, auxiliary.airTime)
            return cost
        }
    }

    /// What a scan request and its response add to the event they belong to.
    ///
    /// - Parameter data: octets of scan response data.
    public func costOfScanResponse(data: Int) -> EventCost {
        var cost = EventCost.none
        let request = Double(AdvertisingPDU.scanRequest.airTime().microseconds)
        let listened = chip[.receive].time
        add(
            &cost, .receive, 1,
            PhaseCost(
                time: max(request - listened, 0), current: chip[.receive].current))
        add(
            &cost, .transmitToReceive, 1,
            PhaseCost(
                time: Self.interFrameSpace, current: chip[.transmitToReceive].current))
        transmit(&cost, 1, AdvertisingPDU.legacy(data: data), .le1M)
        return cost
    }

    /// What a connection event takes on 1M: the central's packet is received and one is sent.
    ///
    /// - Parameters:
    ///   - received: octets behind the header of the central's packet.
    ///   - sent: the same of the packet that answers it.
    public func costOfConnectionEvent(received: Int = 0, sent: Int = 0) -> EventCost {
        var cost = frame(channels: 1)
        let receive = Double(RadioPHY.le1M.airTime(payload: received).microseconds)
        add(
            &cost, .receive, 1,
            PhaseCost(
                // The window opens earlier, as the first listening of an advertising event does.
                time: chip[.receive].time + receive, current: chip[.receive].current))
        add(
            &cost, .transmitToReceive, 1,
            PhaseCost(
                time: Self.interFrameSpace, current: chip[.transmitToReceive].current))
        let send = Double(RadioPHY.le1M.airTime(payload: sent).microseconds)
        add(&cost, .transmit, 1, PhaseCost(time: send, current: transmitCurrent))
        return cost
    }

    /// Everything around the packets.
    private func frame(channels: Int) -> EventCost {
        var cost = EventCost.none
        for phase in [
            RadioPhase.processing, .preProcessing, .crystalRamp, .standby, .radioStart,
            .postProcessing,
        ] { add(&cost, phase, 1, chip[phase]) }
        add(&cost, .radioRestart, channels - 1, chip[.radioRestart])
        add(&cost, .channelChange, channels - 1, chip[.channelChange])
        return cost
    }

    private func listen(_ cost: inout EventCost, _ channels: Int) {
        add(&cost, .transmitToReceive, channels, chip[.transmitToReceive])
        add(&cost, .receive, channels, chip[.receive])
    }

    private func transmit(
        _ cost: inout EventCost, _ count: Int, _ pdu: AdvertisingPDU, _ phy: RadioPHY
    ) {
        transmit(&cost, count, pdu.airTime(phy))
    }

    private func transmit(_ cost: inout EventCost, _ count: Int, _ airTime: TimeSpan) {
        let time = Double(airTime.microseconds)
        add(&cost, .transmit, count, PhaseCost(time: time, current: transmitCurrent))
    }

    private func add(
        _ cost: inout EventCost, _ phase: RadioPhase, _ count: Int, _ each: PhaseCost
    ) {
        cost.add(phase, count, time: each.time, current: each.current * factor)
    }

    /// The mean current in microamperes of one event each `interval` and advDelay.
    ///
    /// - Parameter interval: milliseconds.
    public func averageCurrent(of cost: EventCost, interval: Double) -> Double {
        Self.averageCurrent(
            charge: cost.charge, length: cost.time / 1_000, interval: interval, sleep: chip.sleep)
    }

    /// The law of the mean: I = Q / (T + 5 ms) + I_sleep (1 - L / (T + 5 ms)).
    ///
    /// - Parameters:
    ///   - charge: microcoulombs of one event.
    ///   - length: milliseconds of one event.
    ///   - interval: milliseconds.
    ///   - sleep: microamperes.
    public static func averageCurrent(
        charge: Double, length: Double, interval: Double, sleep: Double
    ) -> Double {
        let period = interval + meanAdvertisingDelay
        guard period > 0 else { return 0 }
        return charge * 1_000 / period + sleep * (1 - min(length / period, 1))
    }

    /// Milliseconds: advDelay is uniform from 0 to 10 ms (Core 6.0, Vol 6, Part B, 4.4.2.2.1).
    public static let meanAdvertisingDelay = 5.0
}

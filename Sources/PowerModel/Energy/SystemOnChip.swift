// A chip's radio as phases of known duration and current, and what it draws asleep.

/// A phase of a radio event. Raw values are the keys of the chips' files.
public enum RadioPhase: String, CaseIterable, Sendable {
    /// Everything around the packets, where nobody has told its parts apart.
    case processing
    case preProcessing = "pre-processing"
    case crystalRamp = "crystal-ramp"
    /// Before the radio starts.
    case standby
    /// Of the first channel.
    case radioStart = "radio-start"
    /// Of each other channel.
    case radioRestart = "radio-restart"
    case transmit
    /// Connectable and scannable events only, once a channel; so is `receive`.
    case transmitToReceive = "transmit-to-receive"
    /// Listening for a request that does not come.
    case receive
    /// Standby between two channels.
    case channelChange = "channel-change"
    case postProcessing = "post-processing"

    /// The parts of `processing`, which a file has all or none of.
    public static let partsOfProcessing: [RadioPhase] = [
        .preProcessing, .crystalRamp, .standby, .radioStart, .radioRestart, .channelChange,
        .postProcessing,
    ]

    /// The place in lists with one element a phase.
    public var number: Int {
        switch self {
        case .processing: 0
        case .preProcessing: 1
        case .crystalRamp: 2
        case .standby: 3
        case .radioStart: 4
        case .radioRestart: 5
        case .transmit: 6
        case .transmitToReceive: 7
        case .receive: 8
        case .channelChange: 9
        case .postProcessing: 10
        }
    }
}

/// What one phase takes.
public struct PhaseCost: Equatable, Sendable {
    /// Microseconds.
    public var time: Double
    /// Milliamperes at the chip's reference voltage.
    public var current: Double

    public init(time: Double, current: Double) {
        self.time = time
        self.current = current
    }

    public static let none = PhaseCost(time: 0, current: 0)
}

/// What the transmitter draws at one setting.
public struct TransmitCurrent: Equatable, Sendable {
    /// dBm.
    public var power: Int8
    /// Milliamperes at the chip's reference voltage.
    public var current: Double

    public init(power: Int8, current: Double) {
        self.power = power
        self.current = current
    }
}

/// A chip with a Bluetooth radio.
public struct SystemOnChip: Equatable, Sendable {
    public var name: String
    /// The voltage at which the currents of phases hold.
    public var referenceVoltage: Double
    /// The lowest and the highest supply, in volts.
    public var supply: ClosedRange<Double>
    /// n of the law charge ~ (reference / voltage)^n: 0 behind a linear regulator, near 1 behind an
    /// ideal converter, as each event then takes the same energy.
    public var voltageExponent: Double
    /// Microamperes asleep, with memory kept and the clock for the next event running.
    public var sleep: Double
    /// Time and current by `RadioPhase.number`; a transmission's time is its packet's.
    public var phases: [PhaseCost]
    /// By power.
    public var transmit: [TransmitCurrent]

    /// - Parameter phases: those that the chip has; the others take nothing.
    public init(
        name: String, referenceVoltage: Double, supply: ClosedRange<Double>,
        voltageExponent: Double, sleep: Double, phases: [(RadioPhase, PhaseCost)],
        transmit: [TransmitCurrent]
    ) {
        self.name = name
        self.referenceVoltage = referenceVoltage
        self.supply = supply
        self.voltageExponent = voltageExponent
        self.sleep = sleep
        self.phases = [PhaseCost](repeating: .none, count: RadioPhase.allCases.count)
        for (phase, cost) in phases { self.phases[phase.number] = cost }
        self.transmit = transmit.sorted { $0.power < $1.power }
    }

    public subscript(phase: RadioPhase) -> PhaseCost { phases[phase.number] }
}

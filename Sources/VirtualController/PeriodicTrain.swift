// Periodic advertising of one set: its parameters and data.
import HCI
import SansIO
import Wire

/// A set's periodic advertising train (Core 6.0, Vol 6, Part B, 4.4.2.12).
struct PeriodicTrain {
    /// In steps of 1.25 ms; 0 until the host has set it.
    var interval: UInt16 = 0
    var data: [UInt8] = []
    /// Whether the host wants it.
    var isEnabled = false
    /// Whether the train is on the air.
    private(set) var isRunning = false
}

extension Air {
    mutating func beginTrain(_ set: Int) {}
    mutating func endTrain(_ set: Int) {}
    mutating func stepTrain(_ set: Int) {}
    mutating func servePeriodic(_ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int) -> Bool {
        false
    }
}

// What encrypted advertising data count, so that receivers do not take them for replays.
import Advertising
import SansIO

/// A counter that rises over restarts too, without being kept: it is the time.
///
/// It counts quarters of a second and never runs ahead of them by more than one, so that what a
/// device begins with is above all that it sent before it was restarted. 32 bits last for 34 years,
/// here from 2025 on; then it begins anew.
struct EncryptionCounter: Sendable {
    private(set) var value: UInt32 = 0
    private var hasBegun = false

    /// Microseconds in one step, and between two updates at least.
    static let step: Int64 = BeaconKey.updateMin.microseconds
    /// 2025-01-01T00:00:00Z; before it the counter runs up to its end.
    private static let epoch: Int64 = 1_735_689_600_000_000

    /// Rises to the time, where that has come further.
    ///
    /// - Parameter isForced: it rises by one at least: what it counts must be another.
    /// - Returns: false where it is as it was.
    mutating func rise(at unixMicroseconds: Int64, isForced: Bool) -> Bool {
        let time = UInt32(
            truncatingIfNeeded: (unixMicroseconds - Self.epoch) / Self.step)
        guard hasBegun else {
            hasBegun = true
            // One more than the time: who is restarted at once begins above it too.
            value = time &+ 1
            return true
        }
        // The difference is right across the end of 32 bits.
        let isBehind = Int32(bitPattern: time &- value) > 0
        guard isBehind || isForced else { return false }
        value = isBehind ? time : value &+ 1
        return true
    }
}

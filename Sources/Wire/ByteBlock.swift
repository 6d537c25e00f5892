// A reused block of octets that packets are written into, little-endian, with lengths patched in
// place.

/// Octets being written, in memory that is kept when the block is emptied.
///
/// Encoders append to it; a driver writes `bytes` out and calls `removeAll`. In steady state no
/// call
/// allocates. Multi-octet integers are little-endian, as everywhere in Bluetooth LE.
public struct ByteBlock: Sendable {
    /// The octets written so far. Look at them through `bytes.span`.
    public internal(set) var bytes: [UInt8]

    /// - Parameter capacity: octets the block holds before it first grows.
    public init(capacity: Int = 1024) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// How many octets have been written.
    @inlinable public var count: Int { bytes.count }
    @inlinable public var isEmpty: Bool { bytes.isEmpty }

    /// Empties the block and keeps its memory.
    public mutating func removeAll() {
        // Mostly there is nothing, and finding that out is cheaper.
        if !bytes.isEmpty { bytes.removeAll(keepingCapacity: true) }
    }

    /// Drops the octets from `count` on: undoes an append that turned out not to fit.
    public mutating func truncate(to count: Int) {
        guard count < bytes.count else { return }
        bytes.removeLast(bytes.count - max(count, 0))
    }

    /// Drops the first `count` octets, those that a partial write has taken.
    public mutating func removeFirst(_ count: Int) {
        bytes.removeFirst(min(max(count, 0), bytes.count))
    }

    public mutating func append(_ value: UInt8) { bytes.append(value) }

    public mutating func append(_ value: UInt16) {
        bytes.append(UInt8(truncatingIfNeeded: value))
        bytes.append(UInt8(truncatingIfNeeded: value &>> 8))
    }

    public mutating func append(_ value: UInt32) {
        append(UInt16(truncatingIfNeeded: value))
        append(UInt16(truncatingIfNeeded: value &>> 16))
    }

    /// Appends the lowest octets of `value`, at most all 8.
    public mutating func append(_ value: UInt64, octets: Int) {
        withUnsafeBytes(of: value.littleEndian) {
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0.prefix(octets)))
        }
    }

    /// Appends `values`, one bulk copy.
    public mutating func append(_ values: [UInt8]) { bytes.append(contentsOf: values) }

    /// Appends `values`, one bulk copy.
    public mutating func append(_ values: Span<UInt8>) {
        values.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    /// Appends the octets of `values` in `range`, which lies within it: one bulk copy. A stored
    /// array
    /// goes in this way without its owner being copied.
    public mutating func append(_ values: [UInt8], in range: Range<Int>) {
        values.withUnsafeBufferPointer {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: $0[range]))
        }
    }

    /// Overwrites the octet at `offset`, which has been written before.
    public mutating func patch(_ value: UInt8, at offset: Int) { bytes[offset] = value }

    /// Overwrites the two octets at `offset`, which have been written before.
    public mutating func patch(_ value: UInt16, at offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: value)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: value &>> 8)
    }
}

extension Span<UInt8> {
    /// The little-endian 16-bit integer at `offset`; the caller has checked that two octets are
    /// there.
    @inlinable public func uint16(at offset: Int) -> UInt16 {
        UInt16(self[offset]) | UInt16(self[offset + 1]) &<< 8
    }

    /// A copy of the octets, for what is kept longer than the call.
    public func copied() -> [UInt8] {
        withUnsafeBufferPointer { [UInt8]($0) }
    }

    /// A copy of the octets in `range`, which lies within the span.
    public func copied(_ range: Range<Int>) -> [UInt8] {
        extracting(range).copied()
    }
}

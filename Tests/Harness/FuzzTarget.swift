// The fuzzers' targets: each takes any octets, checks what must hold, and never traps otherwise.

/// One parser or state machine that a fuzzer or a test feeds.
public struct FuzzTarget: Sendable {
    /// What `Tools/fuzz` calls it.
    public let name: String
    /// Takes any octets; a broken invariant ends the process with a sentence.
    public let run: @Sendable ([UInt8]) -> Void
    /// Inputs to begin with, made by the product itself.
    public let seeds: @Sendable () -> [[UInt8]]

    /// Every target.
    public static let all = [
        FuzzTarget(name: "ad", run: ADFuzz.run, seeds: ADFuzz.seeds),
        FuzzTarget(name: "air", run: AirFuzz.run, seeds: AirFuzz.seeds),
        FuzzTarget(name: "att", run: ATTFuzz.run, seeds: ATTFuzz.seeds),
        FuzzTarget(name: "att-operations", run: ATTOperationsFuzz.run, seeds: { [] }),
        FuzzTarget(name: "beacons", run: BeaconFuzz.run, seeds: BeaconFuzz.seeds),
        FuzzTarget(name: "control", run: ControlFuzz.run, seeds: ControlFuzz.seeds),
        FuzzTarget(name: "hci", run: HCIFuzz.run, seeds: HCIFuzz.seeds),
        FuzzTarget(name: "l2cap", run: L2CAPFuzz.run, seeds: L2CAPFuzz.seeds),
        FuzzTarget(name: "smp", run: SMPFuzz.run, seeds: SMPFuzz.seeds),
        FuzzTarget(name: "yaml", run: YAMLFuzz.run, seeds: YAMLFuzz.seeds),
    ]

    public static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Octets taken from the front; what is not there is zero.
struct FuzzInput {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isEmpty: Bool { offset >= bytes.count }

    mutating func octet() -> UInt8 {
        guard offset < bytes.count else { return 0 }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func uint16() -> UInt16 { UInt16(octet()) | UInt16(octet()) << 8 }

    /// Up to `count` octets.
    mutating func octets(_ count: Int) -> [UInt8] {
        let end = min(offset + count, bytes.count)
        defer { offset = end }
        return Array(bytes[offset..<end])
    }

    /// All that is left.
    mutating func rest() -> [UInt8] { octets(bytes.count - offset) }
}

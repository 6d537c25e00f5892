// Auxiliary PDUs on the secondary channels: how many there are and how long they take.

/// One auxiliary PDU and the AUX_CHAIN_INDs that have the rest of its data (Core 6.0, Vol 6, Part
/// B, 2.3.1.8).
struct AuxiliarySegment: Equatable {
    /// PDUs on the air, at least one.
    let pduCount: Int
    /// From the start of the first to the end of the last, in microseconds.
    let airTime: Int64
    /// Octets of data in the first PDU.
    let firstOctets: Int
    let dataOctets: Int

    /// - Parameter headerOctets: what stands before the data in the first PDU, AuxPtr excluded.
    init(headerOctets: Int, dataOctets: Int, phy: UInt8) {
        self.dataOctets = dataOctets
        let room = Radio.payloadOctetsMax - headerOctets
        guard dataOctets > room else {
            firstOctets = dataOctets
            pduCount = 1
            airTime = Radio.airTime(octets: headerOctets + dataOctets, phy: phy)
            return
        }
        // A PDU that is not the last one has a pointer to the next one.
        firstOctets = max(room - Radio.pointerFieldOctets, 0)
        var rest = dataOctets - firstOctets
        var time = Radio.airTime(octets: Radio.payloadOctetsMax, phy: phy)
        var count = 1
        while rest > 0 {
            let header = Radio.chainHeaderOctets
            let isLast = rest <= Radio.payloadOctetsMax - header
            let octets = isLast ? rest : Radio.payloadOctetsMax - header - Radio.pointerFieldOctets
            let payload = header + octets + (isLast ? 0 : Radio.pointerFieldOctets)
            time += Radio.minimumAuxiliaryFrameSpace + Radio.airTime(octets: payload, phy: phy)
            rest -= octets
            count += 1
        }
        pduCount = count
        airTime = time
    }

    /// What the PDUs take by themselves, without the time between them.
    var transmitTime: Int64 { airTime - Int64(pduCount - 1) * Radio.minimumAuxiliaryFrameSpace }

    /// Octets of data in the first `count` PDUs.
    func octets(in count: Int) -> Int {
        guard count > 0 else { return 0 }
        let each =
            Radio.payloadOctetsMax - Radio.chainHeaderOctets - Radio.pointerFieldOctets
        return min(firstOctets + (count - 1) * each, dataOctets)
    }
}

/// Ports of controllers, in ascending order.
struct PortSet: Equatable {
    private var words = InlineArray<16, UInt64>(repeating: 0)
    private(set) var isEmpty = true

    mutating func insert(_ port: Int) {
        words[port / 64] |= 1 << UInt64(port % 64)
        isEmpty = false
    }

    mutating func remove(_ port: Int) {
        words[port / 64] &= ~(1 << UInt64(port % 64))
        isEmpty = words.indices.allSatisfy { words[$0] == 0 }
    }

    mutating func removeAll() {
        guard !isEmpty else { return }
        self = PortSet()
    }

    /// The first port that is not below `port`.
    func next(from port: Int) -> Int? {
        guard !isEmpty else { return nil }
        var index = port / 64
        var mask = UInt64.max << UInt64(port % 64)
        while index < 16 {
            let word = words[index] & mask
            if word != 0 { return index * 64 + word.trailingZeroBitCount }
            index += 1
            mask = .max
        }
        return nil
    }

    static func == (left: PortSet, right: PortSet) -> Bool {
        left.words.indices.allSatisfy { left.words[$0] == right.words[$0] }
    }
}

// How long packets are on the air, on every PHY (Core 6.0, Vol 6, Part B, 2.1 and 2.2).
public import SansIO

/// A PHY, with the coding of LE Coded.
public enum RadioPHY: String, CaseIterable, Sendable {
    case le1M = "1M"
    case le2M = "2M"
    /// LE Coded at 500 kbit/s.
    case codedS2 = "coded-S2"
    /// LE Coded at 125 kbit/s.
    case codedS8 = "coded-S8"

    /// From the first bit of the preamble to the last bit of the CRC, or of the second terminator.
    ///
    /// - Parameter payload: octets behind the PDU's header, 0 to 255.
    public func airTime(payload: Int) -> TimeSpan {
        let octets = Int64(min(max(payload, 0), 255))
        switch self {
        case .le1M: return .microseconds(80 + 8 * octets)
        case .le2M: return .microseconds(44 + 4 * octets)
        case .codedS2: return .microseconds(376 + 43 * 2 + 16 * octets)
        case .codedS8: return .microseconds(376 + 43 * 8 + 64 * octets)
        }
    }
}

/// The PDUs of advertising by their payloads (Core 6.0, Vol 6, Part B, 2.3).
public enum AdvertisingPDU: Hashable, Sendable {
    /// ADV_IND, ADV_NONCONN_IND, ADV_SCAN_IND or SCAN_RSP with 0 to 31 octets of data.
    case legacy(data: Int)
    case directed
    case scanRequest
    case connectIndication
    /// ADV_EXT_IND with ADI and AuxPtr.
    case extendedIndication
    /// AUX_ADV_IND with AdvA and ADI, and 0 to 245 octets of data.
    case auxiliary(data: Int)

    /// Octets behind the PDU's header.
    public var payload: Int {
        switch self {
        case .legacy(let data): 6 + min(max(data, 0), 31)
        case .directed, .scanRequest: 12
        case .connectIndication: 34
        // Header's length and mode 1, its flags 1, ADI 2, AuxPtr 3.
        case .extendedIndication: 7
        // Header's length and mode 1, its flags 1, AdvA 6, ADI 2.
        case .auxiliary(let data): 10 + min(max(data, 0), 245)
        }
    }

    public func airTime(_ phy: RadioPHY = .le1M) -> TimeSpan { phy.airTime(payload: payload) }
}

// What a scanning host has heard, whichever commands it scans by, with its data whole.
import HCI
public import Wire

/// One advertisement or scan response.
public struct HeardAdvertisement: Equatable, Sendable {
    public var address: DeviceAddress
    public var addressType: AddressType
    /// In dBm; 127 is not available.
    public var rssi: Int8
    public var isConnectable: Bool
    public var isScannable: Bool
    public var isScanResponse: Bool
    /// Up to 1,650 octets.
    public var data: [UInt8]
    /// Of extended PDUs; nil where they are legacy ones.
    public var extended: Extended?

    /// What only extended PDUs have.
    public struct Extended: Equatable, Sendable {
        /// 1 LE 1M, 2 LE 2M, 3 LE Coded.
        public var primaryPHY: UInt8
        /// 0 where there was nothing on the secondary channel.
        public var secondaryPHY: UInt8
        /// 0 to 15; 255 where the PDU had none.
        public var sid: UInt8
        /// In 1.25 ms; 0 where no periodic train is announced.
        public var trainInterval: UInt16
        /// Whether the rest of the data was not received.
        public var isTruncated: Bool
    }
}

extension HeardAdvertisement {
    /// Event_Type of LE Advertising Report (Core 6.0, Vol 4, Part E, 7.7.65.2).
    init(_ report: LEAdvertisingReport.Report) {
        self.init(
            address: report.address, addressType: report.addressType, rssi: report.rssi,
            isConnectable: report.eventType <= 1,
            isScannable: report.eventType == 0 || report.eventType == 2,
            isScanResponse: report.eventType == 4, data: report.data)
    }

    init(_ report: LEExtendedAdvertisingReport.Report) {
        let type = report.eventType
        self.init(
            address: report.address, addressType: report.addressType, rssi: report.rssi,
            isConnectable: type.contains(.connectable), isScannable: type.contains(.scannable),
            isScanResponse: type.contains(.scanResponse), data: report.data)
        guard !type.contains(.legacy) else { return }
        extended = Extended(
            primaryPHY: report.primaryPHY, secondaryPHY: report.secondaryPHY,
            sid: report.advertisingSid, trainInterval: report.periodicAdvertisingInterval,
            isTruncated: type.contains(.truncated))
    }
}

/// Joins the parts in which a controller reports long advertising data (Core 6.0, Vol 4, Part E,
/// 7.7.65.13).
struct AdvertisementParts: Sendable {
    private var open: [HeardAdvertisement] = []

    /// Advertisements whose parts are awaited at once, and octets of one; more is the peer's fault.
    static let openMax = 64
    static let octetsMax = 1650

    /// The whole advertisement with its last part; nil before.
    mutating func take(_ report: LEExtendedAdvertisingReport.Report) -> HeardAdvertisement? {
        var heard = HeardAdvertisement(report)
        let index = open.firstIndex { heard.isPart(of: $0) }
        if let index { heard.data = open.remove(at: index).data + heard.data }
        guard heard.data.count <= Self.octetsMax else { return nil }
        guard report.eventType.contains(.moreToCome) else { return heard }
        if open.count == Self.openMax { open.removeFirst() }
        open.append(heard)
        return nil
    }
}

extension HeardAdvertisement {
    fileprivate func isPart(of other: HeardAdvertisement) -> Bool {
        address == other.address && addressType == other.addressType
            && isScanResponse == other.isScanResponse && extended?.sid == other.extended?.sid
    }
}

// Commands and events of scanning and initiating on several PHYs.
public import Wire

extension Opcode {
    public static let leSetExtendedScanParameters = Opcode(rawValue: 0x2041)
    public static let leSetExtendedScanEnable = Opcode(rawValue: 0x2042)
    public static let leExtendedCreateConnection = Opcode(rawValue: 0x2043)
}

extension LESubevent {
    public static let scanTimeout = LESubevent(rawValue: 0x11)
}

/// LE Set Extended Scan Parameters (Core 6.0, Vol 4, Part E, 7.8.64).
public struct LESetExtendedScanParameters: HCICommand {
    public static let opcode = Opcode.leSetExtendedScanParameters
    public typealias Return = StatusOnly

    /// Scanning on one PHY; interval and window in 0.625 ms.
    public struct Entry: Record {
        public var scanType: UInt8 = 0
        public var scanInterval: UInt16 = 0
        public var scanWindow: UInt16 = 0
        public init() {}
        public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
            try visitor.field("scan_type", &scanType)
            try visitor.field("scan_interval", &scanInterval)
            try visitor.field("scan_window", &scanWindow)
        }
    }

    public var ownAddressType: AddressType = .publicDevice
    public var filterPolicy: UInt8 = 0
    /// Bit 0 is LE 1M, bit 2 LE Coded; as many entries follow, in the order of the bits.
    public var scanningPHYs: UInt8 = 0
    public var entries: [Entry] = []
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("own_address_type", &ownAddressType)
        try visitor.field("filter_policy", &filterPolicy)
        try visitor.field("scanning_phys", &scanningPHYs)
        try visitor.list("phys", &entries, count: scanningPHYs.nonzeroBitCount)
    }
}

/// LE Set Extended Scan Enable (Core 6.0, Vol 4, Part E, 7.8.65). Duration in 10 ms, period in 1.28
/// s; 0 is without end and without repetition.
public struct LESetExtendedScanEnable: HCICommand {
    public static let opcode = Opcode.leSetExtendedScanEnable
    public typealias Return = StatusOnly
    public var enable: UInt8 = 0
    /// 0 off, 1 on, 2 on and anew each period.
    public var filterDuplicates: UInt8 = 0
    public var duration: UInt16 = 0
    public var period: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("enable", &enable)
        try visitor.field("filter_duplicates", &filterDuplicates)
        try visitor.field("duration", &duration)
        try visitor.field("period", &period)
    }
}

/// LE Extended Create Connection [v1] (Core 6.0, Vol 4, Part E, 7.8.66).
public struct LEExtendedCreateConnection: HCICommand {
    public static let opcode = Opcode.leExtendedCreateConnection
    public typealias Return = StatusOnly

    /// Initiating on one PHY. Scan times in 0.625 ms, connection intervals in 1.25 ms, time-out in
    /// 10 ms.
    public struct Entry: Record {
        public var scanInterval: UInt16 = 0
        public var scanWindow: UInt16 = 0
        public var intervalMin: UInt16 = 0
        public var intervalMax: UInt16 = 0
        public var maxLatency: UInt16 = 0
        public var supervisionTimeout: UInt16 = 0
        public var minCeLength: UInt16 = 0
        public var maxCeLength: UInt16 = 0
        public init() {}
        public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
            try visitor.field("scan_interval", &scanInterval)
            try visitor.field("scan_window", &scanWindow)
            try visitor.field("interval_min", &intervalMin)
            try visitor.field("interval_max", &intervalMax)
            try visitor.field("max_latency", &maxLatency)
            try visitor.field("supervision_timeout", &supervisionTimeout)
            try visitor.field("min_ce_length", &minCeLength)
            try visitor.field("max_ce_length", &maxCeLength)
        }
    }

    public var initiatorFilterPolicy: UInt8 = 0
    public var ownAddressType: AddressType = .publicDevice
    public var peerAddressType: AddressType = .publicDevice
    public var peerAddress = DeviceAddress()
    /// Bit 0 is LE 1M, bit 1 LE 2M, bit 2 LE Coded; as many entries follow, in the order of the
    /// bits.
    public var initiatingPHYs: UInt8 = 0
    public var entries: [Entry] = []
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("initiator_filter_policy", &initiatorFilterPolicy)
        try visitor.field("own_address_type", &ownAddressType)
        try visitor.field("peer_address_type", &peerAddressType)
        try visitor.field("peer_address", &peerAddress)
        try visitor.field("initiating_phys", &initiatingPHYs)
        try visitor.list("phys", &entries, count: initiatingPHYs.nonzeroBitCount)
    }
}

/// LE Extended Advertising Report (Core 6.0, Vol 4, Part E, 7.7.65.13).
public struct LEExtendedAdvertisingReport: LEMetaEvent {
    public static let leSubevent = LESubevent.extendedAdvertisingReport

    /// One report.
    public struct Report: Record {
        public var eventType = ExtendedEventType()
        /// 0xFF is an anonymous advertiser, whose address is none.
        public var addressType: AddressType = .publicDevice
        public var address = DeviceAddress()
        /// 1 LE 1M, 3 LE Coded.
        public var primaryPHY: UInt8 = 1
        /// 0 where there was nothing on the secondary channel.
        public var secondaryPHY: UInt8 = 0
        /// 0xFF: the PDU had none.
        public var advertisingSid: UInt8 = 0xFF
        /// In dBm; 127 is not available.
        public var txPower: Int8 = 127
        /// In dBm; 127 is not available.
        public var rssi: Int8 = 127
        /// In 1.25 ms; 0 is no periodic advertising.
        public var periodicAdvertisingInterval: UInt16 = 0
        public var directAddressType: AddressType = .publicDevice
        public var directAddress = DeviceAddress()
        /// Up to 229 octets.
        public var data: [UInt8] = []
        public init() {}
        public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
            try visitor.field("event_type", &eventType)
            try visitor.field("address_type", &addressType)
            try visitor.field("address", &address)
            try visitor.field("primary_phy", &primaryPHY)
            try visitor.field("secondary_phy", &secondaryPHY)
            try visitor.field("advertising_sid", &advertisingSid)
            try visitor.field("tx_power", &txPower)
            try visitor.field("rssi", &rssi)
            try visitor.field("periodic_advertising_interval", &periodicAdvertisingInterval)
            try visitor.field("direct_address_type", &directAddressType)
            try visitor.field("direct_address", &directAddress)
            var length = UInt8(truncatingIfNeeded: data.count)
            try visitor.field("data_length", &length)
            try visitor.field("data", &data, count: Int(length))
        }
    }

    /// The most octets of data that one event holds: 255 without the subevent code, the count and
    /// the other fields of a report.
    public static let dataOctetsMax = 229

    public var reports: [Report] = []
    public init() {}
    public init(_ reports: [Report]) { self.reports = reports }
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        var count = UInt8(truncatingIfNeeded: reports.count)
        try visitor.field("num_reports", &count)
        try visitor.list("reports", &reports, count: Int(count))
    }
}

/// Event_Type of LE Extended Advertising Report (Core 6.0, Vol 4, Part E, 7.7.65.13).
public struct ExtendedEventType: OptionSet, OpenCode {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let connectable = Self(rawValue: 1 << 0)
    public static let scannable = Self(rawValue: 1 << 1)
    public static let directed = Self(rawValue: 1 << 2)
    public static let scanResponse = Self(rawValue: 1 << 3)
    public static let legacy = Self(rawValue: 1 << 4)
    /// The data go on in the next report of this advertisement.
    public static let moreToCome = Self(rawValue: 1 << 5)
    /// The data end here because the rest was not received.
    public static let truncated = Self(rawValue: 1 << 6)
}

/// LE Scan Timeout (Core 6.0, Vol 4, Part E, 7.7.65.17).
public struct LEScanTimeout: LEMetaEvent {
    public static let leSubevent = LESubevent.scanTimeout
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

// Records with lists: advertising reports and completed packets.
public import Wire

/// LE Advertising Report (Core 6.0, Vol 4, Part E, 7.7.65.2).
public struct LEAdvertisingReport: LEMetaEvent {
    public static let leSubevent = LESubevent.advertisingReport

    /// One report. `eventType`: 0 ADV_IND, 1 ADV_DIRECT_IND, 2 ADV_SCAN_IND, 3 ADV_NONCONN_IND, 4
    /// SCAN_RSP.
    public struct Report: Record {
        public var eventType: UInt8 = 0
        public var addressType: AddressType = .publicDevice
        public var address = DeviceAddress()
        /// Up to 31 octets.
        public var data: [UInt8] = []
        /// In dBm; 127 is not available.
        public var rssi: Int8 = 0
        public init() {}
        public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
            try visitor.field("event_type", &eventType)
            try visitor.field("address_type", &addressType)
            try visitor.field("address", &address)
            var length = UInt8(truncatingIfNeeded: data.count)
            try visitor.field("data_length", &length)
            try visitor.field("data", &data, count: Int(length))
            try visitor.field("rssi", &rssi)
        }
    }

    public var reports: [Report] = []
    public init() {}
    public init(_ reports: [Report]) { self.reports = reports }
    /// Reports follow one another here, as Linux and all known controllers send them; controllers
    /// use one report an event, where both readings of the specification are the same.
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        var count = UInt8(truncatingIfNeeded: reports.count)
        try visitor.field("num_reports", &count)
        try visitor.list("reports", &reports, count: Int(count))
    }
}

/// Number Of Completed Packets (Core 6.0, Vol 4, Part E, 7.7.19).
public struct NumberOfCompletedPackets: HCIEvent {
    public static let code = EventCode.numberOfCompletedPackets

    /// How many packets of one connection have left the controller's buffers.
    public struct Entry: Record {
        public var handle = ConnectionHandle(rawValue: 0)
        public var count: UInt16 = 0
        public init() {}
        public init(_ handle: ConnectionHandle, _ count: UInt16) {
            self.handle = handle
            self.count = count
        }
        public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
            try visitor.field("connection_handle", &handle)
            try visitor.field("num_completed_packets", &count)
        }
    }

    public var entries: [Entry] = []
    public init() {}
    public init(_ entries: [Entry]) { self.entries = entries }
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        var count = UInt8(truncatingIfNeeded: entries.count)
        try visitor.field("num_handles", &count)
        try visitor.list("handles", &entries, count: Int(count))
    }
}

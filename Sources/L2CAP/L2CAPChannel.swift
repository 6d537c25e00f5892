// Channel identifiers and the basic header of L2CAP PDUs.
public import Wire

/// Fixed channels of an LE link (Core 6.0, Vol 3, Part A, 2.1).
public enum L2CAPChannel {
    public static let attribute: UInt16 = 0x0004
    public static let signalling: UInt16 = 0x0005
    public static let securityManager: UInt16 = 0x0006
}

/// The basic L2CAP header: length and channel (Core 6.0, Vol 3, Part A, 3.1).
public enum L2CAPHeader {
    public static let octets = 4
    /// The most octets a PDU's length can say.
    public static let lengthMax = 65_535
}

extension ByteBlock {
    /// Appends the basic L2CAP header for a payload of `length` octets, 0 to 65,535.
    public mutating func appendL2CAPHeader(length: Int, cid: UInt16) {
        precondition((0...L2CAPHeader.lengthMax).contains(length), "an L2CAP length has 16 bits")
        append(UInt16(length))
        append(cid)
    }
}

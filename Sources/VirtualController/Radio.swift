// Air times and channels of the LE 1M, 2M and Coded PHYs.

/// What a packet costs on the air (Core 6.0, Vol 6, Part B, 2.1, 4.1). Times in microseconds.
enum Radio {
    /// T_IFS, between two packets of one exchange.
    static let interFrameSpace: Int64 = 150
    /// From the end of one advertising PDU to the start of the next when nobody answers: time to
    /// listen for an answer and to change the channel.
    static let channelChange: Int64 = 300
    /// Octets of SCAN_REQ and CONNECT_IND behind the PDU header.
    static let scanRequestOctets = 12
    static let connectIndicationOctets = 34
    /// From the end of CONNECT_IND to the first connection event: transmitWindowDelay.
    static let transmitWindowDelay: Int64 = 1_250
    /// advDelay is uniform from 0 to 10 ms.
    static let advertisingDelayMax: Int64 = 10_000
    /// From Advertising Enable to the first advertising event: the radio's start-up.
    static let firstAdvertisingEvent: Int64 = 500
    /// From one event to the next in high duty cycle directed advertising, and how long it lasts.
    static let highDutyInterval: Int64 = 3_750
    static let highDutyDuration: Int64 = 1_280_000
    /// Advertising channels 37, 38 and 39.
    static let advertisingChannels = 3
    /// T_MAFS, from a PDU to the auxiliary one that it points to.
    static let minimumAuxiliaryFrameSpace: Int64 = 300
    /// The longest payload of an advertising PDU.
    static let payloadOctetsMax = 255
    /// Extended Header Length with AdvMode, and the flags (Core 6.0, Vol 6, Part B, 2.3.4).
    static let extendedHeaderOctets = 2
    /// AuxPtr.
    static let pointerFieldOctets = 3
    /// ADV_EXT_IND with ADI and AuxPtr.
    static let pointerOctets = extendedHeaderOctets + 2 + pointerFieldOctets
    /// AUX_CHAIN_IND with ADI.
    static let chainHeaderOctets = extendedHeaderOctets + 2
    static let syncInfoOctets = 18
    /// AUX_CONNECT_RSP with AdvA and TargetA.
    static let connectResponseOctets = extendedHeaderOctets + 12
    /// In dBm, where the host does not choose.
    static let transmitPower: Int8 = 0
    static let transmitPowerMin: Int8 = -20
    static let transmitPowerMax: Int8 = 10
    /// RSSI in dBm of what is sent with 0 dBm is this, more or less a spread.
    static let signalStrength: Int64 = -60
    static let signalSpread: Int64 = 3

    /// Preamble, access address, header, payload and CRC at 1 Mbit/s.
    static func airTime(octets: Int) -> Int64 { 80 + 8 * Int64(octets) }

    /// The same on the PHY with this number; LE Coded with S=8.
    static func airTime(octets: Int, phy: UInt8) -> Int64 {
        switch phy {
        case PHY.le2M: 44 + 4 * Int64(octets)
        case PHY.leCoded: 720 + 64 * Int64(octets)
        default: airTime(octets: octets)
        }
    }
}

/// PHY numbers of events, and the bits of preferences (Core 6.0, Vol 4, Part E, 7.8.47, 7.8.48).
enum PHY {
    static let le1M: UInt8 = 1
    static let le2M: UInt8 = 2
    static let leCoded: UInt8 = 3
    static let preferences1M: UInt8 = 0b001
    static let preferences2M: UInt8 = 0b010
    static let preferencesCoded: UInt8 = 0b100
}

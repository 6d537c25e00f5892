// A beacon or data format of advertising data: one declaration writes, reads and asks for it.
public import Wire

/// A beacon or data format inside one AD structure, and the structures that go before it.
public struct BeaconFormat: Equatable, Sendable {
    /// The profile's key, and the first word of the format's text.
    public let name: String
    /// The AD structure that it is.
    public let type: ADType
    /// The octets of that structure that tell it from others.
    public let prefix: [UInt8]
    /// What it writes before its own structure.
    let preamble: [AdvertisingStructure]
    /// In wire order, behind the prefix.
    public let fields: [BeaconField]
    /// What may follow the fields any number of times, each behind its tag.
    public let objects: [BeaconField]
    /// Whether a profile can ask for it; else it is only read.
    public let isWritten: Bool

    init(
        _ name: String, _ type: ADType, prefix: [UInt8], preamble: [AdvertisingStructure] = [],
        _ fields: [BeaconField], objects: [BeaconField] = [], isWritten: Bool = true
    ) {
        self.name = name
        self.type = type
        self.prefix = prefix
        self.preamble = preamble
        self.fields = fields
        self.objects = objects
        self.isWritten = isWritten
    }

    /// Inside manufacturer data of a company.
    static func manufacturer(
        _ name: String, _ company: UInt16, prefix: [UInt8] = [],
        preamble: [AdvertisingStructure] = [], _ fields: [BeaconField], isWritten: Bool = true
    ) -> BeaconFormat {
        BeaconFormat(
            name, .manufacturerSpecificData, prefix: BluetoothUUID(company).littleEndian + prefix,
            preamble: preamble, fields, isWritten: isWritten)
    }

    /// Inside service data of a 16-bit UUID.
    static func service(
        _ name: String, _ uuid: UInt16, prefix: [UInt8] = [],
        preamble: [AdvertisingStructure] = [], _ fields: [BeaconField],
        objects: [BeaconField] = [], isWritten: Bool = true
    ) -> BeaconFormat {
        BeaconFormat(
            name, .serviceData16, prefix: BluetoothUUID(uuid).littleEndian + prefix,
            preamble: preamble, fields, objects: objects, isWritten: isWritten)
    }

    /// A name stands for one declaration.
    public static func == (left: BeaconFormat, right: BeaconFormat) -> Bool {
        left.name == right.name
    }

    /// The format that a profile calls so.
    public static func named(_ name: String) -> BeaconFormat? { all.first { $0.name == name } }

    /// The flags of a device that is found in general and has no BR/EDR.
    static let usualFlags = AdvertisingStructure.flags([.generalDiscoverable, .noBREDR])
}

/// One field of a format.
public struct BeaconField: Equatable, Sendable {
    /// How its octets are read.
    public enum Kind: Equatable, Sendable {
        /// Octets that are always these.
        case fixed([UInt8])
        case number(BeaconNumber)
        /// One octet that must be one of two.
        case boolean(no: UInt8, yes: UInt8)
        /// One octet for each word; others do not belong to the format.
        case words([BeaconWord])
        /// An assigned company, little-endian.
        case company
        /// 16 octets, big-endian.
        case uuid
        /// 6 octets.
        case address(isBigEndian: Bool)
        /// So many octets; where there may be more, all up to the fields behind it.
        case octets(ClosedRange<Int>)
        /// UTF-8, up to the end.
        case text
        /// Octets or UTF-8 behind an octet that says how many.
        case counted(isText: Bool)
        /// An Eddystone URL, up to the end.
        case url
        /// Octets behind one octet of their count and this type, four bits each; or nothing.
        case typed(UInt8)
    }

    /// What a device can say by itself where the profile says nothing.
    public enum OwnValue: Equatable, Sendable {
        /// The address it advertises with.
        case address
        /// The time since power-on.
        case uptime
        /// How many advertising events there have been since power-on, by the interval.
        case advertisingEvents
    }

    public let name: String
    public let kind: Kind
    /// Without a word of the profile; nil where the profile must say it.
    public let initial: BeaconValue?
    public let own: OwnValue?
    /// Of an object the octet before it.
    public let tag: UInt8?

    init(
        _ name: String, _ kind: Kind, initial: BeaconValue? = nil, own: OwnValue? = nil,
        tag: UInt8? = nil
    ) {
        self.name = name
        self.kind = kind
        self.initial = initial
        self.own = own
        self.tag = tag
    }

    /// Octets of the format that say nothing.
    static func fixed(_ octets: UInt8...) -> BeaconField {
        BeaconField("", .fixed(octets), initial: .absent)
    }

    /// A whole number.
    static func count(
        _ name: String, octets: Int, isBigEndian: Bool = true, initial: BeaconValue? = nil,
        own: OwnValue? = nil
    ) -> BeaconField {
        BeaconField(
            name, .number(BeaconNumber(octets: octets, isBigEndian: isBigEndian)),
            initial: initial, own: own)
    }

    /// A power in whole dBm.
    static func power(_ name: String, initial: BeaconValue? = nil) -> BeaconField {
        BeaconField(
            name,
            .number(BeaconNumber(octets: 1, isSigned: true, unit: "dBm", limits: -127...127)),
            initial: initial)
    }

    /// A number that is not there unless the profile says it.
    static func optional(_ name: String, _ number: BeaconNumber) -> BeaconField {
        BeaconField(name, .number(number), initial: .absent)
    }
}

/// A word and the octet that stands for it.
public struct BeaconWord: Equatable, Sendable {
    public let code: UInt8
    public let word: String

    init(_ code: UInt8, _ word: String) {
        self.code = code
        self.word = word
    }
}

/// What a field holds.
public enum BeaconValue: Equatable, Sendable {
    /// Not known, or not there; a fixed field.
    case absent
    /// In the field's unit.
    case number(Double)
    case boolean(Bool)
    /// The code of a word.
    case word(UInt8)
    case company(UInt16)
    case uuid(BluetoothUUID)
    case address(DeviceAddress)
    /// Octets, text and URLs as they are on the air.
    case octets([UInt8])
}

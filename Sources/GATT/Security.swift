// What an attribute asks of a link, and what a link offers.

/// How far the link must be secured for an operation: LE security mode 1 (Core 6.0, Vol 3, Part C,
/// 10.2.1), ordered from weakest to strongest; `refused` is an operation that does not exist.
public enum SecurityLevel: UInt8, Sendable, Comparable {
    case open = 1
    case encrypted = 2
    case authenticated = 3
    /// Authenticated Secure Connections with a 128-bit key.
    case secure = 4
    case refused = 5

    public static func < (left: SecurityLevel, right: SecurityLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The condition under which one operation on an attribute is allowed.
public struct Access: Hashable, Sendable {
    /// The least security of the link (Core 6.0, Vol 3, Part C, 10.2).
    public var level: SecurityLevel
    /// Whether the user must have authorized the client (Core 6.0, Vol 3, Part C, 10.5).
    public var authorization: Bool
    /// The least size of the encryption key in octets, 7 to 16; 0 where any will do.
    public var keySizeMin: UInt8

    public init(_ level: SecurityLevel, authorization: Bool = false, keySizeMin: UInt8 = 0) {
        self.level = level
        self.authorization = authorization
        self.keySizeMin = keySizeMin
    }

    public static let refused = Access(.refused)
    public static let open = Access(.open)
    public static let encrypted = Access(.encrypted)
    public static let authenticated = Access(.authenticated)
    public static let secure = Access(.secure)
}

/// What may be done with an attribute. What is not said is refused.
public struct Permissions: Hashable, Sendable {
    /// By any read request, and by comparison in Find By Type Value.
    public var read: Access
    /// By Write Request and by Prepare and Execute Write.
    public var write: Access
    /// By Write Command.
    public var writeCommand: Access
    /// By Signed Write Command: `open` with any peer's signature, `authenticated` with that of a
    /// key that is protected against a man in the middle (Core 6.0, Vol 3, Part C, 10.2.2).
    public var signedWrite: Access
    /// Guards both subscribing and sending, as `indicate` does.
    public var notify: Access
    public var indicate: Access

    public init(
        read: Access = .refused, write: Access = .refused, writeCommand: Access = .refused,
        signedWrite: Access = .refused, notify: Access = .refused, indicate: Access = .refused
    ) {
        self.read = read
        self.write = write
        self.writeCommand = writeCommand
        self.signedWrite = signedWrite
        self.notify = notify
        self.indicate = indicate
    }
}

/// How a link is secured, as the host knows it from encryption changes and its bonds.
public struct LinkSecurity: Hashable, Sendable {
    /// The link is encrypted now, with whatever key.
    public var encrypted: Bool
    /// The key in use is protected against a man in the middle.
    public var authenticated: Bool
    /// The key in use came from LE Secure Connections.
    public var secureConnections: Bool
    /// A key with this peer is stored, whether or not it is in use.
    public var bonded: Bool
    /// The user has authorized this client.
    public var authorized: Bool
    /// The size of the key in use in octets, 7 to 16.
    public var keySize: UInt8

    public init(
        encrypted: Bool = false, authenticated: Bool = false, secureConnections: Bool = false,
        bonded: Bool = false, authorized: Bool = false, keySize: UInt8 = 16
    ) {
        self.encrypted = encrypted
        self.authenticated = authenticated
        self.secureConnections = secureConnections
        self.bonded = bonded
        self.authorized = authorized
        self.keySize = keySize
    }

    /// A link as it is after connecting to a stranger.
    public static let plain = LinkSecurity()

    /// Why an operation under `access` is not allowed on this link; nil where it is. `access` is
    /// not `refused` (Core 6.0, Vol 3, Part C, 10.3.1).
    func objection(to access: Access, by rule: ServerSettings.UnencryptedError) -> ATTError? {
        if access.level > .open || access.keySizeMin > 0 {
            guard encrypted else {
                return switch rule {
                case .byKey: bonded ? .insufficientEncryption : .insufficientAuthentication
                case .byRequirement:
                    access.level <= .encrypted
                        ? .insufficientEncryption : .insufficientAuthentication
                }
            }
            if access.level >= .authenticated, !authenticated { return .insufficientAuthentication }
            if access.level == .secure {
                guard secureConnections else { return .insufficientAuthentication }
                guard keySize >= 16 else { return .encryptionKeySizeTooShort }
            }
            guard keySize >= access.keySizeMin else { return .encryptionKeySizeTooShort }
        }
        return access.authorization && !authorized ? .insufficientAuthorization : nil
    }
}

/// Characteristic Properties (Core 6.0, Vol 3, Part G, 3.3.1.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let broadcast = CharacteristicProperties(rawValue: 0x01)
    public static let read = CharacteristicProperties(rawValue: 0x02)
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    public static let write = CharacteristicProperties(rawValue: 0x08)
    public static let notify = CharacteristicProperties(rawValue: 0x10)
    public static let indicate = CharacteristicProperties(rawValue: 0x20)
    public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
    public static let extendedProperties = CharacteristicProperties(rawValue: 0x80)
}

/// Where the specification or the test suites leave a server a choice.
public struct ServerSettings: Hashable, Sendable {
    /// The error for a secured attribute on a link that is not encrypted.
    public enum UnencryptedError: Sendable {
        /// Insufficient Encryption where a key exists, else Insufficient Authentication: the
        /// specification's way.
        case byKey
        /// Insufficient Encryption where encryption is asked for, Insufficient Authentication where
        /// authentication is.
        case byRequirement
    }

    /// The octet order of the Database Hash: least significant first, or as AES-CMAC gives it.
    public enum DatabaseHashOrder: Sendable { case littleEndian, asComputed }

    /// Which queued writes to several values may be executed.
    public enum ReliableWrites: Sendable {
        case any
        /// Only where each value has the Reliable Write extended property.
        case extendedProperty
    }

    /// What happens to a notification or indication of more than MTU - 3 octets.
    public enum Oversize: Sendable { case truncate, refuse }

    /// The server's receive MTU, 23 to 517 octets.
    public var mtu: UInt16 = 247
    public var unencryptedError: UnencryptedError = .byKey
    /// The error for a CCCD value that the characteristic does not support.
    public var cccdError: ATTError = .cccdImproperlyConfigured
    public var databaseHash: DatabaseHashOrder = .littleEndian
    /// Whether a value without a stated maximum may grow past its first length, up to 512 octets.
    public var growth = true
    public var reliableWrites: ReliableWrites = .any
    public var oversize: Oversize = .truncate

    public init() {}

    /// The same with an MTU that there can be.
    var bounded: ServerSettings {
        var settings = self
        settings.mtu = min(max(mtu, ATTLimit.mtuDefault), ATTLimit.mtuMax)
        return settings
    }
}

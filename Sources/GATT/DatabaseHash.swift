// The Database Hash, over an AES-CMAC that comes from outside.
import Wire

/// AES-CMAC (RFC 4493), which a pure target does not hold itself.
public protocol MessageAuthenticator {
    /// The 16-octet code of `message` under the 16-octet `key`, most significant octet first.
    func cmac(key: [UInt8], message: [UInt8]) -> [UInt8]
}

extension AttributeTable {
    /// What the hash is taken of: declarations with their values, the Generic Attribute Profile's
    /// descriptors without theirs, in the order of handles (Core 6.0, Vol 3, Part G, 7.3.1).
    public var databaseHashMessage: [UInt8] {
        var message = ByteBlock(capacity: 16 * attributes.count)
        for (index, attribute) in attributes.enumerated() {
            guard let type = attribute.type.short else { continue }
            switch type {
            case 0x2800...0x2803, 0x2900:
                message.append(attribute.handle)
                message.append(type)
                message.append(value(at: index))
            case 0x2901...0x2905:
                message.append(attribute.handle)
                message.append(type)
            default: break
            }
        }
        return message.bytes
    }

    /// The value of the Database Hash characteristic, in the order the settings say.
    public func databaseHash(
        by authenticator: some MessageAuthenticator, order: ServerSettings.DatabaseHashOrder
    ) -> [UInt8] {
        let key = [UInt8](repeating: 0, count: 16)
        let hash = authenticator.cmac(key: key, message: databaseHashMessage)
        return switch order {
        case .littleEndian: hash.reversed()
        case .asComputed: hash
        }
    }
}

extension GATTServer {
    /// Sets the value of every Database Hash characteristic.
    public mutating func setDatabaseHash(by authenticator: some MessageAuthenticator) {
        let hash = table.databaseHash(by: authenticator, order: settings.databaseHash)
        for index in table.attributes.indices where table.attributes[index].kind == .databaseHash {
            _ = table.store(hash.span, at: index)
        }
    }
}

// The Database Hash, over an AES-CMAC that comes from outside.
import Wire

/// AES-CMAC (RFC 4493), which a pure target does not hold itself.
public protocol MessageAuthenticator: Sendable {
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
        by authenticator: any MessageAuthenticator, order: ServerSettings.DatabaseHashOrder
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
    /// Computes a Database Hash that has no value yet, when a client first looks at it: at start it
    /// would cost every device the time that the cipher takes to come up.
    mutating func computeHash(at index: Int) {
        guard table.attributes[index].kind == .databaseHash, table.attributes[index].length == 0,
            let authenticator
        else { return }
        let hash = table.databaseHash(by: authenticator, order: settings.databaseHash)
        _ = table.store(hash.span, at: index)
    }
}

// ATT PDUs of any form from one client, whose link is secured one way or another.
import GATT
import Wire

enum ATTFuzz {
    /// One request of each kind.
    static func seeds() -> [[UInt8]] {
        let pdus: [[UInt8]] = [
            [0x02, 247, 0], [0x04, 1, 0, 0xFF, 0xFF], [0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0, 0xA0],
            [0x08, 1, 0, 0xFF, 0xFF, 3, 0x28], [0x08, 1, 0, 0xFF, 0xFF, 0, 0xB0], [0x0A, 0x12, 0],
            [0x0C, 0x12, 0, 22, 0], [0x0E, 0x12, 0, 0x14, 0], [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28],
            [0x12, 0x13, 0, 1, 0], [0x16, 0x12, 0, 0, 0, 1, 2, 3], [0x18, 1], [0x1E],
            [0x20, 0x12, 0, 0x14, 0], [0x52, 0x12, 0, 7],
            [0xD2, 0x12, 0] + Array(repeating: 9, count: 13),
            [0x12, 0x06, 0, 7],
        ]
        let list = pdus.flatMap { [UInt8($0.count)] + $0 }
        return [0x00, 0x1F, 0x4B, 0xFF].map { [$0] + list }
    }

    /// Octet 0: bits 0 to 4 the link's security, 5 and 6 the MTU, 7 other settings. Then PDUs, each
    /// behind its length.
    static func run(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        var settings = ServerSettings()
        let header = input.octet()
        settings.mtu = [23, 64, 247, 517][Int(header >> 5 & 3)]
        if header & 0x80 != 0 {
            settings.unencryptedError = .byRequirement
            settings.reliableWrites = .extendedProperty
            settings.oversize = .refuse
        }
        var rig = ServerRig(settings: settings)
        rig.connect(0, security: LinkSecurity(fuzz: header))
        rig.receive([0x02, UInt8(settings.mtu & 0xFF), UInt8(settings.mtu >> 8)], from: 0)
        while !input.isEmpty {
            let length = Int(input.octet())
            // The longest length stands for all that is left, which may be above the MTU.
            rig.receive(length == 255 ? input.rest() : input.octets(length), from: 0)
        }
    }
}

extension LinkSecurity {
    init(fuzz bits: UInt8) {
        self.init(
            encrypted: bits & 1 != 0, authenticated: bits & 2 != 0,
            secureConnections: bits & 4 != 0, bonded: bits & 8 != 0, authorized: bits & 16 != 0,
            keySize: bits & 32 != 0 ? 7 : 16)
    }
}

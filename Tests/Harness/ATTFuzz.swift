// ATT PDUs of any form from one client, whose link is secured one way or another.
import GATT
import Wire

enum ATTFuzz {
    /// Octet 0: bits 0 to 4 the link's security, 5 and 6 the MTU. Then PDUs, each behind its length.
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

// Beacon and data formats: what is read is written, told, and made by a profile to the same octets.
import Advertising
import Profiles
import Wire

enum BeaconFuzz {
    /// Each format as it is without a word of the profile, and each object once.
    static func seeds() -> [[UInt8]] {
        BeaconFormat.all.flatMap { format in
            var beacon = Beacon(format)
            let plain = [format.type.rawValue] + beacon.octets
            let objects = format.objects.map { object in
                beacon.items = Beacon(format).items + [BeaconItem(object, object.zero)]
                return [format.type.rawValue] + beacon.octets
            }
            return [plain] + objects
        }
    }

    /// - Parameter bytes: an AD type and the data behind it.
    static func run(_ bytes: [UInt8]) {
        let structure = [UInt8(min(bytes.count, 255))] + bytes.prefix(255)
        let data = Array(structure.dropFirst(2))
        guard case .beacon(let beacon) = ADStructures.decode(structure.span).first?.content else {
            let refused = BeaconFormat.all.first { format in
                format.type.rawValue == bytes.first && format.takesAnything
                    && data.starts(with: format.prefix)
                    && data.count == Beacon(format).octets.count
            }
            precondition(refused == nil, "no value of a field is refused")
            return
        }
        var again = Beacon(beacon.format)
        precondition(
            zip(again.items, beacon.items).allSatisfy { $0.field == $1.field },
            "a beacon has its format's fields")
        again.items = beacon.items.map { BeaconItem($0.field, $0.value) }
        precondition(again.octets == data, "values are written to the octets they came from")
        let line = beacon.description
        precondition(line.hasPrefix(beacon.format.name), "a line begins with the format")
        precondition(!line.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a line is one line")
        seal(beacon)
        load(beacon)
    }

    /// What was encrypted is opened by the same key, address and counter alone.
    private static func seal(_ beacon: Beacon) {
        guard beacon.format.name == "bthome" else { return }
        // Not AES, but it mixes; the code of CCM sees every change of one octet.
        let cipher: BlockCipher = { block, key in
            var sum: UInt8 = 0x5A
            let mixed = zip(block, key).map { octet, other in
                sum = sum &* 31 &+ (octet ^ other)
                return sum
            }
            return mixed.reversed().map {
                sum = sum &* 17 &+ $0
                return sum
            }
        }
        let key = [UInt8](1...16)
        let address = DeviceAddress(littleEndian: 0xC0FF_EE00_0001)
        var sealed = beacon
        sealed.key = BeaconKey(key)
        guard sealed.octets.count < 254 else { return }
        sealed.seal(address: address, counter: 0x0102_0304, cipher: cipher)
        let structure = [UInt8(sealed.octets.count + 1), 0x16] + sealed.octets
        guard case .beacon(let heard) = ADStructures.decode(structure.span).first?.content else {
            preconditionFailure("an encrypted beacon is one")
        }
        let opened = heard.opened(key: key, address: address, cipher: cipher)
        precondition(opened == beacon, "what was encrypted is opened")
    }

    /// A profile has a URL's text, not the octets that spelled it.
    private static func shortest(_ item: BeaconItem) -> BeaconItem {
        guard item.field.kind == .url, let octets = item.text.flatMap(EddystoneURLCode.octets)
        else { return item }
        return BeaconItem(item.field, .octets(octets))
    }

    /// A profile that says the same makes the same, or is told why it cannot.
    private static func load(_ beacon: Beacon) {
        guard let entry = BeaconProfile.entry(of: beacon) else { return }
        do throws(ProfileErrors) {
            let loaded = try BeaconProfile.load(entry)
            var expected = beacon
            let objects = beacon.items.filter { $0.field.tag != nil }.enumerated().sorted {
                ($0.element.field.tag ?? 0, $0.offset) < ($1.element.field.tag ?? 0, $1.offset)
            }
            expected.items =
                beacon.items.filter { $0.field.tag == nil }.map(shortest) + objects.map(\.element)
            precondition(loaded?.octets == expected.octets, "a profile makes the same octets")
        } catch {
            // A profile has narrower limits than the air.
            precondition(!error.list.isEmpty, "a refusal has a reason")
        }
    }
}

extension BeaconFormat {
    /// Whether every field has a place of its own, where any octets mean something.
    fileprivate var takesAnything: Bool {
        objects.isEmpty
            && fields.allSatisfy { field in
                switch field.kind {
                case .number, .company, .uuid, .address: true
                case .octets(let range): range.count == 1
                case .fixed, .boolean, .words, .text, .counted, .url, .typed: false
                }
            }
    }
}

// Advertisements of real products taken apart and put together again, octet by octet.
import Advertising
import Harness
import OpenSSLCrypto
import Profiles
import Testing
import Wire

@Suite struct BeaconVectorTests {
    private static func cipher(_ block: [UInt8], _ key: [UInt8]) -> [UInt8]? {
        OpenSSLCipher().encrypt(block, key: key)
    }

    private static func beacons(in vector: AdvertisementVector) -> [Beacon] {
        vector.parts.flatMap { part in
            ADStructures.decode(part.octets.span).compactMap {
                if case .beacon(let beacon) = $0.content { beacon } else { nil }
            }
        }
    }

    @Test("every advertisement is rebuilt from what was read in it")
    func rebuilt() throws {
        var counts: [String: Int] = [:]
        for vector in try AdvertisementVector.all() {
            for part in vector.parts {
                var rebuilt: [UInt8] = []
                for structure in ADStructures.decode(part.octets.span) {
                    if case .beacon(let beacon) = structure.content {
                        counts[beacon.format.name, default: 0] += 1
                    }
                    rebuilt += try Self.octets(of: structure)
                }
                // What follows a length of zero is no part of the data.
                let rest = part.octets.dropFirst(rebuilt.count)
                #expect(
                    part.octets.starts(with: rebuilt) && (rest.first ?? 0) == 0,
                    "\(vector.product): \(Hex.string(rebuilt))")
            }
        }
        let expected = [
            "apple": 8, "estimote": 1, "google-find-hub": 1, "google-nearby": 1, "homekit": 1,
            "kkm-sensor": 1, "mibeacon": 26, "microsoft-cdp": 1, "qingping": 6,
            "samsung-offline-finding": 1, "samsung-smarttag": 1, "switchbot": 1, "tile": 1,
            "altbeacon": 1, "atc1441": 1, "bthome": 34, "bthome-encrypted": 1,
            "eddystone-eid": 1, "eddystone-tlm": 1, "eddystone-uid": 1, "eddystone-url": 2,
            "exposure-notification": 1, "fast-pair-account": 5, "ibeacon": 12, "pvvx": 2,
            "ruuvi": 1, "swift-pair": 3,
        ]
        #expect(counts == expected)
    }

    /// The structure's octets, made of its values alone.
    private static func octets(of structure: ADStructure) throws -> [UInt8] {
        switch structure.content {
        case .flags(let flags): advertisingBytes([.flags(flags)])
        case .serviceUUIDs(let uuids, let complete):
            uuids.isEmpty
                ? advertisingBytes([.raw(type: structure.type.rawValue, data: [])])
                : advertisingBytes([.serviceUUIDs(uuids, complete: complete)])
        case .name(let name, let complete): advertisingBytes([.name(name, complete: complete)])
        case .txPower(let level): advertisingBytes([.txPower(level)])
        case .appearance(let value): advertisingBytes([.appearance(value)])
        case .manufacturer(let company, let data):
            advertisingBytes([.manufacturer(company: company, data: data)])
        case .serviceData(let uuid, let data): advertisingBytes([.serviceData(uuid, data: data)])
        case .beacon(let beacon):
            advertisingBytes([
                .raw(type: structure.type.rawValue, data: try rebuilt(beacon).octets)
            ])
        case .connectionIntervalRange, .other, .malformed:
            advertisingBytes([.raw(type: structure.type.rawValue, data: structure.bytes)])
        case .truncated(let announced):
            [UInt8(clamping: announced), structure.type.rawValue] + structure.bytes
        }
    }

    /// A new beacon with the same values.
    private static func rebuilt(_ beacon: Beacon) throws -> Beacon {
        let fields = beacon.items.filter { $0.field.tag == nil && !$0.field.name.isEmpty }
        let objects = beacon.items.compactMap { item in item.field.tag.map { ($0, item.value) } }
        return try Beacon.named(beacon.format.name, fields.map(\.value), objects: objects)
    }

    @Test("fields read as another decoder reads them; an encrypted beacon is opened first")
    func fields() throws {
        var checked = 0
        for vector in try AdvertisementVector.all() where !vector.fields.isEmpty {
            var beacons = Self.beacons(in: vector)
            if let key = vector.key {
                let address = try #require(vector.address)
                let opened = beacons.compactMap {
                    $0.opened(key: key, address: address, cipher: Self.cipher)
                }
                #expect(opened.count == 1, "\(vector.product)")
                beacons += opened
            }
            for (name, value) in vector.fields {
                let items = beacons.flatMap(\.items).filter { $0.field.name == name }
                #expect(
                    items.contains { Self.agrees($0, value) },
                    "\(vector.product): \(name) is \(value), not \(items.map(\.text))")
                checked += 1
            }
        }
        #expect(checked == 92)
    }

    private static func agrees(_ item: BeaconItem, _ value: String) -> Bool {
        switch item.value {
        case .number(let number): isNear(number, value)
        case .boolean(let flag): value == (flag ? "1" : "0")
        case .absent, .word, .company, .uuid, .address, .octets:
            item.text == value || item.text == "\"\(value)\""
        }
    }

    /// Others round to the decimals that they tell.
    private static func isNear(_ number: Double, _ text: String) -> Bool {
        guard let value = Double(text) else { return false }
        let parts = text.split(separator: ".")
        let step = parts.count == 2 ? (0..<parts[1].count).reduce(1) { step, _ in step / 10 } : 1.0
        return abs(value - number) <= (parts.count == 2 ? step / 2 : 0) + 1e-9
    }

    @Test("an encrypted beacon is encrypted to the same octets, and no other key opens it")
    func sealed() throws {
        let vector = try #require(try AdvertisementVector.all().first { $0.key != nil })
        let heard = try #require(Self.beacons(in: vector).first)
        let (key, address) = (try #require(vector.key), try #require(vector.address))
        var opened = try #require(heard.opened(key: key, address: address, cipher: Self.cipher))
        #expect(
            opened.description == "bthome temperature 25.06 °C, humidity 50.55 %")
        opened.key = BeaconKey(key)
        #expect(opened.octets.count == heard.octets.count)
        opened.seal(address: address, counter: 857_870_592, cipher: Self.cipher)
        #expect(Hex.string(opened.octets) == Hex.string(heard.octets))
        var other = key
        other[3] ^= 1
        #expect(heard.opened(key: other, address: address, cipher: Self.cipher) == nil)
        let stranger = DeviceAddress(littleEndian: address.littleEndian ^ 1)
        #expect(heard.opened(key: key, address: stranger, cipher: Self.cipher) == nil)
    }

    @Test("a profile that says what was read makes the same beacon")
    func profiles() throws {
        var made = 0
        for vector in try AdvertisementVector.all() {
            for beacon in Self.beacons(in: vector) {
                guard let entry = BeaconProfile.entry(of: beacon) else { continue }
                do throws(ProfileErrors) {
                    let loaded = try BeaconProfile.load(entry)
                    #expect(
                        loaded.map { Hex.string($0.octets) } == Hex.string(beacon.octets),
                        "\(vector.product): \(entry)")
                    made += 1
                } catch {
                    Issue.record("\(vector.product): \(entry): \(error.list)")
                }
            }
        }
        #expect(made == 65)
    }
}

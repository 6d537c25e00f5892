// The registry of beacon formats: names, the ends of numbers, and text that is more than octets.
import Advertising
import Testing
import Wire

@Suite struct BeaconFormatTests {
    @Test("names are unique, and those that profiles use are in order")
    func names() {
        let names = BeaconFormat.all.map(\.name)
        #expect(Set(names).count == names.count)
        let written = BeaconFormat.all.filter(\.isWritten).map(\.name)
        #expect(written == written.sorted() && written.count == 15)
        for format in BeaconFormat.all {
            let fields = format.fields.map(\.name).filter { !$0.isEmpty }
            #expect(Set(fields).count == fields.count, "\(format.name)")
            let tags = format.objects.map(\.tag)
            #expect(Set(tags).count == tags.count && !tags.contains(nil), "\(format.name)")
        }
    }

    /// The beacon that a receiver makes of it.
    private func heard(_ beacon: Beacon) -> Beacon? {
        let octets = [UInt8(beacon.octets.count + 1), beacon.format.type.rawValue] + beacon.octets
        guard case .beacon(let heard) = ADStructures.decode(octets.span).first?.content else {
            return nil
        }
        return heard
    }

    @Test("every number holds both ends of its range, and what is beyond becomes an end")
    func numbers() throws {
        var checked = 0
        for format in BeaconFormat.all {
            for field in format.fields + format.objects {
                guard case .number(let number) = field.kind else { continue }
                var beacon = Beacon(format)
                if field.tag != nil { beacon.items.append(BeaconItem(field, field.zero)) }
                let index = try #require(beacon.items.firstIndex { $0.field == field })
                for value in [number.range.lowerBound, number.range.upperBound] {
                    beacon.items[index].value = .number(value)
                    let heard = try #require(self.heard(beacon), "\(format.name) \(field.name)")
                    #expect(heard.format == format)
                    #expect(
                        heard.items[index].value == .number(value),
                        "\(format.name) \(field.name) \(value)")
                    checked += 1
                }
                for value in [-1e300, 1e300, .infinity, .nan] {
                    beacon.items[index].value = .number(value)
                    #expect(self.heard(beacon)?.octets == beacon.octets)
                }
            }
        }
        #expect(checked > 150)
    }

    @Test("numbers that share octets leave each other alone")
    func shared() throws {
        var beacon = Beacon(try #require(BeaconFormat.named("ruuvi")))
        func set(_ name: String, _ value: BeaconValue) throws {
            let index = try #require(beacon.items.firstIndex { $0.field.name == name })
            beacon.items[index].value = value
        }
        try set("voltage", .number(2.977))
        try set("tx-power", .number(4))
        #expect(Hex.string(Array(beacon.octets[15..<17])) == "AC36")
        #expect(beacon.description.contains("voltage 2.977 V, tx-power 4 dBm"))
        try set("voltage", .absent)
        #expect(Hex.string(Array(beacon.octets[15..<17])) == "FFF6")
        #expect(try #require(heard(beacon)).description.contains("ruuvi tx-power 4 dBm, address"))
    }

    @Test(
        "URLs are as short as they can be, and read as they were",
        arguments: [
            ("https://example.com/", "03 6578616D706C65 00"),
            ("http://www.example.com", "00 6578616D706C65 07"),
            ("https://www.a.info/b", "01 61 04 62"), ("http://a.gov.biz", "02 61 0D 0C"),
            ("https://x", "03 78"),
        ])
    func urls(url: String, octets: String) throws {
        let encoded = try #require(EddystoneURLCode.octets(of: url))
        #expect(Hex.string(encoded) == octets.replacing(" ", with: ""))
        let beacon = try Beacon.named("eddystone-url", [.number(-20), .octets(encoded)])
        #expect(beacon.description == "eddystone-url tx-power -20 dBm, url \(url)")
    }

    @Test("what is no URL is told so, and what is heard is shown on one line")
    func strangeURLs() throws {
        for url in ["", "example.com", "ftp://example.com", "https://a b", "https://ä.de"] {
            #expect(EddystoneURLCode.octets(of: url) == nil)
        }
        let beacon = try Beacon.named(
            "eddystone-url", [.number(0), .octets([9, 0x0A, 0x20, 0xFF])])
        #expect(heard(beacon)?.items.last?.text == "\\u{9}.net\\u{20}\\u{FF}")
    }

    @Test("an object that is not known ends what can be read, and is kept")
    func unknownObject() throws {
        let octets = try #require(Hex.bytes("0A16D2FC40 0161 EE 010203"))
        guard case .beacon(let beacon) = ADStructures.decode(octets.span).first?.content else {
            Issue.record("no beacon")
            return
        }
        #expect(
            beacon.description == "bthome battery 97 %, unread EE010203")
        #expect(beacon.octets == Array(octets.dropFirst(2)))
    }

    @Test("what only looks like a format is dumped")
    func others() {
        for (hex, line) in [
            ("0516D2FC2001", "service data 0xFCD2 2001"),
            ("05FF4C000000", "manufacturer 0x004C 0000"),
            ("06FF4C00100541", "manufacturer 0x004C 100541"),
            ("0616AAFE200102", "service data 0xFEAA 200102"),
            ("03FF4C00", "manufacturer 0x004C"),
        ] {
            let octets = Hex.bytes(hex) ?? []
            #expect(ADStructures.decode(octets.span).map(\.description) == [line])
        }
    }
}

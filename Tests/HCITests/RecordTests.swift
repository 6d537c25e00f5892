// Records against their vectors, and damaged in every way.
import TestFiles
import Testing
import Wire

@testable import HCI

@Suite struct RecordTests {
    struct Vector {
        var title: String
        var octets: [UInt8]
        var fields: String
    }

    /// Each vector is a title with the octets, and an indented line with the fields.
    static let vectors: [Vector] = {
        var vectors: [Vector] = []
        let text = SourceTree.text("Tests/HCITests/Vectors/records.txt")
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("  ") {
                guard !vectors.isEmpty else { continue }
                vectors[vectors.count - 1].fields = line == "  (none)" ? "" : "\(line.dropFirst(2))"
            } else {
                let parts = line.split(separator: ":", maxSplits: 1)
                let octets = parts.count > 1 ? Hex.bytes(parts[1]) : []
                vectors.append(
                    Vector(title: String(parts[0]), octets: octets ?? [0xBA, 0xD0], fields: ""))
            }
        }
        return vectors
    }()

    @Test("every record has a vector, and every vector a record")
    func complete() {
        let titles = RecordList.titles.map(\.title)
        #expect(Set(titles).count == titles.count)
        #expect(Set(Self.vectors.map(\.title)) == Set(titles))
    }

    @Test("every command with a name has its record, but for one that is never answered")
    func commands() {
        let spoken = Set(RecordList.commands.map { $0.opcode })
        let named = Set(OpcodeNames.all.map(\.0))
        #expect(named.subtracting(spoken) == [.hostNumberOfCompletedPackets])
        #expect(spoken.subtracting(named) == [.readTransmitPowerLevel])
    }

    @Test("decode gives the fields, encode the octets", arguments: vectors.indices)
    func vector(index: Int) throws {
        let vector = Self.vectors[index]
        let found = RecordList.titles.first { $0.title == vector.title }
        let type = try #require(found?.type)
        #expect(Self.read(vector.octets, type) == "\(vector.fields) | \(Hex.string(vector.octets))")
        // Real controllers append octets.
        let longer = vector.octets + [0xEE]
        if !vector.title.contains("CommandComplete") {
            #expect(Self.read(longer, type) == Self.read(vector.octets, type))
        }
    }

    @Test(
        "every prefix and every changed octet is refused or read as a record",
        arguments: vectors.indices)
    func damage(index: Int) throws {
        let vector = Self.vectors[index]
        let octets = vector.octets
        let found = RecordList.titles.first { $0.title == vector.title }
        let type = try #require(found?.type)
        for count in octets.indices {
            #expect(Self.complaint(of: Array(octets[..<count]), type) == nil)
        }
        for offset in octets.indices {
            for octet in UInt8.min...UInt8.max {
                var damaged = octets
                damaged[offset] = octet
                let complaint = Self.complaint(of: damaged, type)
                if complaint != nil { #expect(complaint == nil) }
            }
        }
    }

    /// Fields and octets of what is read; the error where it is refused.
    static func read<One: Record>(_ octets: [UInt8], _ type: One.Type) -> String {
        do {
            let record = try One(hci: octets.span)
            return "\(record.dump) | \(Hex.string(record.encoded))"
        } catch {
            return "\(error)"
        }
    }

    /// What is wrong with the way octets are read: they are refused with a typed error, or they are
    /// a record that encodes to what was read. Reserved bits of a connection handle are ignored.
    static func complaint<One: Record>(of octets: [UInt8], _ type: One.Type) -> String? {
        guard let record = try? One(hci: octets.span) else { return nil }
        let encoded = record.encoded
        guard let again = try? One(decoding: encoded.span), again == record,
            encoded.count <= octets.count,
            zip(encoded, octets).allSatisfy({ $0 == $1 || $0 == $1 & 0x0F })
        else { return "\(type): \(Hex.string(octets)) became \(Hex.string(encoded))" }
        return nil
    }
}

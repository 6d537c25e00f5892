// The cases of other servers' suites pass, with the settings each suite asks for.
import GATT
import Testing

struct VectorTests {
    static let bluez = Result { try VectorSuite("bluez") }
    static let edtt = Result { try VectorSuite("edtt") }

    @Test("BlueZ's cases pass", arguments: (try? bluez.get().cases) ?? [])
    func replayBlueZ(_ test: VectorSuite.Case) throws {
        var settings = ServerSettings()
        settings.mtu = 512
        settings.reliableWrites = .extendedProperty
        let table = try Self.bluez.get().table(of: test, growth: true)
        let difference = try Transcript.parse(test.transcript)
            .run(on: GATTServer(table: table, settings: settings))
        #expect(difference == nil, "\(test.name) \(difference?.description ?? "")")
    }

    @Test("EDTT's cases pass", arguments: (try? edtt.get().cases) ?? [])
    func replayEDTT(_ test: VectorSuite.Case) throws {
        var settings = ServerSettings()
        settings.mtu = 512
        settings.unencryptedError = .byRequirement
        settings.cccdError = .valueNotAllowed
        let table = try Self.edtt.get().table(of: test, growth: false)
        let difference = try Transcript.parse(test.transcript)
            .run(on: GATTServer(table: table, settings: settings))
        #expect(difference == nil, "\(test.name) \(difference?.description ?? "")")
    }

    @Test("All cases are there")
    func counts() throws {
        #expect(try Self.bluez.get().cases.count == 47)
        #expect(try Self.edtt.get().cases.count == 36)
    }
}

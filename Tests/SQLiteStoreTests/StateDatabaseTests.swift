// The state file: what is stored is read back, and what is no state is refused.
import Advertising
import Emulator
import GATT
import Glibc
import SMP
import SQLiteStore
import Testing
import Wire

@Suite struct StateDatabaseTests {
    /// The path of a file that is not there yet.
    private static func path(_ name: String) -> String {
        let path = "/tmp/peripheral-emu-\(getpid())-\(name).db"
        for suffix in ["", "-journal"] { unlink(path + suffix) }
        return path
    }

    private static func bond(_ number: UInt64, rand: UInt64 = 0) -> Bond {
        Bond(
            peer: LinkAddress(
                DeviceAddress(littleEndian: 0xC000_0000_0000 | number), isRandom: number != 1),
            longTermKey: [UInt8](repeating: UInt8(number), count: 16), ediv: UInt16(number),
            rand: rand,
            quality: KeyQuality(isAuthenticated: number == 2, isSecureConnections: true, size: 16))
    }

    private static var all: [StateChange] {
        var bonds = [bond(3, rand: .max), bond(1), bond(2)]
        bonds[0].peerIdentityKey = [UInt8](0..<16)
        bonds[0].peerSignatureKey = [UInt8](1..<17)
        bonds[0].ownSignatureKey = [UInt8](2..<18)
        bonds[1].alias = bonds[2].peer
        var first = KeptClient(peer: bonds[0].peer.address)
        first.subscriptions = [
            .init(place: "0x1801.0/0x2A05.0", bits: 2), .init(place: "0x180F.0/0x2A19.0", bits: 1),
        ]
        first.features = 3
        first.isChangeAware = false
        first.serviceChanged = 1...0xFFFF
        let second = KeptClient(peer: bonds[1].peer.address)
        return [
            .address(DeviceAddress(littleEndian: 0xFFFF_FFFF_FFFF)),
            .identityKey([UInt8](repeating: 0xAB, count: 16)),
            .databaseHash([UInt8](repeating: 0xCD, count: 16)), .activity(.active),
            .bonds(bonds), .client(first), .client(second),
            .signCounters([SignCounter(peer: first.peer, next: 1 << 32)]),
            .value(KeptValue(place: "a", octets: [])),
            .value(KeptValue(place: "b", octets: [UInt8](repeating: 7, count: 512))),
        ]
    }

    @Test("everything that is stored is read back, also by the next who opens the file")
    func roundTrip() throws {
        let path = Self.path("round")
        defer { unlink(path) }
        var expected = DeviceState()
        for change in Self.all { expected.apply(change) }
        do {
            let database = try StateDatabase(path: path)
            #expect(try database.load() == DeviceState())
            try database.store(Self.all)
            #expect(try database.load() == expected)
        }
        let database = try StateDatabase(path: path)
        #expect(try database.load() == expected)
        // A client that comes again is the one used last; a bond's client goes with it.
        let later = expected.clients[0]
        try database.store([.client(later)])
        #expect(try database.load().clients.map(\.peer) == [expected.clients[1].peer, later.peer])
        let forgotten = expected.forget(expected.bonds[0].peer)
        try database.store(forgotten)
        #expect(try database.load() == expected)
        try database.store([.activity(nil), .address(nil)])
        #expect(try database.load().activity == nil)
        #expect(try database.load().address == nil)
    }

    @Test("what fails in a transaction leaves the state as it was")
    func allOrNothing() throws {
        let path = Self.path("whole")
        defer { unlink(path) }
        let database = try StateDatabase(path: path)
        try database.store(Self.all)
        let before = try database.load()
        // One peer twice cannot be.
        #expect(throws: StoreError.self) {
            try database.store([
                .value(KeptValue(place: "new", octets: [1])),
                .bonds([Self.bond(5), Self.bond(5)]),
            ])
        }
        #expect(try database.load() == before)
    }

    @Test("a file that is none, cut or another program's is damaged; one cut anywhere never traps")
    func damaged() throws {
        let path = Self.path("damaged")
        defer { unlink(path) }
        do {
            let database = try StateDatabase(path: path)
            try database.store(Self.all)
        }
        let whole = try #require(Self.read(path))
        // SQLite takes a file of one octet for an empty one.
        for cut in stride(from: 2, to: whole.count, by: 997) {
            Self.write(Array(whole[..<cut]), path)
            #expect(throws: StoreError.self) { try StateDatabase(path: path).load() }
        }
        for place in stride(from: 0, to: whole.count, by: 613) {
            var octets = whole
            octets[place] ^= 0x55
            Self.write(octets, path)
            // Read or refused: either is a whole answer.
            _ = try? StateDatabase(path: path).load()
        }
        Self.write(Array("this is no database, but long enough to be one".utf8) + whole, path)
        #expect(throws: StoreError.self) { try StateDatabase(path: path).load() }
    }

    @Test("a folder that is not there is a failure of the system, not damage")
    func missing() {
        #expect {
            try StateDatabase(path: "/nowhere/at/all/state.db")
        } throws: { error in
            if case .failed = error as? StoreError { true } else { false }
        }
    }

    private static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var octets = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&octets, 1, octets.count, file)
        return Array(octets[..<count])
    }

    private static func write(_ octets: [UInt8], _ path: String) {
        guard let file = fopen(path, "w") else { return }
        fwrite(octets, 1, octets.count, file)
        fclose(file)
    }
}

// The state of a device in one SQLite file: read at start, then written change by change.
import Advertising
public import Emulator
import GATT
import SMP
import Wire

/// A state file. Each `store` is one transaction that has reached the disk when it returns: after a
/// power cut the file holds either all of it or nothing of it.
public final class StateDatabase {
    /// The format of the file. A change of the tables raises it.
    public static let schema = 1
    private let connection: Connection

    /// `PEMU`: tells the file from other programs' databases.
    private static let application = 0x5045_4D55

    /// Opens the file.
    /// - Parameter creates: whether one that is not there is made.
    public init(path: String, creates: Bool = true) throws(StoreError) {
        connection = try Connection(path: path, creates: creates)
        // One file at rest. EXTRA waits for the folder, too, that the journal has gone from.
        // Octets that are no longer needed are overwritten: there are keys among them.
        try connection.run(
            """
            PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA;
            PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON;
            """)
        let (schema, application) = (try pragma("user_version"), try pragma("application_id"))
        if schema == 0, application == 0, try count("sqlite_master") == 0 {
            try create()
            return
        }
        guard application == Self.application else {
            throw .damaged("it is a database of another program")
        }
        guard schema <= Self.schema else {
            throw .newer(schema: schema, known: Self.schema)
        }
    }

    private func pragma(_ name: String) throws(StoreError) -> Int {
        var value: Int64 = 0
        try connection.run("PRAGMA \(name)", []) { row in value = row.integer(0) }
        return Int(value)
    }

    private func count(_ table: String) throws(StoreError) -> Int64 {
        var value: Int64 = 0
        try connection.run("SELECT count(*) FROM \(table)", []) { row in value = row.integer(0) }
        return value
    }

    private func create() throws(StoreError) {
        try connection.transaction { () throws(StoreError) in
            try connection.run(
                """
                CREATE TABLE device (
                    id INTEGER PRIMARY KEY CHECK (id = 0), address INTEGER, identity_key BLOB,
                    database_hash BLOB, activity INTEGER);
                INSERT INTO device (id) VALUES (0);
                CREATE TABLE bond (
                    place INTEGER PRIMARY KEY, address INTEGER NOT NULL, random INTEGER NOT NULL,
                    key BLOB NOT NULL, ediv INTEGER NOT NULL, rand INTEGER NOT NULL,
                    authenticated INTEGER NOT NULL, secure_connections INTEGER NOT NULL,
                    key_size INTEGER NOT NULL, peer_identity_key BLOB, peer_signature_key BLOB,
                    own_signature_key BLOB, alias INTEGER, alias_random INTEGER,
                    UNIQUE (address, random));
                CREATE TABLE sign_counter (
                    place INTEGER PRIMARY KEY, peer INTEGER NOT NULL UNIQUE,
                    next INTEGER NOT NULL);
                CREATE TABLE client (
                    used INTEGER PRIMARY KEY, peer INTEGER NOT NULL UNIQUE,
                    features INTEGER NOT NULL, aware INTEGER NOT NULL, changed_start INTEGER,
                    changed_end INTEGER);
                CREATE TABLE subscription (
                    peer INTEGER NOT NULL REFERENCES client (peer) ON DELETE CASCADE,
                    place TEXT NOT NULL, bits INTEGER NOT NULL, PRIMARY KEY (peer, place));
                CREATE TABLE value (place TEXT PRIMARY KEY, octets BLOB NOT NULL);
                PRAGMA application_id = \(Self.application); PRAGMA user_version = \(Self.schema);
                """)
        }
    }

    // MARK: reading

    /// Reads all of it.
    public func load() throws(StoreError) -> DeviceState {
        var isSound = false
        try connection.run("PRAGMA quick_check(1)", []) { row in isSound = row.text(0) == "ok" }
        guard isSound else { throw .damaged("it is not whole") }
        var state = DeviceState()
        try connection.run(
            "SELECT address, identity_key, database_hash, activity FROM device", []
        ) { row throws(StoreError) in
            if !row.isNull(0) { state.address = try Self.address(row, 0) }
            state.identityKey = try row.key(1) ?? []
            state.databaseHash = row.octets(2) ?? []
            if !row.isNull(3) { state.activity = ActivityState(rawValue: try row.number(3)) }
        }
        try connection.run(
            """
            SELECT address, random, key, ediv, rand, authenticated, secure_connections, key_size,
                peer_identity_key, peer_signature_key, own_signature_key, alias, alias_random
                FROM bond ORDER BY place
            """, []
        ) { row throws(StoreError) in state.bonds.append(try Self.bond(row)) }
        try connection.run(
            """
            SELECT peer, features, aware, changed_start, changed_end FROM client ORDER BY used
            """, []
        ) { row throws(StoreError) in state.clients.append(try Self.client(row)) }
        try connection.run("SELECT peer, place, bits FROM subscription ORDER BY place", []) {
            row throws(StoreError) in
            let peer = try Self.address(row, 0)
            guard let index = state.clients.firstIndex(where: { $0.peer == peer }) else { return }
            state.clients[index].subscriptions.append(
                KeptClient.Subscription(place: row.text(1), bits: try row.number(2)))
        }
        try connection.run("SELECT peer, next FROM sign_counter ORDER BY place", []) {
            row throws(StoreError) in
            let counter = SignCounter(peer: try Self.address(row, 0), next: try row.number(1))
            state.signCounters.append(counter)
        }
        try connection.run("SELECT place, octets FROM value ORDER BY place", []) { row in
            state.values.append(KeptValue(place: row.text(0), octets: row.octets(1) ?? []))
        }
        return state
    }

    private static func address(_ row: Row, _ column: Int32) throws(StoreError) -> DeviceAddress {
        let bits: UInt64 = try row.number(column)
        guard bits <= 0xFFFF_FFFF_FFFF else { throw .damaged("an address in it is none") }
        return DeviceAddress(littleEndian: bits)
    }

    private static func bond(_ row: Row) throws(StoreError) -> Bond {
        let size: UInt8 = try row.number(7)
        guard let key = try row.key(2), (7...16).contains(size) else {
            throw .damaged("a key in it is none")
        }
        var bond = Bond(
            peer: LinkAddress(try address(row, 0), isRandom: row.flag(1)), longTermKey: key,
            ediv: try row.number(3), rand: UInt64(bitPattern: row.integer(4)),
            quality: KeyQuality(
                isAuthenticated: row.flag(5), isSecureConnections: row.flag(6), size: size))
        bond.peerIdentityKey = try row.key(8)
        bond.peerSignatureKey = try row.key(9)
        bond.ownSignatureKey = try row.key(10)
        if !row.isNull(11) {
            bond.alias = LinkAddress(try address(row, 11), isRandom: row.flag(12))
        }
        return bond
    }

    private static func client(_ row: Row) throws(StoreError) -> KeptClient {
        var client = KeptClient(peer: try address(row, 0))
        client.features = try row.number(1)
        client.isChangeAware = row.flag(2)
        if !row.isNull(3) {
            let (start, end): (UInt16, UInt16) = (try row.number(3), try row.number(4))
            guard start <= end else { throw .damaged("a range of handles in it is none") }
            client.serviceChanged = start...end
        }
        return client
    }

    // MARK: writing

    /// Stores changes, all or none of them.
    public func store(_ changes: [StateChange]) throws(StoreError) {
        guard !changes.isEmpty else { return }
        try connection.transaction { () throws(StoreError) in
            for change in changes { try store(change) }
        }
    }

    private func store(_ change: StateChange) throws(StoreError) {
        switch change {
        case .address(let address): try set("address", address.map { Self.value($0) } ?? .null)
        case .identityKey(let key): try set("identity_key", .octets(key))
        case .databaseHash(let hash): try set("database_hash", .octets(hash))
        case .activity(let state):
            try set("activity", state.map { .integer(Int64($0.rawValue)) } ?? .null)
        case .bonds(let bonds):
            try connection.run("DELETE FROM bond")
            for (place, bond) in bonds.enumerated() { try store(bond, at: place) }
        case .client(let client): try store(client)
        case .clientForgotten(let peer): try forget(peer)
        case .signCounters(let counters):
            try connection.run("DELETE FROM sign_counter")
            for (place, counter) in counters.enumerated() {
                try connection.run(
                    "INSERT INTO sign_counter (place, peer, next) VALUES (?, ?, ?)",
                    [
                        .integer(Int64(place)), Self.value(counter.peer),
                        .integer(Int64(clamping: counter.next)),
                    ])
            }
        case .value(let value):
            try connection.run(
                "INSERT OR REPLACE INTO value (place, octets) VALUES (?, ?)",
                [.text(value.place), .octets(value.octets)])
        }
    }

    private static func value(_ address: DeviceAddress) -> Value {
        .integer(Int64(address.littleEndian))
    }

    private func set(_ column: String, _ value: Value) throws(StoreError) {
        try connection.run("UPDATE device SET \(column) = ?", [value])
    }

    private func store(_ bond: Bond, at place: Int) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO bond (place, address, random, key, ediv, rand, authenticated,
                secure_connections, key_size, peer_identity_key, peer_signature_key,
                own_signature_key, alias, alias_random)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(Int64(place)), Self.value(bond.peer.address), Value(bond.peer.isRandom),
                .octets(bond.longTermKey), .integer(Int64(bond.ediv)),
                .integer(Int64(bitPattern: bond.rand)), Value(bond.quality.isAuthenticated),
                Value(bond.quality.isSecureConnections), .integer(Int64(bond.quality.size)),
                Value(bond.peerIdentityKey), Value(bond.peerSignatureKey),
                Value(bond.ownSignatureKey), bond.alias.map { Self.value($0.address) } ?? .null,
                bond.alias.map { Value($0.isRandom) } ?? .null,
            ])
    }

    private func store(_ client: KeptClient) throws(StoreError) {
        try forget(client.peer)
        let range = client.serviceChanged
        try connection.run(
            """
            INSERT INTO client (used, peer, features, aware, changed_start, changed_end)
                VALUES ((SELECT ifnull(max(used), 0) + 1 FROM client), ?, ?, ?, ?, ?)
            """,
            [
                Self.value(client.peer), .integer(Int64(client.features)),
                Value(client.isChangeAware),
                range.map { .integer(Int64($0.lowerBound)) } ?? .null,
                range.map { .integer(Int64($0.upperBound)) } ?? .null,
            ])
        for subscription in client.subscriptions {
            try connection.run(
                "INSERT INTO subscription (peer, place, bits) VALUES (?, ?, ?)",
                [
                    Self.value(client.peer), .text(subscription.place),
                    .integer(Int64(subscription.bits)),
                ])
        }
    }

    private func forget(_ peer: DeviceAddress) throws(StoreError) {
        try connection.run("DELETE FROM client WHERE peer = ?", [Self.value(peer)])
    }
}

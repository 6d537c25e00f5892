// A connection to one database and its statements, as few of SQLite's functions as are needed.
import CSQLite
import Glibc

/// An open database; closed at the latest when nothing refers to it.
@safe final class Connection {
    private let database: OpaquePointer

    /// How long another program's access is waited for, in milliseconds.
    private static let patience: Int32 = 5000

    init(path: String, creates: Bool) throws(StoreError) {
        var handle: OpaquePointer?
        let create = creates ? SQLITE_OPEN_CREATE : 0
        let flags = SQLITE_OPEN_READWRITE | create | SQLITE_OPEN_NOMUTEX
        let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
        guard let handle = unsafe handle else { throw .failed("there is no memory left") }
        guard code == SQLITE_OK else {
            let error = unsafe Self.error(handle, code)
            unsafe sqlite3_close(handle)
            throw error
        }
        unsafe database = unsafe handle
        unsafe sqlite3_busy_timeout(database, Self.patience)
        unsafe sqlite3_extended_result_codes(database, 1)
    }

    deinit { unsafe sqlite3_close(database) }

    private static func error(_ database: OpaquePointer, _ code: Int32) -> StoreError {
        var text = unsafe String(cString: sqlite3_errmsg(database))
        let system = unsafe sqlite3_system_errno(database)
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_MISMATCH, SQLITE_ERROR:
            return .damaged(text)
        case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL:
            if system != 0 { text = unsafe String(cString: strerror(system)) }
            return .failed(text)
        default: return .failed(text)
        }
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code != SQLITE_OK, code != SQLITE_DONE, code != SQLITE_ROW else { return }
        throw unsafe Self.error(database, code)
    }

    /// Runs statements without parameters and without results.
    func run(_ sql: String) throws(StoreError) {
        try check(unsafe sqlite3_exec(database, sql, nil, nil, nil))
    }

    /// Runs one statement.
    /// - Parameter row: called for each row of the result.
    func run(
        _ sql: String, _ values: [Value], row: (Row) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        var prepared: OpaquePointer?
        try check(unsafe sqlite3_prepare_v2(database, sql, -1, &prepared, nil))
        guard let statement = unsafe prepared else { return }
        defer { unsafe sqlite3_finalize(statement) }
        for (index, value) in values.enumerated() {
            try check(unsafe Self.bind(value, to: statement, Int32(index + 1)))
        }
        while true {
            let code = unsafe sqlite3_step(statement)
            try check(code)
            guard code == SQLITE_ROW else { return }
            try row(unsafe Row(statement))
        }
    }

    private static func bind(_ value: Value, to statement: OpaquePointer, _ index: Int32) -> Int32 {
        switch value {
        case .null: unsafe sqlite3_bind_null(statement, index)
        case .integer(let integer): unsafe sqlite3_bind_int64(statement, index, integer)
        case .text(let text): unsafe peripheral_emu_bind_text(statement, index, text)
        // An empty array has no address, which would be a null.
        case .octets(let octets) where octets.isEmpty:
            unsafe sqlite3_bind_zeroblob(statement, index, 0)
        case .octets(let octets):
            unsafe peripheral_emu_bind_blob(statement, index, octets, Int32(octets.count))
        }
    }

    /// Does all of `body` or nothing of it.
    func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try run("BEGIN IMMEDIATE")
        do throws(StoreError) {
            try body()
            try run("COMMIT")
        } catch {
            // After some failures SQLite has done it by itself; then this one does nothing.
            do throws(StoreError) { try run("ROLLBACK") } catch {}
            throw error
        }
    }
}

/// What a statement's parameter is.
enum Value {
    case null
    case integer(Int64)
    case text(String)
    case octets([UInt8])

    init(_ octets: [UInt8]?) { self = octets.map { .octets($0) } ?? .null }
    init(_ flag: Bool) { self = .integer(flag ? 1 : 0) }
}

/// One row of a result; columns count from 0.
@safe struct Row {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { unsafe self.statement = unsafe statement }

    func isNull(_ column: Int32) -> Bool {
        unsafe sqlite3_column_type(statement, column) == SQLITE_NULL
    }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(statement, column) }

    func flag(_ column: Int32) -> Bool { integer(column) != 0 }

    /// An integer of `Number`.
    func number<Number: FixedWidthInteger>(_ column: Int32) throws(StoreError) -> Number {
        guard let number = Number(exactly: integer(column)) else {
            throw .damaged("a number in it is out of range")
        }
        return number
    }

    func text(_ column: Int32) -> String {
        unsafe sqlite3_column_text(statement, column).map { unsafe String(cString: $0) } ?? ""
    }

    /// nil where there is none.
    func octets(_ column: Int32) -> [UInt8]? {
        guard !isNull(column) else { return nil }
        let count = unsafe Int(sqlite3_column_bytes(statement, column))
        guard count > 0, let octets = unsafe sqlite3_column_blob(statement, column) else {
            return []
        }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: octets, count: count))
    }

    /// A key: 16 octets.
    func key(_ column: Int32) throws(StoreError) -> [UInt8]? {
        guard let key = octets(column) else { return nil }
        guard key.count == 16 else { throw .damaged("a key in it has not 16 octets") }
        return key
    }
}

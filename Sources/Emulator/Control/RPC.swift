// JSON-RPC 2.0, one object a line: requests are read, answers and events are written.
public import Wire

/// Why a request has no result.
public struct RPCError: Error, Equatable, Sendable {
    /// The number of JSON-RPC 2.0, 5.1; -32,000 where the device cannot now.
    public var code: Int64
    public var message: String

    // The numbers of the specification (JSON-RPC 2.0, 5.1), and one of its range for servers.
    static func parse(_ message: String) -> RPCError { RPCError(code: -32_700, message: message) }
    static func request(_ message: String) -> RPCError { RPCError(code: -32_600, message: message) }
    static func method(_ message: String) -> RPCError { RPCError(code: -32_601, message: message) }
    static func parameters(_ message: String) -> RPCError {
        RPCError(code: -32_602, message: message)
    }
    /// The request is right, and what it asks for cannot be now.
    static func state(_ message: String) -> RPCError { RPCError(code: -32_000, message: message) }
}

/// One request.
struct RPCRequest {
    /// nil: a notification, which is not answered.
    var id: JSONValue?
    var method: String
    /// nil, an array or an object.
    var parameters: JSONValue?

    /// What is wrong with a line, and whom to tell.
    struct Refusal: Error {
        var id = JSONValue.null
        var error: RPCError
    }

    init(_ line: Span<UInt8>) throws(Refusal) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(line) } catch {
            throw Refusal(error: .parse("this is no JSON: \(error) (octet \(error.offset + 1))"))
        }
        guard case .object = value else {
            if case .array = value {
                throw Refusal(
                    error: .request("batches are not supported; write one request a line"))
            }
            throw Refusal(error: .request("a request is an object; write \(Self.example)"))
        }
        if let id = value["id"] {
            switch id {
            case .real(let number) where abs(number) >= 0x1p53:
                throw Refusal(
                    error: .request("'id' is too large a number; write it as a string"))
            case .null, .string, .integer, .real: self.id = id
            case .boolean, .array, .object:
                throw Refusal(
                    error: .request("'id' is a string, a number or null; or leave it out"))
            }
        }
        let id = id ?? .null
        guard value["jsonrpc"] == .string("2.0") else {
            throw Refusal(
                id: id, error: .request("'jsonrpc' must be \"2.0\"; write \(Self.example)"))
        }
        guard let method = value["method"]?.string else {
            throw Refusal(
                id: id, error: .request("'method' must be a string; write \(Self.example)"))
        }
        self.method = method
        switch value["params"] {
        case nil: parameters = nil
        case .array, .object: parameters = value["params"]
        case .null, .boolean, .integer, .real, .string:
            throw Refusal(id: id, error: .request("'params' must be an object or an array"))
        }
    }

    private static let example = #"{"jsonrpc":"2.0","id":1,"method":"list"}"#
}

/// The lines that a server of JSON-RPC writes.
public enum RPC {
    /// The line of an answer, with its end.
    public static func answer(_ result: JSONValue, to id: JSONValue) -> String {
        line(("id", id), ("result", result))
    }

    /// The line of a refusal, with its end.
    public static func answer(_ error: RPCError, to id: JSONValue) -> String {
        line(
            ("id", id),
            (
                "error",
                .members(("code", .integer(error.code)), ("message", .string(error.message)))
            ))
    }

    /// The answer to a line that is longer than `lineOctetsMax`.
    public static var lineTooLong: String {
        answer(.request("a line has at most \(lineOctetsMax) octets"), to: .null)
    }

    /// What one client too many gets.
    public static func full(_ clientsMax: Int) -> String {
        answer(
            .state("there are \(clientsMax) clients already; try again when one has gone"),
            to: .null)
    }

    /// The most octets of a line, without its end; longer ones are refused by those who read them.
    public static let lineOctetsMax = 16_384

    /// A request as a client writes it.
    public static func request(_ method: String, _ parameters: JSONValue, id: Int64) -> String {
        line(("id", .integer(id)), ("method", .string(method)), ("params", parameters))
    }

    /// What a watching client is told.
    public static func event(_ object: JSONValue) -> String {
        line(("method", .string("event")), ("params", object))
    }

    private static func line(_ members: (String, JSONValue)...) -> String {
        let version = JSONMember("jsonrpc", .string("2.0"))
        return JSONValue.object([version] + members.map { JSONMember($0.0, $0.1) }).text() + "\n"
    }
}

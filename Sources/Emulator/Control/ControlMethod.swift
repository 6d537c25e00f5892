// The methods of the control socket: one file or extension each, and one line in the registry.
public import SansIO
public import Wire

/// One method.
public struct ControlMethod: Sendable {
    /// What a method takes, by name or by its place.
    public struct Parameter: Sendable {
        public enum Kind: Sendable {
            /// A label or a name, as `--set` takes it.
            case reference
            /// As in the profile: a text, or the JSON for it.
            case value
            /// A number from 0, or its digits as a text.
            case number
        }

        public let name: String
        public let kind: Kind
        public var isOptional = false
    }

    public let name: String
    public let parameters: [Parameter]
    /// What it does, in a few words.
    public let help: String
    /// Does it.
    let run: Run
    /// The result as lines for people.
    public let text: @Sendable (JSONValue) -> [String]

    typealias Run =
        @Sendable (
            inout ControlCall, inout EmulatedDevice, inout ByteBlock, inout Outputs<DeviceEvent>
        ) throws(RPCError) -> JSONValue

    /// The registry, sorted by name.
    public static let all: [ControlMethod] = [
        .answer, .authorize, .disconnect, .get, .list, .notify, .pairing, .set, .watch,
    ]

    /// The method of this name; nil where there is none.
    public static func named(_ name: String) -> ControlMethod? { all.first { $0.name == name } }

    /// `set REFERENCE VALUE`
    public var usage: String {
        parameters.reduce(name) { text, parameter in
            let word = parameter.name.uppercased()
            return text + " " + (parameter.isOptional ? "[\(word)]" : word)
        }
    }
}

/// A request on its way: what it says, and what it changes about its client.
struct ControlCall {
    let now: Instant
    private let arguments: [(name: String, value: JSONValue)]
    var isWatching: Bool

    /// - Throws: what is wrong with the parameters of the request.
    init(
        _ method: ControlMethod, _ parameters: JSONValue?, isWatching: Bool, at now: Instant
    ) throws(RPCError) {
        self.now = now
        self.isWatching = isWatching
        let names = method.parameters.map(\.name)
        var arguments: [(name: String, value: JSONValue)] = []
        switch parameters {
        case .array(let values):
            guard values.count <= names.count else {
                throw .parameters("\(values.count) parameters are too many; write \(method.usage)")
            }
            arguments = zip(names, values).map { ($0, $1) }
        case .object(let members):
            for member in members {
                guard names.contains(member.name) else {
                    let near = NearestName.of(member.name, among: names)
                    throw .parameters(
                        "\(method.name) has no parameter '\(member.name.prefix(60))'; "
                            + (near.map { "did you mean '\($0)'?" } ?? "write \(method.usage)"))
                }
                arguments.append((member.name, member.value))
            }
        case nil, .null, .boolean, .integer, .real, .string: break
        }
        for parameter in method.parameters where !parameter.isOptional {
            guard arguments.contains(where: { $0.name == parameter.name }) else {
                throw .parameters("'\(parameter.name)' is missing; write \(method.usage)")
            }
        }
        self.arguments = arguments
    }

    func value(_ name: String) -> JSONValue? { arguments.first { $0.name == name }?.value }

    func text(_ name: String) throws(RPCError) -> String {
        guard let text = value(name)?.string else {
            throw .parameters("'\(name)' must be a string")
        }
        return text
    }

    /// A number from 0; nil where there is none, or null.
    func number(_ name: String) throws(RPCError) -> Int? {
        let number: Int64? =
            switch value(name) {
            case nil, .null: nil
            case .integer(let number): number
            case .string(let digits): Int64(digits) ?? -1
            case .boolean, .real, .array, .object: -1
            }
        guard let number else { return nil }
        guard let number = Int(exactly: number), number >= 0 else {
            throw .parameters("'\(name)' must be a number from 0")
        }
        return number
    }
}

/// One client of the control socket.
public struct ControlSession: Sendable {
    /// Whether it wants every event.
    public private(set) var isWatching = false

    public init() {}

    /// Does what a line says.
    ///
    /// - Parameter line: without its end.
    /// - Returns: the answer with its end; nil where there is none: to a blank line, and to a
    ///   request without an id.
    public mutating func answer(
        _ line: Span<UInt8>, of device: inout EmulatedDevice, at now: Instant,
        sending out: inout ByteBlock, emit: inout Outputs<DeviceEvent>
    ) -> String? {
        let isBlank = line.indices.allSatisfy { [0x20, 0x09, 0x0D].contains(line[$0]) }
        guard !isBlank else { return nil }
        let request: RPCRequest
        do throws(RPCRequest.Refusal) { request = try RPCRequest(line) } catch {
            return RPC.answer(error.error, to: error.id)
        }
        do throws(RPCError) {
            guard let method = ControlMethod.named(request.method) else {
                throw Self.unknown(request.method)
            }
            var call = try ControlCall(
                method, request.parameters, isWatching: isWatching, at: now)
            let result = try method.run(&call, &device, &out, &emit)
            isWatching = call.isWatching
            return request.id.map { RPC.answer(result, to: $0) }
        } catch {
            return request.id.map { RPC.answer(error, to: $0) }
        }
    }

    private static func unknown(_ name: String) -> RPCError {
        let names = ControlMethod.all.map(\.name)
        let near = NearestName.of(name, among: names)
        return .method(
            "there is no method '\(name.prefix(60))'; "
                + (near.map { "did you mean '\($0)'?" }
                    ?? "there are \(names.joined(separator: ", "))"))
    }
}

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

    /// Whom a method is for, where there are several accessories and none is named.
    enum Reach: Sendable {
        /// Whose the reference is that it takes.
        case reference
        /// All, but one must be named with a link: each accessory numbers its own.
        case all
        /// The one that waits for an answer.
        case asking
        /// None: it is about the run.
        case run
    }

    public let name: String
    public let parameters: [Parameter]
    var reach = Reach.reference
    /// What it does, in a few words.
    public let help: String
    /// Does it.
    let run: Run
    /// The result of one accessory as lines for people.
    let text: @Sendable (JSONValue) -> [String]

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

    /// The name of the parameter that every method has beside its own, and of the members that say
    /// whose a result or an event is, and all results.
    public static let accessory = "accessory"
    static let accessories = "accessories"

    /// A result as lines for people; those of several accessories begin with its name.
    public func lines(of result: JSONValue) -> [String] {
        if let all = result[Self.accessories]?.elements { return all.flatMap { lines(of: $0) } }
        let name = result[Self.accessory]?.string.map { "\($0): " } ?? ""
        return text(result).map { name + $0 }
    }

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
    private var arguments: [(name: String, value: JSONValue)]
    var isWatching = false

    /// - Throws: what is wrong with the parameters of the request.
    init(
        _ method: ControlMethod, _ parameters: JSONValue?, at now: Instant
    ) throws(RPCError) {
        self.now = now
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
                let names = names + [ControlMethod.accessory]
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

    /// The accessory that is named; nil where none is.
    func named(_ names: AccessoryNames) throws(RPCError) -> Int? {
        switch value(ControlMethod.accessory) {
        case nil, .null: return nil
        case .string(let name):
            do throws(AccessoryNameError) { return try names.number(of: name) } catch {
                throw .parameters(error.description)
            }
        case .boolean, .integer, .real, .array, .object:
            throw .parameters("'accessory' must be one of \(names.list)")
        }
    }

    /// The accessories that a method is for; `NAME/` is taken from what says whose it is by that.
    mutating func accessories(
        _ method: ControlMethod, _ names: AccessoryNames, _ perform: DevicePerformer
    ) throws(RPCError) -> [Int] {
        if let named = try named(names) { return [named] }
        guard names.areSeveral, method.reach != .run else { return [0] }
        let first = method.parameters.first?.name ?? ""
        guard method.reach != .all else {
            guard value(first) ?? .null == .null else {
                throw .parameters(
                    "each accessory numbers its own links; name it by 'accessory', with ctl by "
                        + "--accessory, as one of \(names.list)")
            }
            return Array(names.all.indices)
        }
        // A passkey may be a number.
        let text = method.reach == .asking ? value(first)?.string ?? "" : try text(first)
        do throws(AccessoryNameError) {
            let (number, rest) =
                method.reach == .asking
                ? try names.splitAnswer(text, perform) : try names.split(text)
            for index in arguments.indices where arguments[index].name == first && !text.isEmpty {
                arguments[index].value = .string(rest)
            }
            return [number]
        } catch { throw .parameters(error.description) }
    }

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
    /// Whether it wants to be told events.
    public private(set) var isWatching = false
    /// Whose events; nil wants all.
    private var watched: String?

    public init() {}

    /// Whether it wants to be told this event.
    public func wants(_ event: JSONValue) -> Bool {
        isWatching && (watched == nil || event[ControlMethod.accessory]?.string == watched)
    }

    /// Does what a line says.
    ///
    /// - Parameter line: without its end.
    /// - Returns: the answer with its end; nil where there is none: to a blank line, and to a
    ///   request without an id.
    public mutating func answer(
        _ line: Span<UInt8>, of names: AccessoryNames, at now: Instant, _ perform: DevicePerformer
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
            var call = try ControlCall(method, request.parameters, at: now)
            let result = try run(method, &call, names, perform)
            return request.id.map { RPC.answer(result, to: $0) }
        } catch {
            return request.id.map { RPC.answer(error, to: $0) }
        }
    }

    /// - Returns: the result of one accessory, or those of all.
    private mutating func run(
        _ method: ControlMethod, _ call: inout ControlCall, _ names: AccessoryNames,
        _ perform: DevicePerformer
    ) throws(RPCError) -> JSONValue {
        let numbers = try call.accessories(method, names, perform)
        var results: [JSONValue] = []
        for number in numbers {
            var result = JSONValue.null
            var refusal: RPCError?
            perform(number) { device, out, emit in
                do throws(RPCError) {
                    result = try method.run(&call, &device, &out, &emit)
                } catch { refusal = error }
            }
            if let refusal { throw refusal }
            if names.areSeveral, method.reach != .run {
                result = result.with(ControlMethod.accessory, .string(names.all[number]))
            }
            results.append(result)
        }
        if call.isWatching {
            isWatching = true
            watched = names.areSeveral ? try call.named(names).map { names.all[$0] } : nil
        }
        guard results.count > 1 else { return results.first ?? .null }
        return .members((ControlMethod.accessories, .array(results)))
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

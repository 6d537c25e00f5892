// The command line of `ctl`.
import Emulator
import Glibc
import Wire

/// What to ask whom.
struct ControlOptions {
    /// The control socket's path.
    var path: String
    var method: ControlMethod
    /// By the parameters' names.
    var parameters: JSONValue
    /// Whether to print JSON.
    var json = false

    /// Names the socket where `--control` does not.
    static let variable = "PERIPHERAL_EMU_CONTROL"
    private static let usage = "write ctl --control PATH METHOD"

    init(_ scan: Options.Scan) throws(UsageError) {
        var path = unsafe getenv(Self.variable).map { unsafe String(cString: $0) }
        var accessory: String?
        for option in scan.options {
            switch Options.table[option.row].name {
            case Options.control: path = option.argument
            case Options.json: json = true
            case Options.accessory: accessory = option.argument
            case let name: throw UsageError("ctl does not take --\(name); \(Self.usage)")
            }
        }
        var operands = scan.operands[...]
        let names = ControlMethod.all.map(\.name)
        guard let name = operands.popFirst() else {
            throw UsageError("ctl needs a method, one of \(names.joined(separator: ", "))")
        }
        guard let method = ControlMethod.named(name) else {
            let near = NearestName.of(name, among: names)
            throw UsageError(
                "ctl has no method \"\(name)\"; "
                    + (near.map { "did you mean \($0)?" }
                        ?? "there are \(names.joined(separator: ", "))"))
        }
        guard let path, !path.isEmpty else {
            throw UsageError(
                "ctl needs the accessory's control socket; write ctl --control PATH \(name), "
                    + "or set \(Self.variable)")
        }
        // `set temperature=21.5` is `set temperature 21.5`.
        if method.parameters.count == 2, operands.count == 1, let both = operands.first,
            let (reference, value) = both.divided(by: "=")
        {
            operands = [reference, value]
        }
        let needed = method.parameters.count { !$0.isOptional }
        guard (needed...method.parameters.count).contains(operands.count) else {
            throw UsageError(
                "\(name) takes "
                    + (method.parameters.isEmpty ? "nothing" : "something else")
                    + "; write ctl \(method.usage)")
        }
        self.path = path
        self.method = method
        let named = accessory.map { [JSONMember(ControlMethod.accessory, .string($0))] } ?? []
        parameters = .object(
            zip(method.parameters, operands).map { JSONMember($0.name, .string($1)) } + named)
    }
}

extension Options {
    /// A negative number is an argument of `ctl`, no option: a space before it says so, and means
    /// nothing in a value.
    static func operandIfNumber(_ text: String) -> String {
        let digits = text.dropFirst().utf8
        guard text.hasPrefix("-"), let first = digits.first,
            first == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        else { return text }
        return " " + text
    }
}

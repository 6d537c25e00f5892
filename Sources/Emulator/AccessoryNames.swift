// What the accessories of a run are called, where something is said to one of them.
public import SansIO
public import Wire

/// Does something to a device that may send packets.
public typealias DeviceAction =
    (inout EmulatedDevice, inout ByteBlock, inout Outputs<DeviceEvent>) -> Void

/// Does it to the device of this number.
public typealias DevicePerformer = (Int, DeviceAction) -> Void

/// The accessories' names, by their numbers.
///
/// Where there are several, `NAME/` before something says whose it is.
public struct AccessoryNames: Sendable {
    public let all: [String]

    /// - Parameter files: the names of their profiles; one at least. A number behind them tells
    ///   equal ones apart.
    public init(files: [String]) {
        precondition(!files.isEmpty, "a run has an accessory")
        var names: [String] = []
        var taken: Set<String> = []
        var last: [String: Int] = [:]
        for file in files {
            var number = last[file] ?? 0
            var name = file
            repeat {
                number += 1
                name = number == 1 ? file : "\(file)-\(number)"
            } while !taken.insert(name).inserted
            last[file] = number
            names.append(name)
        }
        all = names
    }

    public var areSeveral: Bool { all.count > 1 }

    /// How many are listed where one of them is to be chosen.
    private static let listedMax = 8

    /// `a, b`
    public var list: String { Self.list(all) }

    private static func list(_ names: [String]) -> String {
        let left = names.count - listedMax
        return names.prefix(listedMax).joined(separator: ", ")
            + (left > 0 ? " and \(left) more" : "")
    }

    public func number(of name: some StringProtocol) throws(AccessoryNameError) -> Int {
        if let number = all.firstIndex(where: { $0 == name }) { return number }
        let near = NearestName.of(String(name), among: all)
        throw AccessoryNameError(
            "there is no accessory '\(name.prefix(60))'; "
                + (near.map { "did you mean '\($0)'?" }
                    ?? (areSeveral ? "there are \(list)" : "there is \(list)")))
    }

    /// Whose this is, and what is behind `NAME/`; all of it belongs to an accessory that is alone.
    public func split(_ text: String) throws(AccessoryNameError) -> (number: Int, rest: String) {
        guard areSeveral else { return (0, text) }
        guard let slash = text.firstIndex(of: "/") else {
            throw AccessoryNameError(
                "'\(text.prefix(60))' does not say whose it is; "
                    + "write NAME/\(text.prefix(60)), where NAME is one of \(list)")
        }
        return (try number(of: text[..<slash]), String(text[text.index(after: slash)...]))
    }

    /// The accessories that wait for an answer.
    private func asking(_ perform: DevicePerformer) -> [Int] {
        all.indices.filter { number in
            var isAsking = false
            perform(number) { device, _, _ in isAsking = device.awaitsAnswer }
            return isAsking
        }
    }

    /// Whether any accessory waits for an answer.
    public func areAsking(_ perform: DevicePerformer) -> Bool { !asking(perform).isEmpty }

    /// Whose question an answer is for: that of `NAME/`, else the only one that asks. Where none
    /// asks, the first one says so.
    func splitAnswer(
        _ text: String, _ perform: DevicePerformer
    ) throws(AccessoryNameError) -> (number: Int, rest: String) {
        guard areSeveral, !text.contains("/") else { return try split(text) }
        let asking = asking(perform)
        guard asking.count <= 1 else {
            throw AccessoryNameError(
                "\(asking.count) accessories wait for an answer: "
                    + "\(Self.list(asking.map { all[$0] })); write NAME/\(text.prefix(20))")
        }
        return (asking.first ?? 0, text)
    }

    /// Gives a person's line to the accessory that it is for.
    public func answer(
        line: String, at now: Instant, _ perform: DevicePerformer
    ) throws(AnswerError) {
        let (number, rest): (Int, String)
        do throws(AccessoryNameError) { (number, rest) = try splitAnswer(line, perform) } catch {
            throw AnswerError(error.description)
        }
        var refusal: AnswerError?
        perform(number) { device, out, emit in
            do throws(AnswerError) {
                try device.answer(line: rest, at: now, sending: &out, emit: &emit)
            } catch { refusal = error }
        }
        if let refusal { throw refusal }
    }
}

/// Why it is not clear which accessory is meant, and what to write.
public struct AccessoryNameError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

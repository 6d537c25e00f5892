// answer, authorize and pairing: what a person at the device does for a central.
import BLEHost
import SMP
import SansIO
import Wire

extension ControlMethod {
    static let answer = ControlMethod(
        name: "answer",
        parameters: [
            .init(name: "answer", kind: .value),
            .init(name: "link", kind: .value, isOptional: true),
        ],
        reach: .asking,
        help: "to a central that pairs: the six digits of its passkey, or whether the numbers "
            + "are equal, yes or no; LINK is a number or the central's address, where several ask",
        run: { call, device, out, emit throws(RPCError) in
            let answer = try call.answer()
            let link = try call.link()
            let question: PairingQuestion
            do throws(AnswerError) {
                question = try device.answer(
                    answer, from: link, at: call.now, sending: &out, emit: &emit)
            } catch {
                throw .state(error.description)
            }
            return .members(
                ("link", .integer(Int64(question.link))), ("peer", .string("\(question.peer)")),
                ("answered", .string(question.name)))
        },
        text: { ["\($0["peer"]?.string ?? "") has the answer; the log says what comes of it"] })

    static let authorize = ControlMethod(
        name: "authorize", parameters: [.init(name: "link", kind: .number, isOptional: true)],
        reach: .all,
        help: "let the central of the link of this number, or all, do what asks for authorization, "
            + "until it disconnects",
        run: { call, device, out, emit throws(RPCError) in
            let links = try device.links(call.number("link"))
            for link in links {
                device.authorize(link, at: call.now, sending: &out, emit: &emit)
            }
            return .members(("links", .array(links.map { device.link($0) })))
        },
        text: { result in
            let links = result["links"]?.elements ?? []
            return links.isEmpty
                ? ["nobody is connected"]
                : links.map { "\($0["peer"]?.string ?? "") is authorized" }
        })

    static let pairing = ControlMethod(
        name: "pairing", parameters: [], reach: .all,
        help: "what pairings ask of the person at the accessory, or show, and for how long",
        run: { call, device, _, _ in
            .members(
                ("questions", .array(device.pairingQuestions.map { $0.object(at: call.now) })))
        },
        text: { result in
            let questions = result["questions"]?.elements ?? []
            return questions.isEmpty
                ? ["nothing is asked"] : questions.compactMap { $0["text"]?.string }
        })
}

extension ControlCall {
    /// A text; a number as its six digits, true and false as yes and no.
    fileprivate func answer() throws(RPCError) -> String {
        switch value("answer") {
        case .string(let text): return text
        case .boolean(let value): return value ? "yes" : "no"
        case .integer(let number):
            // JSON has no leading zeros.
            guard let number = UInt32(exactly: number), number <= 999_999 else {
                throw .parameters("\(number) is no passkey, which has six digits")
            }
            return Passkey.digits(number)
        case nil, .null, .real, .array, .object:
            throw .parameters("'answer' must be \"123456\", \"yes\" or \"no\"")
        }
    }

    /// nil where there is none, or null.
    fileprivate func link() throws(RPCError) -> String? {
        switch value("link") {
        case nil, .null: return nil
        case .string(let text): return text
        case .integer(let number): return String(number)
        case .boolean, .real, .array, .object:
            throw .parameters("'link' must be a link's number or a central's address")
        }
    }
}

extension PairingQuestion {
    /// As the event is named.
    var name: String { asked.name }

    func object(at now: Instant) -> JSONValue {
        let left = max(deadline - now, .zero)
        return .object(
            [
                JSONMember("link", .integer(Int64(link))), JSONMember("peer", .string("\(peer)")),
                JSONMember("question", .string(name)),
            ] + asked.members + [
                JSONMember("seconds", .real(left.seconds)),
                JSONMember("text", .string("\(who): \(remedy), within \(Int64(left.seconds)) s")),
            ])
    }
}

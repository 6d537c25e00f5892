// A text file of PDUs to and from a server, replayed on a server in virtual time.
import Wire
import SansIO

/// Why a transcript cannot be read.
public struct TranscriptError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Counted from 1.
    public let line: Int
    public let message: String

    public var description: String { "line \(line): \(message)" }
}

/// The first place where a server did not do what a transcript says.
public struct TranscriptDifference: Equatable, Sendable, CustomStringConvertible {
    /// Counted from 1.
    public let line: Int
    public let message: String

    public var description: String { "line \(line): \(message)" }
}

/// What a client sends and a server must answer, one step a line:
///
///     > 0A0300              the client sends this PDU
///     < 0B01                the server must have sent this PDU, the next in its order
///     silence               the server must have sent nothing more
///     link encrypted bonded key-size=16    what the link is now; a word not said is not so
///     notify 0x0003 0102    the application sets the value and sends it to who has asked
///     notify-multiple 0x0003 0x0005    the application sends both values in one PDU
///     set 0x0003 0102       the application sets the value
///     value 0x0003 0102     the value must be this, as the application sees it
///     disconnect            a new, plain link follows
///     client 1              the lines that follow are of this client; 0 at first
///     wait 30 s             time passes
///     changed 0x0001 0xFFFF the attributes in this range have changed
///     # a comment, also behind a step
public struct Transcript: Sendable {
    enum Step: Equatable, Sendable {
        case send([UInt8])
        case expect([UInt8])
        case silence
        case link(LinkSecurity)
        case notify(UInt16, [UInt8]?)
        case notifyMultiple([UInt16])
        case set(UInt16, [UInt8])
        case value(UInt16, [UInt8])
        case disconnect
        case client(Int)
        case wait(TimeSpan)
        case changed(ClosedRange<UInt16>)
    }

    let steps: [(line: Int, step: Step)]

    /// Reads a transcript; the first line that is none is the error.
    public static func parse(_ text: String) throws(TranscriptError) -> Transcript {
        var steps: [(line: Int, step: Step)] = []
        var number = 0
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            number += 1
            let code = line.prefix { $0 != "#" }
            let words = code.split { $0 == " " || $0 == "\t" }
            guard let command = words.first else { continue }
            do throws(Fault) {
                steps.append((number, try step(String(command), Array(words.dropFirst()))))
            } catch {
                throw TranscriptError(line: number, message: error.message)
            }
        }
        return Transcript(steps: steps)
    }

    private struct Fault: Error {
        let message: String
    }

    private static func step(_ command: String, _ words: [Substring]) throws(Fault) -> Step {
        // `>0A0300` is read as `> 0A0300`.
        if command.count > 1, let sign = command.first, sign == ">" || sign == "<" {
            return try step(String(sign), [command.dropFirst()] + words)
        }
        switch command {
        case ">": return .send(try octets(words[...]))
        case "<": return .expect(try octets(words[...]))
        case "notify" where words.count == 1: return .notify(try handle(words[0]), nil)
        case "notify" where words.count >= 2:
            return .notify(try handle(words[0]), try octets(words[1...]))
        case "notify-multiple" where words.count >= 2:
            var handles: [UInt16] = []
            for word in words { handles.append(try handle(word)) }
            return .notifyMultiple(handles)
        case "set" where words.count >= 1:
            return .set(try handle(words[0]), try octets(words[1...], mayBeEmpty: true))
        case "value" where words.count >= 1:
            return .value(try handle(words[0]), try octets(words[1...], mayBeEmpty: true))
        case "link": return .link(try security(words))
        case "silence" where words.isEmpty: return .silence
        case "disconnect" where words.isEmpty: return .disconnect
        case "client" where words.count == 1:
            guard let client = Int(words[0]), (0..<GATTServer.clientsMax).contains(client) else {
                throw Fault(message: "client \(words[0]): write a number from 0 to 15")
            }
            return .client(client)
        case "wait" where words.count == 2 && words[1] == "s":
            guard let seconds = Int64(words[0]), seconds >= 0 else {
                throw Fault(message: "wait \(words[0]): write whole seconds, like wait 30 s")
            }
            return .wait(.seconds(seconds))
        case "changed" where words.count == 2:
            let (start, end) = (try handle(words[0]), try handle(words[1]))
            guard start > 0, start <= end else {
                throw Fault(message: "changed: write the first and the last handle that changed")
            }
            return .changed(start...end)
        default:
            throw Fault(
                message:
                    "cannot read \"\(([Substring(command)] + words).joined(separator: " "))\"; "
                    + "write > HEX, < HEX, silence, link [WORDS], notify HANDLE [HEX], "
                    + "notify-multiple HANDLE HANDLE…, set HANDLE HEX, value HANDLE HEX, "
                    + "disconnect, client N, wait N s or changed HANDLE HANDLE")
        }
    }

    private static func octets(
        _ words: ArraySlice<Substring>, mayBeEmpty: Bool = false
    ) throws(Fault) -> [UInt8] {
        let text = words.joined()
        guard let octets = Hex.bytes(text), mayBeEmpty || !octets.isEmpty else {
            throw Fault(message: "\"\(text)\": write octets as pairs of hexadecimal digits")
        }
        return octets
    }

    private static func handle(_ word: Substring) throws(Fault) -> UInt16 {
        let digits = word.hasPrefix("0x") ? word.dropFirst(2) : word
        guard let first = digits.utf8.first, Hex.value(of: first) != nil,
            let handle = UInt16(digits, radix: 16)
        else { throw Fault(message: "\(word): write a handle as 0x0003") }
        return handle
    }

    private static func security(_ words: [Substring]) throws(Fault) -> LinkSecurity {
        var security = LinkSecurity.plain
        for word in words {
            switch word {
            case "encrypted": security.encrypted = true
            case "authenticated": security.authenticated = true
            case "secure": security.secureConnections = true
            case "bonded": security.bonded = true
            case "authorized": security.authorized = true
            default:
                guard word.hasPrefix("key-size="), let size = UInt8(word.dropFirst(9)),
                    (7...16).contains(size)
                else {
                    throw Fault(
                        message: "link \(word): write encrypted, authenticated, secure, bonded, "
                            + "authorized or key-size=7 to 16")
                }
                security.keySize = size
            }
        }
        return security
    }
}

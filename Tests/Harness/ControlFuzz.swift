// Lines of a control socket's client, of any content, to a device at work.
import Emulator
import SansIO
import Wire

enum ControlFuzz {
    static func seeds() -> [[UInt8]] {
        let parameters = [
            "answer": #"["123456",0]"#, "authorize": #"{"link":"0"}"#,
            "disconnect": #"{"link":0}"#, "get": #"["temperature"]"#, "list": "{}",
            "notify": #"{"reference":"count"}"#, "set": #"["setting","hex:01FF"]"#, "watch": "[]",
        ]
        let requests = ControlMethod.all.map { method in
            #"{"jsonrpc":"2.0","id":1,"method":"\#(method.name)","params":"#
                + "\(parameters[method.name] ?? "{}")}"
        }
        let values = [
            #"{"jsonrpc":"2.0","id":"a","method":"set","params":["temperature",21.5]}"#,
            #"{"jsonrpc":"2.0","id":null,"method":"set","params":["count",{"hex":"01020304"}]}"#,
            #"{"jsonrpc":"2.0","method":"get","params":{"reference":"\u00e9\ud83d\ude00"}}"#,
        ]
        return (requests + values).map { Array($0.utf8) }
    }

    static func run(_ bytes: [UInt8]) {
        var world = ready
        var session = ControlSession()
        for line in bytes.split(separator: UInt8(ascii: "\n")).prefix(4) {
            let answer = world.ask(&session, Array(line))
            check(answer)
            world.run(for: .milliseconds(10))
        }
    }

    private static func check(_ answer: String?) {
        guard let answer else { return }
        precondition(answer.last == "\n" && answer.dropLast().allSatisfy { $0 != "\n" }, "a line")
        let octets = Array(answer.utf8)
        do throws(JSONError) {
            let value = try JSONValue(octets.span)
            let isWhole = (value["result"] == nil) != (value["error"] == nil)
            precondition(isWhole && value["id"] != nil, "an answer has a result or an error")
        } catch { preconditionFailure("an answer is JSON: \(error)") }
    }

    /// A device that advertises; each run takes a copy.
    private static let ready: GuestWorld = {
        do {
            var world = GuestWorld(try SampleProfile.device())
            world.powerOn()
            return world
        } catch { preconditionFailure("the sample loads: \(error)") }
    }()
}

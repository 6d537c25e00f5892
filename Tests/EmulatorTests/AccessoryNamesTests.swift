// Several accessories of one run: how one of them is named, by ctl, by a person and in options.
import Emulator
import Harness
import OpenSSLCrypto
import Profiles
import SansIO
import Simulation
import Testing
import Wire

/// Two devices of one profile on one air, and a client of their control socket.
private final class Pair {
    private var world: World
    var session = ControlSession()
    let names = AccessoryNames(files: ["indoors", "outdoors"])

    init() throws {
        let profile = try SampleProfile.load()
        world = World(
            port: DevicePort(device: EmulatedDevice(profile: profile, seed: 1)),
            others: [DevicePort(device: EmulatedDevice(profile: profile, seed: 2))], seed: 1,
            timing: .ideal)
        world.powerOn(at: .zero)
        while let deadline = world.deadline, deadline < .zero + .milliseconds(50) {
            world.run(at: deadline)
        }
    }

    private func send(_ method: String, _ parameters: String) -> JSONValue? {
        let line = Array(
            #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#.utf8)
        let answer = session.answer(line.span, of: names, at: world.now) { number, action in
            world.perform(on: number, at: world.now, action)
        }
        let octets = Array((answer ?? "").utf8)
        return try? JSONValue(octets.span)
    }

    func result(_ method: String, _ parameters: String) -> JSONValue? {
        send(method, parameters)?["result"]
    }

    func refusal(_ method: String, _ parameters: String) -> String {
        send(method, parameters)?["error"]?["message"]?.string ?? ""
    }
}

@Suite struct AccessoryNamesTests {
    private static let two = AccessoryNames(files: ["indoors", "outdoors"])

    @Test("accessories are called by their profiles' files, and equal ones are told apart")
    func names() {
        #expect(AccessoryNames(files: ["a", "b"]).all == ["a", "b"])
        #expect(AccessoryNames(files: ["a", "a", "a"]).all == ["a", "a-2", "a-3"])
        #expect(AccessoryNames(files: ["a-2", "a", "a"]).all == ["a-2", "a", "a-3"])
        #expect(AccessoryNames(files: ["a", "a", "a-2"]).all == ["a", "a-2", "a-2-2"])
    }

    @Test("NAME/ says whose something is, where there are several")
    func split() throws {
        let (number, rest) = try Self.two.split("outdoors/environmental-sensing/temperature=1")
        #expect(number == 1 && rest == "environmental-sensing/temperature=1")
        let alone = try AccessoryNames(files: ["indoors"]).split("indoors/x")
        #expect(alone.number == 0 && alone.rest == "indoors/x")
    }

    @Test(
        "a name that is missing or wrong is answered with what to write",
        arguments: [
            (
                "x=1",
                "'x=1' does not say whose it is; write NAME/x=1, where NAME is one of "
                    + "indoors, outdoors"
            ),
            ("outdors/x", "there is no accessory 'outdors'; did you mean 'outdoors'?"),
            ("kitchen/x", "there is no accessory 'kitchen'; there are indoors, outdoors"),
        ])
    func mistakes(_ text: String, _ said: String) {
        do throws(AccessoryNameError) {
            _ = try Self.two.split(text)
            Issue.record("'\(text)' was taken")
        } catch { #expect(error.description == said) }
    }

    @Test("many names are not all listed")
    func many() {
        let names = AccessoryNames(files: (1...1000).map { "beacon\($0)" })
        #expect(names.list.hasPrefix("beacon1, beacon2, "))
        #expect(names.list.hasSuffix("beacon8 and 992 more"))
    }

    @Test("a method is for the accessory that is named, by a member or before the reference")
    func named() throws {
        let pair = try Pair()
        let set = pair.result("set", #"["outdoors/setting","hex:07"]"#)
        #expect(set?["accessory"] == .string("outdoors") && set?["hex"] == .string("07"))
        for (name, value) in [("indoors", "00"), ("outdoors", "07")] {
            let parameters = #"{"reference":"desk/setting","accessory":"\#(name)"}"#
            let value = JSONValue.string(value)
            #expect(pair.result("get", parameters)?["hex"] == value)
            #expect(pair.result("get", #"["\#(name)/desk/setting"]"#)?["hex"] == value)
        }
        let lines = try #require(ControlMethod.named("get")).lines(
            of: pair.result("get", #"["outdoors/setting"]"#) ?? .null)
        #expect(lines == ["outdoors: setting = 07"])
    }

    @Test(
        "what can be of one accessory only must say of which",
        arguments: [
            ("get", #"["setting"]"#, "'setting' does not say whose it is; write NAME/setting"),
            ("get", #"["outdors/setting"]"#, "did you mean 'outdoors'?"),
            ("get", "[7]", "'reference' must be a string"),
            ("get", #"{"reference":"setting","acessory":"indoors"}"#, "did you mean 'accessory'?"),
            ("list", #"{"accessory":"indors"}"#, "did you mean 'indoors'?"),
            ("list", #"{"accessory":3}"#, "'accessory' must be one of indoors, outdoors"),
            ("disconnect", "[0]", "each accessory numbers its own links; name it by 'accessory'"),
            ("disconnect", #"{"accessory":"outdoors","link":0}"#, "there is no link 0"),
            ("answer", #"["yes"]"#, "nothing is asked"),
            ("answer", #"["indoors/yes"]"#, "nothing is asked"),
            ("answer", #"["door/yes"]"#, "there is no accessory 'door'"),
        ])
    func refusals(_ method: String, _ parameters: String, _ said: String) throws {
        let refusal = try Pair().refusal(method, parameters)
        #expect(refusal.contains(said), "\(refusal)")
    }

    @Test("list, pairing, disconnect and authorize are for all where none is named")
    func all() throws {
        let pair = try Pair()
        for method in ["list", "pairing", "disconnect", "authorize"] {
            let all = try #require(pair.result(method, "{}")?["accessories"]?.elements)
            #expect(all.compactMap { $0["accessory"]?.string } == ["indoors", "outdoors"])
            #expect(
                pair.result(method, #"{"accessory":"indoors"}"#)?["accessory"]
                    == .string("indoors"))
        }
        let lines = try #require(ControlMethod.named("disconnect")).lines(
            of: pair.result("disconnect", "{}") ?? .null)
        #expect(lines == ["indoors: nobody is connected", "outdoors: nobody is connected"])
    }

    @Test("who watches is told of all accessories, or of the one that it names")
    func watch() throws {
        let pair = try Pair()
        let events = ["indoors", "outdoors"].map {
            JSONValue.members(("event", .string("mtu")), ("accessory", .string($0)))
        }
        #expect(!pair.session.wants(events[0]))
        #expect(pair.result("watch", "[]") == .members(("watching", .boolean(true))))
        #expect(events.map { pair.session.wants($0) } == [true, true])
        #expect(pair.result("watch", #"{"accessory":"outdoors"}"#) != nil)
        #expect(events.map { pair.session.wants($0) } == [false, true])
    }

    @Test("an accessory that is alone needs no name, and answers to its own")
    func alone() throws {
        var world = GuestWorld(try SampleProfile.device())
        world.powerOn()
        var session = ControlSession()
        let request = #"{"jsonrpc":"2.0","id":1,"method":"get","params":{"reference":"setting","#
        let own = world.ask(&session, request + #""accessory":"device"}}"#)
        #expect(own?.contains(#""hex":"00""#) == true && own?.contains("accessory") == false)
        let other = world.ask(&session, request + #""accessory":"other"}}"#)
        #expect(other?.contains("there is no accessory 'other'; there is device") == true)
    }

    @Test("a person's answer goes to the one that asks, or to the one that it names")
    func answers() throws {
        let text = """
            peripheral-emu: 1
            device: {name: Lock}
            security: {io: keyboard}
            advertising: [{type: connectable, interval: 20 ms}]
            services: []
            """
        var phones = [try phone(of: text), try phone(of: text)]
        let names = AccessoryNames(files: ["front", "back"])
        func answer(_ line: String) throws(AnswerError) {
            try names.answer(line: line, at: phones[0].now) { number, action in
                phones[number].perform(action)
            }
        }
        for number in phones.indices {
            phones[number].silence()
            phones[number].beginPairing(phoneFeatures(.displayOnly))
            phones[number].run(within: .seconds(1))
        }
        do throws(AnswerError) {
            try answer("123456")
            Issue.record("two ask")
        } catch {
            #expect(
                error.description
                    == "2 accessories wait for an answer: front, back; write NAME/123456")
        }
        try answer("back/no")
        #expect(phones.map(\.device.awaitsAnswer) == [true, false])
        #expect(throws: AnswerError.self) { try answer("back/123456 0") }
        try answer("no 0")
        #expect(phones.map(\.device.awaitsAnswer) == [false, false])
    }
}

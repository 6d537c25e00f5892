// The methods of the control socket on a device whose central is on the other side of the air.
import Emulator
import GATT
import Harness
import Profiles
import SansIO
import Testing
import Wire

/// A world and a client of the control socket.
private final class Rig {
    var world: GuestWorld
    var session = ControlSession()

    init(connected: Bool = true) throws {
        world = GuestWorld(try SampleProfile.device())
        world.powerOn()
        if connected {
            world.connect()
            world.perform(.discover)
        }
    }

    func send(_ line: String) -> JSONValue? {
        guard let answer = world.ask(&session, line) else { return nil }
        let octets = Array(answer.utf8)
        return try? JSONValue(octets.span)
    }

    func call(_ method: String, _ parameters: String = "{}") -> JSONValue? {
        send(#"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":\#(parameters)}"#)
    }

    func result(_ method: String, _ parameters: String = "{}") -> JSONValue? {
        let answer = call(method, parameters)
        #expect(answer?["id"] == .integer(7) && answer?["jsonrpc"] == .string("2.0"))
        return answer?["result"]
    }

    /// Code and message of a refusal.
    func error(_ method: String, _ parameters: String = "{}") -> (Int64?, String) {
        let error = call(method, parameters)?["error"]
        return (error?["code"]?.integer, error?["message"]?.string ?? "")
    }

    func notifications(_ name: String) -> [[UInt8]] {
        let handle = world.port.device.valueHandle(name)
        return world.heard.compactMap { event in
            switch event {
            case .client(.notification(handle, let octets)),
                .client(.indication(handle, let octets)):
                octets
            default: nil
            }
        }
    }
}

@Suite struct ControlTests {
    @Test("get says the value with its unit, its text and its octets")
    func get() throws {
        let rig = try Rig()
        _ = rig.result("set", #"["temperature", 21.57]"#)
        let handle = Int64(rig.world.port.device.valueHandle("temperature"))
        #expect(
            rig.result("get", #"{"reference":"temperature"}"#)
                == .members(
                    ("characteristic", .string("temperature")), ("handle", .integer(handle)),
                    ("value", .real(21.57)), ("unit", .string("°C")),
                    ("text", .string("21.57 °C")), ("hex", .string("6D08"))))
        #expect(rig.result("get", #"["0x2A6E"]"#)?["text"] == .string("21.57 °C"))
        #expect(rig.result("get", #"["device-name"]"#)?["value"] == .string("Sample"))
    }

    @Test("set takes a value as the profile does, as JSON or in octets, and a central reads it")
    func set() throws {
        let rig = try Rig()
        let handle = rig.world.port.device.valueHandle("temperature")
        for (value, hex) in [("20", "D007"), ("\"-1.5\"", "6AFF"), ("\"hex:0100\"", "0100")] {
            let result = rig.result("set", "[\"temperature\", \(value)]")
            #expect(result?["hex"] == .string(hex))
            let read = rig.world.perform(.read(handle: handle))
            #expect(read.contains { $0 == .value(handle: handle, Hex.bytes(hex) ?? []) })
        }
        #expect(rig.result("set", #"["setting", {"text":"a: b"}]"#)?["hex"] == .string("613A2062"))
    }

    @Test("a set value no longer moves, and is sent as the profile says")
    func stays() throws {
        let rig = try Rig()
        let cccd = rig.world.port.device.cccdHandle("count")
        rig.world.perform(.subscribe(cccd: cccd, notify: true, indicate: false))
        _ = rig.result("set", #"["count", 9]"#)
        rig.world.run(for: .seconds(3))
        #expect(rig.notifications("count").last == [9, 0, 0, 0])
        let count = rig.notifications("count").count
        #expect(rig.result("notify", #"["count"]"#)?["links"] == .array([.integer(0)]))
        rig.world.run(for: .seconds(1))
        #expect(rig.notifications("count").count == count + 1)
    }

    @Test("notify says to whom it went, not who has subscribed")
    func dropped() throws {
        var world = try ReactionTests.world(
            """
              - service: 0x1234
                characteristics:
                  - characteristic: 0x0001
                    label: long
                    notify: open
                    value: {text: more than the twenty octets of the smallest MTU}
            server: {mtu: 23, notification-overflow: refuse}
            """)
        let cccd = world.port.device.cccdHandle("long")
        world.perform(.subscribe(cccd: cccd, notify: true, indicate: false))
        var session = ControlSession()
        let answer = world.ask(
            &session, #"{"jsonrpc":"2.0","id":1,"method":"notify","params":["long"]}"#)
        let octets = Array((answer ?? "").utf8)
        let result = try JSONValue(octets.span)["result"]
        #expect(result?["links"] == .array([]) && result?["subscribed"] == .array([.integer(0)]))
        let text = ControlMethod.named("notify")?.lines(of: result ?? .null).first ?? ""
        #expect(text.hasPrefix("long sent to 0 links of 1: "))
    }

    @Test("notify without a subscriber goes to nobody; a value that is never sent is refused")
    func notify() throws {
        let rig = try Rig()
        #expect(rig.result("notify", #"["humidity"]"#)?["links"] == .array([]))
        let (code, message) = rig.error("notify", #"["setting"]"#)
        #expect(code == -32_602)
        #expect(message.hasPrefix("nobody can subscribe to 'setting'; write 'notify: open'"))
    }

    @Test("disconnect ends the link, and advertising resumes")
    func disconnect() throws {
        let rig = try Rig()
        let (code, message) = rig.error("disconnect", "[3]")
        #expect(code == -32_602 && message == "there is no link 3; open are 0")
        let result = rig.result("disconnect", #"{"link":"0"}"#)
        #expect(result?["links"]?.elements.first?["peer"] == .string("C0:FF:EE:00:00:01"))
        rig.world.run(for: .seconds(1))
        #expect(rig.world.lines.contains { $0.contains("C0:FF:EE:00:00:01 disconnected") })
        let advertising = rig.world.lines.filter { $0.hasPrefix("advertising") }
        #expect(advertising.count == 2 && advertising.allSatisfy { $0.contains("connectable") })
        #expect(rig.result("disconnect")?["links"] == .array([]))
        #expect(rig.error("disconnect", "[-1]").1 == "'link' must be a number from 0")
    }

    @Test("list has every service, characteristic, handle, value and link")
    func list() throws {
        let rig = try Rig()
        let cccd = rig.world.port.device.cccdHandle("humidity")
        rig.world.perform(.subscribe(cccd: cccd, notify: false, indicate: true))
        let list = rig.result("list")
        let services = list?["services"]?.elements ?? []
        #expect(
            services.map { $0["service"]?.string } == [
                "generic-access", "generic-attribute", "environmental-sensing",
                "5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10",
            ])
        #expect(services.map { $0["label"]?.string } == [nil, nil, nil, "desk"])
        let setting = services.last?["characteristics"]?.elements.first
        #expect(setting?["characteristic"] == .string("setting"))
        #expect(setting?["uuid"] == .string("5A1D0002-0E1E-4C1B-9D56-3E2F0C9B7A10"))
        #expect(
            setting?["properties"]?.elements.map(\.string)
                == ["read", "write-without-response", "write"])
        #expect(setting?["hex"] == .string("00"))
        #expect(
            setting?["handle"]?.integer == Int64(rig.world.port.device.valueHandle("setting")))
        let link = list?["links"]?.elements.first
        #expect(link?["peer"] == .string("C0:FF:EE:00:00:01"))
        #expect(link?["subscribed"] == .array([.string("humidity")]))
        let text = ControlMethod.named("list")?.lines(of: list ?? .null) ?? []
        #expect(text.first?.hasPrefix("Sample, ") == true)
        #expect(text.contains { $0.hasSuffix("9B7A10 'desk'") })
        #expect(text.contains { $0.hasSuffix("read, write-without-response, write = 00") })
        #expect(text.last?.hasSuffix("subscribed to humidity") == true)
    }

    @Test("what is added automatically is read, neither set nor sent")
    func implicit() throws {
        let rig = try Rig()
        for (method, parameters) in [
            ("set", #"["device-name", "x"]"#), ("notify", #"["device-name"]"#),
        ] {
            let (code, message) = rig.error(method, parameters)
            #expect(code == -32_602)
            #expect(message.hasPrefix("'device-name' is added automatically and can only be read"))
        }
    }

    @Test("watch is remembered of its client alone")
    func watch() throws {
        let rig = try Rig(connected: false)
        #expect(!rig.session.isWatching)
        #expect(rig.result("watch") == .members(("watching", .boolean(true))))
        #expect(rig.session.isWatching && !ControlSession().isWatching)
    }

    @Test("an accessory that waits for its controller says so")
    func off() throws {
        var device = try SampleProfile.device()
        var (session, out, events) = (ControlSession(), ByteBlock(), Outputs<DeviceEvent>())
        let line = Array(
            #"{"jsonrpc":"2.0","id":1,"method":"set","params":["count",1]}"#.utf8)
        let answer = session.answer(
            line.span, of: AccessoryNames(files: ["device"]), at: .zero
        ) { _, action in action(&device, &out, &events) }
        #expect(answer?.contains("it waits for its controller") == true)
        #expect(out.isEmpty)
    }

    @Test("every method has its place in the registry by name")
    func registry() {
        let names = ControlMethod.all.map(\.name)
        #expect(names == names.sorted())
        #expect(ControlMethod.named("set")?.usage == "set REFERENCE VALUE")
        #expect(ControlMethod.named("disconnect")?.usage == "disconnect [LINK]")
    }
}

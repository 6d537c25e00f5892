// What a right profile becomes: model, bindings, values and their text.
import Advertising
import Behaviours
import GATT
import HCI
import Profiles
import SansIO
import Testing
import Wire

@Suite struct ProfileModelTests {
    @Test("a device's defaults are one central, a seeded random static address and MTU 247")
    func defaults() throws {
        let profile = try load("peripheral-emu: 1\ndevice: {name: T}\n")
        #expect(profile.device.connections == 1)
        #expect(profile.device.address == .randomStatic(nil))
        #expect(profile.device.appearance == 0)
        #expect(profile.server.settings.mtu == 247)
        #expect(profile.advertising.isEmpty && profile.services.isEmpty && profile.activity == nil)
    }

    @Test("the device's part is read as written")
    func device() throws {
        let profile = try load(
            """
            peripheral-emu: 1
            device:
              name: Strap
              appearance: heart-rate-belt
              address: {type: random-static, value: "C0:11:22:33:44:55"}
              connections: 2
              connection: {interval: [15 ms, 30 ms], latency: 4, timeout: 4 s}
            server: {mtu: 185}
            """)
        #expect(profile.device.appearance == 0x0341)
        #expect(profile.device.address == .randomStatic(DeviceAddress("C0:11:22:33:44:55")))
        #expect(profile.device.connections == 2)
        #expect(
            profile.device.connection
                == ConnectionRequest(
                    minimum: ConnectionInterval(steps: 12), maximum: ConnectionInterval(steps: 24),
                    latency: 4, timeout: .seconds(4)))
        #expect(profile.server.settings.mtu == 185)
    }

    @Test("advertising structures are read as written")
    func advertising() throws {
        let profile = try load(
            """
            peripheral-emu: 1
            device: {name: Thermometer é}
            advertising:
              - set: first
                type: scannable
                interval: 20 ms
                data:
                  - flags: [limited-discoverable, no-br-edr]
                  - service-uuids: [heart-rate, 0x180F]
                  - name: {shortened: 13}
                  - tx-power: -4 dBm
                scan-response:
                  - appearance: thermometer
                  - manufacturer: {company: nordic-semiconductor-asa, data: {hex: "01 02"}}
                  - service-data: {service: battery, data: {text: d}}
                  - raw: {type: 0x1B, data: {hex: "00"}}
            """)
        #expect(
            profile.advertising == [
                AdvertisingSet(
                    name: "first", kind: .scannable, policy: .fixed(AdvertisingInterval(steps: 32)),
                    data: [
                        .flags([.limitedDiscoverable, .noBREDR]),
                        .serviceUUIDs(
                            [BluetoothUUID(0x180D), BluetoothUUID(0x180F)], complete: true),
                        // The é would be cut in two.
                        .name("Thermometer ", complete: false), .txPower(-4),
                    ],
                    scanResponse: [
                        .appearance(0x0300), .manufacturer(company: 0x0059, data: [1, 2]),
                        .serviceData(BluetoothUUID(0x180F), data: [0x64]),
                        .raw(type: 0x1B, data: [0]),
                    ])
            ])
    }

    @Test("an activity section reads its trace beside the profile")
    func activity() throws {
        let text = """
            peripheral-emu: 1
            device: {name: T}
            activity:
              source: {csv: traces/t.csv, column: x}
              active-above: 0.12 g
              idle-below: 0.05 g
              hold: 10 s
            """
        let trace = "time,x , y\r\n0, 0.01 ,9\n\n1.5,-2,9\n"
        let profile = try load(text, files: ["traces/t.csv": trace])
        #expect(
            profile.activity
                == ActivityRule(
                    sources: [
                        .trace(
                            TraceSource(samples: [
                                .init(time: .zero, value: 0.01),
                                .init(time: .milliseconds(1500), value: -2),
                            ]))
                    ], activeAbove: 0.12, idleBelow: 0.05, hold: .seconds(10)))
    }

    @Test("a path is joined to the profile's folder")
    func folder() throws {
        let text = """
            peripheral-emu: 1
            device: {name: T}
            activity: {source: {csv: a.csv}, active-above: 1 g, idle-below: 1 g, hold: 1 s}
            """
        let asked = PathBox()
        _ = try ProfileLoader.load(path: "/etc/profiles/p.yaml", bytes: Array(text.utf8)) { path in
            asked.paths.append(path)
            return .success(Array("time,magnitude\n0,1\n".utf8))
        }
        #expect(asked.paths == ["/etc/profiles/a.csv"])
    }

    private final class PathBox { var paths: [String] = [] }

    @Test("the services of a profile come behind GAP and GATT, with a CCCD where it notifies")
    func plan() throws {
        let profile = try load(
            """
            peripheral-emu: 1
            device: {name: T, appearance: thermometer}
            services:
              - service: environmental-sensing
                characteristics:
                  - characteristic: temperature
                    read: open
                    notify: open
                    indicate: open
                    value: {sine: {min: 18, max: 24, period: 10 min}}
                    update: every 2 s
                    send: every 1 min
                    descriptors: [{user-description: Air}, {presentation-format: {}}]
            """)
        let plan = AttributePlan(profile)
        #expect(plan.table.attributes.map(\.handle) == Array(1...21))
        let binding = try #require(plan.binding(valueHandle: 0x0012))
        #expect(binding.name == "temperature")
        #expect(binding.serviceName == "environmental-sensing")
        #expect(binding.cccdHandle == 0x0013)
        #expect(plan.binding(cccdHandle: 0x0013) == binding)
        #expect(binding.update == .seconds(2) && binding.send == .every(.seconds(60)))
        #expect(
            binding.source
                == .generated(
                    .sine(min: 18, max: 24, period: .seconds(600), noise: 0),
                    encoding: NumberFormat(octets: 2, isSigned: true, scale: 0.01)))
        #expect(plan.binding(valueHandle: 0x0013) == nil && plan.binding(cccdHandle: 0x0012) == nil)
        #expect(
            (0x0010...0x0016).map { plan.name(of: $0) } == [
                "environmental-sensing declaration", "temperature declaration", "temperature",
                "temperature client-characteristic-configuration", "temperature user-description",
                "temperature presentation-format", nil,
            ])
        #expect(plan.describe([0x6D, 0x08], of: 0x0012) == "21.57 °C")
        #expect(plan.describe([1, 0], of: 0x0013) == "notifications")
        #expect(plan.describe(Array("Air".utf8), of: 0x0014) == "\"Air\"")
        // Declaration: read, notify and indicate, value handle, UUID.
        #expect(plan.table.value(at: 16) == [0x32, 0x12, 0x00, 0x6E, 0x2A])
        #expect(plan.table.value(at: 19) == Array("Air".utf8))
        #expect(plan.table.value(at: 20) == [0x0E, 0xFE, 0x2F, 0x27, 0x01, 0x00, 0x00])
        // Device name and appearance of the GAP service.
        #expect(plan.table.value(at: 2) == Array("T".utf8))
        #expect(plan.table.value(at: 4) == [0x00, 0x03])
        #expect(plan.makeServer(profile.server).settings.mtu == 247)
    }

    @Test("a profile's own GAP and GATT services replace the automatic ones")
    func ownServices() throws {
        let profile = try load(
            """
            peripheral-emu: 1
            device: {name: T}
            services:
              - service: generic-attribute
                characteristics: []
              - service: 0x1800
                characteristics:
                  - {characteristic: device-name, read: open, write: open, value: Other}
            """)
        let plan = AttributePlan(profile)
        #expect(plan.table.attributes.map(\.kind) == [.service, .service, .characteristic, .value])
        #expect(plan.table.value(at: 0) == [0x01, 0x18])
        #expect(plan.table.value(at: 3) == Array("Other".utf8))
    }

    @Test("what is not said is refused")
    func permissions() throws {
        let spec = try only("write-without-response: open")
        #expect(spec.permissions == Permissions(writeCommand: .open))
        #expect(spec.properties == .writeWithoutResponse)
        #expect(spec.value == .constant([]) && spec.lengthMax == nil)
    }

    @Test(
        "constants become the octets of their format",
        arguments: [
            ("format: uint16\nvalue: 513", [1, 2]),
            ("format: sint24\nvalue: -2", [0xFE, 0xFF, 0xFF]),
            ("format: uint16\nscale: 0.5\nvalue: 3", [6, 0]),
            ("format: uint16\nscale: 1/1024\nunit: second\nvalue: 1", [0, 4]),
            ("format: uint8\nvalue: 0x10", [16]), ("format: uint8\nvalue: 0o17", [15]),
            ("format: boolean\nvalue: true", [1]), ("format: utf8\nvalue: Hi", [0x48, 0x69]),
            ("format: utf8\nvalue: yes", [0x79, 0x65, 0x73]),
            ("format: utf8\nvalue: '12'", [0x31, 0x32]),
            ("value: {hex: \"01 FF\"}", [1, 0xFF]), ("value: {text: Hi}", [0x48, 0x69]),
            ("format: uint8\nvalue: {hex: \"010203\"}", [1, 2, 3]),
            ("format: uint32", [0, 0, 0, 0]),
            ("value: {hex: \"\"}", []),
        ] as [(String, [UInt8])])
    func constants(body: String, octets: [UInt8]) throws {
        #expect(try only("read: open\n" + body).value == .constant(octets))
    }

    @Test("generators are read as written")
    func generators() throws {
        func source(_ value: String) throws -> Generator? {
            let body = "read: open\nformat: sint16\nvalue: {\(value)}\nupdate: every 1 s"
            guard case .generated(let generator, _) = try only(body).value else { return nil }
            return generator
        }
        #expect(
            try source("sine: {min: -1, max: 1.5, period: 1 h, noise: 0.5}")
                == .sine(min: -1, max: 1.5, period: .seconds(3600), noise: 0.5))
        #expect(
            try source("ramp: {from: 100, to: 0, over: 1 d, loop: true}")
                == .ramp(from: 100, to: 0, over: .seconds(86_400), loops: true))
        #expect(
            try source("random-walk: {min: 0, max: 10, step: 1, start: 5}")
                == .randomWalk(min: 0, max: 10, step: 1, start: 5))
        #expect(try source("counter: {start: 3}") == .counter(start: 3, step: 1))
    }

    @Test(
        "values are shown with their unit",
        arguments: [
            (0x2A6E, [0x6D, 0x08], "21.57 °C"), (0x2A6E, [0x9C, 0xFF], "-1.00 °C"),
            (0x2A6E, [0xFF], "FF"), (0x2A19, [99], "99 %"),
            (0x2A6D, [0x95, 0x76, 0x0F, 0], "101339.7 Pa"), (0x2A38, [1], "chest"),
            (0x2A38, [9], "09"), (0x2A00, [0x53, 0x22, 0x0A], "\"S\\\"\\u{A}\""),
            (0x2A00, [0xFF], "FF"), (0x2A01, [0x41, 0x03], "heart-rate-belt"),
            (0x2A01, [0xFF, 0xFF], "0xFFFF"), (0x2AE2, [1], "true"), (0x2AE2, [2], "02"),
            (0x2A98, [0x10, 0x27], "50.000 kg"), (0x2B18, [0xC0, 0x00], "3.00 V"),
        ] as [(UInt16, [UInt8], String)])
    func describe(uuid: UInt16, octets: [UInt8], text: String) throws {
        #expect(try #require(AssignedNames.format(BluetoothUUID(uuid))).describe(octets) == text)
    }

    @Test("every assigned number that products, sessions and suites use has a name")
    func wild() throws {
        let text = try #require(SourceTree.text("Tests/Vectors/assigned-numbers.txt"))
        var count = 0
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            let number = try #require(UInt16(words[1], radix: 16))
            let uuid = BluetoothUUID(number)
            let name =
                switch words[0] {
                case "service": AssignedNames.service(uuid)
                case "characteristic": AssignedNames.characteristic(uuid)
                default: AssignedNames.descriptor(uuid)
                }
            #expect(name != nil, "\(line)")
            count += 1
        }
        #expect(count > 60)
    }

    @Test("names are found both ways, also the first and the last of a table")
    func names() {
        #expect(AssignedNames.service(BluetoothUUID(0x1800)) == "generic-access")
        #expect(AssignedNames.service(BluetoothUUID(0x185F)) == "generic-voice-assistant")
        #expect(AssignedNames.service(BluetoothUUID(0x1817)) == nil)
        #expect(
            AssignedNames.service(
                BluetoothUUID("0000180F-0000-1000-8000-00805F9B34FB")
                    ?? BluetoothUUID(0)) == "battery")
        #expect(AssignedNames.characteristic(BluetoothUUID(0x2A37)) == "heart-rate-measurement")
        #expect(AssignedNames.descriptor(BluetoothUUID(0x2901)) == "user-description")
        #expect(AssignedNames.company(0x004C) == "apple-inc")
        #expect(AssignedNames.company(0xFFFE) == nil)
    }
}

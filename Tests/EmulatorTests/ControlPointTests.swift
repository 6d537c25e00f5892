// The control points of the bundled profiles: what each request gets, by its service specification.
import Emulator
import GATT
import Harness
import Profiles
import SansIO
import TestFiles
import Testing

/// One request to a control point and what comes of it.
struct ControlPointCase: CustomTestStringConvertible {
    enum Answer: Equatable {
        case error(UInt8)
        /// The write is accepted and this is indicated.
        case indicated([UInt8])
        case accepted
    }

    var profile: String
    var point: String
    var request: [UInt8]
    var answer: Answer
    var isSubscribed = true

    var testDescription: String { "\(profile) \(point) \(request)" }

    init(_ profile: String, _ point: String, _ request: [UInt8], _ answer: Answer) {
        self.profile = profile
        self.point = point
        self.request = request
        self.answer = answer
    }

    static func unsubscribed(
        _ profile: String, _ point: String, _ request: [UInt8], _ error: UInt8
    ) -> ControlPointCase {
        var one = ControlPointCase(profile, point, request, .error(error))
        one.isSubscribed = false
        return one
    }

    /// Success 1, Op Code Not Supported 2, Invalid Parameter 3.
    static let all: [ControlPointCase] =
        heartRate + thermometer + cycling + running + power + userData + glucose

    /// Heart Rate Service 1.0, 3.3: its error 0x80 is Control Point Not Supported.
    private static let heartRate = [
        ControlPointCase("heart-rate", "heart-rate-control-point", [1], .accepted),
        ControlPointCase("heart-rate", "heart-rate-control-point", [2], .error(0x80)),
        ControlPointCase("heart-rate", "heart-rate-control-point", [1, 0], .error(0x0D)),
    ]

    /// Health Thermometer Service 1.0, 3.4: its error 0x80 is Out of Range.
    private static let thermometer = [
        ControlPointCase(
            "health-thermometer", "measurement-interval", [60, 0], .indicated([60, 0])),
        ControlPointCase(
            "health-thermometer", "measurement-interval", [0x11, 0x0E], .error(0x80)),
    ]

    /// Cycling Speed and Cadence Service 1.0, 3.4: SC Control Point; 0x81 as in its 1.6.
    private static let cycling = [
        unsubscribed("cycling-speed-and-cadence", "sc-control-point", [4], 0x81),
        csc([1, 0, 0, 0, 0], [0x10, 1, 1]), csc([1, 0], [0x10, 1, 3]),
        csc([2], [0x10, 2, 2]), csc([3, 12], [0x10, 3, 1]), csc([3, 5], [0x10, 3, 1]),
        csc([3, 99], [0x10, 3, 3]), csc([4], [0x10, 4, 1, 12, 5]), csc([0x77], [0x10, 0x77, 2]),
    ]

    private static func csc(_ request: [UInt8], _ answer: [UInt8]) -> ControlPointCase {
        ControlPointCase(
            "cycling-speed-and-cadence", "sc-control-point", request, .indicated(answer))
    }

    /// Running Speed and Cadence Service 1.0, 3.4: one location, no calibration.
    private static let running = [
        unsubscribed("running-speed", "sc-control-point", [1, 0, 0, 0, 0], 0x81),
        rsc([1, 0, 0, 0, 0], [0x10, 1, 1]), rsc([1], [0x10, 1, 3]), rsc([2], [0x10, 2, 2]),
        rsc([3, 2], [0x10, 3, 2]), rsc([4], [0x10, 4, 2]), rsc([9], [0x10, 9, 2]),
    ]

    private static func rsc(_ request: [UInt8], _ answer: [UInt8]) -> ControlPointCase {
        ControlPointCase("running-speed", "sc-control-point", request, .indicated(answer))
    }

    /// Cycling Power Service 1.1, 3.4; no crank length, no calibration.
    private static let power = [
        unsubscribed("cycling-power", "cycling-power-control-point", [3], 0xFD),
        cps([2, 5], [0x20, 2, 1]), cps([2, 6], [0x20, 2, 1]), cps([2, 12], [0x20, 2, 3]),
        cps([2], [0x20, 2, 3]), cps([3], [0x20, 3, 1, 5, 6]), cps([4, 0xAA, 0], [0x20, 4, 2]),
        cps([0x0C], [0x20, 0x0C, 2]),
    ]

    private static func cps(_ request: [UInt8], _ answer: [UInt8]) -> ControlPointCase {
        ControlPointCase(
            "cycling-power", "cycling-power-control-point", request, .indicated(answer))
    }

    /// User Data Service 1.0, 3.2: 5 is User Not Authorized.
    private static let userData = [
        unsubscribed("user-data", "user-control-point", [1, 0, 0], 0xFD),
        uds([1, 0xD2, 4], [0x20, 1, 1, 1]), uds([1], [0x20, 1, 3]),
        uds([2, 1, 0xD2, 4], [0x20, 2, 1]), uds([2, 1, 0, 0], [0x20, 2, 5]),
        uds([2, 1], [0x20, 2, 3]), uds([3], [0x20, 3, 1]), uds([8], [0x20, 8, 2]),
    ]

    private static func uds(_ request: [UInt8], _ answer: [UInt8]) -> ControlPointCase {
        ControlPointCase("user-data", "user-control-point", request, .indicated(answer))
    }

    /// Glucose Service 1.0.1, 3.5.
    private static let glucose = [
        unsubscribed("glucose", "record-access-control-point", [1, 1], 0x81),
        racp([1, 1], [6, 0, 1, 1]), racp([4, 1], [5, 0, 3, 0]), racp([2, 1], [6, 0, 2, 1]),
        racp([1, 3, 1, 9, 0], [6, 0, 1, 6]), racp([1, 1, 0], [6, 0, 1, 5]),
        racp([1, 7], [6, 0, 1, 4]), racp([7, 1], [6, 0, 7, 2]), racp([3, 0], [6, 0, 3, 1]),
        racp([1, 3, 2, 0], [6, 0, 1, 9]),
    ]

    private static func racp(_ request: [UInt8], _ answer: [UInt8]) -> ControlPointCase {
        ControlPointCase("glucose", "record-access-control-point", request, .indicated(answer))
    }
}

@Suite struct ControlPointTests {
    static func world(_ name: String) throws -> GuestWorld {
        // The central here does not pair.
        let text = SourceTree.text("Profiles/\(name).yaml")
            .replacing(": encrypted", with: ": open")
        let profile = try ProfileLoader.load(path: "t.yaml", bytes: Array(text.utf8)) { _ in
            .failure(FileFailure(reason: "none"))
        }
        var world = GuestWorld(EmulatedDevice(profile: profile, seed: 1))
        #expect(world.powerOn() && world.connect())
        world.perform(.discover)
        return world
    }

    @Test("a control point answers as its service says", arguments: ControlPointCase.all)
    func answers(one: ControlPointCase) throws {
        var world = try Self.world(one.profile)
        let device = world.port.device
        let cccd = device.cccdHandle(one.point)
        if one.isSubscribed, cccd != 0 {
            world.perform(.subscribe(cccd: cccd, notify: false, indicate: true))
        }
        let handle = device.valueHandle(one.point)
        let error = ReactionTests.error(
            world.perform(.write(handle: handle, value: one.request)))
        world.run(for: .seconds(2))
        let indicated = world.heard.compactMap { event in
            if case .client(.indication(handle, let octets)) = event { octets } else { nil }
        }
        switch one.answer {
        case .error(let code):
            #expect(error == code)
            #expect(indicated.isEmpty)
        case .indicated(let octets):
            #expect(error == nil)
            #expect(indicated.last == octets)
        case .accepted: #expect(error == nil)
        }
    }

    @Test("while a report is under way another request is refused, and an abort ends it")
    func busy() throws {
        var world = try Self.world("glucose")
        let device = world.port.device
        let point = device.valueHandle("record-access-control-point")
        world.perform(
            .subscribe(
                cccd: device.cccdHandle("record-access-control-point"), notify: false,
                indicate: true))
        #expect(ReactionTests.error(world.perform(.write(handle: point, value: [1, 1]))) == nil)
        #expect(ReactionTests.error(world.perform(.write(handle: point, value: [4, 1]))) == 0x80)
        #expect(ReactionTests.error(world.perform(.write(handle: point, value: [3, 0]))) == nil)
        #expect(ReactionTests.error(world.perform(.write(handle: point, value: [4, 1]))) == nil)
        world.run(for: .seconds(1))
        #expect(ReactionTests.sent(world).suffix(2) == [[6, 0, 3, 1], [5, 0, 3, 0]])
    }

    @Test("a reset of the energy and a new location are seen at once")
    func effects() throws {
        var world = try Self.world("cycling-power")
        let device = world.port.device
        let point = "cycling-power-control-point"
        world.perform(
            .subscribe(cccd: device.cccdHandle(point), notify: false, indicate: true))
        world.perform(.write(handle: device.valueHandle(point), value: [2, 6]))
        let location = device.valueHandle("sensor-location")
        #expect(world.port.device.host.server.value(of: location) == [6])
    }
}

// An hour on an air that loses three packets in ten, with a central that reads, writes and follows.
import BLEHost
import Emulator
import GATT
import Harness
import SansIO
import Simulation
import Testing
import VirtualController
import Wire

@Suite struct LossyAirTests {
    @Test(
        "for an hour of 30 % loss no answer is lost or doubled, and the state does not grow",
        arguments: [Air.Timing.radio, .ideal])
    func hour(timing: Air.Timing) throws {
        var run = LossyRun(try SampleProfile.device(), timing: timing)
        try run.advance(to: .seconds(600))
        let early = run.stateSize
        try run.advance(to: .seconds(3600))
        #expect(run.sessions >= 10 && run.procedures > 500 && run.notifications > 2000)
        #expect(run.failedAttempts > 0, "with this loss some connections are not established")
        #expect(run.stateSize <= early + early / 10, "\(early) elements grew to \(run.stateSize)")
    }

    @Test("equal seeds lose equal packets, other seeds others")
    func seeds() throws {
        func packets(_ seed: UInt64) throws -> [[UInt8]] {
            var world = GuestWorld(
                try SampleProfile.device(seed: seed), seed: seed, timing: .radio, loss: 0.3)
            world.powerOn()
            world.connect()
            world.perform(.discover)
            return world.takePackets().map(\.octets)
        }
        #expect(try packets(1) == packets(1))
        #expect(try packets(1) != packets(2))
    }
}

/// Sessions one after another on a lossy air, each checked.
private struct LossyRun {
    private var world: GuestWorld
    private let setting: UInt16
    private let count: UInt16
    private let countCCCD: UInt16
    private(set) var sessions = 0
    private(set) var procedures = 0
    private(set) var notifications = 0
    private(set) var failedAttempts = 0
    private var written: UInt8 = 0

    init(_ device: EmulatedDevice, timing: Air.Timing) {
        setting = device.valueHandle("setting")
        count = device.valueHandle("count")
        countCCCD = device.cccdHandle("count")
        world = GuestWorld(device, timing: timing, loss: 0.3)
        world.powerOn()
    }

    mutating func advance(to time: TimeSpan) throws {
        while world.now < .zero + time { try session() }
    }

    /// Elements of all collections in the device, the air and the central.
    var stateSize: Int { elements(world.world) + elements(world.central) }

    private mutating func session() throws {
        guard connect() else {
            failedAttempts += 1
            return
        }
        sessions += 1
        let subscribed = try perform(.subscribe(cccd: countCCCD, notify: true, indicate: false))
        #expect(subscribed == .written(handle: countCCCD))
        for _ in 0..<20 {
            written &+= 1
            let value = [UInt8](repeating: written, count: 19)
            #expect(
                try perform(.write(handle: setting, value: value)) == .written(handle: setting))
            #expect(
                try perform(.read(handle: setting)) == .value(handle: setting, value))
            world.run(for: .seconds(7))
        }
        let unsubscribed = try perform(.subscribe(cccd: countCCCD, notify: false, indicate: false))
        #expect(unsubscribed == .written(handle: countCCCD))
        let isEnded = world.disconnect()
        try #require(isEnded)
        checkNotifications()
        checkAnswers()
        world.forget()
    }

    /// Connects; false where the link was not established after all.
    private mutating func connect() -> Bool {
        world.forget()
        guard world.connect() else { return false }
        world.run(for: .seconds(1))
        return !world.heard.contains { if case .disconnected = $0 { true } else { false } }
    }

    /// Does one procedure, which ends once.
    private mutating func perform(_ procedure: GATTClient.Procedure) throws -> GATTClientEvent {
        procedures += 1
        let results = world.perform(procedure).filter {
            if case .notification = $0 { false } else { true }
        }
        try #require(results.count == 1, "\(procedure): \(results)")
        return results[0]
    }

    /// The counter's notifications of the session: each one more than the one before.
    private mutating func checkNotifications() {
        var numbers: [UInt32] = []
        for case .client(.notification(handle: count, let value)) in world.heard {
            numbers.append(value.reversed().reduce(0) { $0 << 8 | UInt32($1) })
        }
        notifications += numbers.count
        for (earlier, later) in zip(numbers, numbers.dropFirst()) { #expect(later == earlier + 1) }
    }

    /// What the link has delivered to the device is answered once each, in order.
    private mutating func checkAnswers() {
        var requests: [UInt8] = []
        var answers: [UInt8] = []
        for packet in world.takePackets() {
            let bytes = packet.octets
            // A first fragment on the attribute channel.
            guard bytes.count > 9, bytes[0] == 2, bytes[2] >> 4 & 3 != 1, bytes[7] == 4 else {
                continue
            }
            if packet.isReceived {
                requests.append(bytes[9])
            } else if bytes[9] != 0x1B {
                answers.append(bytes[9])
            }
        }
        #expect(answers == requests.map { $0 + 1 })
    }
}

/// How many elements the collections in `value` hold, all levels together.
private func elements(_ value: Any) -> Int {
    if let octets = value as? [UInt8] { return octets.count }
    let mirror = Mirror(reflecting: value)
    let own = mirror.displayStyle == .collection ? mirror.children.count : 0
    return mirror.children.reduce(own) { $0 + elements($1.value) }
}

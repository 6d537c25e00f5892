// Sessions one after another on an air that loses three packets in ten, each checked.
import BLEHost
public import Emulator
import GATT
public import SansIO
public import VirtualController

/// A central that comes, subscribes, writes, reads and goes, again and again, while three packets
/// in ten are lost.
public struct LossyRun {
    public private(set) var world: GuestWorld
    private let setting: UInt16
    private let count: UInt16
    private let countCCCD: UInt16
    /// What was not as it must be, in words.
    public private(set) var problems: [String] = []
    public private(set) var sessions = 0
    public private(set) var procedures = 0
    public private(set) var notifications = 0
    public private(set) var failedAttempts = 0
    private var written: UInt8 = 0

    public init(_ device: EmulatedDevice, timing: Air.Timing) {
        setting = device.valueHandle("setting")
        count = device.valueHandle("count")
        countCCCD = device.cccdHandle("count")
        world = GuestWorld(device, timing: timing, loss: 0.3)
        world.powerOn()
    }

    /// Lets sessions follow one another until `time` since power-on, or until something is wrong.
    public mutating func advance(to time: TimeSpan) {
        while world.now < .zero + time, problems.isEmpty { session() }
    }

    private mutating func session() {
        guard connect() else {
            failedAttempts += 1
            return
        }
        sessions += 1
        let subscribed = GATTClientEvent.written(handle: countCCCD)
        perform(.subscribe(cccd: countCCCD, notify: true, indicate: false), subscribed)
        for _ in 0..<20 {
            written &+= 1
            let value = [UInt8](repeating: written, count: 19)
            perform(.write(handle: setting, value: value), .written(handle: setting))
            perform(.read(handle: setting), .value(handle: setting, value))
            world.run(for: .seconds(7))
        }
        perform(.subscribe(cccd: countCCCD, notify: false, indicate: false), subscribed)
        guard world.disconnect() else { return problems.append("the link does not end") }
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

    /// Does one procedure, which ends once and as expected.
    private mutating func perform(_ procedure: GATTClient.Procedure, _ expected: GATTClientEvent) {
        procedures += 1
        let results = world.perform(procedure).filter {
            if case .notification = $0 { false } else { true }
        }
        if results != [expected] { problems.append("\(procedure): \(results)") }
    }

    /// The counter's notifications of the session: each one more than the one before.
    private mutating func checkNotifications() {
        var numbers: [UInt32] = []
        for case .client(.notification(handle: count, let value)) in world.heard {
            numbers.append(value.reversed().reduce(0) { $0 << 8 | UInt32($1) })
        }
        notifications += numbers.count
        for (earlier, later) in zip(numbers, numbers.dropFirst()) where later != earlier + 1 {
            problems.append("notification \(later) follows \(earlier)")
        }
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
        if answers != requests.map({ $0 + 1 }) {
            problems.append("requests \(requests), answers \(answers)")
        }
    }
}

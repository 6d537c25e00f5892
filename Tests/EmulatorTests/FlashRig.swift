// A device and its own controller on an air, and what the controller was told of advertising.
import Emulator
import HCI
import Profiles
import SansIO
import VirtualController
import Wire

/// What a controller was told of one set and has taken.
struct ToldSet: Hashable {
    var parameters: [UInt8] = []
    var address: [UInt8] = []
    var data: [UInt8] = []
    var response: [UInt8] = []
    var trainParameters: [UInt8] = []
    var trainData: [UInt8] = []
    var isTrainOn = false
    var isOn = false
}

struct FlashRig {
    private(set) var device: EmulatedDevice
    private(set) var lines: [String] = []
    /// By advertising handle; the one advertiser of the legacy family is 255.
    private(set) var sets: [UInt8: ToldSet] = [:]
    /// Each set as it was when it was enabled.
    var aired: Set<ToldSet> = []
    /// Handles that were disabled.
    var disabled: [UInt8] = []
    /// Commands that were refused.
    private(set) var refused: [String] = []
    private(set) var resets = 0
    private(set) var now = Instant.zero
    private var air = Air(seed: 1, timing: .ideal)
    private let port: Int
    private var unanswered: [[UInt8]] = []
    private var out = ByteBlock()
    private var down = ByteBlock()
    private var events = Outputs<DeviceEvent>()

    /// Switched on.
    init(_ profile: DeviceProfile, features: ControllerFeatures = .all) {
        device = EmulatedDevice(profile: profile, seed: 1)
        device.expectFlash()
        port = air.addController(features: features)
        device.powerOn(at: now, sending: &out, emit: &events)
        settle()
    }

    static func load(_ text: String) throws -> DeviceProfile {
        try ProfileLoader.load(
            path: "p.yaml", bytes: Array("peripheral-emu: 1\n\(text)".utf8)
        ) { _ in .failure(FileFailure(reason: "none")) }
    }

    /// - Returns: why it was refused.
    mutating func flash(_ profile: DeviceProfile) -> String? {
        if let refusal = device.refusal(of: profile) { return refusal }
        device.replace(profile: profile, at: now, sending: &out, emit: &events)
        settle()
        return nil
    }

    mutating func wait(_ span: TimeSpan) {
        let end = now + span
        while let next = earliest(device.deadline, air.deadline), next <= end {
            now = max(now, next)
            if let deadline = air.deadline, deadline <= now { air.expire(at: now) }
            if let deadline = device.deadline, deadline <= now {
                device.expire(at: now, sending: &out, emit: &events)
            }
            settle()
        }
        now = end
    }

    private mutating func settle() {
        var moved = true
        while moved {
            moved = false
            let bytes = out.bytes
            out.removeAll()
            var offset = 0
            while case .packet(_, let end) = H4.frame(bytes.span, from: offset) {
                moved = true
                unanswered.append(Array(bytes[offset..<end]))
                air.receive(bytes.span.extracting(offset..<end), from: port, at: now)
                offset = end
            }
            air.drain(port, into: &down)
            let told = down.bytes
            down.removeAll()
            offset = 0
            while case .packet(_, let end) = H4.frame(told.span, from: offset) {
                moved = true
                take(Array(told[offset..<end]))
                offset = end
            }
        }
        for event in events.elements {
            if let line = device.line(for: event, upTo: .info) { lines.append(line.text) }
        }
        events.removeAll()
    }

    private mutating func take(_ packet: [UInt8]) {
        if packet[1] == EventCode.commandComplete.rawValue, packet.count > 6 {
            let code = packet.span.uint16(at: 4)
            if let place = unanswered.firstIndex(where: { $0.span.uint16(at: 1) == code }) {
                let command = unanswered.remove(at: place)
                let status = HCIStatus(rawValue: packet[6])
                if status.isSuccess {
                    follow(Opcode(rawValue: code), Array(command[4...]))
                } else {
                    refused.append("\(Opcode(rawValue: code)): \(status)")
                }
            }
        }
        device.receive(packet.span, at: now, sending: &out, emit: &events)
    }

    private mutating func follow(_ opcode: Opcode, _ body: [UInt8]) {
        let handle = body.first ?? 255
        switch opcode {
        case .reset:
            sets = [:]
            resets += 1
        case .leSetExtendedAdvertisingParameters:
            sets[handle, default: ToldSet()].parameters = Array(body[1...])
        case .leSetAdvertisingSetRandomAddress: sets[handle]?.address = Array(body[1...])
        case .leSetExtendedAdvertisingData:
            sets[handle]?.data.fill(body[1], Array(body[4...]))
        case .leSetExtendedScanResponseData:
            sets[handle]?.response.fill(body[1], Array(body[4...]))
        case .leSetExtendedAdvertisingEnable: enable(body[2], body[0] == 1)
        case .leSetPeriodicAdvertisingParameters:
            sets[handle]?.trainParameters = Array(body[1...])
        case .leSetPeriodicAdvertisingData:
            sets[handle]?.trainData.fill(body[1], Array(body[3...]))
        case .leSetPeriodicAdvertisingEnable: sets[body[1]]?.isTrainOn = body[0] & 1 == 1
        case .leRemoveAdvertisingSet: sets[handle] = nil
        case .leSetAdvertisingParameters:
            sets[255, default: ToldSet()].parameters = body
            // In directed PDUs nothing else is sent.
            if body[4] == 1 || body[4] == 4 {
                sets[255]?.data = []
                sets[255]?.response = []
            }
        case .leSetRandomAddress: sets[255, default: ToldSet()].address = body
        case .leSetAdvertisingData:
            sets[255, default: ToldSet()].data = Array(body[1...].prefix(Int(body[0])))
        case .leSetScanResponseData:
            sets[255, default: ToldSet()].response = Array(body[1...].prefix(Int(body[0])))
        case .leSetAdvertisingEnable: enable(255, body[0] == 1)
        default: break
        }
    }

    private mutating func enable(_ handle: UInt8, _ isOn: Bool) {
        if !isOn { disabled.append(handle) }
        sets[handle]?.isOn = isOn
        guard isOn, var set = sets[handle] else { return }
        // Not sent without being scannable: what is left of another set does not matter.
        if handle == 255, set.parameters[4] == 3 { set.response = [] }
        aired.insert(set)
    }
}

extension [UInt8] {
    fileprivate mutating func fill(_ operation: UInt8, _ part: [UInt8]) {
        let begins =
            operation == AdvertisingDataOperation.complete
            || operation == AdvertisingDataOperation.first
        self = begins ? part : self + part
    }
}

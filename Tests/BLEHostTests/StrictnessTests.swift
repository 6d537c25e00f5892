// What peripherals were found to get wrong with their controllers and with L2CAP: each a test.
import BLEHost
import GATT
import HCI
import SansIO
import Testing
import Wire

@Suite("Strictness of HCI and L2CAP")
struct StrictnessTests {
    private func rig(isExtended: Bool = false) throws -> PeripheralRig {
        var rig = try PeripheralRig()
        if !isExtended { rig.controller.supportedCommands[36] = 0 }
        rig.start()
        return rig
    }

    private func linkedRig() throws -> PeripheralRig {
        var rig = try rig()
        rig.receive(ScriptedController.connected(handle: 0x40))
        return rig
    }

    /// What the link answers to a PDU on a channel, as hexadecimal octets behind the ACL header.
    private func answer(_ rig: inout PeripheralRig, cid: UInt16, _ pdu: String) -> [String] {
        rig.controller.data = []
        for packet in ScriptedController.acl(handle: 0x40, cid: cid, Hex.bytes(pdu) ?? []) {
            rig.receive(packet)
        }
        rig.receive(ScriptedController.completed(handle: 0x40, 1))
        return rig.controller.data.map { String($0.dropFirst(10)) }
    }

    // MARK: L2CAP

    @Test("An unknown LE signalling code is answered by Command Reject with reason 0x0000")
    func unknownSignallingCode() throws {
        var rig = try linkedRig()
        let known: Set<UInt8> = [0x01, 0x06, 0x07, 0x13, 0x14, 0x15, 0x16, 0x18, 0x1A]
        for code in UInt8.min...UInt8.max where !known.contains(code) {
            // Length 6, the signalling channel, Command Reject, the identifier, length 2, reason 0.
            let reply = answer(&rig, cid: 5, Hex.string([code, 0x2A, 0, 0]))
            #expect(reply == ["06000500" + "012A0200" + "0000"], "code \(code)")
        }
    }

    @Test("Data on an unknown channel is ignored, and the link goes on")
    func unknownChannel() throws {
        var rig = try linkedRig()
        for cid in [0, 1, 2, 3, 7, 0x20, 0x3F, 0x40, 0x7F, 0x80, 0xFFFF] as [UInt16] {
            #expect(answer(&rig, cid: cid, "0A0300") == [], "channel \(cid)")
            #expect(answer(&rig, cid: cid, "") == [])
        }
        #expect(answer(&rig, cid: 4, "0A0300") == ["04000400" + "0B010203"])
        #expect(!rig.controller.received.contains("Disconnect"))
    }

    @Test("Zero credits are ignored, and credits of a channel that does not exist")
    func zeroCredits() throws {
        var rig = try linkedRig()
        for channel in ["0000", "0400", "0500", "4000", "7F00", "FFFF"] {
            for credits in ["0000", "0100", "FFFF"] {
                #expect(answer(&rig, cid: 5, "16010400" + channel + credits) == [])
            }
        }
        #expect(answer(&rig, cid: 4, "0A0300") == ["04000400" + "0B010203"])
        #expect(!rig.controller.received.contains("Disconnect"))
    }

    // MARK: HCI

    @Test(
        "Advertising parameters never change while it is enabled: disable, set, enable",
        arguments: [false, true])
    func disableSetEnable(isExtended: Bool) throws {
        var rig = try rig(isExtended: isExtended)
        for steps in [32, 400, 33, 800] as [UInt16] {
            rig.controller.received = []
            rig.perform { host, now, out, _ in
                host.setInterval(AdvertisingInterval(steps: steps), at: now, sending: &out)
            }
            let kind = isExtended ? "LE Set Extended Advertising" : "LE Set Advertising"
            #expect(rig.controller.received.count == 3)
            for (name, step) in zip(rig.controller.received, ["Enable", "Parameters", "Enable"]) {
                #expect(name.hasPrefix("\(kind) \(step)"))
            }
            #expect(rig.controller.steps == steps)
        }
        #expect(rig.controller.disallowedCount == 0)
    }

    @Test("New data of an enabled extended set is one complete fragment, without a gap on the air")
    func dataWhileEnabled() throws {
        var rig = try rig(isExtended: true)
        rig.controller.received = []
        rig.perform { host, now, out, _ in
            host.setAdvertisingData(
                [UInt8](repeating: 0xFF, count: 31), scanResponse: [2, 10, 0], at: now,
                sending: &out)
        }
        #expect(
            rig.controller.received == [
                "LE Set Extended Advertising Data", "LE Set Extended Scan Response Data",
            ])
        #expect(rig.controller.disallowedCount == 0)
        #expect(rig.controller.isAdvertising)
    }

    @Test(
        "One family of advertising commands a power-on, whichever extended command is unknown",
        arguments: [
            Opcode.leSetExtendedAdvertisingParameters, .leSetAdvertisingSetRandomAddress,
            .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
            .leSetExtendedAdvertisingEnable,
        ])
    func oneFamily(unknown: Opcode) throws {
        var rig = try PeripheralRig()
        rig.controller.leFeatures = 1 << 12
        rig.controller.refused[unknown] = .unknownCommand
        rig.start()
        // Mixing them would have earned Command Disallowed.
        #expect(rig.controller.disallowedCount == 0)
        #expect(rig.advertised.count == 1 && rig.failures == [])
        let powerOns = rig.controller.received.split(separator: "Reset")
        #expect(powerOns.count == 2)
        for commands in powerOns {
            let extended = commands.count {
                $0.contains("Extended") || $0.contains("Advertising Set Random")
            }
            let legacy = commands.count {
                $0.hasPrefix("LE Set Advertising Param") || $0.hasPrefix("LE Set Advertising Data")
                    || $0.hasPrefix("LE Set Scan Resp") || $0.hasPrefix("LE Set Advertising Enable")
            }
            #expect(extended == 0 || legacy == 0)
        }
    }

    @Test("Advertising that the controller has ended by itself is enabled again")
    func advertisingTimeout() throws {
        var rig = try rig()
        rig.controller.received = []
        rig.controller.isAdvertising = false
        var event = LEConnectionComplete()
        event.status = .advertisingTimeout
        rig.receive(ScriptedController.packet(event))
        #expect(rig.controller.received == ["LE Set Advertising Enable 1"])
        #expect(rig.host.links.allSatisfy { !$0.isOpen })
    }
}

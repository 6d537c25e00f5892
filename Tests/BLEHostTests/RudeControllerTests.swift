// Controllers that give no credits, flood, forget connections or answer too late.
import GATT
import HCI
import SansIO
import Testing
import Wire

@testable import BLEHost

@Suite("Rude controllers")
struct RudeControllerTests {
    @Test("A controller that allows no commands is asked one at a time after 2 s, and it is said")
    func noCredits() throws {
        var rig = try PeripheralRig()
        rig.controller.commandCredits = 0
        rig.start()
        #expect(rig.controller.received == ["Reset"])
        #expect(rig.host.deadline == .zero + .seconds(2))
        rig.wait(.seconds(2))
        #expect(rig.advertised.count == 1)
        #expect(rig.notes.count == 1 && rig.notes[0].contains("no further command"))
    }

    @Test("Credits that come later, with an event about no command, are waited for")
    func lateCredits() throws {
        var rig = try PeripheralRig()
        rig.controller.commandCredits = 0
        rig.start()
        rig.wait(.seconds(1))
        rig.controller.commandCredits = 1
        var credits = CommandComplete()
        credits.numHCICommandPackets = 1
        rig.receive(ScriptedController.packet(credits))
        #expect(rig.advertised.count == 1)
        #expect(rig.notes == [])
    }

    @Test("Events that ask for replies which the controller does not take cost no memory")
    func replies() throws {
        var rig = try PeripheralRig.legacy()
        rig.receive(ScriptedController.connected(handle: 0x40))
        rig.controller.commandCredits = 0
        var request = LELongTermKeyRequest()
        request.connectionHandle = ConnectionHandle(rawValue: 0x40)
        let packet = ScriptedController.packet(request)
        for _ in 0..<10_000 { rig.receive(packet) }
        rig.controller.received = []
        rig.wait(.seconds(10))
        #expect(rig.controller.received.count <= CommandQueue.repliesMax)
    }

    @Test("A flood of malformed events and of events about nothing is counted, not recited")
    func badEvents() throws {
        var rig = try PeripheralRig.legacy()
        for _ in 0..<5_000 {
            rig.receive(
                [0x04, 0x05, 0x00], ScriptedController.disconnected(handle: 0x99, .success),
                [0x04, 0x3E, 0x00])
        }
        #expect(rig.host.session.ignoredEvents == 15_000)
        #expect(rig.notes.count == 6, "two kinds, and 10, 100, 1000, 10000: \(rig.notes)")
        #expect(rig.notes.last == "the controller has sent 10000 events that were ignored")
    }

    @Test("A connection beyond the table is ended, whoever made it")
    func tooManyLinks() throws {
        var rig = try PeripheralRig.legacy(connectionsMax: 16)
        for handle in UInt16(1)...20 { rig.receive(ScriptedController.connected(handle: handle)) }
        #expect(rig.controller.received.count { $0 == "Disconnect" } == 4)
        let connected = rig.events.count { if case .connected = $0 { true } else { false } }
        #expect(connected == 16)
        #expect(rig.notes.count { $0.contains("more than 16") } == 4)
    }

    @Test("A handle announced twice ends the first link, whose central is named")
    func handleTwice() throws {
        var rig = try PeripheralRig.legacy()
        rig.receive(
            ScriptedController.connected(handle: 0x40, peer: 0xC0_0000_0000_01),
            ScriptedController.connected(handle: 0x40, peer: 0xC0_0000_0000_02))
        let gone = rig.events.compactMap { event -> DeviceAddress? in
            if case .disconnected(_, let peer, _) = event { peer } else { nil }
        }
        #expect(gone == [DeviceAddress(littleEndian: 0xC0_0000_0000_01)])
    }

    @Test("What a controller tells before it answers Reset is over with it: no link, no failure")
    func beforeReset() throws {
        var rig = try PeripheralRig()
        rig.controller.supportedCommands[36] = 0
        rig.controller.ignored = [.reset]
        rig.start()
        rig.receive(ScriptedController.connected(handle: 0x40))
        rig.receive(ScriptedController.acl(handle: 0x40, [0x0A, 3, 0])[0])
        rig.receive(ScriptedController.packet(HardwareError()))
        #expect(rig.controller.data == [])
        var reset = CommandComplete()
        reset.numHCICommandPackets = 1
        reset.commandOpcode = .reset
        reset.returnParameters = [0]
        rig.receive(ScriptedController.packet(reset))
        #expect(rig.advertised.count == 1)
        #expect(rig.host.links.allSatisfy { !$0.isOpen })
        #expect(rig.failures == [])
    }

    @Test(
        "Replies to events that are unknown to the controller, or unanswered, are done without",
        arguments: [
            Opcode.leLongTermKeyRequestNegativeReply, .leRemoteConnectionParameterRequestReply,
        ])
    func repliesUnknown(_ opcode: Opcode) throws {
        func ask(_ rig: inout PeripheralRig) {
            var key = LELongTermKeyRequest()
            key.connectionHandle = ConnectionHandle(rawValue: 0x40)
            var parameters = LERemoteConnectionParameterRequest()
            parameters.connectionHandle = ConnectionHandle(rawValue: 0x40)
            rig.receive(ScriptedController.packet(key), ScriptedController.packet(parameters))
        }
        for isSilent in [false, true] {
            var rig = try PeripheralRig.legacy()
            rig.receive(ScriptedController.connected(handle: 0x40))
            if isSilent {
                rig.controller.ignored = [opcode]
            } else {
                rig.controller.refused[opcode] = .unknownCommand
            }
            for _ in 0..<3 {
                ask(&rig)
                rig.wait(.seconds(5))
            }
            #expect(rig.failures == [])
            #expect(rig.notes.count == 1 && rig.notes[0].contains("\(opcode)"))
            #expect(rig.host.links[0].isOpen)
        }
    }

    @Test("A Disconnect that the controller never answers is the loss of the controller")
    func disconnectUnanswered() throws {
        var rig = try PeripheralRig.legacy()
        rig.receive(ScriptedController.connected(handle: 0x40))
        rig.controller.ignored = [.disconnect]
        rig.perform { host, now, out, emit in host.stop(at: now, sending: &out, emit: &emit) }
        rig.wait(.seconds(2))
        #expect(rig.failures == [.commandTimeout(.disconnect)])
    }

    @Test("A Disconnect of a connection that the controller has forgotten ends it here too")
    func disconnectUnknown() throws {
        var rig = try PeripheralRig.legacy()
        rig.receive(ScriptedController.connected(handle: 0x40))
        rig.controller.refused[.disconnect] = .unknownConnectionIdentifier
        rig.perform { host, now, out, emit in host.stop(at: now, sending: &out, emit: &emit) }
        #expect(rig.failures == [])
        #expect(rig.host.links.allSatisfy { !$0.isOpen })
        #expect(rig.host.isQuiet)
    }

    /// A controller that has made a connection, not yet told, when it gets Enable and refuses it.
    @Test("Enable refused because of a connection not yet told is no loss of the controller")
    func enableMeetsConnection() throws {
        var rig = try PeripheralRig.legacy()
        rig.controller.commandCredits = 3
        var out = ByteBlock()
        var emit = Outputs<PeripheralEvent>()
        rig.host.receive(
            ScriptedController.packet(CommandComplete(credits: 3)).span, at: .zero, sending: &out,
            emit: &emit)
        rig.host.setInterval(AdvertisingInterval(steps: 32), at: .zero, sending: &out)
        #expect(H4Packets.split(out.bytes).count == 3)
        rig.controller.refused[.leSetAdvertisingEnable] = .commandDisallowed
        let answers = rig.controller.answer(out.bytes)
        out.removeAll()
        rig.receive(ScriptedController.connected(handle: 0x40))
        for answer in answers { rig.receive(answer) }
        #expect(rig.failures == [])
        #expect(rig.host.links.count { $0.isOpen } == 1)
        rig.controller.refused = [:]
        rig.controller.isAdvertising = false
        rig.receive(ScriptedController.disconnected(handle: 0x40, .remoteUserTerminated))
        #expect(rig.advertised.last?.steps == 32)
    }

    /// All three commands of a change wait for credits when the connection comes.
    @Test("A connection while no command of a change has been sent leaves nothing undone")
    func connectionBeforeChange() throws {
        var rig = try PeripheralRig.legacy()
        var out = ByteBlock()
        var emit = Outputs<PeripheralEvent>()
        rig.host.receive(
            ScriptedController.packet(CommandComplete(credits: 0)).span, at: .zero, sending: &out,
            emit: &emit)
        rig.host.setInterval(AdvertisingInterval(steps: 32), at: .zero, sending: &out)
        #expect(out.isEmpty)
        rig.controller.isAdvertising = false
        rig.receive(ScriptedController.connected(handle: 0x40))
        rig.receive(ScriptedController.packet(CommandComplete(credits: 1)))
        rig.receive(ScriptedController.disconnected(handle: 0x40, .remoteUserTerminated))
        #expect(rig.controller.received.last == "LE Set Advertising Enable 1")
        #expect(rig.advertised.last?.steps == 32)
    }

    @Test("A central that is out of reach does not keep the other from its answers")
    func stalledLink() throws {
        var rig = try PeripheralRig(connectionsMax: 2)
        rig.controller.supportedCommands[36] = 0
        rig.controller.leBuffers = (27, 4)
        rig.start()
        rig.controller.isAdvertising = false
        rig.receive(ScriptedController.connected(handle: 0x40, peer: 0xC0_0000_0000_01))
        rig.controller.isAdvertising = false
        rig.receive(ScriptedController.connected(handle: 0x41, peer: 0xC0_0000_0000_02))
        let read = [UInt8]([0x0A, 3, 0])
        // The first one's answers are never completed.
        for _ in 0..<20 {
            for packet in ScriptedController.acl(handle: 0x40, read) { rig.receive(packet) }
        }
        #expect(rig.controller.data.count == 3)
        for count in 1...20 {
            for packet in ScriptedController.acl(handle: 0x41, read) { rig.receive(packet) }
            rig.receive(ScriptedController.completed(handle: 0x41, 1))
            #expect(rig.controller.data.count == 3 + count)
        }
        // It has all the buffers when the other is gone.
        rig.receive(ScriptedController.disconnected(handle: 0x41, .remoteUserTerminated))
        rig.receive(ScriptedController.completed(handle: 0x40, 3))
        #expect(rig.controller.data.count == 3 + 20 + 4)
    }

    @Test("A controller that comes back without the extended commands gets the legacy ones")
    func familyChanges() throws {
        var rig = try PeripheralRig()
        rig.start()
        #expect(rig.controller.received.last == "LE Set Extended Advertising Enable")
        rig.controller.refused[.leSetExtendedAdvertisingParameters] = .unknownCommand
        rig.start()
        #expect(rig.failures == [])
        #expect(rig.controller.received.last == "LE Set Advertising Enable 1")
        #expect(rig.advertised.count == 2)
    }
}

extension CommandComplete {
    /// About no command: it only sets the credits.
    fileprivate init(credits: UInt8) {
        self.init()
        numHCICommandPackets = credits
    }
}

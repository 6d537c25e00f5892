// The peripheral host on controllers good and bad: bring-up, advertising, links, data.
import BLEHost
import GATT
import HCI
import SansIO
import Testing
import Wire

@Suite("Bring-up")
struct BringUpTests {
    @Test("The commands go out one by one, and advertising follows")
    func order() throws {
        var rig = try PeripheralRig()
        rig.start()
        #expect(
            rig.controller.received == [
                "Reset", "Read Local Version Information", "Read Local Supported Commands",
                "Read Local Supported Features", "Set Event Mask",
                "LE Read Local Supported Features", "LE Set Event Mask 000000000000001F",
                "LE Read Buffer Size [v2]", "Read BD_ADDR",
                "LE Set Random Address", "LE Set Extended Advertising Parameters",
                "LE Set Advertising Set Random Address", "LE Set Extended Advertising Data",
                "LE Set Extended Scan Response Data", "LE Set Extended Advertising Enable",
            ])
        #expect(rig.advertised == [AdvertisingInterval(steps: 160)])
        #expect(rig.notes == [])
    }

    @Test("Features bring their commands and their events with them")
    func features() throws {
        var rig = try PeripheralRig()
        rig.controller.leFeatures = 1 << 1 | 1 << 5 | 1 << 8
        rig.start()
        #expect(rig.controller.received.contains("LE Set Event Mask 000000000000087F"))
        #expect(rig.controller.received.contains("LE Write Suggested Default Data Length"))
        // No preference is left to the controller: LE 1M and LE 2M both ways.
        #expect(rig.controller.received.contains("LE Set Default PHY 000303"))
        #expect(rig.notes == [])
        // Where the bit of a command is missing it is done without, and said.
        rig.controller.supportedCommands[34] = 0
        rig.controller.supportedCommands[35] = 0
        rig.start()
        #expect(
            rig.notes == [
                "the controller does not list LE Write Suggested Default Data Length: done without",
                "the controller does not list LE Set Default PHY: done without",
            ])
        #expect(rig.advertised.count == 2)
    }

    @Test("A controller without extended advertising gets the legacy commands")
    func legacy() throws {
        var rig = try PeripheralRig()
        rig.controller.supportedCommands[36] = 0
        rig.start()
        #expect(
            rig.controller.received.suffix(4) == [
                "LE Set Advertising Parameters 100 ms", "LE Set Advertising Data",
                "LE Set Scan Response Data", "LE Set Advertising Enable 1",
            ])
    }

    @Test("Extended commands answered Unknown Command: legacy ones after a reset")
    func extendedUnknown() throws {
        var rig = try PeripheralRig()
        rig.controller.refused[.leSetExtendedAdvertisingParameters] = .unknownCommand
        rig.start()
        #expect(rig.controller.received.count { $0 == "Reset" } == 2)
        #expect(rig.controller.received.last == "LE Set Advertising Enable 1")
        #expect(rig.advertised.count == 1)
    }

    @Test("Each optional command refused as unknown, in turn: it advertises", arguments: optional)
    func refusedInTurn(_ opcode: Opcode) throws {
        var rig = try fullRig(without: opcode)
        rig.controller.refused[opcode] = .unknownCommand
        rig.start()
        #expect(rig.advertised.count == 1)
        #expect(
            rig.notes == [
                "the controller refused \(opcode) with Unknown HCI Command (0x01): "
                    + "done without"
            ])
    }

    @Test("Each optional command never answered, in turn: it advertises", arguments: optional)
    func ignoredInTurn(_ opcode: Opcode) throws {
        var rig = try fullRig(without: opcode)
        rig.controller.ignored = [opcode]
        rig.start()
        #expect(rig.advertised.isEmpty || opcode == .leSetScanResponseData)
        rig.wait(.seconds(3))
        #expect(rig.advertised.count == 1)
        #expect(rig.notes == ["the controller did not answer \(opcode): done without"])
    }

    @Test("All optional commands refused at once: it advertises with the least assumed")
    func allRefused() throws {
        var rig = try fullRig(without: nil)
        for opcode in optional { rig.controller.refused[opcode] = .unknownCommand }
        rig.start()
        #expect(rig.advertised.count == 1)
        #expect(rig.failures.isEmpty)
    }

    @Test("All optional commands never answered: it advertises")
    func allIgnored() throws {
        var rig = try fullRig(without: nil)
        rig.controller.ignored = Set(optional)
        rig.start()
        rig.wait(.seconds(30))
        #expect(rig.advertised.count == 1)
    }

    @Test("Each indispensable command refused or unanswered ends with its name", arguments: needed)
    func indispensable(_ opcode: Opcode) throws {
        var rig = try PeripheralRig()
        rig.controller.supportedCommands[36] = 0
        rig.controller.refused[opcode] = .unknownCommand
        rig.start()
        #expect(rig.failures == [.commandRefused(opcode, .unknownCommand)])
        rig = try PeripheralRig()
        rig.controller.supportedCommands[36] = 0
        rig.controller.ignored = [opcode]
        rig.start()
        rig.wait(.seconds(3))
        #expect(rig.failures == [.commandTimeout(opcode)])
    }

    @Test("LE buffers of 0 x 0: the shared ones are read and used")
    func sharedBuffers() throws {
        var rig = try PeripheralRig(value: [UInt8](repeating: 7, count: 100))
        rig.controller.leBuffers = (0, 0)
        rig.start()
        #expect(rig.controller.received.contains("Read Buffer Size"))
        rig.receive(ScriptedController.connected(handle: 0x40))
        for packet in ScriptedController.acl(handle: 0x40, [0x02, 247, 0]) { rig.receive(packet) }
        for packet in ScriptedController.acl(handle: 0x40, [0x0A, 3, 0]) { rig.receive(packet) }
        #expect(rig.controller.data.last?.count == 2 * (5 + 4 + 101))
    }

    @Test("Buffers: [v2] where it is listed, then [v1], then the shared ones, as they are answered")
    func buffers() throws {
        func commands(_ change: (inout ScriptedController) -> Void) throws -> [String] {
            var rig = try PeripheralRig()
            change(&rig.controller)
            rig.start()
            #expect(rig.advertised.count == 1)
            return rig.controller.received.filter { $0.contains("Buffer Size") }
        }
        let (v1, shared) = ("LE Read Buffer Size", "Read Buffer Size")
        let v2 = v1 + " [v2]"
        #expect(try commands { _ in } == [v2])
        #expect(try commands { $0.supportedCommands[41] = 0 } == [v1])
        // A controller that lists no command at all is older than [v2].
        #expect(
            try commands { $0.supportedCommands = [UInt8](repeating: 0, count: 64) } == [v1])
        #expect(try commands { $0.refused[.leReadBufferSizeV2] = .unknownCommand } == [v2, v1])
        #expect(try commands { $0.leBuffersV2 = (0, 0) } == [v2, v1])
        #expect(try commands { $0.leBuffers = (0, 0) } == [v2, v1, shared])
        #expect(
            try commands {
                $0.leBuffers = (0, 0)
                $0.supportedCommands[41] = 0
            } == [v1, shared])
    }

    /// A legacy controller that is sent every optional command.
    private func fullRig(without opcode: Opcode?) throws -> PeripheralRig {
        var rig = try PeripheralRig()
        rig.controller.supportedCommands[36] = 0
        rig.controller.leFeatures = 1 << 5 | 1 << 8
        if opcode == .leReadBufferSize { rig.controller.supportedCommands[41] = 0 }
        if opcode == .readBufferSize { rig.controller.leBuffers = (0, 0) }
        return rig
    }

    private static let optional: [Opcode] = [
        .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
        .setEventMask, .leSetEventMask, .leReadLocalSupportedFeatures, .readBDADDR,
        .leSetScanResponseData, .leReadBufferSizeV2, .leReadBufferSize, .readBufferSize,
        .leWriteSuggestedDefaultDataLength, .leSetDefaultPHY,
    ]
    private static let needed: [Opcode] = [
        .reset, .leSetRandomAddress, .leSetAdvertisingParameters, .leSetAdvertisingData,
        .leSetAdvertisingEnable,
    ]
    private var optional: [Opcode] { Self.optional }
}

@Suite("Advertising")
struct AdvertisingControlTests {
    @Test("A change of the interval is disable, set, enable")
    func change() throws {
        var rig = try PeripheralRig.legacy()
        rig.perform { host, now, out, _ in
            host.setInterval(AdvertisingInterval(steps: 32), at: now, sending: &out)
        }
        #expect(
            rig.controller.received == [
                "LE Set Advertising Enable 0", "LE Set Advertising Parameters 20 ms",
                "LE Set Advertising Enable 1",
            ])
        #expect(rig.advertised.map(\.steps) == [160, 32])
    }

    @Test("With command credits for it, the three commands leave in one burst")
    func burst() throws {
        var rig = try PeripheralRig()
        rig.controller.commandCredits = 3
        rig.controller.supportedCommands[36] = 0
        rig.start()
        var out = ByteBlock()
        rig.host.setInterval(AdvertisingInterval(steps: 32), at: .zero, sending: &out)
        #expect(H4Packets.split(out.bytes).count == 3)
    }

    @Test("Changes while a change is under way end in the last interval")
    func lastWins() throws {
        var rig = try PeripheralRig.legacy()
        rig.perform { host, now, out, _ in
            for steps: UInt16 in [32, 64, 320] {
                host.setInterval(AdvertisingInterval(steps: steps), at: now, sending: &out)
            }
        }
        #expect(rig.advertised.last?.steps == 320)
        #expect(rig.controller.received.last == "LE Set Advertising Enable 1")
        #expect(!rig.notes.contains { $0.contains("Disallowed") })
    }

    @Test("A connection between disable and enable takes the enable back")
    func connectionMeanwhile() throws {
        var rig = try PeripheralRig.legacy()
        var out = ByteBlock()
        var emit = Outputs<PeripheralEvent>()
        rig.host.setInterval(AdvertisingInterval(steps: 32), at: .zero, sending: &out)
        #expect(H4Packets.split(out.bytes).count == 1, "one credit, one command")
        let disabled = rig.controller.answer(out.bytes)
        out.removeAll()
        rig.host.receive(
            ScriptedController.connected(handle: 0x40).span, at: .zero, sending: &out, emit: &emit)
        for packet in disabled {
            rig.host.receive(packet.span, at: .zero, sending: &out, emit: &emit)
        }
        rig.controller.received = []
        rig.perform { _, _, block, _ in block.append(out.bytes) }
        #expect(!rig.controller.received.contains("LE Set Advertising Enable 1"))
        rig.receive(ScriptedController.disconnected(handle: 0x40, .remoteUserTerminated))
        #expect(rig.controller.received.last == "LE Set Advertising Enable 1")
        #expect(rig.advertised.last?.steps == 32)
    }

    @Test("Advertising stops at the limit of connections and resumes below it")
    func limit() throws {
        var rig = try PeripheralRig.legacy(connectionsMax: 2)
        rig.controller.isAdvertising = false
        rig.receive(ScriptedController.connected(handle: 0x40))
        #expect(rig.controller.received == ["LE Set Advertising Enable 1"])
        rig.controller.received = []
        rig.receive(ScriptedController.connected(handle: 0x41, peer: 0xC0_1122_3344_66))
        #expect(rig.controller.received == [])
        rig.receive(ScriptedController.disconnected(handle: 0x40, .remoteUserTerminated))
        #expect(rig.controller.received == ["LE Set Advertising Enable 1"])
    }

    @Test("A controller that cannot advertise while connected is served as far as it goes")
    func cannotWhileConnected() throws {
        var rig = try PeripheralRig.legacy(connectionsMax: 2)
        rig.controller.refused[.leSetAdvertisingEnable] = .commandDisallowed
        rig.receive(ScriptedController.connected(handle: 0x40))
        #expect(rig.failures.isEmpty)
        let refusals = rig.events.count {
            if case .advertisingRefused(.commandDisallowed, _) = $0 { true } else { false }
        }
        #expect(refusals == 1)
        rig.controller.refused = [:]
        rig.receive(ScriptedController.disconnected(handle: 0x40, .remoteUserTerminated))
        #expect(rig.advertised.count == 2)
    }
}

@Suite("Links and data")
struct LinkTests {
    private func connected(octets: UInt16 = 27, packets: UInt8 = 4) throws -> PeripheralRig {
        var rig = try PeripheralRig(value: [UInt8](0..<100))
        rig.controller.leBuffers = (octets, packets)
        rig.start()
        rig.receive(ScriptedController.connected(handle: 0x40))
        for packet in ScriptedController.acl(handle: 0x40, [0x02, 247, 0]) { rig.receive(packet) }
        rig.receive(ScriptedController.completed(handle: 0x40, 1))
        rig.controller.data = []
        return rig
    }

    private func read(_ rig: inout PeripheralRig) {
        for packet in ScriptedController.acl(handle: 0x40, [0x0A, 3, 0]) { rig.receive(packet) }
    }

    @Test("A response larger than the controller's packets is cut, the first marked as start")
    func fragments() throws {
        var rig = try connected()
        read(&rig)
        #expect(rig.controller.data.map { $0.count / 2 - 5 } == [27, 27, 27, 24])
        #expect(
            rig.controller.data.map { $0.prefix(6) } == ["024000", "024010", "024010", "024010"])
    }

    @Test("No more packets are out than the controller has buffers; the rest follows credits")
    func credits() throws {
        var rig = try connected(packets: 3)
        read(&rig)
        #expect(rig.controller.data.count == 3)
        rig.receive(ScriptedController.completed(handle: 0x40, 1))
        #expect(rig.controller.data.count == 4)
        rig.receive(ScriptedController.completed(handle: 0x40, 3))
        read(&rig)
        #expect(rig.controller.data.count == 7)
    }

    @Test("More completed packets than were sent give no more credits than there are")
    func tooManyCompleted() throws {
        var rig = try connected(packets: 3)
        rig.receive(ScriptedController.completed(handle: 0x40, 0xFFFF))
        read(&rig)
        #expect(rig.controller.data.count == 3)
    }

    @Test("Buffers of a link that ends are free for the next one")
    func buffersReturn() throws {
        var rig = try connected(packets: 3)
        read(&rig)
        rig.receive(ScriptedController.disconnected(handle: 0x40, .connectionTimeout))
        rig.receive(ScriptedController.connected(handle: 0x41))
        rig.controller.data = []
        for packet in ScriptedController.acl(handle: 0x41, [0x0A, 3, 0]) { rig.receive(packet) }
        #expect(rig.controller.data.count == 1, "MTU is 23 again, all in one packet")
    }

    @Test("A request cut into single octets is answered")
    func singleOctets() throws {
        var rig = try connected(octets: 251)
        for packet in ScriptedController.acl(handle: 0x40, [0x0A, 3, 0], octets: 1) {
            rig.receive(packet)
        }
        #expect(rig.controller.data.count == 1)
    }

    @Test("A peer that asks without end and takes no data is disconnected")
    func flood() throws {
        var rig = try connected(packets: 1)
        for _ in 0..<2000 { read(&rig) }
        #expect(rig.notes.count == 1)
        #expect(rig.controller.received.contains("Disconnect"))
    }

    @Test("Data for an unknown connection, and unknown channels, are ignored")
    func unknown() throws {
        var rig = try connected()
        for packet in ScriptedController.acl(handle: 0x99, [0x0A, 3, 0]) { rig.receive(packet) }
        for packet in ScriptedController.acl(handle: 0x40, cid: 0x77, [1, 2]) {
            rig.receive(packet)
        }
        #expect(rig.controller.data == [])
    }

    @Test("Other PHYs of a link are told once, those of no link and refusals never")
    func phys() throws {
        var rig = try connected()
        func update(_ handle: UInt16, _ tx: UInt8, _ rx: UInt8, _ status: HCIStatus = .success) {
            var event = LEPHYUpdateComplete()
            event.status = status
            event.connectionHandle = ConnectionHandle(rawValue: handle)
            (event.txPHY, event.rxPHY) = (tx, rx)
            rig.receive(ScriptedController.packet(event))
        }
        func told() -> Int {
            rig.events.count { if case .phyUpdated(0, _) = $0 { true } else { false } }
        }
        #expect(rig.host.links[0].information.phyText == "LE 1M")
        update(0x40, 1, 1)
        update(0x99, 2, 2)
        update(0x40, 2, 2, .unsupportedRemoteFeature)
        #expect(told() == 0)
        update(0x40, 2, 2)
        update(0x40, 2, 2)
        #expect(told() == 1)
        #expect(rig.host.links[0].information.phyText == "LE 2M")
        update(0x40, 3, 0xFF)
        #expect(
            rig.host.links[0].information.phyText == "LE Coded to send and PHY 255 to receive")
        // A new link begins on LE 1M again.
        rig.receive(
            ScriptedController.disconnected(handle: 0x40, .remoteUserTerminated),
            ScriptedController.connected(handle: 0x41))
        #expect(rig.host.links[0].information.phyText == "LE 1M")
    }

    @Test("A pairing request is answered Pairing Not Supported")
    func pairing() throws {
        var rig = try connected()
        for packet in ScriptedController.acl(handle: 0x40, cid: 6, [1, 3, 0, 1, 16, 0, 0]) {
            rig.receive(packet)
        }
        #expect(rig.controller.data == ["0240000600020006000505"])
    }

    @Test("Hardware Error and an unexpected Reset are failures that end the links")
    func failures() throws {
        var rig = try connected()
        var event = HardwareError()
        event.hardwareCode = 0x42
        rig.receive(ScriptedController.packet(event))
        #expect(rig.failures == [.hardwareError(0x42)])
        var reset = CommandComplete()
        reset.numHCICommandPackets = 1
        reset.commandOpcode = .reset
        reset.returnParameters = [0]
        rig = try connected()
        rig.receive(ScriptedController.packet(reset))
        #expect(rig.failures == [.unexpectedReset])
        let gone = rig.events.count { if case .disconnected = $0 { true } else { false } }
        #expect(gone == 1)
        rig.start()
        #expect(rig.advertised.count == 2, "it comes up again")
    }
}

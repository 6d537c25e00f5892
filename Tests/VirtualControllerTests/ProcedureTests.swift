// Procedures on a link: parameters, features, version, data length, PHY, channels.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct ProcedureTests {
    static let timings = [Air.Timing.radio, .ideal]

    @Test(
        "the central changes the connection parameters six events later, for both hosts",
        arguments: timings)
    func connectionUpdate(timing: Air.Timing) throws {
        var (bench, peripheral, central) = Bench.linked(timing: timing)
        let start = bench.now
        let status = bench.status(1, LEConnectionUpdate()) {
            $0.connectionHandle = central
            $0.intervalMin = 40
            $0.intervalMax = 48
            $0.maxLatency = 1
            $0.supervisionTimeout = 200
        }
        #expect(status == .success)
        bench.run(for: .seconds(1))
        for (port, handle) in [(0, peripheral), (1, central)] {
            let updates = bench.events(port, LEConnectionUpdateComplete.self)
            #expect(updates.count == 1)
            let event = try #require(updates.first)
            #expect(event.event.status == .success && event.event.connectionHandle == handle)
            #expect(event.event.connectionInterval == 48)
            #expect(event.event.peripheralLatency == 1)
            #expect(event.event.supervisionTimeout == 200)
            let delay = (event.at - start).microseconds
            #expect(timing == .ideal ? delay == 0 : (180_000...210_000).contains(delay))
        }
        // Data still goes both ways, now in the new interval.
        bench.sendACL(0, peripheral, [1])
        bench.sendACL(1, central, [2])
        bench.run(for: .seconds(1))
        #expect(bench.acl(0).count == 1 && bench.acl(1).count == 1)
    }

    @Test("a peripheral asks for parameters and the central's host decides", arguments: timings)
    func parameterRequest(timing: Air.Timing) throws {
        var (bench, peripheral, central) = Bench.linked(timing: timing)
        func ask(_ bench: inout Bench) {
            let status = bench.status(0, LEConnectionUpdate()) {
                $0.connectionHandle = peripheral
                $0.intervalMin = 80
                $0.intervalMax = 100
                $0.supervisionTimeout = 300
            }
            #expect(status == .success)
            bench.run(for: .milliseconds(100))
        }
        ask(&bench)
        let request = try #require(
            bench.events(1, LERemoteConnectionParameterRequest.self).first?.event)
        #expect(request.connectionHandle == central)
        #expect(request.intervalMin == 80 && request.intervalMax == 100 && request.timeout == 300)
        let refusal = bench.answer(1, LERemoteConnectionParameterRequestNegativeReply()) {
            $0.connectionHandle = central
            $0.reason = .unacceptableConnectionParameters
        }
        #expect(refusal == StatusAndHandle(.success, central))
        bench.run(for: .seconds(1))
        let refused = bench.events(0, LEConnectionUpdateComplete.self).map(\.event)
        #expect(refused.map(\.status) == [.unacceptableConnectionParameters])
        #expect(refused.first?.connectionInterval == 24)
        bench.forget()
        ask(&bench)
        let reply = bench.answer(1, LERemoteConnectionParameterRequestReply()) {
            $0.connectionHandle = central
            $0.intervalMin = 80
            $0.intervalMax = 100
            $0.timeout = 300
        }
        #expect(reply == StatusAndHandle(.success, central))
        bench.run(for: .seconds(1))
        for port in 0...1 {
            let updates = bench.events(port, LEConnectionUpdateComplete.self).map(\.event)
            #expect(updates.map(\.status) == [.success])
            #expect(updates.first?.connectionInterval == 100)
        }
        // Nobody has asked now.
        let late = bench.answer(1, LERemoteConnectionParameterRequestReply()) {
            $0.connectionHandle = central
            $0.intervalMin = 80
            $0.intervalMax = 100
            $0.timeout = 300
        }
        #expect(late?.status == .commandDisallowed)
    }

    @Test("a central whose host masks the request refuses it by itself")
    func maskedRequest() {
        var (bench, peripheral, _) = Bench.linked()
        bench.status(1, LESetEventMask()) { $0.leEventMask = 0x1F }
        bench.send(0, LEConnectionUpdate()) {
            $0.connectionHandle = peripheral
            $0.intervalMin = 80
            $0.intervalMax = 80
            $0.supervisionTimeout = 300
        }
        bench.run(for: .seconds(1))
        #expect(
            bench.events(0, LEConnectionUpdateComplete.self).map(\.event.status)
                == [.unsupportedRemoteFeature])
        #expect(bench.events(1, LERemoteConnectionParameterRequest.self).isEmpty)
    }

    @Test("features and version of the peer are those it says of itself", arguments: timings)
    func remoteInformation(timing: Air.Timing) throws {
        var (bench, peripheral, central) = Bench.linked(timing: timing)
        let features = bench.answer(0, LEReadLocalSupportedFeatures())
        let version = bench.answer(0, ReadLocalVersionInformation())
        for (port, handle) in [(1, central), (0, peripheral)] {
            bench.forget()
            #expect(
                bench.status(port, LEReadRemoteFeatures()) { $0.connectionHandle = handle }
                    == .success)
            #expect(
                bench.status(port, ReadRemoteVersionInformation()) { $0.connectionHandle = handle }
                    == .success)
            bench.run(for: .seconds(1))
            let remote = bench.events(port, LEReadRemoteFeaturesComplete.self).map(\.event)
            #expect(
                remote.map(\.status) == [.success] && remote[0].leFeatures == features?.leFeatures)
            #expect(remote[0].connectionHandle == handle)
            let versions = bench.events(port, ReadRemoteVersionInformationComplete.self).map(
                \.event)
            #expect(versions.map(\.version) == [version?.lmpVersion ?? 0])
            #expect(bench.mailboxes[1 - port].isEmpty)
        }
        // A second question is answered from memory, after its Command Status.
        bench.forget()
        bench.status(1, ReadRemoteVersionInformation()) { $0.connectionHandle = central }
        #expect(bench.mailboxes[1].map(\.eventCode) == [0x0F, 0x0C])
    }

    @Test("the data length is agreed on by both, and both hosts hear of it", arguments: timings)
    func dataLength(timing: Air.Timing) throws {
        var (bench, peripheral, central) = Bench.linked(timing: timing)
        let answer = bench.answer(1, LESetDataLength()) {
            $0.connectionHandle = central
            $0.txOctets = 251
            $0.txTime = 2120
        }
        #expect(answer == StatusAndHandle(.success, central))
        bench.run(for: .seconds(1))
        let changes = (0...1).map { bench.events($0, LEDataLengthChange.self).map(\.event) }
        #expect(changes.map(\.count) == [1, 1])
        #expect(changes[1][0].maxTxOctets == 251 && changes[1][0].maxTxTime == 2120)
        #expect(changes[1][0].maxRxOctets == 27 && changes[1][0].maxRxTime == 328)
        #expect(changes[0][0].maxRxOctets == 251 && changes[0][0].maxTxOctets == 27)
        let data = [UInt8](repeating: 3, count: 240)
        bench.sendACL(1, central, data)
        bench.sendACL(0, peripheral, data)
        bench.run(for: .seconds(1))
        #expect(bench.acl(0).map(\.data.count) == [240])
        #expect(bench.acl(1).map(\.data.count) == [27, 27, 27, 27, 27, 27, 27, 27, 24])
    }

    @Test("a suggested default longer than 27 octets is agreed on by itself")
    func suggestedDefault() {
        var bench = Bench()
        bench.prepare(0)
        bench.prepare(1)
        let written = bench.status(0, LEWriteSuggestedDefaultDataLength()) {
            $0.suggestedMaxTxOctets = 100
            $0.suggestedMaxTxTime = 2120
        }
        #expect(written == .success)
        #expect(bench.answer(0, LEReadSuggestedDefaultDataLength())?.suggestedMaxTxOctets == 100)
        bench.advertise(0)
        bench.connect(1)
        bench.run(for: .seconds(2))
        #expect(bench.events(0, LEDataLengthChange.self).map(\.event.maxTxOctets) == [100])
        #expect(bench.events(1, LEDataLengthChange.self).map(\.event.maxRxOctets) == [100])
    }

    @Test(
        "the PHY changes to LE 2M where both like it, and stays where one does not",
        arguments: timings)
    func phy(timing: Air.Timing) {
        var (bench, peripheral, central) = Bench.linked(timing: timing)
        bench.send(0, LESetPHY()) {
            $0.connectionHandle = peripheral
            $0.txPHYs = 2
            $0.rxPHYs = 3
        }
        bench.run(for: .seconds(1))
        for port in 0...1 {
            let events = bench.events(port, LEPHYUpdateComplete.self).map(\.event)
            #expect(events.map(\.status) == [.success])
            #expect(events.first?.txPHY == 2 && events.first?.rxPHY == 2)
        }
        let read = bench.answer(1, LEReadPHY()) { $0.connectionHandle = central }
        #expect(read?.txPHY == 2 && read?.rxPHY == 2)
        bench.forget()
        // The central now wants 1M only: the peripheral still prefers 2M for sending alone.
        bench.send(1, LESetPHY()) {
            $0.connectionHandle = central
            $0.txPHYs = 1
            $0.rxPHYs = 1
        }
        bench.run(for: .seconds(1))
        let after = bench.answer(1, LEReadPHY()) { $0.connectionHandle = central }
        #expect(after?.txPHY == 1 && after?.rxPHY == 2)
    }

    @Test("LE Coded is for controllers that have it, and slower", arguments: timings)
    func codedPHY(timing: Air.Timing) {
        for features in [.all, []] as [ControllerFeatures] {
            var (bench, _, central) = Bench.linked(timing: timing, features: features)
            let coded = bench.status(1, LESetPHY()) {
                $0.connectionHandle = central
                $0.txPHYs = 4
                $0.rxPHYs = 4
            }
            guard features == .all else {
                #expect(coded == .unsupportedFeatureOrParameter)
                continue
            }
            #expect(coded == .success)
            bench.run(for: .seconds(1))
            for port in 0...1 {
                let event = bench.events(port, LEPHYUpdateComplete.self).first?.event
                #expect(event?.txPHY == 3 && event?.rxPHY == 3)
            }
            bench.sendACL(1, central, [UInt8](repeating: 7, count: 100))
            bench.run(for: .seconds(1))
            #expect(bench.acl(0).reduce(0) { $0 + $1.data.count } == 100)
        }
    }

    @Test("the channel map follows the central's classification")
    func channelMap() {
        var (bench, peripheral, _) = Bench.linked()
        let status = bench.status(1, LESetHostChannelClassification()) {
            $0.channelMap = [0xFF, 0x00, 0x00, 0x00, 0x10]
        }
        #expect(status == .success)
        bench.run(for: .seconds(1))
        let answer = bench.answer(0, LEReadChannelMap()) { $0.connectionHandle = peripheral }
        #expect(answer?.channelMap == [0xFF, 0x00, 0x00, 0x00, 0x10])
        // However often the host changes its mind, the newest map is the one that counts.
        for octet in 0...255 as ClosedRange<UInt8> {
            bench.send(1, LESetHostChannelClassification()) { $0.channelMap = [octet, 3, 0, 0, 0] }
        }
        bench.run(for: .seconds(1))
        let newest = bench.answer(0, LEReadChannelMap()) { $0.connectionHandle = peripheral }
        #expect(newest?.channelMap == [255, 3, 0, 0, 0])
        for map in [[0, 0, 0, 0, 0x20], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]] as [[UInt8]] {
            #expect(
                bench.status(1, LESetHostChannelClassification()) { $0.channelMap = map }
                    == .invalidParameters)
        }
    }

    @Test("signal and transmit power of a link can be read, those of no link cannot")
    func power() {
        var (bench, peripheral, _) = Bench.linked()
        let rssi = bench.answer(0, ReadRSSI()) { $0.connectionHandle = peripheral }
        #expect(rssi.map { (-63...(-57)).contains($0.rssi) && $0.status == .success } == true)
        let power = bench.answer(0, ReadTransmitPowerLevel()) { $0.connectionHandle = peripheral }
        #expect(power?.status == .success && power?.transmitPowerLevel == 0)
        let none = bench.answer(0, ReadRSSI()) { $0.connectionHandle = .maximum }
        #expect(none?.status == .unknownConnectionIdentifier)
    }

    @Test("a procedure that waits for the peer is not begun a second time")
    func once() {
        var (bench, peripheral, _) = Bench.linked(interval: 800, timeout: 600)
        bench.run(for: .milliseconds(10))
        let first = bench.status(0, LEReadRemoteFeatures()) { $0.connectionHandle = peripheral }
        let second = bench.status(0, LEReadRemoteFeatures()) { $0.connectionHandle = peripheral }
        #expect(first == .success && second == .commandDisallowed)
    }
}

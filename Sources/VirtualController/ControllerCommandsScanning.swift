// LE commands of scanning and initiating on several PHYs.
import HCI
import SansIO
import Wire

extension Air {
    mutating func serveExtendedScanning(
        _ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int
    ) -> Bool {
        switch opcode {
        case .leSetExtendedScanParameters:
            return set(LESetExtendedScanParameters.self, parameters, port) { air, command in
                air.setScanParameters(port, command)
            }
        case .leSetExtendedScanEnable:
            return set(LESetExtendedScanEnable.self, parameters, port) { air, command in
                air.enableScanning(port, command)
            }
        case .leExtendedCreateConnection:
            return begin(LEExtendedCreateConnection.self, parameters, port) { air, command in
                air.createConnection(port, command)
            }
        default: return false
        }
    }

    /// 2.5 ms to 40.96 s, the window at most the interval.
    private static func isExtendedScanRange(_ interval: UInt16, _ window: UInt16) -> Bool {
        interval >= 0x0004 && window >= 0x0004 && window <= interval
    }

    /// The PHYs of a bit mask; those that the controller does not have are unsupported.
    private func checkPHYs(_ phys: UInt8, _ port: Int, of possible: UInt8) -> HCIStatus {
        let supported = controllers[port].features.phyPreferences & possible
        guard phys & ~supported == 0 else { return .unsupportedFeatureOrParameter }
        // Nobody scans for pointers on LE 2M.
        return phys & ~PHY.preferences2M != 0 ? .success : .invalidParameters
    }

    /// Core 6.0, Vol 4, Part E, 7.8.64.
    private mutating func setScanParameters(
        _ port: Int, _ command: LESetExtendedScanParameters
    ) -> HCIStatus {
        guard !controllers[port].scanner.isEnabled else { return .commandDisallowed }
        guard command.filterPolicy <= 3 else { return .invalidParameters }
        // Policies 2 and 3 are for directed advertisements to unresolved private addresses.
        guard command.filterPolicy <= 1 else { return .unsupportedFeatureOrParameter }
        let possible = PHY.preferences1M | PHY.preferencesCoded
        for status in [
            checkPHYs(command.scanningPHYs, port, of: possible), check(command.ownAddressType),
        ] where !status.isSuccess {
            return status
        }
        var modes: [Scanner.Mode] = []
        for entry in command.entries {
            guard entry.scanType <= 1,
                Self.isExtendedScanRange(entry.scanInterval, entry.scanWindow)
            else { return .invalidParameters }
            modes.append(
                Scanner.Mode(
                    isActive: entry.scanType == 1, interval: entry.scanInterval,
                    window: entry.scanWindow))
        }
        let has1M = command.scanningPHYs & PHY.preferences1M != 0
        let hasCoded = command.scanningPHYs & PHY.preferencesCoded != 0
        controllers[port].scanner.le1M = has1M ? modes.first : nil
        controllers[port].scanner.leCoded = hasCoded ? modes.last : nil
        controllers[port].scanner.ownAddressType = command.ownAddressType
        controllers[port].scanner.filterPolicy = command.filterPolicy
        return .success
    }

    /// Core 6.0, Vol 4, Part E, 7.8.65.
    private mutating func enableScanning(
        _ port: Int, _ command: LESetExtendedScanEnable
    ) -> HCIStatus {
        guard command.enable <= 1 else { return .invalidParameters }
        guard command.enable == 1 else {
            stopScanning(port)
            return .success
        }
        let duration = TimeSpan.milliseconds(10 * Int64(command.duration))
        let period = TimeSpan.milliseconds(1_280 * Int64(command.period))
        let isPeriodic = duration > .zero && period > .zero
        guard command.filterDuplicates <= 2, command.filterDuplicates < 2 || isPeriodic,
            !isPeriodic || duration < period
        else { return .invalidParameters }
        let type = controllers[port].scanner.ownAddressType
        guard ownAddress(port, type, towards: nil) != nil else { return .invalidParameters }
        controllers[port].scanner.enable(
            filtersDuplicates: command.filterDuplicates > 0,
            anewEachPeriod: command.filterDuplicates == 2, duration: duration, period: period,
            at: clock)
        scheduleTimer(port)
        updateListeners()
        return .success
    }

    private mutating func stopScanning(_ port: Int) {
        controllers[port].scanner.disable()
        scheduleTimer(port)
        updateListeners()
    }

    /// Core 6.0, Vol 4, Part E, 7.8.66. Of a range of intervals the longest is taken.
    private mutating func createConnection(
        _ port: Int, _ command: LEExtendedCreateConnection
    ) -> HCIStatus {
        guard controllers[port].initiator == nil else { return .commandDisallowed }
        guard command.initiatorFilterPolicy <= 1 else { return .invalidParameters }
        let status = checkPHYs(
            command.initiatingPHYs, port, of: controllers[port].features.phyPreferences)
        guard status.isSuccess else { return status }
        var initiator = Initiator(
            ownAddressType: command.ownAddressType, parameters: [nil, nil, nil])
        var entries = command.entries.makeIterator()
        for phy in PHY.le1M...PHY.leCoded where command.initiatingPHYs >> (phy - 1) & 1 == 1 {
            guard let entry = entries.next(), entry.minCeLength <= entry.maxCeLength,
                LinkParameters.areValid(
                    min: entry.intervalMin, max: entry.intervalMax, latency: entry.maxLatency,
                    timeout: entry.supervisionTimeout)
            else { return .invalidParameters }
            initiator.parameters[Int(phy) - 1] = LinkParameters(
                interval: entry.intervalMax, latency: entry.maxLatency,
                timeout: entry.supervisionTimeout)
            guard phy != PHY.le2M else { continue }
            guard Self.isExtendedScanRange(entry.scanInterval, entry.scanWindow) else {
                return .invalidParameters
            }
            let plan = ListeningPlan(
                interval: entry.scanInterval, window: entry.scanWindow, from: clock)
            if phy == PHY.le1M { initiator.plan1M = plan } else { initiator.planCoded = plan }
        }
        return initiate(
            port, initiator, isFiltered: command.initiatorFilterPolicy == 1,
            command.peerAddressType, command.peerAddress)
    }

    // MARK: Time

    /// When something of the controller ends in time.
    mutating func scheduleTimer(_ port: Int) {
        timers.set(port, to: earliest(controllers[port].scanner.end, nextLoss(port)))
    }

    /// Scanning for a time is over, or a train that has ended is missed.
    mutating func stepTimer(_ port: Int) {
        loseTrains(port)
        if let end = controllers[port].scanner.end, end <= clock {
            stopScanning(port)
            controllers[port].send(LEScanTimeout())
        }
        scheduleTimer(port)
    }
}

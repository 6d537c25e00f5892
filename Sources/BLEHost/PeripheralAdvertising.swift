// The advertising of a peripheral host: what is asked of it, and what the controller says.
public import HCI
import SMP
public import SansIO
public import Wire

extension PeripheralHost {
    /// Whether Advertising Enable has ever succeeded.
    public var hasEverAdvertised: Bool { advertising.hasEverBeenEnabled }

    /// The interval that shall be in force of the first set; nil without one.
    public var interval: AdvertisingInterval? { advertising.controls.first?.interval }

    /// Changes the interval of a set; on the controller within one burst of commands.
    public mutating func setInterval(
        _ interval: AdvertisingInterval, of set: Int = 0, at now: Instant,
        sending out: inout ByteBlock
    ) {
        advertising.setInterval(interval, of: set)
        reconcile(at: now, &out)
    }

    /// Changes the advertising data of a set, and of its train where they are given, without a gap
    /// on the air where they fit into one command.
    public mutating func setAdvertisingData(
        _ data: [UInt8], scanResponse: [UInt8], train: [UInt8]? = nil, of set: Int = 0,
        at now: Instant, sending out: inout ByteBlock
    ) {
        advertising.setData(data, scanResponse: scanResponse, train: train, of: set)
        reconcile(at: now, &out)
    }

    /// Takes a set and its train off the air, or lets them back.
    public mutating func setResting(
        _ isResting: Bool, of set: Int, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<PeripheralEvent>
    ) {
        if advertising.setResting(isResting, of: set) { emit.append(.advertisingStopped(set: set)) }
        reconcile(at: now, &out)
    }

    /// Advertises again after a disconnection. The owner calls it after each call that emits
    /// events, once it has had its chance to change the interval.
    public mutating func settle(at now: Instant, sending out: inout ByteBlock) {
        if mustSettle { reconcile(at: now, &out) }
    }

    /// The controller is ready: chooses what it is to do of what is wanted.
    mutating func beginAdvertising(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<PeripheralEvent>
    ) {
        let controller = session.information
        advertising.controllerWasReset(
            controller.hasExtendedAdvertising ? .extended : .legacy, address: deviceAddress,
            hciVersion: controller.hciVersion)
        do throws(ControllerFailure) {
            let choice = try choice(of: advertising.controls.map(\.plan))
            guard choice.family == advertising.family else {
                return changeFamily(choice, at: now, &out, &emit)
            }
            emit.append(.ready(controller))
            advertising.choose(choice)
            tell(choice, &emit)
        } catch {
            emit.append(.ready(controller))
            return session.fail(error, &sessionEvents)
        }
        reconcile(at: now, &out)
    }

    private static func noTurns(_ why: String) -> String {
        "\(why), and accessories that share a controller cannot take turns: use another "
            + "controller, or one accessory"
    }

    /// What becomes of sets on the controller, which is ready; the family may be the other one.
    func choice(of plans: [AdvertisingPlan]) throws(ControllerFailure) -> AdvertisingChoice {
        if let tooFew = advertising.tooFew {
            return try AdvertisingChoice(plans, .extended, tooFew, lack: nil)
        }
        let choice = try AdvertisingChoice(
            plans, advertising.family, session.information, lack: advertising.lack)
        guard choice.family == advertising.family || !sharesController else {
            throw .cannotAdvertise(Self.noTurns(choice.why))
        }
        return choice
    }

    /// What is new in a choice.
    mutating func tell(_ choice: AdvertisingChoice, _ emit: inout Outputs<PeripheralEvent>) {
        for note in choice.notes where !toldChoice.contains(note) { emit.append(.note(note)) }
        toldChoice = choice.notes
    }

    /// One family a power-on: from here it is the other one, after a reset.
    mutating func changeFamily(
        _ choice: AdvertisingChoice, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<PeripheralEvent>
    ) {
        guard choice.family == .legacy else {
            (advertising.lack, advertising.tooFew) = (nil, nil)
            session.usesSets = true
            return start(at: now, sending: &out, emit: &emit)
        }
        advertising.tooFew = session.information
        useLegacy(choice.why, at: now, &out, &emit)
    }

    private mutating func useLegacy(
        _ why: String, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<PeripheralEvent>
    ) {
        advertising.lack = why
        // To read how many sets there are is a command of the extended family.
        session.usesSets = false
        start(at: now, sending: &out, emit: &emit)
    }

    mutating func reconcile(at now: Instant, _ out: inout ByteBlock) {
        mustSettle = false
        guard session.isReady else { return }
        advertising.hasRoom = session.table.openCount < connectionsMax
        if usesResolvingList { advertising.resolvedPeers = resolvedPeers }
        for step in advertising.reconcile() { send(step, at: now, &out) }
    }

    private mutating func send(
        _ step: AdvertisingStep, at now: Instant, _ out: inout ByteBlock
    ) {
        // Some controllers cannot advertise while connected, and some do not know the extended
        // commands whose feature they claim: that is refused, not fatal. So is a set too many.
        let isFirstExtended = advertising.family == .extended && !advertising.hasBeenEnabled
        let mayBeRefused =
            session.table.openCount > 0 || step.set > 0 || advertising.hasOtherPlans
        var need: CommandNeed =
            isFirstExtended ? .optional : mayBeRefused ? .refusable : .essential
        // A private address that does not change serves on.
        switch step.command {
        case .randomAddress, .setAddress: if advertising.hasBeenEnabled { need = .refusable }
        // A refusal of it is told by `answered`.
        case .parameters, .enable(true): need.isToldBySender = need == .refusable
        case .data, .scanResponse, .enable, .remove, .periodicParameters, .periodicData,
            .periodicEnable, .resolution, .clearResolvingList, .resolve, .devicePrivacy:
            break
        }
        need.isAttempt = AdvertisingControl.canRound(step.command)
        session.send(
            step, of: advertising.controls[step.set].effectivePlan, advertising.family, need,
            at: now, sending: &out)
    }

    /// The next set has its turn on the one advertiser.
    mutating func expireTurn(at now: Instant, _ out: inout ByteBlock) {
        guard let end = advertising.deadline, end <= now else { return }
        advertising.expire(at: now)
        reconcile(at: now, &out)
    }

    // MARK: what the controller says

    /// A set has stopped by itself.
    mutating func setTerminated(
        _ set: Int, _ link: Int?, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<PeripheralEvent>
    ) {
        guard advertising.controls.indices.contains(set) else { return }
        if let link {
            // Of one set that was known before, and it may be on again.
            guard linkSets[link] == nil else { return }
            linkSets[link] = set
            security.setOwnAddress(ownLinkAddress(of: link), of: link)
            emit.append(.connectedFrom(set: set, link: link))
        }
        advertising.hasStopped(set, isConnected: link != nil)
        reconcile(at: now, &out)
    }

    mutating func answered(
        _ opcode: Opcode, _ status: HCIStatus, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<PeripheralEvent>
    ) {
        if advertising.family == .extended, !status.isSuccess, advertising.awaits(opcode),
            !advertising.rounds(opcode, status), !advertising.hasBeenEnabled
        {
            guard !sharesController else {
                let why = "the controller refused \(opcode): \(status)"
                return session.fail(.cannotAdvertise(Self.noTurns(why)), &sessionEvents)
            }
            return useLegacy(
                "the controller's extended advertising does not work", at: now, &out, &emit)
        }
        if let (set, change) = advertising.answered(opcode, status, at: now) {
            tell(change, of: set, at: now, &emit)
        }
        if let (from, to) = advertising.takeRounding() {
            emit.append(.note(.intervalRounded(from: from, to: to)))
        }
        reconcile(at: now, &out)
    }

    private mutating func tell(
        _ change: AdvertisingControl.Change, of set: Int, at now: Instant,
        _ emit: inout Outputs<PeripheralEvent>
    ) {
        switch change {
        case .enabled(let interval):
            let gap = advertising.takeGap(of: set, at: now)
            if let told = advertising.toldInterval(of: set, interval, at: now) {
                emit.append(.advertising(told, gap: gap, set: set))
            }
        case .disabled:
            switch advertising.absence(of: set) {
            case .change:
                advertising.pause(set, at: now)
                emit.append(.advertisingPaused(set: set))
            case .stop:
                for set in advertising.stoppedSets(with: set) {
                    emit.append(.advertisingStopped(set: set))
                }
            case .turn: break
            }
        case .renamed(let address):
            let plan = advertising.controls[set].plan
            if plan.privacy != nil {
                guard advertising.tells(address, of: set) else { break }
                emit.append(.addressRenewed(address, set: set))
            } else if privacy != nil, plan.goesByDevice, address != session.randomAddress {
                // The first one was told with the controller.
                guard advertising.tells(address, of: set) else { break }
                emit.append(.addressRenewed(address, set: nil))
            }
        case .refused(let status):
            _ = advertising.takeGap(of: set, at: now)
            emit.append(.advertisingRefused(status, set: set))
        }
    }
}

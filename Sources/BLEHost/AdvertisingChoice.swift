// Which advertising sets a controller is to do, and how: by what it can and what the sets allow.
import Advertising
import HCI
import Wire

/// What becomes of each set on one controller.
struct AdvertisingChoice: Sendable {
    private(set) var family: AdvertisingFamily
    /// The sets' numbers.
    private(set) var leftOut: [Int] = []
    /// Those sent in legacy PDUs although they ask for extended ones.
    private(set) var fallsBack: [Int] = []
    /// What people should know of it.
    private(set) var notes: [ControllerNote] = []
    /// Why it is the legacy family.
    private(set) var why = "the controller has no extended advertising"

    /// - Parameter lack: why it is the legacy family, where that is known.
    /// - Throws: where a set cannot be had and does not say what to do then.
    init(
        _ plans: [AdvertisingPlan], _ family: AdvertisingFamily,
        _ controller: ControllerInformation, lack: String?
    ) throws(ControllerFailure) {
        self.family = family
        why = lack ?? why
        if family == .extended {
            for (set, plan) in plans.enumerated() {
                if let lack = controller.lack(for: plan) { try fallBack(set, plan, lack) }
            }
            if let most = controller.advertisingSets, rest(plans).count > most {
                why = "the controller has \(most) advertising \(most == 1 ? "set" : "sets")"
                for set in rest(plans).reversed()
                where plans[set].fallback == .skip && rest(plans).count > most {
                    leaveOut(set, plans[set], why)
                }
            }
            guard let most = controller.advertisingSets, rest(plans).count > most else {
                noteSilence(plans)
                return
            }
            // One advertiser it is, after a reset.
            self.family = .legacy
            (leftOut, fallsBack, notes) = ([], [], [])
        }
        for set in rest(plans) where plans[set].pdu != .legacy && !fallsBack.contains(set) {
            try fallBack(set, plans[set], why)
        }
        try share(plans, why)
        if rest(plans).contains(where: { plans[$0].tellsScanRequests }) {
            notes.append(.noScanRequests(why))
        }
        noteSilence(plans)
    }

    private mutating func noteSilence(_ plans: [AdvertisingPlan]) {
        if !plans.isEmpty, rest(plans).isEmpty { notes.append(.nothingAdvertised(why)) }
    }

    private func rest(_ plans: [AdvertisingPlan]) -> [Int] {
        plans.indices.filter { !leftOut.contains($0) }
    }

    private mutating func leaveOut(_ set: Int, _ plan: AdvertisingPlan, _ why: String) {
        leftOut.append(set)
        notes.append(.setLeftOut(plan.name, why))
    }

    private mutating func fallBack(
        _ set: Int, _ plan: AdvertisingPlan, _ why: String
    ) throws(ControllerFailure) {
        switch plan.fallback {
        case .skip: leaveOut(set, plan, why)
        case .legacy:
            fallsBack.append(set)
            notes.append(.setInLegacyPDUs(plan.name, why))
        case nil:
            throw .cannotAdvertise(
                "\(why), and the set '\(plan.name)' cannot do without: use another controller, or "
                    + "write 'fallback: legacy' or 'fallback: skip' at the set")
        }
    }

    /// Several sets on one advertiser: those that nobody connects to take turns. One that is
    /// connectable would be out of reach most of the time, so it must say that it may.
    private mutating func share(
        _ plans: [AdvertisingPlan], _ why: String
    ) throws(ControllerFailure) {
        guard rest(plans).count > 1 else { return }
        let selfish = rest(plans).first {
            plans[$0].type.isConnectable && plans[$0].fallback != .legacy
        }
        if let selfish {
            for set in rest(plans) where plans[set].fallback == .skip && set != selfish {
                leaveOut(set, plans[set], why)
            }
            guard rest(plans).count == 1 else {
                throw .cannotAdvertise(
                    "\(why), and the connectable set '\(plans[selfish].name)' does not share one "
                        + "advertiser: use another controller, write 'fallback: legacy' at it, so "
                        + "that it takes turns with the others, or 'fallback: skip' at those")
            }
            return
        }
        notes.append(.setsTakeTurns(rest(plans).count, why))
    }
}

extension ControllerInformation {
    /// What the controller lacks for a set in the extended family; nil where it can do it.
    fileprivate func lack(for plan: AdvertisingPlan) -> String? {
        guard let pdu = plan.pdu.extended else { return nil }
        let phys = [pdu.primary, pdu.secondary]
        if phys.contains(.leCoded), !hasFeature(LEFeature.leCoded) {
            return "the controller has no LE Coded PHY"
        }
        if phys.contains(.le2M), !hasFeature(LEFeature.le2M) {
            return "the controller has no LE 2M PHY"
        }
        if plan.periodic != nil, !hasFeature(LEFeature.periodicAdvertising) {
            return "the controller has no periodic advertising"
        }
        let octets = max(
            plan.data.count, plan.scanResponse.count, plan.periodic?.data.count ?? 0)
        if let most = advertisingDataOctets, octets > most {
            return "the controller takes \(most) octets of advertising data, not \(octets)"
        }
        return nil
    }
}

// What a new version of the profile has changed, for people and programs.
import Advertising
import GATT
import HCI
import Profiles
import Wire

/// A new version of the profile at work, compared with the one before.
public struct FlashReport: Equatable, Sendable {
    /// What else than the attribute table and its values may be another.
    public enum Part: String, CaseIterable, Sendable {
        case access, activity, advertising, device, interval, reactions, server
    }

    /// The profile's path.
    public var file: String
    /// What Service Changed says; nil where clients find the same attributes.
    public var changed: ClosedRange<UInt16>?
    /// The links on which it is told.
    public var toldLinks = 0
    /// Subscriptions that are over, since their characteristics are no longer what or where they
    /// were.
    public var endedSubscriptions = 0
    /// The handles of the values that were there before and are others now, in the new table.
    public var values: [UInt16] = []
    /// In the order of their names.
    public var parts: [Part] = []
    /// What cannot change before the next start, or not for the links that are open.
    public var notes: [String] = []

    public init(file: String) { self.file = file }
}

extension FlashReport.Part {
    /// For people.
    var name: String {
        switch self {
        case .access: "permissions"
        case .activity: "activity"
        case .advertising: "advertising"
        case .device: "device settings"
        case .interval: "advertising interval"
        case .reactions: "reactions to writes"
        case .server: "server settings"
        }
    }

    /// What differs between two versions.
    static func differing(
        _ old: DeviceProfile, _ oldPlan: AttributePlan, _ new: DeviceProfile,
        _ plan: AttributePlan, _ match: PlanMatch
    ) -> [FlashReport.Part] {
        allCases.filter { part in
            switch part {
            case .access:
                return plan.bindings.indices.contains { index in
                    guard let twin = match.twin(of: index) else { return false }
                    return oldPlan.permissions(of: twin)
                        != plan.permissions(of: plan.bindings[index])
                }
            case .activity: return old.activity != new.activity
            case .advertising:
                return old.unpacedSets != new.unpacedSets || old.liveFields != new.liveFields
            case .device: return old.device != new.device
            case .interval: return old.advertising.map(\.policy) != new.advertising.map(\.policy)
            case .reactions:
                // Rules name their targets by place: compared where places are the same.
                guard oldPlan.bindingNames == plan.bindingNames else { return false }
                return oldPlan.bindings.map(\.reactions) != plan.bindings.map(\.reactions)
                    || oldPlan.bindings.map(\.records) != plan.bindings.map(\.records)
            case .server: return old.server.settings != new.server.settings
            }
        }
    }
}

extension DeviceProfile {
    /// The sets but for their intervals.
    fileprivate var unpacedSets: [AdvertisingSet] {
        advertising.map { set in
            var unpaced = set
            unpaced.policy = .fixed(.minimum)
            return unpaced
        }
    }
}

extension AttributePlan {
    fileprivate func permissions(of binding: ValueBinding) -> Permissions? {
        table.index(of: binding.valueHandle).map { table.attributes[$0].permissions }
    }
}

extension EmulatedDevice {
    /// Names of values in a line; the rest is counted.
    private static let namesMax = 4

    /// `flashed p.yaml: the attribute table changed, Service Changed 0x0010 to 0x0018 for 1 link`.
    func text(for report: FlashReport) -> String {
        var parts: [String] = []
        if let range = report.changed {
            let ended =
                report.endedSubscriptions == 0
                ? "" : ", ended \(Self.count(report.endedSubscriptions, "subscription"))"
            parts.append(
                "the attribute table changed, Service Changed \(Hex.code(range.lowerBound)) to "
                    + "\(Hex.code(range.upperBound)) for \(Self.count(report.toldLinks, "link"))"
                    + ended)
        } else {
            parts.append("the attribute table is the same")
        }
        if !report.values.isEmpty {
            let names = report.values.prefix(Self.namesMax).map { plan.name(of: $0) ?? "" }
            let rest = report.values.count - names.count
            parts.append(
                "new values of \(names.joined(separator: ", "))"
                    + (rest > 0 ? " and \(rest) more" : ""))
        }
        if !report.parts.isEmpty {
            parts.append("new \(report.parts.map(\.name).joined(separator: ", "))")
        }
        return "flashed \(report.file): " + parts.joined(separator: "; ")
    }

    private static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    func members(of report: FlashReport) -> [JSONMember] {
        func range(_ range: ClosedRange<UInt16>) -> JSONValue {
            .members(
                ("start", .integer(Int64(range.lowerBound))),
                ("end", .integer(Int64(range.upperBound))))
        }
        let names = report.values.map { plan.name(of: $0).map { JSONValue.string($0) } ?? .null }
        return [
            JSONMember("profile", .string(report.file)),
            JSONMember("table-changed", .boolean(report.changed != nil)),
            JSONMember("service-changed", report.changed.map(range) ?? .null),
            JSONMember("links", .integer(Int64(report.toldLinks))),
            JSONMember("ended-subscriptions", .integer(Int64(report.endedSubscriptions))),
            JSONMember("values", .array(names)),
            JSONMember("parts", .array(report.parts.map { .string($0.rawValue) })),
            JSONMember("notes", .array(report.notes.map { .string($0) })),
        ]
    }
}

// What phones show and find of an accessory.
import Advertising
import HCI
import Wire

extension LintRule {
    static let iosName = LintRule(
        id: "ios-name",
        reason: "before a connection iOS shows the name that is advertised, and none without one"
    ) { profile in
        profile.advertising.enumerated().compactMap { index, set in
            guard set.kind.isConnectable else { return nil }
            let hasName = (set.data + set.scanResponse).contains {
                if case .name = $0 { true } else { false }
            }
            guard !hasName else { return nil }
            return (
                "advertising[\(index)]", "iOS shows no name for it",
                "add '{name: complete}' to 'data' or 'scan-response'"
            )
        }
    }

    static let foundOnce = LintRule(
        id: "found-once",
        reason: "behind its duration a set without a period is gone until the next power-on or link"
    ) { profile in
        profile.advertising.enumerated().compactMap { index, set in
            guard set.kind.isConnectable, let duration = set.duration, set.period == nil,
                !profile.advertising.contains(where: {
                    $0.kind.isConnectable && $0.duration == nil
                })
            else { return nil }
            return (
                "advertising[\(index)].duration",
                "whoever has not connected \(duration) after power-on finds it no more",
                "add a 'period', or a slow interval in place of 'duration'"
            )
        }
    }

    /// Google Fast Pair, Provider Advertising: 100 ms or less while discoverable, else 250 ms.
    static let fastPairRate = LintRule(
        id: "fast-pair-rate",
        reason: "Fast Pair asks for 100 ms while discoverable, and 250 ms otherwise"
    ) { profile in
        profile.advertising.enumerated().compactMap { index, set in
            for case .serviceData(fastPair, let data) in set.data + set.scanResponse {
                // The model id alone says that it is discoverable.
                let most = AdvertisingInterval(steps: data.count == 3 ? 160 : 400)
                let slowest = set.policy.range.upperBound
                guard slowest > most else { continue }
                return (
                    "advertising[\(index)].interval",
                    "\(slowest) is too slow for Fast Pair", "write \(most) or less"
                )
            }
            return nil
        }
    }

    /// The service UUID of Fast Pair, a member UUID of Google's.
    private static let fastPair = BluetoothUUID(0xFE2C)
}

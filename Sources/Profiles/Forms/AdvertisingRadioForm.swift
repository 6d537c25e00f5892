// The keys of an advertising set that say how it is put on the air.
import Advertising
import HCI
import SansIO
import Wire
import YAML

extension Form where Value == AdvertisingKind {
    static var advertisingKind: Form {
        let words = word([
            ("connectable", .connectable), ("scannable", .scannable),
            ("non-connectable", .nonConnectable),
        ])
        return either(
            scalar: words, map: choice(says: words.says, [Choice("directed", directed)])
        ) {
            $0 == "directed" ? "{directed: {peer: \"C0:11:22:33:44:55\"}}" : nil
        }
    }

    private static var directed: Form {
        map(says: "'{peer: \"C0:11:22:33:44:55\", duty: low}'") { keys in
            let peer = keys.required("peer", Form<DeviceAddress>.address)
            let type = keys.optional(
                "peer-type", Form<Bool>.word([("public", false), ("random", true)]))
            let isHigh = keys.optional("duty", Form<Bool>.word([("high", true), ("low", false)]))
            guard let peer else { return nil }
            return .directed(
                PeerAddress(peer, isRandom: type ?? peer.isRandomStatic),
                isHighDuty: isHigh ?? false)
        }
    }
}

extension Form where Value == AdvertisingPDU {
    fileprivate static var pdu: Form {
        let words = word([("legacy", .legacy), ("extended", .extended(ExtendedPDU()))])
        return either(
            scalar: words, map: choice(says: words.says, [Choice("extended", extended)]))
    }

    private static var extended: Form {
        map(says: "'{primary: 1M, secondary: 2M}'") { keys in
            var pdu = ExtendedPDU()
            let primary = Form<AdvertisingPHY>.word(phys([.le1M, .leCoded]))
            let secondary = Form<AdvertisingPHY>.word(phys(AdvertisingPHY.allCases))
            keys.read("primary", into: &pdu.primary, primary)
            keys.read("secondary", into: &pdu.secondary, secondary)
            keys.read("anonymous", into: &pdu.isAnonymous, .boolean)
            keys.read("include-tx-power", into: &pdu.includesTxPower, .boolean)
            return .extended(pdu)
        }
    }

    private static func phys(_ all: [AdvertisingPHY]) -> [(String, AdvertisingPHY)] {
        all.map { ($0.word, $0) }
    }
}

extension Form where Value == SetAddress {
    fileprivate static var setAddress: Form {
        let usual = AddressSpec.usualRenewal
        let kinds: [(String, SetAddress)] = [
            ("random-static", .randomStatic(nil)),
            ("resolvable-private", .privateAddress(isResolvable: true, renewal: usual)),
            ("non-resolvable-private", .privateAddress(isResolvable: false, renewal: usual)),
        ]
        let words = word([("device", .device), ("public", .publicDevice)] + kinds)
        let long = map(says: "'{type: random-static, value: \"C0:11:22:33:44:55\"}'") { keys in
            let type = keys.required("type", word(kinds))
            let value = keys.optional("value", Form<DeviceAddress>.address)
            let renewal = keys.optional("renewal", Form<TimeSpan>.renewal)
            guard let type else { return nil }
            if case .privateAddress(let isResolvable, let usual) = type {
                if keys.has("value"), !keys.isDeclaring {
                    keys.report(
                        at: "value", "a private address of a set is always a new one",
                        "remove it, or write 'type: random-static'")
                }
                return .privateAddress(isResolvable: isResolvable, renewal: renewal ?? usual)
            }
            if keys.has("renewal"), !keys.isDeclaring {
                keys.report(
                    at: "renewal", "only private addresses are renewed",
                    "remove it, or write 'type: non-resolvable-private'")
            }
            guard let value else { return type }
            guard keys.isRandomStatic(value) else { return nil }
            return .randomStatic(value)
        }
        return either(scalar: words, map: long, long: Form<DeviceAddress>.longAddress)
    }
}

extension Form where Value == PeriodicTrain {
    static var periodicTrain: Form {
        map(says: "'{interval: 100 ms, data: [{raw: {type: 0xFF, data: {hex: \"FFFF01\"}}}]}'") {
            keys in
            // LE Set Periodic Advertising Parameters (Core 6.0, Vol 4, Part E, 7.8.61).
            let time = Form<TimeSpan>.time(
                .microseconds(7500)...(.microseconds(81_918_750)), limits: "7.5 ms to 81.91875 s",
                example: "100 ms")
            let interval = keys.required("interval", time)
            let live = keys.context.liveFields.count
            let data = keys.optional("data", .entries(of: .periodic)) ?? []
            let isLive = keys.context.liveFields.count > live
            let count = advertisingBytes(data).count
            let limit =
                isLive ? AdvertisingSet.liveTrainOctets : AdvertisingSet.extendedDataOctets
            guard count <= limit else {
                keys.report(
                    at: "data",
                    isLive
                        ? "a train with live fields has \(count) of \(limit) bytes: while it is "
                            + "on, its data are set by one command"
                        : "the train has \(count) of \(limit) bytes",
                    "remove \(count - limit)" + (isLive ? ", or make nothing in it live" : ""))
                return nil
            }
            guard let interval else { return nil }
            let steps = interval.microseconds / 1250
            guard interval.microseconds == steps * 1250 else {
                let (less, more) = (
                    TimeSpan.microseconds(steps * 1250), TimeSpan.microseconds(steps * 1250 + 1250)
                )
                keys.report(
                    at: "interval", "the interval is in steps of 1.25 ms",
                    "write '\(less)' or '\(more)'")
                return nil
            }
            return PeriodicTrain(interval: UInt16(clamping: steps), data: data)
        }
    }
}

extension AdvertisingSet {
    /// Reads how the set is put on the air.
    mutating func readRadio(_ keys: inout Keys) {
        keys.read("address", into: &address, Form<SetAddress>.setAddress)
        keys.read("pdu", into: &pdu, Form<AdvertisingPDU>.pdu)
        sid = keys.optional("sid", .integer(0...15, says: "0 to 15")).map { UInt8($0) }
        txPower = keys.optional("tx-power", Form<Int8>.power)
        let channel = Form<Int>.integer(37...39, says: "37, 38 or 39")
        let channels = keys.optional(
            "channels", Form<[Int]>.list(of: channel, says: "a list such as '[37, 38, 39]'"))
        if let channels { channelMap = channels.reduce(0) { $0 | 1 << UInt8($1 - 37) } }
        fallback = keys.optional(
            "fallback", Form<AdvertisingFallback>.word([("legacy", .legacy), ("skip", .skip)]))
    }

    /// Reads when the set is on the air.
    mutating func readTimes(_ keys: inout Keys) {
        func time(_ example: String) -> Form<TimeSpan> {
            .time(
                .milliseconds(20)...(.seconds(604_800)), limits: "20 ms to 7 d", example: example)
        }
        duration = keys.optional("duration", time("10 s"))
        period = keys.optional("period", time("1 min"))
        guard let period else { return }
        if !keys.has("duration") {
            keys.report(
                at: "period", "nothing says how long the set is on the air each time",
                "add 'duration: 10 s'")
        } else if let duration, duration >= period {
            keys.report(
                at: "duration", "\(duration) of each \(period) is always",
                "write a shorter one, or remove 'duration' and 'period'")
        }
    }

    /// Octets of data, and of the scan response.
    var dataOctetsMax: Int {
        guard pdu != .legacy, fallback != .legacy else {
            return AdvertisingDataLimits.legacyDataOctets
        }
        return kind.isConnectable
            ? AdvertisingSet.connectableDataOctets : AdvertisingSet.extendedDataOctets
    }

    /// Whether its data, of so many octets, would be right in extended PDUs.
    func canBeExtended(with count: Int) -> Bool {
        var extended = self
        (extended.pdu, extended.fallback) = (.extended(ExtendedPDU()), nil)
        guard count <= extended.dataOctetsMax else { return false }
        switch kind {
        case .nonConnectable: return true
        case .connectable: return scanResponse.isEmpty
        case .scannable: return data.isEmpty
        case .directed(_, let isHighDuty): return !isHighDuty
        }
    }

    /// What follows a budget's remedy where the fallback sets the budget.
    var remedyOfFallback: String {
        fallback == .legacy ? ", or write 'fallback: skip': legacy PDUs carry no more" : ""
    }

    /// Reports what cannot be put on the air (Core 6.0, Vol 4, Part E, 7.8.5, 7.8.53).
    func check(_ keys: Keys) {
        let isScannable = kind == .scannable
        switch pdu {
        case .legacy:
            if periodic != nil {
                keys.report(
                    at: "periodic", "only an extended set has a periodic train",
                    "write 'pdu: extended'")
            }
            if keys.has("sid") {
                keys.report(
                    at: "sid", "legacy PDUs have no set ID", "remove it, or write 'pdu: extended'")
            }
            if case .directed = kind, !data.isEmpty {
                keys.report(
                    at: "data", "directed advertising in legacy PDUs carries no data",
                    "remove it, or write 'pdu: extended'")
            }
        case .extended(let extended):
            if isScannable, !data.isEmpty {
                keys.report(
                    at: "data", "a scannable extended set carries its data in the scan response",
                    "move it to 'scan-response'")
            }
            if !isScannable, !scanResponse.isEmpty, kind.isConnectable {
                keys.report(
                    at: "scan-response", "a connectable extended set has no scan response",
                    "move it to 'data'")
            }
            if case .directed = kind, fallback == .legacy, !data.isEmpty {
                keys.report(
                    at: "fallback", "directed advertising in legacy PDUs carries no data",
                    "remove 'data', or write 'fallback: skip'")
            }
            if case .directed(_, isHighDuty: true) = kind {
                keys.report(
                    at: "type", "high duty cycle is of legacy PDUs",
                    "write 'duty: low' or 'pdu: legacy'")
            }
            if extended.isAnonymous, kind != .nonConnectable || periodic != nil {
                keys.report(
                    at: "pdu", "only a non-connectable set without 'periodic' can be anonymous",
                    "remove 'anonymous'")
            }
            if let periodic, !periodic.fitsInterval(on: extended.secondary) {
                keys.report(
                    at: "periodic", "its packets take longer than its interval",
                    "write a longer 'interval' there, or less 'data'")
            }
            if periodic != nil, kind != .nonConnectable {
                keys.report(
                    at: "periodic", "only a non-connectable set has a periodic train",
                    "write 'type: non-connectable'")
            }
        }
    }
}

extension PeriodicTrain {
    /// Whether AUX_SYNC_IND and its AUX_CHAIN_INDs, which have 252 octets of data each at most, end
    /// before the next begins, at the least that they can take (Core 6.0, Vol 6, Part B, 2.1,
    /// 2.3.4, 4.1.3).
    fileprivate func fitsInterval(on phy: AdvertisingPHY) -> Bool {
        let microseconds =
            switch phy {
            case .le1M: 8
            case .le2M: 4
            // With two symbols a bit, the quicker coding.
            case .leCoded: 16
            }
        let octets = advertisingBytes(data).count
        let packets = max((octets + 251) / 252, 1)
        // Around the data of each packet: preamble, access address, headers and CRC.
        let air = (octets + 12 * packets) * microseconds + 300 * (packets - 1)
        return air <= Int(interval) * 1250
    }
}

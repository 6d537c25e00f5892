// Advertising data with parts that are taken anew now and then.
import Advertising
import Behaviours
import HCI
import Profiles
import SMP
import SansIO
import Wire

/// What advertising data takes from the device besides values.
struct AdvertisingSurroundings {
    var detector: ActivityDetector?
    /// The address that it advertises with; nil while it is not known.
    var address: DeviceAddress?
    var interval: AdvertisingInterval
    /// Microseconds since 1970 at this instant.
    var unixMicroseconds: Int64
    var cipher: (any SecurityCipher)?
}

/// The data of a set whose fields move; not there where none does.
struct LiveAdvertisingData: Sendable {
    private struct Field: Sendable {
        var spec: LiveField
        /// Of a field with a source of its own.
        var machine: ValueMachine?
        /// Of a field that is a characteristic's value.
        var handle: UInt16?
        /// How octets are a number, for an item of a beacon.
        var format: NumberFormat?
    }

    private let set: AdvertisingSet
    /// From the last to the first, so that one that is shorter than its place moves no other.
    private var fields: [Field]
    /// Nothing but the instants of the updates.
    private var clock: ValueMachine
    private let start: Instant
    /// Advertising events up to the last update, by the interval that was in force then.
    private var events = 0.0
    private var lastUpdate: Instant
    private var isResting = false
    /// At the last update.
    private var address: DeviceAddress?
    /// What encryption counts; nil where nothing is encrypted.
    private var counter: EncryptionCounter?
    private(set) var data: [UInt8]
    private(set) var scanResponse: [UInt8]
    /// Of the periodic train; none without one.
    private(set) var train: [UInt8]

    /// - Parameter surroundings: as they are at `start`.
    init?(
        _ profile: DeviceProfile, set number: Int, _ plan: AttributePlan, seed: UInt64,
        start: Instant, surroundings: Surroundings
    ) {
        let specs = profile.liveFields.filter { $0.set == number }
        guard !specs.isEmpty else { return nil }
        let set = profile.advertising[number]
        self.set = set
        self.start = start
        lastUpdate = start
        if specs.contains(where: { $0.source == .encryption }) { counter = EncryptionCounter() }
        // The first set's streams have no name, as where it is the only one.
        let stream = number == 0 ? "advertising" : "advertising \(set.name)"
        data = advertisingBytes(set.data)
        scanResponse = advertisingBytes(set.scanResponse)
        train = advertisingBytes(set.periodic?.data ?? [])
        clock = ValueMachine(
            .constant([]), update: set.update, send: .manual, start: start, seed: seed, stream: "")
        fields = specs.enumerated().map { index, spec in
            var field = Field(spec: spec)
            switch spec.source {
            case .generated(let source):
                if case .generated(_, let encoding) = source { field.format = encoding }
                field.machine = ValueMachine(
                    source, update: set.update, send: .manual, start: start, seed: seed,
                    stream: "\(stream) \(index)", surroundings: surroundings)
            case .value(let name):
                let binding = plan.bindings.first { $0.name == name }
                field.handle = binding?.valueHandle
                field.format = binding?.format.number
            case .activityLevel, .activityState, .own, .encryption: break
            }
            return field
        }
        fields.sort {
            ($1.spec.entry, $1.spec.range.lowerBound) < ($0.spec.entry, $0.spec.range.lowerBound)
        }
    }

    var deadline: Instant? { clock.deadline }

    /// What the version before had too goes on.
    mutating func takeOver(_ old: LiveAdvertisingData, at now: Instant) {
        if old.set.update == set.update { clock = old.clock }
        (events, lastUpdate, isResting) = (old.events, old.lastUpdate, old.isResting)
        if counter != nil { counter = old.counter ?? counter }
        for index in fields.indices {
            guard let same = old.fields.first(where: { $0.spec == fields[index].spec }),
                let machine = same.machine
            else { continue }
            fields[index].machine = machine
            fields[index].machine?.follow(update: set.update, send: .manual, at: now)
        }
    }

    /// Whether another address than this is part of the data, or none where one is needed.
    func isOutdated(by address: DeviceAddress?) -> Bool {
        self.address != address && fields.contains { $0.spec.source.needsAddress }
    }

    /// Takes all fields anew.
    /// - Parameter value: the octets of a characteristic's value.
    mutating func update(
        at now: Instant, _ around: AdvertisingSurroundings, value: (UInt16) -> [UInt8]
    ) {
        _ = clock.expire(at: now)
        countEvents(at: now, around.interval)
        if let next = around.address,
            counter?.rise(at: around.unixMicroseconds, isForced: next != address) == false
        {
            // What was encrypted stays until the counter may rise.
            return
        }
        address = around.address
        var parts = LiveField.Part.allCases.map { set.entries(of: $0) }
        for index in fields.indices {
            fields[index].machine?.surroundings.take(around.detector)
            _ = fields[index].machine?.expire(at: now)
            let field = fields[index]
            let octets: [UInt8] =
                switch field.spec.source {
                case .generated: field.machine?.value ?? []
                case .value: field.handle.map(value) ?? []
                case .activityLevel: [UInt8(((around.detector?.level ?? 0) * 100).rounded())]
                case .activityState:
                    [UInt8(clamping: (around.detector?.state ?? .idle).rawValue)]
                case .own, .encryption: []
                }
            let own = ownValue(of: field.spec, at: now, around)
            field.spec.put(octets, own, field.format, into: &parts[field.spec.part.rawValue])
        }
        for part in LiveField.Part.allCases {
            seal(&parts[part.rawValue], around)
            // What is about an address that is not known yet waits for it.
            if around.address == nil {
                parts[part.rawValue] = waitless(parts[part.rawValue], of: part)
            }
        }
        data = advertisingBytes(parts[LiveField.Part.data.rawValue])
        scanResponse = advertisingBytes(parts[LiveField.Part.scanResponse.rawValue])
        train = advertisingBytes(parts[LiveField.Part.periodic.rawValue])
    }

    private func waitless(
        _ entries: [AdvertisingStructure], of part: LiveField.Part
    ) -> [AdvertisingStructure] {
        let waiting = fields.map(\.spec).filter { $0.source.needsAddress && $0.part == part }
        return entries.enumerated().filter { index, _ in !waiting.contains { $0.entry == index } }
            .map(\.element)
    }

    /// The set leaves the air, or is back.
    mutating func rest(_ isResting: Bool, at now: Instant, _ interval: AdvertisingInterval) {
        countEvents(at: now, interval)
        self.isResting = isResting
    }

    /// Counts the advertising events since they were counted last.
    private mutating func countEvents(at now: Instant, _ interval: AdvertisingInterval) {
        // The random delay is 5 ms on average (Core 6.0, Vol 6, Part B, 4.4.2.2.1).
        let period = Double(interval.microseconds) + 5000
        if !isResting { events += Double((now - lastUpdate).microseconds) / period }
        lastUpdate = now
    }

    private func ownValue(
        of spec: LiveField, at now: Instant, _ around: AdvertisingSurroundings
    ) -> BeaconValue? {
        switch spec.source {
        case .own(.address): around.address.map { .address($0) }
        case .own(.uptime): .number(Double((now - start).microseconds) / 1e6)
        case .own(.advertisingEvents): .number(events.rounded(.down))
        case .generated, .value, .activityLevel, .activityState, .encryption: nil
        }
    }

    private func seal(
        _ entries: inout [AdvertisingStructure], _ around: AdvertisingSurroundings
    ) {
        guard let address = around.address, let cipher = around.cipher, let counter else { return }
        for index in entries.indices {
            entries[index].beacon?.seal(address: address, counter: counter.value) {
                cipher.encrypt($0, key: $1)
            }
        }
    }
}

extension LiveFieldSource {
    /// Whether it is nothing without the device's address.
    fileprivate var needsAddress: Bool { self == .own(.address) || self == .encryption }
}

extension LiveField {
    /// Puts what the source gives in the field's place: octets, of which more than it takes are cut
    /// off, or of a beacon's item the value that they are.
    fileprivate func put(
        _ octets: [UInt8], _ own: BeaconValue?, _ format: NumberFormat?,
        into entries: inout [AdvertisingStructure]
    ) {
        guard entries.indices.contains(entry) else { return }
        if let item {
            guard let kind = entries[entry].beacon?.items[item].field.kind,
                let value = own ?? kind.value(octets, format, factor)
            else { return }
            entries[entry].beacon?.items[item].value = value
            return
        }
        var payload = entries[entry].payload
        guard range.upperBound <= payload.count else { return }
        payload.replaceSubrange(range, with: octets.prefix(range.count))
        entries[entry].payload = payload
    }
}

extension BeaconField.Kind {
    /// What octets of a source are in a field; nil where they are no value of it.
    fileprivate func value(
        _ octets: [UInt8], _ format: NumberFormat?, _ factor: Double
    ) -> BeaconValue? {
        switch self {
        case .number(let number):
            guard let value = format?.decode(octets.span).map({ $0 * factor }) else { return nil }
            // A value of another place may be beyond what the field means: its nearest end.
            return .number(min(max(value, number.range.lowerBound), number.range.upperBound))
        case .boolean: return format?.decode(octets.span).map { .boolean($0 != 0) }
        case .octets(let range):
            let missing = max(range.lowerBound - octets.count, 0)
            let padded = octets + [UInt8](repeating: 0, count: missing)
            return .octets(Array(padded.prefix(range.upperBound)))
        case .fixed, .words, .company, .uuid, .address, .text, .counted, .url, .typed: return nil
        }
    }
}

extension ValueFormat {
    /// How its octets are a number, where they are one.
    fileprivate var number: NumberFormat? {
        switch self {
        case .number(let spec): spec.format
        case .boolean, .words: NumberFormat(octets: 1, isSigned: false, scale: 1)
        case .appearance, .utf8, .utf16, .fields, .bytes: nil
        }
    }
}

// Advertising data with parts that are taken anew now and then.
import Advertising
import Behaviours
import Profiles
import SansIO
import Wire

/// The data of a set whose fields move; not there where none does.
struct LiveAdvertisingData: Sendable {
    private struct Field: Sendable {
        var spec: LiveField
        /// Of a field with a source of its own.
        var machine: ValueMachine?
        /// Of a field that is a characteristic's value.
        var handle: UInt16?
    }

    private let set: AdvertisingSet
    /// From the last to the first, so that one that is shorter than its place moves no other.
    private var fields: [Field]
    /// Nothing but the instants of the updates.
    private var clock: ValueMachine
    private(set) var data: [UInt8]
    private(set) var scanResponse: [UInt8]

    /// - Parameter surroundings: as they are at `start`.
    init?(
        _ profile: DeviceProfile, set number: Int, _ plan: AttributePlan, seed: UInt64,
        start: Instant, surroundings: Surroundings
    ) {
        let specs = profile.liveFields.filter { $0.set == number }
        guard !specs.isEmpty else { return nil }
        let set = profile.advertising[number]
        self.set = set
        // The first set's streams have no name, as where it is the only one.
        let stream = number == 0 ? "advertising" : "advertising \(set.name)"
        data = advertisingBytes(set.data)
        scanResponse = advertisingBytes(set.scanResponse)
        clock = ValueMachine(
            .constant([]), update: set.update, send: .manual, start: start, seed: seed, stream: "")
        fields = specs.enumerated().map { index, spec in
            var field = Field(spec: spec)
            switch spec.source {
            case .own(let source):
                field.machine = ValueMachine(
                    source, update: set.update, send: .manual, start: start, seed: seed,
                    stream: "\(stream) \(index)", surroundings: surroundings)
            case .value(let name):
                field.handle = plan.bindings.first { $0.name == name }?.valueHandle
            case .activityLevel, .activityState: break
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
        for index in fields.indices {
            guard let same = old.fields.first(where: { $0.spec == fields[index].spec }),
                let machine = same.machine
            else { continue }
            fields[index].machine = machine
            fields[index].machine?.follow(update: set.update, send: .manual, at: now)
        }
    }

    /// Takes all fields anew.
    /// - Parameter value: the octets of a characteristic's value.
    mutating func update(
        at now: Instant, _ detector: ActivityDetector?, value: (UInt16) -> [UInt8]
    ) {
        _ = clock.expire(at: now)
        var (data, response) = (set.data, set.scanResponse)
        for index in fields.indices {
            fields[index].machine?.surroundings.take(detector)
            _ = fields[index].machine?.expire(at: now)
            let field = fields[index]
            let octets: [UInt8] =
                switch field.spec.source {
                case .own: field.machine?.value ?? []
                case .value: field.handle.map(value) ?? []
                case .activityLevel: [UInt8(((detector?.level ?? 0) * 100).rounded())]
                case .activityState: [UInt8(clamping: (detector?.state ?? .idle).rawValue)]
                }
            if field.spec.isInScanResponse {
                field.spec.put(octets, into: &response)
            } else {
                field.spec.put(octets, into: &data)
            }
        }
        self.data = advertisingBytes(data)
        scanResponse = advertisingBytes(response)
    }
}

extension LiveField {
    /// Puts the octets in the field's place; more than it takes are cut off.
    fileprivate func put(_ octets: [UInt8], into entries: inout [AdvertisingStructure]) {
        guard entries.indices.contains(entry) else { return }
        var payload = entries[entry].payload
        guard range.upperBound <= payload.count else { return }
        payload.replaceSubrange(range, with: octets.prefix(range.count))
        entries[entry].payload = payload
    }
}

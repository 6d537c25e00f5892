// Virtual controllers and the air between them: the medium, its time and its hosts.
import HCI
public import SMP
public import SansIO
public import Wire

/// Several Bluetooth LE controllers that hear one another, each with a host that speaks H4 to it.
///
/// Pure and deterministic: equal seeds and equal calls give equal octets. Time stands still between
/// calls; whoever drives it calls `expire` when `deadline` has come. Every radio reaches every
/// other one, and a controller's roles do not compete for its radio.
public struct Air: Sendable {
    /// How long things take.
    public enum Timing: Sendable {
        /// Scan windows, channels, connection events and air times as real radios have them.
        case radio
        /// Whoever scans hears every advertising event, and data does not wait for connection
        /// events.
        case ideal
    }

    /// Controllers on one air: a thousand accessories and their central.
    public static let controllersMax = 1024

    /// The probability, 0 to 1, that a packet on the air is lost. Links send lost ones again.
    public var loss: Double = 0 {
        didSet {
            for slot in links.indices where !links[slot].isFree {
                if oldValue == 0 { hearBothSides(slot) }
                schedule(slot)
            }
        }
    }

    /// What LE Encrypt is answered with, and private addresses are made of. Without one that fails,
    /// and the controllers have no privacy. Set before the first host speaks.
    public var cipher: (any SecurityCipher)?

    let timing: Timing
    let seed: UInt64
    var clock = Instant.zero
    /// By port; those that have gone keep their place until another one comes.
    var controllers: [Controller] = []
    /// Advertising sets of all controllers; free ones are used again.
    var advertisers: [Advertiser] = []
    /// By slot; free ones are used again.
    var links: [Link] = []
    /// Of advertisers.
    var queue = DeadlineQueue()
    /// Of links.
    var linkQueue = DeadlineQueue()
    /// Of periodic advertising trains that somebody follows, by advertiser.
    var trainQueue = DeadlineQueue()
    /// Of controllers, by port: what ends in time.
    var timers = DeadlineQueue()
    /// Ports of controllers that scan or initiate, ascending.
    var listeners: [Int] = []
    /// Links that the command being served has given something to send.
    var touched: [Int] = []
    /// Watches what one controller advertises.
    var recorder: AdvertisingRecorder?
    private var lossRandom: SeededRandom
    private var signalRandom: SeededRandom

    /// - Parameter seed: of advDelay, loss, RSSI and LE Rand.
    public init(seed: UInt64, timing: Timing = .radio) {
        self.seed = seed
        self.timing = timing
        lossRandom = SeededRandom(seed: seed, stream: "loss")
        signalRandom = SeededRandom(seed: seed, stream: "RSSI")
    }

    // MARK: Controllers

    /// Whether `controllersMax` controllers are on the air.
    public var isFull: Bool { controllers.count(where: \.isPresent) >= Self.controllersMax }

    /// Brings a controller onto the air and gives its port: the lowest free number.
    ///
    /// The air is not full.
    /// - Parameters:
    ///   - address: its public address; if nil, one that follows from the port.
    ///   - features: what it can do; everything, unless less is asked for.
    public mutating func addController(
        address: DeviceAddress? = nil, features: ControllerFeatures = .all
    ) -> Int {
        let port = controllers.firstIndex { !$0.isPresent } ?? controllers.count
        precondition(port < Self.controllersMax, "the air holds at most 1,024 controllers")
        // Locally administered, so no manufacturer's device has it.
        let own = address ?? DeviceAddress(littleEndian: 0x0200_0000_0001 + UInt64(port))
        let random = SeededRandom(seed: seed, stream: "advDelay \(port)")
        let controller = Controller(
            address: own, features: features.consistent, seed: seed, port: port,
            legacy: addAdvertiser(Advertiser(port: port, handle: nil, random: random)))
        if port == controllers.count {
            controllers.append(controller)
        } else {
            controllers[port] = controller
        }
        return port
    }

    /// Takes a controller off the air. Its peers notice by their supervision timeouts.
    public mutating func removeController(_ port: Int, at now: Instant) {
        guard isPresent(port) else { return }
        expire(at: now)
        silence(port)
        controllers[port].isPresent = false
        controllers[port].output.removeAll()
        for set in controllers[port].sets { advertisers[set].port = nil }
    }

    /// Puts an advertiser into the first free place.
    mutating func addAdvertiser(_ advertiser: Advertiser) -> Int {
        guard let set = advertisers.firstIndex(where: { $0.port == nil }) else {
            advertisers.append(advertiser)
            return advertisers.count - 1
        }
        advertisers[set] = advertiser
        return set
    }

    func isPresent(_ port: Int) -> Bool {
        controllers.indices.contains(port) && controllers[port].isPresent
    }

    /// Ends all that a controller does on the air, without a word to anybody.
    mutating func silence(_ port: Int) {
        for set in controllers[port].sets { stopAdvertising(set) }
        while !controllers[port].syncs.isEmpty { removeSync(port, 0) }
        removeSets(port)
        advertisers[controllers[port].sets[0]].reset()
        for slot in controllers[port].links { leave(slot, port) }
        controllers[port].reset()
        timers.set(port, to: nil)
        updateListeners()
    }

    // MARK: Hosts

    /// Takes one whole H4 packet from the host on `port`. What is none, or not for a controller, is
    /// ignored.
    public mutating func receive(_ packet: Span<UInt8>, from port: Int, at now: Instant) {
        guard isPresent(port) else { return }
        expire(at: now)
        guard case .packet(let type, let end) = H4.frame(packet, from: 0), end == packet.count
        else {
            return
        }
        switch type {
        case .command: serve(packet, from: port)
        case .acl: receiveACL(packet, from: port)
        case .synchronous, .event, .isochronous: break
        }
        for slot in touched { proceed(slot) }
        touched.removeAll(keepingCapacity: true)
    }

    /// Moves the H4 packets for the host on `port` to the end of `block`.
    public mutating func drain(_ port: Int, into block: inout ByteBlock) {
        guard isPresent(port) else { return }
        block.append(controllers[port].output.bytes)
        controllers[port].output.removeAll()
    }

    /// Whether packets wait for the host on `port`.
    public func hasOutput(_ port: Int) -> Bool {
        isPresent(port) && !controllers[port].output.isEmpty
    }

    /// How many advertising events of the controller on `port` are over at `now`.
    public mutating func advertisingEvents(of port: Int, at now: Instant) -> Int {
        expire(at: now)
        guard isPresent(port) else { return 0 }
        if listeners.isEmpty {
            for set in controllers[port].sets { skipUnheard(set) }
        }
        return controllers[port].sets.reduce(controllers[port].eventsOfRemoved) {
            $0 + advertisers[$1].events
        }
    }

    // MARK: Time

    /// When `expire` must be called next. Nobody needs to be woken for what nobody hears: idle
    /// connection events and unheard advertising events have no deadline.
    public var deadline: Instant? { next?.at }

    private enum Due { case advertiser(Int), link(Int), train(Int), timer(Int) }

    /// What is due first. Of what is due at once, advertisers come first, then links.
    private var next: (due: Due, at: Instant)? {
        var next = queue.first.map { (due: Due.advertiser($0.index), at: $0.deadline) }
        if let link = linkQueue.first, Self.isFirst(link.deadline, next?.at) {
            next = (.link(link.index), link.deadline)
        }
        if let train = trainQueue.first, Self.isFirst(train.deadline, next?.at) {
            next = (.train(train.index), train.deadline)
        }
        if let timer = timers.first, Self.isFirst(timer.deadline, next?.at) {
            next = (.timer(timer.index), timer.deadline)
        }
        return next
    }

    private static func isFirst(_ deadline: Instant, _ other: Instant?) -> Bool {
        other.map { deadline < $0 } ?? true
    }

    /// Runs everything that is due up to `now`, in the order of time.
    public mutating func expire(at now: Instant) {
        while let next, next.at <= now {
            clock = max(clock, next.at)
            switch next.due {
            case .advertiser(let set): stepAdvertiser(set)
            case .link(let slot): stepLink(slot)
            case .train(let set): stepTrain(set)
            case .timer(let port): stepTimer(port)
            }
        }
        clock = max(clock, now)
    }

    /// Whether the next packet on the air is lost.
    mutating func isLost() -> Bool { loss > 0 && lossRandom.unit() < loss }

    /// The strength of a received packet in dBm.
    /// - Parameter power: what it was sent with, in dBm.
    mutating func signalStrength(_ power: Int8 = Radio.transmitPower) -> Int8 {
        let spread = signalRandom.below(2 * Radio.signalSpread + 1) - Radio.signalSpread
        return Int8(clamping: Radio.signalStrength + spread + Int64(power))
    }

    // MARK: Listeners

    /// Finds anew who listens. Advertisers run event by event only while somebody does.
    mutating func updateListeners() {
        let wasSilent = listeners.isEmpty
        listeners.removeAll(keepingCapacity: true)
        for port in controllers.indices where controllers[port].isListening {
            listeners.append(port)
        }
        guard listeners.isEmpty != wasSilent else { return }
        for set in advertisers.indices where advertisers[set].isEnabled {
            skipUnheard(set)
            scheduleAdvertiser(set)
        }
    }
}

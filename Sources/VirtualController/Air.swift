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
    /// By slot; free ones are used again.
    var links: [Link] = []
    /// Advertisers by port, links behind them.
    var queue = DeadlineQueue()
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
    /// - Parameter address: its public address; if nil, one that follows from the port.
    public mutating func addController(address: DeviceAddress? = nil) -> Int {
        let port = controllers.firstIndex { !$0.isPresent } ?? controllers.count
        precondition(port < Self.controllersMax, "the air holds at most 1,024 controllers")
        // Locally administered, so no manufacturer's device has it.
        let own = address ?? DeviceAddress(littleEndian: 0x0200_0000_0001 + UInt64(port))
        let controller = Controller(address: own, seed: seed, port: port)
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
    }

    func isPresent(_ port: Int) -> Bool {
        controllers.indices.contains(port) && controllers[port].isPresent
    }

    /// Ends all that a controller does on the air, without a word to anybody.
    mutating func silence(_ port: Int) {
        stopAdvertising(port)
        for slot in controllers[port].links { leave(slot, port) }
        controllers[port].reset()
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
        if listeners.isEmpty { skipUnheard(port) }
        return controllers[port].advertiser.events
    }

    // MARK: Time

    /// When `expire` must be called next. Nobody needs to be woken for what nobody hears: idle
    /// connection events and unheard advertising events have no deadline.
    public var deadline: Instant? { queue.first?.deadline }

    /// Runs everything that is due up to `now`, in the order of time.
    public mutating func expire(at now: Instant) {
        while let (index, due) = queue.first, due <= now {
            clock = max(clock, due)
            if index < Self.controllersMax {
                stepAdvertiser(index)
            } else {
                stepLink(index - Self.controllersMax)
            }
        }
        clock = max(clock, now)
    }

    /// Whether the next packet on the air is lost.
    mutating func isLost() -> Bool { loss > 0 && lossRandom.unit() < loss }

    /// The strength of a received packet in dBm.
    mutating func signalStrength() -> Int8 {
        let spread = signalRandom.below(2 * Radio.signalSpread + 1) - Radio.signalSpread
        return Int8(clamping: Radio.signalStrength + spread)
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
        for port in controllers.indices where controllers[port].advertiser.isEnabled {
            skipUnheard(port)
            scheduleAdvertiser(port)
        }
    }
}

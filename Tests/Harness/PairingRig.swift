// A responder and an initiator on one lossy link, in virtual time.
import OpenSSLCrypto
public import SMP
public import SansIO
import Wire

/// One link between a `SecurityManager` and a `PairingInitiator`: commands, the controllers' key
/// requests and encryption changes, each of which can be lost or come twice.
public struct PairingRig {
    enum Item: Equatable {
        case toResponder([UInt8])
        case toInitiator([UInt8])
        case keyRequest(ediv: UInt16, rand: UInt64)
        case responderEncrypted
        case initiatorEncrypted(Bool)
    }

    /// How often, of 1,000, an item is lost and comes twice.
    public struct Faults: Sendable {
        public var lost: Int64 = 0
        public var twice: Int64 = 0
        public init(lost: Int64 = 0, twice: Int64 = 0) {
            self.lost = lost
            self.twice = twice
        }
    }

    public static let own = LinkAddress(
        DeviceAddress(littleEndian: 0xC0FF_EE00_0001), isRandom: true)
    public static let peer = LinkAddress(
        DeviceAddress(littleEndian: 0x0012_3456_789A), isRandom: false)

    public var manager: SecurityManager
    public var initiator: PairingInitiator
    public var now = Instant.zero
    public var faults = Faults()
    /// Changes a command on its way to the responder: nothing, one or several come instead.
    public var tamper: (([UInt8]) -> [[UInt8]])?
    /// What the responder's person enters instead of what is right.
    public var wrongPasskey = false
    public var disagrees = false
    public private(set) var events: [SecurityEvent] = []
    public private(set) var outputs: [PairingInitiator.Output] = []
    /// Every command the responder has sent.
    public private(set) var sent: [[UInt8]] = []
    private var items: [Item] = []
    private var chance: SeededRandom
    private var keyOfInitiator: [UInt8] = []
    private var initiatorDeadline = Instant.zero
    private var isUp = true

    public init(
        _ configuration: SecurityConfiguration, _ features: PairingFeatures, seed: UInt64 = 1,
        peer: LinkAddress = PairingRig.peer
    ) {
        let cipher = OpenSSLCipher()
        manager = SecurityManager(
            configuration, cipher: cipher,
            random: GeneratorRandom(SeededRandom(seed: seed, stream: "responder")))
        initiator = PairingInitiator(
            features, own: peer, peer: Self.own, cipher: cipher,
            random: GeneratorRandom(SeededRandom(seed: seed, stream: "initiator")))
        chance = SeededRandom(seed: seed, stream: "faults")
        manager.connect(0, own: Self.own, peer: peer)
    }

    /// Begins and runs until both sides are through.
    public mutating func pair() {
        initiatorDeadline = now + .seconds(30)
        take(initiator.start())
        run()
    }

    /// Runs until nothing is under way and nothing is due.
    public mutating func run() {
        for _ in 0..<10_000 {
            if !items.isEmpty {
                let item = items.removeFirst()
                now = now + .milliseconds(1)
                deliver(item)
            } else if !pass() {
                return
            }
        }
        preconditionFailure("a pairing does not end")
    }

    /// Lets the next deadline come.
    private mutating func pass() -> Bool {
        let waits = initiator.isOver ? nil : initiatorDeadline
        guard let next = earliest(manager.deadline, waits) else { return false }
        now = max(now, next)
        var emit = Outputs<SecurityEvent>()
        manager.expire(at: now, emit: &emit)
        take(emit)
        if !initiator.isOver, initiatorDeadline <= now { take(initiator.fail(nil)) }
        return true
    }

    /// A command that comes from nowhere.
    public mutating func inject(_ pdu: [UInt8]) {
        var emit = Outputs<SecurityEvent>()
        manager.receive(pdu.span, from: 0, at: now, emit: &emit)
        take(emit)
    }

    public mutating func requestKey(ediv: UInt16 = 0, rand: UInt64 = 0) {
        var emit = Outputs<SecurityEvent>()
        manager.keyRequested(on: 0, ediv: ediv, rand: rand, at: now, emit: &emit)
        take(emit)
    }

    private mutating func send(_ item: Item) {
        if chance.below(1_000) < faults.lost { return }
        items.append(item)
        if chance.below(1_000) < faults.twice { items.append(item) }
    }

    private mutating func deliver(_ item: Item) {
        guard isUp else { return }
        var emit = Outputs<SecurityEvent>()
        switch item {
        case .toResponder(let pdu):
            for pdu in tamper?(pdu) ?? [pdu] {
                manager.receive(pdu.span, from: 0, at: now, emit: &emit)
            }
        case .toInitiator(let pdu):
            initiatorDeadline = now + .seconds(30)
            take(initiator.receive(pdu))
        case .keyRequest(let ediv, let rand):
            manager.keyRequested(on: 0, ediv: ediv, rand: rand, at: now, emit: &emit)
        case .responderEncrypted:
            manager.encryptionChanged(
                on: 0, isSuccess: true, isEnabled: true, at: now, emit: &emit)
        case .initiatorEncrypted(let isSuccess): take(initiator.encrypted(isSuccess))
        }
        take(emit)
    }

    private mutating func take(_ emit: Outputs<SecurityEvent>) {
        precondition(emit.count <= 8, "at most eight events a call")
        for event in emit.elements {
            events.append(event)
            switch event {
            case .send(_, let pdu):
                sent.append(pdu)
                send(.toInitiator(pdu))
            case .key(_, let key):
                guard let key else {
                    send(.initiatorEncrypted(false))
                    continue
                }
                // Different keys: the first encrypted packet fails its check, the link ends.
                guard key == keyOfInitiator else { return disconnect() }
                send(.responderEncrypted)
                send(.initiatorEncrypted(true))
            case .question(_, let question, let isAnswered): answer(question, isAnswered)
            case .started, .encryption, .paired, .ended, .forgotten: break
            }
        }
    }

    public mutating func disconnect() {
        isUp = false
        items.removeAll()
        var emit = Outputs<SecurityEvent>()
        manager.disconnect(0, at: now, emit: &emit)
        events += emit.elements
        take(initiator.fail(nil))
    }

    private mutating func answer(_ question: SecurityQuestion, _ isAnswered: Bool) {
        switch question {
        case .showPasskey(let passkey):
            let entered = wrongPasskey ? (passkey + 1) % 1_000_000 : passkey
            take(initiator.enter(entered))
        case .enterPasskey where isAnswered:
            initiator.passkey = initiator.passkey ?? manager.configuration.passkey
        case .enterPasskey:
            let shown = initiator.passkey ?? 123_456
            initiator.passkey = shown
            var emit = Outputs<SecurityEvent>()
            manager.enter(
                passkey: wrongPasskey ? (shown + 1) % 1_000_000 : shown, on: 0, at: now,
                emit: &emit)
            take(emit)
        case .compare(_) where isAnswered: break
        case .compare:
            var emit = Outputs<SecurityEvent>()
            manager.compare(matches: !disagrees, on: 0, at: now, emit: &emit)
            take(emit)
        }
    }

    private mutating func take(_ new: [PairingInitiator.Output]) {
        outputs += new
        for output in new {
            switch output {
            case .send(let pdu): send(.toResponder(pdu))
            case .encrypt(let ediv, let rand, let key):
                keyOfInitiator = key
                send(.keyRequest(ediv: ediv, rand: rand))
            // The responder's question, which comes with it, tells the passkey.
            case .needsPasskey: answerLate()
            case .shows, .paired, .failed: break
            case .compares: take(initiator.compare(matches: true))
            }
        }
    }

    /// The responder has shown its passkey before the initiator asked for it.
    private mutating func answerLate() {
        for case .question(_, .showPasskey(let passkey), _) in events {
            take(initiator.enter(wrongPasskey ? (passkey + 1) % 1_000_000 : passkey))
        }
    }

    /// The responder's bond; nil where it has none.
    public var bond: Bond? {
        for case .paired(_, let bond) in events { return bond }
        return nil
    }

    /// Why the responder's pairing ended.
    public var end: PairingEnd? {
        for case .ended(_, let end) in events { return end }
        return nil
    }

    public var initiatorBond: Bond? {
        for case .paired(let bond) in outputs { return bond }
        return nil
    }

    public var hasInitiatorFailed: Bool {
        outputs.contains { if case .failed = $0 { true } else { false } }
    }
}

// The Security Manager of a peripheral: pairing as responder on each link, and the bonds.
public import SansIO
import Wire

/// The Security Manager in the responder's role (Core 6.0, Vol 3, Part H). It is pure: commands,
/// the controller's events, answers of a person and time come in; commands, keys, questions and
/// bonds go out. Calls with a link that is not connected are without effect.
public struct SecurityManager: Sendable {
    /// How many links there may be at once.
    public static let linksMax = 16
    /// How long the next command of a pairing is awaited (3.4).
    static let timeout = TimeSpan.seconds(30)
    /// How long no pairing is begun after a failed one; each further failure doubles it (2.3.6).
    static let waitFirst = TimeSpan.seconds(1)
    static let waitMax = TimeSpan.seconds(64)
    /// How many peers that failed are remembered; the oldest is forgotten.
    static let failuresMax = 32

    public private(set) var configuration: SecurityConfiguration
    /// What is kept of paired peers, the one used last at the end.
    public private(set) var bonds: [Bond] = []
    let toolbox: Toolbox
    var random: any SecurityRandom
    /// As many as have been in use.
    var links: [SecurityLink] = []
    private var failures: [Failure] = []
    /// Until when pairing is possible; nil: always, or never where the policy refuses it.
    private var pairableUntil: Instant?

    /// What is remembered of a peer that failed to pair.
    private struct Failure: Sendable {
        let peer: LinkAddress
        var count: Int
        var until: Instant
    }

    /// - Parameters:
    ///   - cipher: without one no pairing is possible.
    ///   - random: nor is it without a source of keys.
    public init(
        _ configuration: SecurityConfiguration, cipher: (any SecurityCipher)?,
        random: (any SecurityRandom)?
    ) {
        self.configuration = configuration
        if cipher == nil || random == nil { self.configuration.policy = .refused }
        self.random = random ?? NoRandom()
        toolbox = Toolbox(cipher ?? NoCipher())
    }

    /// Power-on: the configuration's window begins.
    public mutating func start(at now: Instant) {
        pairableUntil = configuration.window.map { now + $0 }
    }

    // MARK: bonds

    /// Puts stored bonds back; more than may be kept are cut, the first ones first.
    public mutating func restore(_ bonds: [Bond]) {
        self.bonds = Array(bonds.suffix(configuration.bondsMax))
    }

    /// Forgets the bond with a peer; its link, if any, stays as it is.
    public mutating func forget(_ peer: LinkAddress) {
        bonds.removeAll { $0.peer == peer }
        for link in links.indices where links[link].bonded == peer { links[link].bonded = nil }
    }

    private func place(of peer: LinkAddress) -> Int? {
        bonds.firstIndex { $0.peer == peer } ?? bonds.firstIndex { $0.alias == peer }
            ?? bonds.firstIndex { bond in
                bond.peerIdentityKey.map { toolbox.resolves(peer, with: $0) } ?? false
            }
    }

    /// The bond with the peer of `link`, as far as its address tells: proven only once the link is
    /// encrypted.
    public func bond(of link: Int) -> Bond? {
        guard links.indices.contains(link), let peer = links[link].bonded else { return nil }
        return bonds.first { $0.peer == peer }
    }

    mutating func keep(_ bond: Bond, _ emit: inout Outputs<SecurityEvent>) {
        bonds.removeAll { $0.peer == bond.peer }
        while bonds.count >= max(configuration.bondsMax, 1) {
            emit.append(.forgotten(bonds.removeFirst().peer))
        }
        bonds.append(bond)
    }

    // MARK: links

    /// Begins a link with the addresses that it was made with.
    /// - Parameter identity: whose private address `peer` is, where the controller has found out.
    public mutating func connect(
        _ link: Int, own: LinkAddress, peer: LinkAddress, identity: LinkAddress? = nil
    ) {
        guard (0..<Self.linksMax).contains(link) else { return }
        while links.count <= link { links.append(SecurityLink()) }
        links[link] = SecurityLink()
        links[link].isConnected = true
        links[link].own = own
        links[link].peer = peer
        links[link].bonded = (identity.flatMap { place(of: $0) } ?? place(of: peer))
            .map { bonds[$0].peer }
    }

    /// Which of the device's addresses a link is with; before pairing begins.
    public mutating func setOwnAddress(_ own: LinkAddress, of link: Int) {
        if links.indices.contains(link), links[link].pairing == nil { links[link].own = own }
    }

    /// Ends a link; a pairing that it was in has failed.
    public mutating func disconnect(
        _ link: Int, at now: Instant, emit: inout Outputs<SecurityEvent>
    ) {
        guard isConnected(link) else { return }
        if links[link].pairing != nil { end(link, .disconnected, at: now, &emit) }
        links[link] = SecurityLink()
    }

    /// Ends a link of a controller that is gone, without a word.
    public mutating func drop(_ link: Int) {
        if links.indices.contains(link) { links[link] = SecurityLink() }
    }

    func isConnected(_ link: Int) -> Bool {
        links.indices.contains(link) && links[link].isConnected
    }

    /// How the link is encrypted; nil where it is not.
    public func encryption(of link: Int) -> KeyQuality? {
        isConnected(link) ? links[link].encryption : nil
    }

    /// Asks the central to encrypt the link, or to pair (3.6.7).
    public mutating func requestSecurity(
        of link: Int, emit: inout Outputs<SecurityEvent>
    ) {
        guard isConnected(link), links[link].pairing == nil, links[link].encryption == nil,
            !links[link].isSilent, configuration.policy != .refused
        else { return }
        emit.append(.send(link: link, SecurityRequest(configuration.authReq).pdu))
    }

    /// Makes pairing possible for `span`, where the configuration has a window.
    public mutating func openWindow(for span: TimeSpan, at now: Instant) {
        if configuration.window != nil { pairableUntil = now + span }
    }

    func isPairable(at now: Instant) -> Bool {
        configuration.policy != .refused && (pairableUntil.map { now < $0 } ?? true)
    }

    // MARK: failures

    /// Whether the peer has to wait before it may pair again.
    func mustWait(_ peer: LinkAddress, at now: Instant) -> Bool {
        failures.contains { $0.peer == peer && now < $0.until }
    }

    /// Ends a pairing without keys. Unless the link was lost, the peer has to wait for another one.
    mutating func end(
        _ link: Int, _ end: PairingEnd, at now: Instant, _ emit: inout Outputs<SecurityEvent>
    ) {
        links[link].pairing = nil
        if end == .timedOut { links[link].isSilent = true }
        if end != .disconnected { remember(links[link].peer, at: now) }
        emit.append(.ended(link: link, end))
    }

    private mutating func remember(_ peer: LinkAddress, at now: Instant) {
        var failure = Failure(peer: peer, count: 0, until: now)
        if let place = failures.firstIndex(where: { $0.peer == peer }) {
            failure = failures.remove(at: place)
        } else if failures.count >= Self.failuresMax {
            failures.removeFirst()
        }
        let wait = Self.waitFirst * (Int64(1) << Int64(min(failure.count, 6)))
        failure.until = now + min(wait, Self.waitMax)
        failure.count = min(failure.count + 1, 6)
        failures.append(failure)
    }

    mutating func pardon(_ peer: LinkAddress) { failures.removeAll { $0.peer == peer } }

    // MARK: time

    /// When `expire` must be called next.
    public var deadline: Instant? {
        var deadline: Instant?
        for link in links.indices {
            deadline = earliest(deadline, links[link].pairing?.nextDeadline)
        }
        return deadline
    }

    /// Ends pairings whose next command, or whose person's answer, has not come in time.
    public mutating func expire(at now: Instant, emit: inout Outputs<SecurityEvent>) {
        for link in links.indices {
            guard let pairing = links[link].pairing, pairing.nextDeadline <= now else { continue }
            if pairing.deadline <= now {
                end(link, .timedOut, at: now, &emit)
            } else {
                let reason: SMPReason =
                    pairing.method == .numericComparison
                    ? .numericComparisonFailed : .passkeyEntryFailed
                emit.append(.send(link: link, PairingFailed(reason).pdu))
                end(link, .unanswered(reason, configuration.questionLimit), at: now, &emit)
            }
        }
    }

    /// Tells the peer that the pairing has failed, and ends it.
    mutating func fail(
        _ link: Int, _ reason: SMPReason, at now: Instant, _ emit: inout Outputs<SecurityEvent>
    ) {
        emit.append(.send(link: link, PairingFailed(reason).pdu))
        end(link, .failed(reason), at: now, &emit)
    }
}

/// What is known of one link.
struct SecurityLink: Sendable {
    var isConnected = false
    var own = LinkAddress(DeviceAddress(), isRandom: false)
    var peer = LinkAddress(DeviceAddress(), isRandom: false)
    /// The peer of the bond that the link's address points to.
    var bonded: LinkAddress?
    var pairing: Pairing?
    /// After a time-out nothing more is said on this link (3.4).
    var isSilent = false
    /// The quality of the key that the controller was given and has not yet put in force.
    var offered: KeyQuality?
    var encryption: KeyQuality?
}

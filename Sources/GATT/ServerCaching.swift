// What a server remembers of bonded clients, Service Changed and robust caching (Part G, 2.5.2, 7).
public import Wire

extension GATTServer {
    /// Marks a CCCD that was written on this link, so that a bond found later does not undo it.
    static let writtenOnThisLink: UInt8 = 0x80

    // MARK: Bonded clients

    /// Takes up what was stored of bonded clients.
    public mutating func restore(_ clients: [BondedClient]) {
        bondedClients = Array(clients.suffix(Self.bondedClientsMax))
    }

    /// Forgets a client whose bond is gone.
    public mutating func forget(_ peer: DeviceAddress) {
        bondedClients.removeAll { $0.peer == peer }
        hasNewsOfClients = true
    }

    /// What is to be stored of all bonded clients at this moment, the one used last at the end:
    /// also of those that are connected.
    public var keptClients: [BondedClient] {
        var kept = bondedClients
        for client in links.indices
        where links[client].isConnected && links[client].isRecalled && links[client].security.bonded
        {
            kept.removeAll { $0.peer == links[client].peer }
            kept.append(bondedClient(of: client))
        }
        return Array(kept.suffix(Self.bondedClientsMax))
    }

    /// Forgets the counter of a client whose signature key is gone: a new key begins at 0.
    public mutating func forgetCounter(of peer: DeviceAddress) {
        signCounters.removeAll { $0.peer == peer }
    }

    /// What is to be stored of a connected client, should it be bonded.
    public func bondedClient(of client: Int) -> BondedClient {
        let link = links[client]
        var bonded = BondedClient(peer: link.peer)
        for (index, attribute) in table.attributes.enumerated() where attribute.configuration >= 0 {
            let bits = configurations[slot(of: index, client: client)] & 3
            guard bits != 0 else { continue }
            bonded.configurations.append(.init(handle: attribute.handle, bits: bits))
        }
        bonded.features = link.features
        bonded.isChangeAware = link.isAware
        if link.changedStart != 0, link.changedStart <= link.changedEnd {
            bonded.serviceChanged = link.changedStart...link.changedEnd
        }
        return bonded
    }

    /// Keeps what a bonded client has configured.
    mutating func remember(_ client: Int) {
        forget(links[client].peer)
        if bondedClients.count >= Self.bondedClientsMax { bondedClients.removeFirst() }
        bondedClients.append(bondedClient(of: client))
    }

    /// Gives a bonded client back what it had configured, but for what it has written since.
    mutating func recall(_ client: Int) {
        let peer = links[client].peer
        guard let bonded = bondedClients.first(where: { $0.peer == peer }) else { return }
        for configuration in bonded.configurations {
            guard let index = table.index(of: configuration.handle),
                table.attributes[index].configuration >= 0
            else { continue }
            let slot = slot(of: index, client: client)
            if configurations[slot] & Self.writtenOnThisLink == 0 {
                configurations[slot] = configuration.bits & 3
            }
        }
        links[client].features |= bonded.features & ClientFeatures.known
        if !bonded.isChangeAware { links[client].awareness = .unaware }
        if let range = bonded.serviceChanged { addChange(range, to: client) }
    }

    // MARK: Changes of the table

    var serviceChangedIndex: Int? { table.attributes.firstIndex { $0.kind == .serviceChanged } }

    /// Says that the attributes in `range` are not what they were: every client becomes
    /// change-unaware, and who has subscribed is due a Service Changed indication (ask
    /// `pendingIndication` for each client).
    public mutating func databaseChanged(_ range: ClosedRange<UInt16>) {
        let index = serviceChangedIndex
        for client in links.indices where links[client].isConnected {
            links[client].awareness = .unaware
            hasNewsOfClients = true
            // A confirmation that is on its way is of what was said before.
            links[client].hasChangedAgain = true
            guard let index, subscription(of: index, client: client) & 2 != 0 else { continue }
            addChange(range, to: client)
        }
        let cccd = index.map { Int(table.attributes[$0].partner) } ?? -1
        let handle = cccd >= 0 ? table.attributes[cccd].handle : 0
        for place in bondedClients.indices {
            bondedClients[place].isChangeAware = false
            guard
                bondedClients[place].configurations.contains(where: {
                    $0.handle == handle && $0.bits & 2 != 0
                })
            else { continue }
            let old = bondedClients[place].serviceChanged ?? range
            bondedClients[place].serviceChanged =
                min(old.lowerBound, range.lowerBound)...max(old.upperBound, range.upperBound)
        }
    }

    private mutating func addChange(_ range: ClosedRange<UInt16>, to client: Int) {
        let isFirst = links[client].changedStart == 0
        let start = isFirst ? range.lowerBound : min(links[client].changedStart, range.lowerBound)
        links[client].changedStart = max(start, 1)
        links[client].changedEnd =
            isFirst ? range.upperBound : max(links[client].changedEnd, range.upperBound)
    }

    /// The client knows what the confirmed indication said.
    mutating func confirmServiceChanged(_ client: Int) {
        guard !links[client].hasChangedAgain else { return }
        links[client].changedStart = 0
        links[client].changedEnd = 0
        links[client].awareness = .aware
        hasNewsOfClients = true
    }

    // MARK: Robust caching

    /// Whether the client uses robust caching and does not know the table's changes.
    func isUnaware(_ client: Int) -> Bool {
        !links[client].isAware && links[client].features & ClientFeatures.robustCaching != 0
    }

    /// The hash tells a client that the table has changed.
    mutating func noteHashRead(by client: Int) {
        if links[client].awareness == .unaware { links[client].awareness = .informed }
    }

    /// Refuses what a client that does not know the table's changes does by handle; a request once,
    /// since the next one shows that the client knows (Core 6.0, Vol 3, Part G, 2.5.2.1).
    mutating func checkAwareness(
        of client: Int, _ request: ATTPDU, _ pdu: Span<UInt8>
    ) throws(Refusal) {
        let isRequest = ATTOpcode(rawValue: pdu[0]).isRequest
        if isRequest, links[client].awareness == .informed {
            links[client].awareness = .aware
            hasNewsOfClients = true
        }
        guard isUnaware(client), let handle = request.handleAsked(pdu) else { return }
        if isRequest { links[client].awareness = .informed }
        throw Refusal(.databaseOutOfSync, handle)
    }
}

extension ATTPDU {
    /// The handle that a request or command is about, the first of several; nil for discovery,
    /// which is how a client learns the table.
    fileprivate func handleAsked(_ pdu: Span<UInt8>) -> UInt16? {
        switch self {
        case .readRequest(let handle), .readBlobRequest(let handle, _),
            .writeRequest(let handle, _), .writeCommand(let handle, _),
            .signedWriteCommand(let handle, _, _), .prepareWriteRequest(let handle, _, _):
            handle
        case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
            pdu.uint16(at: handles.offset)
        case .readByTypeRequest(let start, let end, let type):
            type == GATTType.include || type == GATTType.characteristic
                || (start == 1 && end == UInt16.max) ? nil : start
        case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest,
            .readByGroupTypeRequest, .executeWriteRequest, .handleValueConfirmation,
            .errorResponse, .exchangeMTUResponse, .findInformationResponse,
            .findByTypeValueResponse, .readByTypeResponse, .readResponse, .readBlobResponse,
            .readMultipleResponse, .readByGroupTypeResponse, .writeResponse,
            .prepareWriteResponse, .executeWriteResponse, .handleValueNotification,
            .handleValueIndication, .readMultipleVariableResponse,
            .multipleHandleValueNotification:
            nil
        }
    }
}

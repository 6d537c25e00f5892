// Another configuration and another attribute table while links are open.
public import GATT
public import SansIO
public import Wire

extension PeripheralHost {
    /// Whether advertising sets are asked for that may come later: more is found out of the
    /// controller then, at its next `start`.
    public mutating func expectOtherSets() { session.usesSets = true }

    /// Why the controller, if it is ready, cannot have these sets in place of those at work; nil
    /// where it can.
    public func refusal(of sets: [AdvertisingSetup]) -> String? {
        guard session.isReady else { return nil }
        do throws(ControllerFailure) {
            let choice = try choice(of: sets.map(\.plan))
            let open = session.table.openCount
            guard choice.family != advertising.family, open > 0 else { return nil }
            return choice.family == .extended
                ? "the controller must be reset to advertise by sets of its own again, which ends "
                    + "\(open) open links: end them first"
                : "\(choice.why): for sets that take turns it must be reset, which ends \(open) "
                    + "open links: end them first"
        } catch { return "\(error)" }
    }

    /// Goes on with another configuration. Links stay, and so does the device's address; the
    /// connection parameters are asked for on the next links. Sets that have a `refusal` leave the
    /// ones at work as they are.
    public mutating func reconfigure(
        _ configuration: PeripheralConfiguration, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<PeripheralEvent>
    ) {
        connectionsMax = min(max(configuration.connectionsMax, 1), LinkTable.linksMax)
        connectionRequest = configuration.connectionRequest
        if connectionRequest == nil {
            for link in signalling.indices { signalling[link].requestAt = nil }
        }
        replaceSets(configuration.sets, at: now, &out, &emit)
    }

    private mutating func replaceSets(
        _ sets: [AdvertisingSetup], at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<PeripheralEvent>
    ) {
        guard session.isReady else {
            // They are chosen once it is.
            advertising.setPlans(sets, deviceAddress: deviceAddress, nil)
            return renewSetAddresses(at: now)
        }
        guard refusal(of: sets) == nil, let choice = try? choice(of: sets.map(\.plan)) else {
            return
        }
        guard choice.family == advertising.family else {
            advertising.setPlans(sets, deviceAddress: deviceAddress, nil)
            renewSetAddresses(at: now)
            return changeFamily(choice, at: now, &out, &emit)
        }
        advertising.setPlans(sets, deviceAddress: deviceAddress, choice)
        renewSetAddresses(at: now)
        tell(choice, &emit)
        reconcile(at: now, &out)
    }

    /// Puts another attribute table in place, as `GATTServer.replaceTable`.
    public mutating func replaceTable(
        _ table: AttributeTable, settings: ServerSettings
    ) -> TableReplacement {
        overflows.removeAll()
        return server.replaceTable(table, settings: settings)
    }

    /// Sends the Service Changed indications that are due; one that must wait for another's
    /// confirmation follows that by itself.
    /// - Returns: on how many links clients are told.
    public mutating func indicateChanges(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<PeripheralEvent>
    ) -> Int {
        guard let handle = server.serviceChangedHandle else { return 0 }
        notify(handle, at: now, sending: &out, emit: &emit)
        return session.table.links.indices.count {
            session.table.links[$0].isOpen && server.followsServiceChanged($0)
        }
    }
}

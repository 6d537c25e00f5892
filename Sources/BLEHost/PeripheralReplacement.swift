// Another configuration and another attribute table while links are open.
public import GATT
public import SansIO
public import Wire

extension PeripheralHost {
    /// Goes on with another configuration. Links stay, and so does the address; the connection
    /// parameters are asked for on the next links.
    public mutating func reconfigure(
        _ configuration: PeripheralConfiguration, at now: Instant, sending out: inout ByteBlock
    ) {
        connectionsMax = min(max(configuration.connectionsMax, 1), LinkTable.linksMax)
        connectionRequest = configuration.connectionRequest
        if connectionRequest == nil {
            for link in signalling.indices { signalling[link].requestAt = nil }
        }
        advertising.setPlans(configuration.sets, deviceAddress: deviceAddress)
        renewSetAddresses(at: now)
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

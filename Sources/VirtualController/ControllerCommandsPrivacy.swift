// LE commands of privacy: the resolving list and what is done with it.
import HCI
import Wire

extension Air {
    mutating func servePrivacy(_ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int) -> Bool {
        guard hasPrivacy else { return false }
        switch opcode {
        case .leAddDeviceToResolvingList:
            return set(LEAddDeviceToResolvingList.self, parameters, port) { air, command in
                air.addToResolvingList(port, command)
            }
        case .leRemoveDeviceFromResolvingList:
            return set(LERemoveDeviceFromResolvingList.self, parameters, port) { air, command in
                guard !air.usesResolvingList(port) else { return .commandDisallowed }
                return air.withEntry(
                    port, command.peerIdentityAddressType, command.peerIdentityAddress
                ) { air, index in
                    air.controllers[port].resolving.entries.remove(at: index)
                }
            }
        case .leClearResolvingList:
            return set(LEClearResolvingList.self, parameters, port) { air, _ in
                guard !air.usesResolvingList(port) else { return .commandDisallowed }
                air.controllers[port].resolving.entries = []
                return .success
            }
        case .leReadResolvingListSize:
            return complete(LEReadResolvingListSize.self, parameters, port) { _, _ in
                var answer = ResolvingListSize()
                answer.resolvingListSize = UInt8(Capabilities.resolvingListMax)
                return answer
            }
        case .leSetAddressResolutionEnable:
            return set(LESetAddressResolutionEnable.self, parameters, port) { air, command in
                guard command.addressResolutionEnable <= 1 else { return .invalidParameters }
                guard !air.isDiscovering(port) else { return .commandDisallowed }
                air.controllers[port].resolving.isEnabled = command.addressResolutionEnable == 1
                return .success
            }
        case .leSetResolvablePrivateAddressTimeout:
            return set(LESetResolvablePrivateAddressTimeout.self, parameters, port) {
                air, command in
                guard (1...3600).contains(command.rpaTimeout) else { return .invalidParameters }
                air.controllers[port].resolving.timeout = command.rpaTimeout
                return .success
            }
        case .leSetPrivacyMode:
            return set(LESetPrivacyMode.self, parameters, port) { air, command in
                guard command.privacyMode <= 1 else { return .invalidParameters }
                guard !air.usesResolvingList(port) else { return .commandDisallowed }
                return air.withEntry(
                    port, command.peerIdentityAddressType, command.peerIdentityAddress
                ) { air, index in
                    air.controllers[port].resolving.entries[index].isDevicePrivacy =
                        command.privacyMode == 1
                }
            }
        default: return serveResolvableAddresses(opcode, parameters, port)
        }
    }

    private mutating func serveResolvableAddresses(
        _ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int
    ) -> Bool {
        switch opcode {
        case .leReadPeerResolvableAddress:
            return complete(LEReadPeerResolvableAddress.self, parameters, port) { air, command in
                var answer = StatusAndAddress()
                answer.status = air.withEntry(
                    port, command.peerIdentityAddressType, command.peerIdentityAddress
                ) { air, index in
                    let entry = air.controllers[port].resolving.entries[index]
                    answer.address = entry.peerAddress ?? DeviceAddress()
                }
                return answer
            }
        case .leReadLocalResolvableAddress:
            return complete(LEReadLocalResolvableAddress.self, parameters, port) { air, command in
                var answer = StatusAndAddress()
                answer.status = air.withEntry(
                    port, command.peerIdentityAddressType, command.peerIdentityAddress
                ) { air, index in
                    let entry = air.controllers[port].resolving.entries[index]
                    guard entry.hasLocalKey else { return }
                    answer.address = air.privateAddress(port, entry.localKey) ?? DeviceAddress()
                }
                return answer
            }
        default: return false
        }
    }

    /// Whether anything is under way in which addresses are resolved.
    private func isDiscovering(_ port: Int) -> Bool {
        controllers[port].isListening
            || controllers[port].sets.contains { advertisers[$0].isEnabled }
    }

    /// A list that is at work is not changed (Core 6.0, Vol 4, Part E, 7.8.38 to 7.8.40, 7.8.77).
    private func usesResolvingList(_ port: Int) -> Bool {
        controllers[port].resolving.isEnabled && isDiscovering(port)
    }

    private mutating func withEntry(
        _ port: Int, _ type: AddressType, _ address: DeviceAddress,
        _ body: (inout Air, Int) -> Void
    ) -> HCIStatus {
        guard type == .publicDevice || type == .randomDevice else { return .invalidParameters }
        let identity = AirAddress(isRandom: type == .randomDevice, address: address)
        guard let index = controllers[port].resolving.index(of: identity) else {
            return .unknownConnectionIdentifier
        }
        body(&self, index)
        return .success
    }

    /// Core 6.0, Vol 4, Part E, 7.8.38.
    private mutating func addToResolvingList(
        _ port: Int, _ command: LEAddDeviceToResolvingList
    ) -> HCIStatus {
        guard !usesResolvingList(port) else { return .commandDisallowed }
        let type = command.peerIdentityAddressType
        guard type == .publicDevice || type == .randomDevice else { return .invalidParameters }
        let entry = ResolvingEntry(
            identity: AirAddress(
                isRandom: type == .randomDevice, address: command.peerIdentityAddress),
            peerKey: command.peerIRK, localKey: command.localIRK)
        let entries = controllers[port].resolving.entries
        let isKnown = entries.contains {
            $0.identity == entry.identity || entry.hasPeerKey && $0.peerKey == entry.peerKey
        }
        guard !isKnown else { return .invalidParameters }
        guard entries.count < Capabilities.resolvingListMax else { return .memoryCapacityExceeded }
        controllers[port].resolving.entries.append(entry)
        return .success
    }
}

// Discovery of services, characteristics and descriptors (Core 6.0, Vol 3, Part G, 4.4 to 4.7).
import SansIO
import Wire

extension GATTClient {
    mutating func findServices(from start: UInt16, into request: inout ByteBlock) {
        request.append(ATTOpcode.readByGroupTypeRequest.rawValue)
        request.append(start)
        request.append(UInt16.max)
        request.append(UInt16(0x2800))
        state = .findingServices
    }

    /// Entries of handle, end and UUID. They must ascend, so that a server cannot keep a client
    /// busy for ever.
    mutating func addServices(
        _ length: Int, _ entries: Span<UInt8>, next: inout ByteBlock,
        emit: inout Outputs<GATTClientEvent>
    ) throws(GATTClientFailure.Thrown) {
        for place in stride(from: 0, to: entries.count, by: length) {
            let (handle, end) = (entries.uint16(at: place), entries.uint16(at: place + 2))
            guard handle > services.last?.end ?? 0, end >= handle,
                let uuid = BluetoothUUID(
                    littleEndian: entries.extracting(place + 4..<place + length))
            else { throw .init(.invalidResponse) }
            services.append(DiscoveredService(handle: handle, end: end, uuid: uuid))
        }
        guard let end = services.last?.end, end < UInt16.max else {
            return findCharacteristics(of: 0, next: &next, emit: &emit)
        }
        findServices(from: end + 1, into: &next)
    }

    /// Asks for the characteristics of a service, or behind the last one tells what was found.
    mutating func findCharacteristics(
        of service: Int, next: inout ByteBlock, emit: inout Outputs<GATTClientEvent>
    ) {
        for index in service..<services.count where services[index].end > services[index].handle {
            return findCharacteristics(of: index, from: services[index].handle, into: &next)
        }
        finish()
        emit.append(.discovered(services))
    }

    private mutating func findCharacteristics(
        of service: Int, from start: UInt16, into request: inout ByteBlock
    ) {
        request.append(ATTOpcode.readByTypeRequest.rawValue)
        request.append(start)
        request.append(services[service].end)
        request.append(UInt16(0x2803))
        state = .findingCharacteristics(service: service)
    }

    /// Entries of handle, properties, value handle and UUID.
    mutating func addCharacteristics(
        _ length: Int, _ entries: Span<UInt8>, to service: Int, next: inout ByteBlock,
        emit: inout Outputs<GATTClientEvent>
    ) throws(GATTClientFailure.Thrown) {
        guard length == 7 || length == 21 else { throw .init(.invalidResponse) }
        let end = services[service].end
        var last = services[service].characteristics.last?.valueHandle ?? services[service].handle
        for place in stride(from: 0, to: entries.count, by: length) {
            let (handle, value) = (entries.uint16(at: place), entries.uint16(at: place + 3))
            guard handle >= last, value > handle, value <= end,
                let uuid = BluetoothUUID(
                    littleEndian: entries.extracting(place + 5..<place + length))
            else { throw .init(.invalidResponse) }
            last = value
            services[service].characteristics.append(
                DiscoveredCharacteristic(
                    handle: handle, valueHandle: value, uuid: uuid,
                    properties: CharacteristicProperties(rawValue: entries[place + 2])))
        }
        // The last value's handle is behind the one asked from, so that this ends.
        guard last < end else { return findDescriptors(service, 0, next: &next, emit: &emit) }
        findCharacteristics(of: service, from: last, into: &next)
    }

    /// Asks for the descriptors in the gap behind a value, skipping values without a gap; behind
    /// the last characteristic goes on to the next service.
    mutating func findDescriptors(
        _ service: Int, _ characteristic: Int, next: inout ByteBlock,
        emit: inout Outputs<GATTClientEvent>
    ) {
        let characteristics = services[service].characteristics
        for index in characteristic..<max(characteristics.count, characteristic) {
            let end =
                index + 1 < characteristics.count
                ? characteristics[index + 1].handle - 1 : services[service].end
            guard characteristics[index].valueHandle < end else { continue }
            return findInformation(
                (service, index), from: characteristics[index].valueHandle + 1, to: end,
                into: &next)
        }
        findCharacteristics(of: service + 1, next: &next, emit: &emit)
    }

    private mutating func findInformation(
        _ place: (service: Int, characteristic: Int), from start: UInt16, to end: UInt16,
        into request: inout ByteBlock
    ) {
        request.append(ATTOpcode.findInformationRequest.rawValue)
        request.append(start)
        request.append(end)
        state = .findingDescriptors(
            service: place.service, characteristic: place.characteristic, end: end)
    }

    /// Entries of handle and UUID.
    mutating func addDescriptors(
        _ format: UInt8, _ entries: Span<UInt8>, to place: (service: Int, characteristic: Int),
        end: UInt16, next: inout ByteBlock, emit: inout Outputs<GATTClientEvent>
    ) throws(GATTClientFailure.Thrown) {
        let length = format == 1 ? 4 : 18
        let found = services[place.service].characteristics[place.characteristic]
        var last = found.descriptors.last?.handle ?? found.valueHandle
        for offset in stride(from: 0, to: entries.count, by: length) {
            let handle = entries.uint16(at: offset)
            guard handle > last, handle <= end,
                let uuid = BluetoothUUID(
                    littleEndian: entries.extracting(offset + 2..<offset + length))
            else { throw .init(.invalidResponse) }
            last = handle
            services[place.service].characteristics[place.characteristic].descriptors.append(
                DiscoveredDescriptor(handle: handle, uuid: uuid))
        }
        guard last < end else {
            return findDescriptors(
                place.service, place.characteristic + 1, next: &next, emit: &emit)
        }
        findInformation(place, from: last + 1, to: end, into: &next)
    }
}

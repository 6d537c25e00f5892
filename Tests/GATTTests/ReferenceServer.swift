// A plain model of a GATT server: slow, without an arena, a scan of the whole table for everything.
import GATT
import Wire

/// What the properties compare the server with. It knows one client.
struct ReferenceServer {
    struct Item {
        var handle: Int
        var type: BluetoothUUID
        var groupEnd: Int
        var permissions: Permissions
        var value: [UInt8]
        var maximum: Int
        var isCharacteristicValue = false
        /// Of a CCCD what its characteristic offers.
        var offered: Permissions?
    }

    var items: [Item]
    var security = LinkSecurity.plain
    var mtu = 23
    let ownMTU: Int
    var queue: [(handle: Int, offset: Int, part: [UInt8])] = []

    struct Failure: Error {
        let code: UInt8
        let handle: Int
    }

    /// The answer to a PDU, empty for none.
    mutating func answer(_ pdu: [UInt8]) -> [UInt8] {
        guard let opcode = pdu.first else { return [] }
        var request = Array(pdu.dropFirst())
        do {
            return try answer(opcode, &request)
        } catch let failure as Failure {
            if opcode & 0x40 != 0 { return [] }
            return [0x01, opcode] + octets(failure.handle) + [failure.code]
        } catch { return [] }
    }

    private mutating func answer(_ opcode: UInt8, _ request: inout [UInt8]) throws -> [UInt8] {
        let malformed = Failure(code: 0x04, handle: 0)
        func number(_ place: Int) -> Int { Int(request[place]) + 256 * Int(request[place + 1]) }
        switch opcode {
        case 0x02:
            guard request.count == 2 else { throw malformed }
            mtu = max(23, min(number(0), ownMTU))
            return [0x03] + octets(ownMTU)
        case 0x04:
            guard request.count == 4 else { throw malformed }
            return try findInformation(number(0), number(2))
        case 0x06:
            guard request.count >= 6 else { throw malformed }
            return try findByTypeValue(
                number(0), number(2), BluetoothUUID(UInt16(number(4))), Array(request[6...]))
        case 0x08, 0x10:
            guard request.count == 6 || request.count == 20,
                let type = BluetoothUUID(littleEndian: request[4...].copied().span)
            else { throw malformed }
            return try list(opcode, number(0), number(2), type)
        case 0x0A:
            guard request.count == 2 else { throw malformed }
            return [0x0B] + (try readable(number(0))).prefix(mtu - 1)
        case 0x0C:
            guard request.count == 4 else { throw malformed }
            let value = try readable(number(0))
            guard number(2) <= value.count else { throw Failure(code: 0x07, handle: number(0)) }
            return [0x0D] + value.dropFirst(number(2)).prefix(mtu - 1)
        case 0x0E, 0x20:
            guard request.count >= 4, request.count % 2 == 0 else { throw malformed }
            return try readMultiple(opcode, stride(from: 0, to: request.count, by: 2).map(number))
        case 0x12, 0x52:
            guard request.count >= 2 else { throw malformed }
            try write(number(0), Array(request[2...]), isCommand: opcode == 0x52)
            return opcode == 0x52 ? [] : [0x13]
        case 0x16:
            guard request.count >= 4 else { throw malformed }
            _ = try writable(number(0), isCommand: false)
            guard request.count + 1 <= mtu else { throw Failure(code: 0x04, handle: number(0)) }
            queue.append((number(0), number(2), Array(request[4...])))
            return [0x17] + request
        case 0x18:
            guard request.count == 1, request[0] <= 1 else { throw malformed }
            return try execute(request[0] == 1)
        case 0x1D: return request.count >= 2 ? [0x1E] : []
        case 0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x1B, 0x1E,
            0x21, 0x23, 0xD2:
            return []
        default: throw Failure(code: 0x06, handle: 0)
        }
    }

    // MARK: Discovery

    private func within(_ start: Int, _ end: Int) throws -> [Item] {
        guard start > 0, start <= end else { throw Failure(code: 0x01, handle: start) }
        return items.filter { $0.handle >= start && $0.handle <= end }
    }

    private func findInformation(_ start: Int, _ end: Int) throws -> [UInt8] {
        let found = try within(start, end)
        guard let first = found.first else { throw Failure(code: 0x0A, handle: start) }
        let equal = found.prefix { $0.type.littleEndian.count == first.type.littleEndian.count }
        let entries = equal.map { octets($0.handle) + $0.type.littleEndian }
        let fitting = entries.prefix((mtu - 2) / entries[0].count)
        return [0x05, entries[0].count == 4 ? 1 : 2] + fitting.flatMap { $0 }
    }

    private func findByTypeValue(
        _ start: Int, _ end: Int, _ type: BluetoothUUID, _ value: [UInt8]
    ) throws -> [UInt8] {
        let found = try within(start, end).filter {
            $0.type == type && $0.value == value && objection($0.permissions.read, 0x02) == nil
        }
        guard !found.isEmpty else { throw Failure(code: 0x0A, handle: start) }
        return [0x07]
            + found.prefix((mtu - 1) / 4).flatMap { octets($0.handle) + octets($0.groupEnd) }
    }

    private func list(
        _ opcode: UInt8, _ start: Int, _ end: Int, _ type: BluetoothUUID
    ) throws -> [UInt8] {
        let inRange = try within(start, end)
        let isGroup = opcode == 0x10
        if isGroup, type != BluetoothUUID(0x2800), type != BluetoothUUID(0x2801) {
            throw Failure(code: 0x10, handle: start)
        }
        let header = isGroup ? 4 : 2
        let most = min(mtu - 2, 255) - header
        var entries: [[UInt8]] = []
        for item in inRange where item.type == type {
            if let code = objection(item.permissions.read, 0x02) {
                if entries.isEmpty { throw Failure(code: code, handle: item.handle) }
                break
            }
            var entry = octets(item.handle)
            if isGroup { entry += octets(item.groupEnd) }
            entry += item.value.prefix(most)
            if let first = entries.first, first.count != entry.count { break }
            entries.append(entry)
        }
        guard let first = entries.first else { throw Failure(code: 0x0A, handle: start) }
        let fitting = entries.prefix((mtu - 2) / first.count)
        return [opcode + 1, UInt8(first.count)] + fitting.flatMap { $0 }
    }

    // MARK: Reading and writing

    private func item(_ handle: Int) throws -> Int {
        guard let index = items.firstIndex(where: { $0.handle == handle }) else {
            throw Failure(code: 0x01, handle: handle)
        }
        return index
    }

    private func readable(_ handle: Int) throws -> [UInt8] {
        let item = items[try item(handle)]
        if let code = objection(item.permissions.read, 0x02) {
            throw Failure(code: code, handle: handle)
        }
        return item.value
    }

    private func readMultiple(_ opcode: UInt8, _ handles: [Int]) throws -> [UInt8] {
        let values = try handles.map { try readable($0) }
        var result: [UInt8] = []
        for value in values {
            if opcode == 0x20 {
                if result.count + 2 > mtu - 1 { break }
                result += octets(value.count)
            }
            result += value
        }
        return [opcode + 1] + result.prefix(mtu - 1)
    }

    private func writable(_ handle: Int, isCommand: Bool) throws -> Int {
        let index = try item(handle)
        let permissions = items[index].permissions
        let access = isCommand ? permissions.writeCommand : permissions.write
        if let code = objection(access, 0x03) { throw Failure(code: code, handle: handle) }
        return index
    }

    private mutating func write(_ handle: Int, _ value: [UInt8], isCommand: Bool) throws {
        let index = try writable(handle, isCommand: isCommand)
        try check(value, at: index)
        items[index].value = value
    }

    private func check(_ value: [UInt8], at index: Int) throws {
        let handle = items[index].handle
        guard let offered = items[index].offered else {
            if value.count > items[index].maximum { throw Failure(code: 0x0D, handle: handle) }
            return
        }
        guard value.count == 2 else { throw Failure(code: 0x0D, handle: handle) }
        let accesses = [offered.notify, offered.indicate]
        let weakest = accesses[0].level < accesses[1].level ? accesses[0] : accesses[1]
        if weakest.level != .refused, let code = objection(weakest, 0xFD) {
            throw Failure(code: code, handle: handle)
        }
        for (bit, access) in accesses.enumerated() where value[0] & (1 << bit) != 0 {
            if let code = objection(access, 0xFD) { throw Failure(code: code, handle: handle) }
        }
        if value[0] > 3 || value[1] > 0 { throw Failure(code: 0xFD, handle: handle) }
    }

    private mutating func execute(_ isWrite: Bool) throws -> [UInt8] {
        let parts = queue
        queue = []
        guard isWrite else { return [0x19] }
        var new: [(index: Int, value: [UInt8])] = []
        var order: [Int] = []
        for part in parts where !order.contains(part.handle) { order.append(part.handle) }
        for handle in order {
            let index = try writable(handle, isCommand: false)
            let own = parts.filter { $0.handle == handle }
            var value = own[0].offset == 0 ? [] : items[index].value
            for part in own {
                if part.offset > value.count { throw Failure(code: 0x07, handle: handle) }
                let end = part.offset + part.part.count
                if end > 512 { throw Failure(code: 0x0D, handle: handle) }
                value.replaceSubrange(part.offset..<min(end, value.count), with: part.part)
            }
            try check(value, at: index)
            new.append((index, value))
        }
        for (index, value) in new { items[index].value = value }
        return [0x19]
    }

    // MARK: Notifying

    /// The notification or indication of a value, empty where none may be sent.
    func notification(_ handle: Int) -> [UInt8] {
        guard let index = items.firstIndex(where: { $0.handle == handle }),
            let cccd = items[index...].dropFirst().prefix(2).first(where: { $0.offered != nil }),
            items[index].isCharacteristicValue
        else { return [] }
        let permissions = items[index].permissions
        var choices = [(bit: UInt8(1), opcode: UInt8(0x1B), access: permissions.notify)]
        choices.append((2, 0x1D, permissions.indicate))
        let asked = choices.filter { cccd.value[0] & $0.bit != 0 && $0.access.level != .refused }
        guard let choice = asked.first, objection(choice.access, 0) == nil else { return [] }
        return [choice.opcode] + octets(handle) + items[index].value.prefix(mtu - 3)
    }

    // MARK: Permission

    /// The error for an operation under `access`, `refused` where it does not exist.
    private func objection(_ access: Access, _ refused: UInt8) -> UInt8? {
        let encryptionIsWanted = access.keySizeMin > 0
        switch access.level {
        case .refused: return refused
        case .open where !encryptionIsWanted: break
        case .open, .encrypted, .authenticated, .secure:
            if !security.encrypted { return security.bonded ? 0x0F : 0x05 }
            let isStrong = access.level == .authenticated || access.level == .secure
            if isStrong && !security.authenticated { return 0x05 }
            if access.level == .secure && !security.secureConnections { return 0x05 }
            let size = access.level == .secure ? 16 : access.keySizeMin
            if security.keySize < size { return 0x0C }
        }
        return access.authorization && !security.authorized ? 0x08 : nil
    }

    private func octets(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number / 256)] }
}

extension ArraySlice<UInt8> {
    func copied() -> [UInt8] { Array(self) }
}

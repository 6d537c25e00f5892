// disconnect, list and watch: the device as a whole.
import BLEHost
import GATT
import HCI
import Profiles
public import SansIO
public import Wire

extension ControlMethod {
    static let disconnect = ControlMethod(
        name: "disconnect", parameters: [.init(name: "link", kind: .number, isOptional: true)],
        reach: .all, help: "end the link of this number, or all",
        run: { call, device, out, emit throws(RPCError) in
            let ended = try device.links(call.number("link"))
            let links = ended.map { device.link($0) }
            for link in ended {
                device.disconnect(link, at: call.now, sending: &out, emit: &emit)
            }
            return .members(("links", .array(links)))
        },
        text: { result in
            let links = result["links"]?.elements ?? []
            return links.isEmpty
                ? ["nobody is connected"]
                : links.map { "\($0["peer"]?.string ?? "") is disconnected" }
        })

    static let list = ControlMethod(
        name: "list", parameters: [], reach: .all,
        help: "services, characteristics, handles, values and links",
        run: { _, device, _, _ throws(RPCError) in device.inventory },
        text: { inventoryText($0) })

    /// The method whose client is told more than its answer.
    public static let watchName = "watch"

    static let watch = ControlMethod(
        name: watchName, parameters: [], reach: .run,
        help: "every event from now on, as --json prints it",
        run: { call, _, _, _ throws(RPCError) in
            call.isWatching = true
            return .members(("watching", .boolean(true)))
        },
        text: { _ in [] })

    private static func inventoryText(_ list: JSONValue) -> [String] {
        let services = list["services"]?.elements ?? []
        let all = services.flatMap { $0["characteristics"]?.elements ?? [] }
        let width = all.map { $0["characteristic"]?.string?.count ?? 0 }.max() ?? 0
        let address = list["address"]?.string ?? "the controller's address"
        var lines = ["\(list["name"]?.string ?? ""), \(address)"]
        for service in services {
            let label = service["label"]?.string.map { " '\($0)'" } ?? ""
            lines.append(
                "\(service["service"]?.string ?? "") \(service["uuid"]?.string ?? "")\(label)")
            for value in service["characteristics"]?.elements ?? [] {
                let name = value["characteristic"]?.string ?? ""
                let properties = (value["properties"]?.elements ?? []).compactMap(\.string)
                lines.append(
                    "  \(name)" + String(repeating: " ", count: width - name.count)
                        + "  \(Hex.code(UInt16(clamping: value["handle"]?.integer ?? 0)))  "
                        + "\(properties.joined(separator: ", ")) = \(value["text"]?.string ?? "")")
            }
        }
        let links = list["links"]?.elements ?? []
        if links.isEmpty { lines.append("nobody is connected") }
        for link in links {
            let subscribed = (link["subscribed"]?.elements ?? []).compactMap(\.string)
            let security = (link["security"]?.elements ?? []).compactMap(\.string)
            lines.append(
                "link \(link["link"]?.integer ?? 0): \(link["peer"]?.string ?? ""), "
                    + "MTU \(link["mtu"]?.integer ?? 0)" + security.map { ", \($0)" }.joined()
                    + (subscribed.isEmpty
                        ? "" : ", subscribed to \(subscribed.joined(separator: ", "))"))
        }
        return lines
    }
}

extension EmulatedDevice {
    /// The numbers of the links that are open.
    var openLinks: [Int] { host.links.indices.filter { host.links[$0].isOpen } }

    /// The link of this number; nil: all that are open.
    func links(_ number: Int?) throws(RPCError) -> [Int] {
        let open = openLinks
        guard let number else { return open }
        guard open.contains(number) else {
            let others = open.map { "\($0)" }.joined(separator: ", ")
            throw .parameters(
                "there is no link \(number); "
                    + (open.isEmpty ? "nobody is connected" : "open are \(others)"))
        }
        return [number]
    }

    /// Ends a link, as a user who switches the connection off; `.disconnected` follows.
    public mutating func disconnect(
        _ link: Int, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<DeviceEvent>
    ) {
        host.disconnect(link, at: now, sending: &out)
        forward(at: now, &out, &emit)
    }

    /// The object for a link.
    func link(_ link: Int) -> JSONValue {
        let subscribed = plan.bindings.filter { subscribers(of: $0).contains(link) }
        return .members(
            ("link", .integer(Int64(link))),
            ("peer", .string("\(host.links[link].information.peerAddress)")),
            ("mtu", .integer(Int64(host.server.mtu(of: link)))),
            ("security", .array(host.linkSecurity(of: link).words.map { .string($0) })),
            ("subscribed", .array(subscribed.map { .string($0.name) })))
    }

    /// The object for all that the device has.
    var inventory: JSONValue {
        .members(
            ("name", .string(profile.device.name)),
            (
                "address",
                (host.privateAddress ?? randomAddress).map { .string("\($0)") } ?? .null
            ),
            ("services", .array(services)), ("links", .array(openLinks.map { link($0) })))
    }

    private var services: [JSONValue] {
        let table = plan.table
        return table.attributes.indices.compactMap { index in
            let attribute = table.attributes[index]
            guard attribute.kind == .service else { return nil }
            let uuid = BluetoothUUID(littleEndian: table.value(at: index).span)
            let range = attribute.handle...max(attribute.handle, attribute.groupEnd)
            let label = plan.service(declaredAt: attribute.handle)
                .flatMap { profile.services[$0].label }
            let own = plan.bindings.filter { range.contains($0.valueHandle) }
            return .members(
                (
                    "service",
                    .string(uuid.map { AssignedNames.service($0) ?? $0.description } ?? "unknown")
                ),
                ("label", label.map { .string($0) } ?? .null),
                ("uuid", .string(uuid?.description ?? "")),
                ("handle", .integer(Int64(attribute.handle))),
                ("end", .integer(Int64(attribute.groupEnd))),
                ("characteristics", .array(own.map { characteristic($0) })))
        }
    }

    private func characteristic(_ binding: ValueBinding) -> JSONValue {
        let bytes = host.server.value(of: binding.valueHandle) ?? []
        // The declaration stands right before the value, and begins with the properties.
        let declaration = plan.declaration(of: binding)
        let names = CharacteristicProperties(rawValue: declaration.first ?? 0).names
        return .object(
            [
                JSONMember("characteristic", .string(binding.name)),
                JSONMember("uuid", .string(binding.uuid.description)),
                JSONMember("handle", .integer(Int64(binding.valueHandle))),
                JSONMember("properties", .array(names.map { .string($0) })),
            ] + Self.members(of: binding.format.meaning(of: bytes), bytes))
    }
}

extension LinkSecurity {
    /// What it has, in words.
    fileprivate var words: [String] {
        [
            (encrypted, "encrypted"), (authenticated, "authenticated"),
            (encrypted && secureConnections, "secure-connections"), (bonded, "bonded"),
            (authorized, "authorized"),
        ].filter(\.0).map(\.1)
    }
}

extension AttributePlan {
    /// The value of the declaration of a characteristic.
    fileprivate func declaration(of binding: ValueBinding) -> [UInt8] {
        guard let index = table.index(of: binding.valueHandle) else { return [] }
        for index in (0..<index).reversed() where table.attributes[index].kind == .characteristic {
            return table.value(at: index)
        }
        return []
    }
}

// get, set and notify: the values of a device at work.
import BLEHost
import GATT
import Profiles
import SansIO
import Wire

extension ControlMethod {
    static let get = ControlMethod(
        name: "get", parameters: [.init(name: "reference", kind: .reference)],
        help: "the value that REFERENCE names, decoded",
        run: { call, device, _, _ throws(RPCError) in
            let reference = try call.text("reference")
            // What every device has is not in the profile, and is read all the same.
            if let implicit = device.implicit(reference) { return try device.value(implicit) }
            return try device.value(device.subject(reference))
        },
        text: { [assignment($0)] })

    static let set = ControlMethod(
        name: "set",
        parameters: [
            .init(name: "reference", kind: .reference), .init(name: "value", kind: .value),
        ],
        help: "a new value, as in the profile or hex:01FF; it no longer moves by itself",
        run: { call, device, out, emit throws(RPCError) in
            let reference = try call.text("reference")
            try device.checkIsInProfile(reference)
            let value = call.value("value") ?? .null
            let setting: ValueSetting
            do throws(ProfileErrors) {
                setting = try ProfileLoader.setting(
                    value.string ?? value.text(), of: reference, in: device.profile, source: "set")
            } catch { throw .parameters(error.sentence) }
            let subject = try device.subject(reference)
            guard device.isOn else { throw notYet }
            guard
                device.set(
                    setting.octets, field: setting.target.field, of: subject.handle, at: call.now,
                    sending: &out, emit: &emit)
            else {
                throw .state(
                    "\(reference): the value does not fit there now: it is too long, or the field "
                        + "is not in the value")
            }
            return try device.value(subject)
        },
        text: { [assignment($0)] })

    static let notify = ControlMethod(
        name: "notify", parameters: [.init(name: "reference", kind: .reference)],
        help: "send the value now to who has subscribed to it",
        run: { call, device, out, emit throws(RPCError) in
            let reference = try call.text("reference")
            try device.checkIsInProfile(reference)
            let subject = try device.subject(reference)
            guard let binding = device.plan.binding(valueHandle: subject.handle),
                binding.cccdHandle != nil
            else {
                throw .parameters(
                    "nobody can subscribe to '\(subject.name)'; "
                        + "write 'notify: open' or 'indicate: open' in the profile")
            }
            guard device.isOn else { throw notYet }
            let links = device.subscribers(of: binding)
            let sent = device.notify(
                subject.handle, to: links, at: call.now, sending: &out, emit: &emit)
            return .members(
                ("characteristic", .string(subject.name)),
                ("handle", .integer(Int64(subject.handle))),
                ("links", .array(sent.map { .integer(Int64($0)) })),
                ("subscribed", .array(links.map { .integer(Int64($0)) })))
        },
        text: { result in
            let name = result["characteristic"]?.string ?? ""
            guard let all = result["subscribed"]?.elements.count, all > 0 else {
                return ["nobody has subscribed to \(name)"]
            }
            let count = result["links"]?.elements.count ?? 0
            let text = "\(name) sent to \(count) \(count == 1 ? "link" : "links")"
            guard count < all else { return [text] }
            return [
                text + " of \(all): an indication waits for the last one's confirmation, and a "
                    + "value too long for a link may be dropped, which the log says"
            ]
        })

    private static var notYet: RPCError {
        .state("the accessory is not on yet: it waits for its controller")
    }

    /// `temperature = 21.50 °C`
    private static func assignment(_ value: JSONValue) -> String {
        let field = value["field"]?.string.map { "." + $0 } ?? ""
        return "\(value["characteristic"]?.string ?? "")\(field) = \(value["text"]?.string ?? "")"
    }
}

extension EmulatedDevice {
    /// What a reference of a request names.
    struct Subject {
        var name: String
        var handle: UInt16
        var field: String?
    }

    func subject(_ reference: String) throws(RPCError) -> Subject {
        let target: WriteAction.Target
        do throws(ProfileErrors) {
            target = try ProfileLoader.target(of: reference, in: profile, source: "")
        } catch { throw .parameters(error.sentence) }
        guard let handle = plan.handle(of: target) else {
            throw .parameters("'\(reference)' has no value")
        }
        let name = plan.binding(valueHandle: handle)?.name ?? reference
        return Subject(name: name, handle: handle, field: target.field)
    }

    /// A characteristic that is added automatically, by its name.
    func implicit(_ name: String) -> Subject? {
        let named = plan.bindings.filter { $0.name == name }
        guard named.count == 1, let binding = named.first,
            !profile.services.contains(where: { $0.name == binding.serviceName })
        else { return nil }
        return Subject(name: name, handle: binding.valueHandle)
    }

    /// What is added automatically can be read, and nothing else.
    func checkIsInProfile(_ reference: String) throws(RPCError) {
        guard let name = implicit(reference)?.name else { return }
        throw .parameters(
            "'\(name)' is added automatically and can only be read; to set or send it, declare its "
                + "service in the profile")
    }

    /// The object for a value as it is now.
    func value(_ subject: Subject) throws(RPCError) -> JSONValue {
        guard let bytes = host.server.value(of: subject.handle),
            let format = plan.binding(valueHandle: subject.handle)?.format
        else { throw .state("'\(subject.name)' has no value") }
        var members = [
            JSONMember("characteristic", .string(subject.name)),
            JSONMember("handle", .integer(Int64(subject.handle))),
        ]
        guard let field = subject.field else {
            return .object(members + Self.members(of: format.meaning(of: bytes), bytes))
        }
        guard let (value, octets) = format.field(field, of: bytes) else {
            throw .state("the field '\(field)' is not in the value of '\(subject.name)' now")
        }
        members.append(JSONMember("field", .string(field)))
        return .object(members + Self.members(of: value, octets))
    }

    static func members(of value: FieldValue, _ octets: [UInt8]?) -> [JSONMember] {
        var members = [JSONMember("value", value.json)]
        if value.unitJSON != .null { members.append(JSONMember("unit", value.unitJSON)) }
        members.append(JSONMember("text", .string(value.text)))
        if let octets { members.append(JSONMember("hex", .string(Hex.string(octets)))) }
        return members
    }

    /// The links whose central has asked for a value.
    func subscribers(of binding: ValueBinding) -> [Int] {
        guard let cccd = binding.cccdHandle else { return [] }
        return host.links.indices.filter { link in
            host.links[link].isOpen && host.server.cccd(of: cccd, client: link) ?? 0 != 0
        }
    }
}

extension ProfileErrors {
    /// The first mistake without a place in a file.
    fileprivate var sentence: String { list.first?.sentence ?? "this is wrong" }
}

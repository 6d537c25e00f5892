// The errors of a profile's layout, at the keys that say its handles.
import GATT
import Wire
import YAML

extension ProfileLoader {
    /// What can only be checked once the whole profile is there: whether it has a table.
    static func checkTable(_ profile: DeviceProfile, _ root: YAMLNode, _ context: DecodeContext) {
        var layout = AttributeLayout(profile)
        _ = layout.build()
        for problem in layout.problems { report(problem, profile, root, context) }
    }

    private static func report(
        _ problem: LayoutProblem, _ profile: DeviceProfile, _ root: YAMLNode,
        _ context: DecodeContext
    ) {
        var place = Finder(root)
        place.enter("services")
        if let service = problem.service { place.enter(service) }
        if let include = problem.include {
            place.enter("includes")
            place.enter(include)
        }
        if let characteristic = problem.characteristic {
            place.enter("characteristics")
            place.enter(characteristic)
        }
        if let descriptor = problem.descriptor {
            place.enter("descriptors")
            place.enter(descriptor)
        }
        switch problem.error {
        case .handleNotAscending(let handle, let last):
            place.enter(saying: handle)
            context.report(
                mark: place.mark, path: place.path,
                "\(Hex.code(handle)) is not behind \(Hex.code(last)), "
                    + "which is taken by what stands before it",
                last < UInt16.max
                    ? "write \(Hex.code(last + 1)) or more" : "write lower ones there")
        case .handleBehindEnd(let handle, let end):
            place.enter(saying: handle)
            context.report(
                mark: place.mark, path: place.path,
                "\(Hex.code(handle)) lies behind the end of its service, \(Hex.code(end))",
                "write a greater 'end', or lower handles")
        case .endBeforeLastAttribute(let end, let last):
            place.enter("end")
            context.report(
                mark: place.mark, path: place.path,
                "\(Hex.code(end)) lies before the service itself, \(Hex.code(last))",
                "write \(Hex.code(last)) or more")
        case .handlesExhausted:
            reportExhausted(problem, profile, place, root, context)
        case .handleZero, .noService, .noCharacteristic, .unknownIncludedService, .valueTooLong:
            // Each checked where it is read.
            context.report(
                mark: place.mark, path: place.path, "the table cannot hold this", "remove it")
        }
    }

    /// Once is enough: each of what follows has no handle either.
    private static func reportExhausted(
        _ problem: LayoutProblem, _ profile: DeviceProfile, _ place: Finder, _ root: YAMLNode,
        _ context: DecodeContext
    ) {
        let services = profile.services
        let saysHandles = services.contains { service in
            service.handle != nil || service.end != nil
                || service.characteristics.contains { $0.handle != nil || $0.valueHandle != nil }
        }
        let text =
            saysHandles
            ? "no handle is left behind 0xFFFF"
            : "the services have more attributes than there are handles, 65535"
        guard !context.errors.contains(where: { $0.problem == text }) else { return }
        guard saysHandles else {
            var all = Finder(root)
            all.enter("services")
            return context.report(mark: all.mark, path: all.path, text, "remove some")
        }
        let isImplicit = problem.service == nil
        context.report(
            mark: place.mark, path: place.path, text,
            "write lower handles" + (isImplicit ? ", or 'implicit-services: false'" : ""))
    }
}

/// A walk into the file along a path, which stays where the path ends.
private struct Finder {
    private var node: YAMLNode
    private(set) var mark: YAMLMark
    private(set) var path = ""

    init(_ root: YAMLNode) {
        node = root
        mark = root.mark
    }

    mutating func enter(_ key: String) {
        guard case .mapping(let pairs) = node.content,
            let pair = pairs.first(where: { $0.key == key })
        else { return }
        node = pair.value
        mark = pair.keyMark
        path += path.isEmpty ? key : "." + key
    }

    mutating func enter(_ index: Int) {
        guard case .sequence(let nodes) = node.content, nodes.indices.contains(index) else {
            return
        }
        node = nodes[index]
        mark = node.mark
        path += "[\(index)]"
    }

    /// Enters the key that says this handle.
    mutating func enter(saying handle: UInt16) {
        guard case .mapping(let pairs) = node.content else { return }
        for key in ["value-handle", "handle"] {
            guard let pair = pairs.first(where: { $0.key == key }),
                case .scalar(let scalar) = pair.value.content,
                case .integer(let value) = scalar.value, value == Int64(handle)
            else { continue }
            path += "." + key
            mark = pair.value.mark
            return
        }
    }
}

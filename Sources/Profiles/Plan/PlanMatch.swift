// Which attributes of one version of a profile are those of another, whatever their handles.
public import GATT
import Wire

/// Two plans side by side. A characteristic is the same where its service, its name and its type
/// are, a descriptor where its characteristic and its type are.
public struct PlanMatch {
    private let old: AttributePlan
    private let new: AttributePlan
    /// For each binding of the new plan the index of the same one in the old plan.
    private let twins: [Int?]

    public init(from old: AttributePlan, to new: AttributePlan) {
        self.old = old
        self.new = new
        var places: [String: Int] = [:]
        for (index, name) in old.bindingNames.enumerated() { places[name] = index }
        twins = new.bindingNames.indices.map { index in
            places[new.bindingNames[index]].flatMap {
                old.bindings[$0].uuid == new.bindings[index].uuid ? $0 : nil
            }
        }
    }

    /// The old binding of the characteristic that has this index in the new plan; nil where there
    /// was none.
    public func twin(of index: Int) -> ValueBinding? { twins[index].map { old.bindings[$0] } }

    /// Descriptors that both versions declare the same, and whose value is no longer that.
    /// - Parameter table: the old plan's at work.
    /// - Returns: the handle in the new plan, and the value.
    public func writtenDescriptors(in table: AttributeTable) -> [(handle: UInt16, value: [UInt8])] {
        var written: [(handle: UInt16, value: [UInt8])] = []
        for index in twins.indices {
            guard let twin = twins[index] else { continue }
            let (before, after) = (descriptors(old, twin), descriptors(new, index))
            for (place, descriptor) in after.enumerated() {
                // The second of a type is the second of it.
                let count = after[..<place].count { $0.type == descriptor.type }
                let same = before.filter { $0.type == descriptor.type }
                guard count < same.count, same[count].value == descriptor.value,
                    let live = table.index(of: same[count].handle)
                else { continue }
                let value = table.value(at: live)
                if value != descriptor.value { written.append((descriptor.handle, value)) }
            }
        }
        return written
    }

    private struct Descriptor {
        let handle: UInt16
        let type: BluetoothUUID
        let value: [UInt8]
    }

    /// The descriptors of a binding whose values are the same for all clients, as declared.
    private func descriptors(_ plan: AttributePlan, _ binding: Int) -> [Descriptor] {
        guard let value = plan.table.index(of: plan.bindings[binding].valueHandle) else {
            return []
        }
        var found: [Descriptor] = []
        for index in (value + 1)..<max(plan.table.attributes.count, value + 1) {
            let attribute = plan.table.attributes[index]
            switch attribute.kind {
            case .service, .include, .characteristic: return found
            case .value, .serverConfiguration:
                found.append(
                    Descriptor(
                        handle: attribute.handle, type: attribute.type,
                        value: plan.table.value(at: index)))
            case .clientConfiguration, .clientSupportedFeatures, .databaseHash, .serviceChanged:
                break
            }
        }
        return found
    }
}

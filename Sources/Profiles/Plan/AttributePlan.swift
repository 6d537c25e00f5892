// The attributes a profile makes, with their handles, and what is bound to them.
public import Behaviours
public import SansIO
public import Wire

/// One attribute of the plan.
public struct PlannedAttribute: Equatable, Sendable {
    public enum Role: Equatable, Sendable {
        case service
        case characteristicDeclaration
        case characteristicValue
        case descriptor
    }

    public var handle: UInt16
    public var type: BluetoothUUID
    public var role: Role
    public var read: AccessSpec?
    public var write: AccessSpec?
    public var writeWithoutResponse: AccessSpec?
    /// The value at power-on.
    public var value: [UInt8]
    public var lengthMax: Int
}

/// A characteristic of the plan and what moves its value.
public struct ValueBinding: Equatable, Sendable {
    /// The label, the assigned name or the UUID, for messages and references.
    public var name: String
    public var serviceName: String
    public var uuid: BluetoothUUID
    public var valueHandle: UInt16
    /// nil where the characteristic neither notifies nor indicates.
    public var cccdHandle: UInt16?
    public var canNotify: Bool
    public var canIndicate: Bool
    public var format: ValueFormat
    public var source: ValueSource
    /// The time between two samples; nil for a constant.
    public var update: TimeSpan?
    public var send: SendRule
}

/// A profile's attribute table before and beside the server's: who has which handle and why.
public struct AttributePlan: Equatable, Sendable {
    /// By rising handle, from 0x0001.
    public private(set) var attributes: [PlannedAttribute] = []
    /// One for each characteristic, by rising value handle.
    public private(set) var bindings: [ValueBinding] = []

    /// Plans the attributes of `profile`: GAP and GATT services first, unless the profile has them.
    public init(_ profile: DeviceProfile) {}

    /// Handles are 16 bits, and 0 is none.
    static let attributesMax = 0xFFFF

    static func attributeCount(_ profile: DeviceProfile) -> Int { 0 }

    /// The binding of a value's handle; nil where there is none.
    public func binding(valueHandle: UInt16) -> ValueBinding? {
        bindings.first { $0.valueHandle == valueHandle }
    }

    /// The binding of a CCCD's handle; nil where there is none.
    public func binding(cccdHandle: UInt16) -> ValueBinding? {
        bindings.first { $0.cccdHandle == cccdHandle }
    }
}

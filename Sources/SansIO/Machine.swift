// The contract of every protocol layer: input and now go in, outputs and a next deadline come out.

/// A protocol layer as a value: no sockets, no clock, no callbacks.
///
/// A call emits a bounded number of outputs, whatever a peer sends. Whoever drives the machine calls
/// `expire` when `deadline` has been reached, and asks `deadline` again after every call.
public protocol Machine {
    associatedtype Input
    associatedtype Output
    mutating func handle(_ input: Input, at now: Instant, emit: inout Outputs<Output>)
    /// When `expire` must be called next; nil while nothing is due.
    var deadline: Instant? { get }
    mutating func expire(at now: Instant, emit: inout Outputs<Output>)
}

/// What a step has to say, in order. The driver reuses one and empties it between steps.
public struct Outputs<Element> {
    public private(set) var elements: [Element] = []

    @inlinable public init(capacity: Int = 16) { reserve(capacity) }

    @usableFromInline mutating func reserve(_ capacity: Int) { elements.reserveCapacity(capacity) }

    @inlinable public var isEmpty: Bool { elements.isEmpty }
    @inlinable public var count: Int { elements.count }

    public mutating func append(_ element: Element) { elements.append(element) }

    /// Empties the list and keeps its memory.
    public mutating func removeAll() { elements.removeAll(keepingCapacity: true) }
}

extension Outputs: Sendable where Element: Sendable {}

// The contract of every protocol layer: input and now go in, outputs and a next deadline come out.

/// A protocol layer as a value: no sockets, no clock, no callbacks.
///
/// A call emits a bounded number of outputs, whatever a peer sends. Whoever drives the machine
/// calls
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
    @usableFromInline var storage: [Element] = []
    @inlinable public var elements: [Element] { storage }

    @inlinable public init(capacity: Int = 16) { storage.reserveCapacity(capacity) }

    @inlinable public var isEmpty: Bool { storage.isEmpty }
    @inlinable public var count: Int { storage.count }

    /// Takes one more, behind the others.
    @inlinable public mutating func append(_ element: Element) { storage.append(element) }

    /// Empties the list and keeps its memory.
    @inlinable public mutating func removeAll() {
        // Mostly there is nothing, and finding that out is cheaper.
        if !storage.isEmpty { storage.removeAll(keepingCapacity: true) }
    }
}

extension Outputs: Sendable where Element: Sendable {}

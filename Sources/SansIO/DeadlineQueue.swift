// Many machines, one next deadline: a heap that re-keys only what was touched.

/// The next deadline of many machines, each known by a small index.
///
/// Ties are served in the order of the indices, so that equal runs stay equal.
public struct DeadlineQueue: Sendable {
    private var heap: [Int] = []
    private var position: [Int] = []
    private var deadlines: [Instant] = []

    public init() {}

    /// The machine that is due first, and when.
    public var first: (index: Int, deadline: Instant)? {
        guard let index = heap.first else { return nil }
        return (index, deadlines[index])
    }

    /// Says when machine `index` is due next; nil takes it out.
    public mutating func set(_ index: Int, to deadline: Instant?) {
        precondition(index >= 0, "a machine's index is not negative")
        while position.count <= index {
            position.append(-1)
            deadlines.append(.zero)
        }
        guard let deadline else { return remove(index) }
        deadlines[index] = deadline
        if position[index] < 0 {
            position[index] = heap.count
            heap.append(index)
        }
        siftUp(position[index])
        siftDown(position[index])
    }

    private mutating func remove(_ index: Int) {
        let place = position[index]
        guard place >= 0 else { return }
        let last = heap.removeLast()
        position[index] = -1
        guard last != index else { return }
        heap[place] = last
        position[last] = place
        siftUp(place)
        siftDown(position[last])
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        deadlines[left] == deadlines[right] ? left < right : deadlines[left] < deadlines[right]
    }

    private mutating func exchange(_ left: Int, _ right: Int) {
        heap.swapAt(left, right)
        position[heap[left]] = left
        position[heap[right]] = right
    }

    private mutating func siftUp(_ start: Int) {
        var place = start
        while place > 0, isBefore(heap[place], heap[(place - 1) / 2]) {
            exchange(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var place = start
        while true {
            var smallest = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < heap.count && isBefore(heap[child], heap[smallest]) { smallest = child }
            guard smallest != place else { return }
            exchange(place, smallest)
            place = smallest
        }
    }
}

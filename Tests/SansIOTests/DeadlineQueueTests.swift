// The heap of deadlines beside a plain list of them.
import SansIO
import Testing

@Suite struct DeadlineQueueTests {
    @Test("the first deadline is that of a plain list, over thousands of changes", arguments: 1...8)
    func model(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed), stream: "deadlines")
        var queue = DeadlineQueue()
        var model: [Instant?] = Array(repeating: nil, count: 40)
        for _ in 0..<3_000 {
            let index = Int(random.below(40))
            // Few instants, so that ties are common.
            let deadline = random.below(4) == 0 ? nil : Instant(microseconds: random.below(12))
            queue.set(index, to: deadline)
            model[index] = deadline
            var expected: (index: Int, deadline: Instant)?
            for (index, deadline) in model.enumerated() {
                guard let deadline else { continue }
                if let earlier = expected, earlier.deadline <= deadline { continue }
                expected = (index, deadline)
            }
            #expect(queue.first?.index == expected?.index)
            #expect(queue.first?.deadline == expected?.deadline)
        }
    }

    @Test("taken out one after another, all come in order of time and index")
    func drain() {
        var random = SeededRandom(seed: 9)
        var queue = DeadlineQueue()
        for index in 0..<500 { queue.set(index, to: Instant(microseconds: random.below(50))) }
        var taken: [(Instant, Int)] = []
        while let first = queue.first {
            taken.append((first.deadline, first.index))
            queue.set(first.index, to: nil)
        }
        #expect(taken.count == 500)
        #expect(zip(taken, taken.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("taking out what is not in, or nothing at all, changes nothing")
    func absent() {
        var queue = DeadlineQueue()
        queue.set(3, to: nil)
        #expect(queue.first == nil)
        queue.set(1, to: .zero)
        queue.set(3, to: nil)
        #expect(queue.first?.index == 1)
        queue.set(1, to: nil)
        queue.set(1, to: nil)
        #expect(queue.first == nil)
    }
}

// The loop: order of deadlines, no needless wake-up, signals, descriptors that come and go.
import Glibc
import SansIO
import Testing
import Wire

@testable import LinuxIO

extension LinuxIOTests {
    @Suite struct EventLoopTests {
        private func pipePair() throws -> (read: Descriptor, write: Descriptor) {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
            return (Descriptor(ends[0]), Descriptor(ends[1]))
        }

        @Test("deadlines are served in their order, none before its time")
        func deadlines() throws {
            var loop = try EventLoop()
            var queue = DeadlineQueue()
            let start = loop.now()
            for (index, delay) in [30, 10, 20, 0, 10].enumerated() {
                queue.set(index, to: start + .milliseconds(Int64(delay)))
            }
            var order: [Int] = []
            while let first = queue.first {
                try loop.wait(until: first.deadline)
                while let due = queue.first, due.deadline <= loop.now() {
                    order.append(due.index)
                    queue.set(due.index, to: nil)
                }
            }
            #expect(order == [3, 1, 4, 2, 0])
        }

        @Test("while nothing is due the process is not woken")
        func idle() throws {
            var loop = try EventLoop()
            let ends = try pipePair()
            let token = loop.makeToken()
            try loop.watch(ends.read, as: token, for: .readable)
            let deadline = loop.now() + .milliseconds(300)
            while loop.now() < deadline { try loop.wait(until: deadline) }
            #expect(loop.wakeUpCount == 1)
            #expect(loop.events.isEmpty)
        }

        @Test("a deadline that is taken back or moved later does not wake")
        func movedDeadline() throws {
            var loop = try EventLoop()
            let ends = try pipePair()
            let token = loop.makeToken()
            try loop.watch(ends.read, as: token, for: .readable)
            let early = loop.now() + .milliseconds(40)
            _ = try ends.write.write([1], 0..<1, to: "pipe")
            try loop.wait(until: early)
            #expect(loop.events.map(\.token) == [token])
            loop.unwatch(token)
            let late = loop.now() + .milliseconds(200)
            try loop.wait(until: late)
            #expect(loop.now() >= late)
            #expect(loop.wakeUpCount == 2)
        }

        @Test("a deadline that has passed only looks at what is ready")
        func pastDeadline() throws {
            var loop = try EventLoop()
            let ends = try pipePair()
            let token = loop.makeToken()
            try loop.watch(ends.read, as: token, for: [.readable])
            try loop.wait(until: .zero)
            #expect(loop.events.isEmpty)
            _ = try ends.write.write([1], 0..<1, to: "pipe")
            try loop.wait(until: Instant(microseconds: -5))
            #expect(loop.events.map(\.isReadable) == [true])
        }

        @Test("the farthest deadline is one the timer takes")
        func farDeadline() throws {
            var loop = try EventLoop()
            let ends = try pipePair()
            let token = loop.makeToken()
            try loop.watch(ends.read, as: token, for: .readable)
            _ = try ends.write.write([1], 0..<1, to: "pipe")
            try loop.wait(until: Instant(microseconds: .max))
            #expect(loop.events.count == 1)
        }

        @Test("SIGINT and SIGTERM are reported, one a turn, and do not end the process")
        func signals() throws {
            var loop = try EventLoop()
            raise(SIGTERM)
            try loop.wait(until: loop.patience())
            #expect(loop.signal == .terminate)
            raise(SIGINT)
            try loop.wait(until: loop.patience())
            #expect(loop.signal == .interrupt)
            try loop.wait(until: .zero)
            #expect(loop.signal == nil)
        }

        @Test("another descriptor takes the place of a closed one that had the same number")
        func reusedNumber() throws {
            var loop = try EventLoop()
            let token = loop.makeToken()
            for _ in 0..<3 {
                let ends = try pipePair()
                try loop.watch(ends.read, as: token, for: .readable)
                _ = try ends.write.write([1], 0..<1, to: "pipe")
                try loop.wait(until: loop.patience())
                #expect(loop.events.map(\.token) == [token])
                ends.read.close()
            }
            loop.unwatch(token)
            try loop.wait(until: .zero)
            #expect(loop.events.isEmpty)
        }

        @Test("a hang-up is reported without being asked for")
        func hangup() throws {
            var loop = try EventLoop()
            let ends = try pipePair()
            let token = loop.makeToken()
            try loop.watch(ends.read, as: token, for: [])
            ends.write.close()
            try loop.wait(until: loop.patience())
            #expect(loop.events.map(\.isHangup) == [true])
        }

        @Test("the wall clock stands at 1970 and runs with the instants")
        func wallClock() throws {
            let loop = try EventLoop()
            let now = loop.now()
            let difference =
                loop.unixMicroseconds(at: now + .seconds(5)) - loop.unixMicroseconds(at: now)
            #expect(difference == 5_000_000)
            // 2025-01-01 and 2100-01-01
            #expect(
                (1_735_689_600_000_000..<4_102_444_800_000_000).contains(
                    loop.unixMicroseconds(at: now)))
        }
    }
}

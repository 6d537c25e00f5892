// The air's door and the TCP client against each other.
import Glibc
import SansIO
import Testing
import Wire

@testable import LinuxIO

extension LinuxIOTests {
    @Suite struct AirServerTests {
        /// A client and what it has got, driven together with a server that echoes.
        private final class Pair {
            var loop: EventLoop
            let server: AirServer
            let client: ByteTransport
            let token: Token
            var buffer = ReadBuffer()
            var output = ByteBlock()
            var received: [UInt8] = []
            var isOpened = false
            var reasons: [String] = []

            init() throws {
                var loop = try EventLoop()
                server = try AirServer(Endpoint(loopbackPort: 0), loop: &loop)
                client = try transport("tcp-client:\(server.endpoint)")
                token = loop.makeToken()
                try loop.watch(client, as: token)
                self.loop = loop
            }

            /// One turn; false when patience is over.
            func turn(until deadline: Instant) throws -> Bool {
                try loop.wait(until: deadline)
                for event in loop.events {
                    if event.token == token {
                        switch try client.read(into: &buffer) {
                        case .opened: isOpened = true
                        case .bytes(let count): received += buffer.bytes.prefix(count)
                        case .wouldBlock: break
                        case .closed: reasons.append("closed by the server")
                        }
                    } else {
                        switch try server.handle(event, loop: &loop, buffer: &buffer) {
                        case .bytes(let peer, let count):
                            peer.output.append(buffer.bytes.span.extracting(first: count))
                        case .closed(_, let reason): reasons.append(reason)
                        case .opened, .nothing: break
                        }
                    }
                }
                try client.write(&output)
                try loop.watch(client, as: token)
                for case .closed(_, let reason) in try server.flush(&loop) {
                    reasons.append(reason)
                }
                return loop.now() < deadline
            }
        }

        @Test("10 MB go through and come back whole, through partial writes")
        func roundTrip() throws {
            let pair = try Pair()
            let sent = pattern(10_000_000)
            pair.output.append(sent)
            let deadline = pair.loop.patience()
            var partialWrites = 0
            while pair.received.count < sent.count, try pair.turn(until: deadline) {
                if pair.isOpened, !pair.output.isEmpty { partialWrites += 1 }
            }
            #expect(pair.isOpened)
            #expect(pair.received == sent)
            #expect(partialWrites > 0)
            #expect(pair.output.isEmpty)
            #expect(pair.reasons.isEmpty)
        }

        @Test("an idle connection wakes nobody")
        func idle() throws {
            let pair = try Pair()
            let deadline = pair.loop.patience()
            while !pair.isOpened || pair.server.peers.isEmpty, try pair.turn(until: deadline) {}
            let before = pair.loop.wakeUpCount
            let end = pair.loop.now() + .milliseconds(300)
            while try pair.turn(until: end) {}
            #expect(pair.loop.wakeUpCount == before + 1)
        }

        @Test("a host that leaves more than 1 MiB unread is dropped with the reason")
        func stalled() throws {
            var loop = try EventLoop()
            var buffer = ReadBuffer()
            let server = try AirServer(Endpoint(loopbackPort: 0), loop: &loop)
            // It connects and never reads.
            let client = try transport("tcp-client:\(server.endpoint)")
            let deadline = loop.patience()
            while server.peers.isEmpty, loop.now() < deadline {
                try loop.wait(until: deadline)
                for event in loop.events {
                    _ = try server.handle(event, loop: &loop, buffer: &buffer)
                }
            }
            var reasons: [String] = []
            let chunk = pattern(100_000)
            while let peer = server.peers.first, loop.now() < deadline {
                peer.output.append(chunk)
                for case .closed(_, let reason) in try server.flush(&loop) {
                    reasons.append(reason)
                }
            }
            #expect(reasons == ["it left more than 1 MiB unread"])
            #expect(client.descriptor != nil)
        }

        @Test("200 connections come and go and leave no descriptor behind")
        func noLeak() throws {
            let before = openSocketCount()
            do {
                var loop = try EventLoop()
                var buffer = ReadBuffer()
                let server = try AirServer(Endpoint(loopbackPort: 0), loop: &loop)
                let base = openSocketCount()
                var closed = 0
                for _ in 0..<200 {
                    let client = try transport("tcp-client:\(server.endpoint)")
                    let token = loop.makeToken()
                    try loop.watch(client, as: token)
                    let deadline = loop.patience()
                    let target = closed + 1
                    while closed < target, loop.now() < deadline {
                        try loop.wait(until: deadline)
                        for event in loop.events {
                            if event.token == token {
                                if try client.read(into: &buffer) == .opened { client.close() }
                                try loop.watch(client, as: token)
                            } else if case .closed = try server.handle(
                                event, loop: &loop, buffer: &buffer)
                            {
                                closed += 1
                            }
                        }
                    }
                }
                #expect(closed == 200)
                #expect(openSocketCount() == base)
            }
            #expect(openSocketCount() == before)
        }

        @Test("several hosts are kept apart by their tokens")
        func severalPeers() throws {
            var loop = try EventLoop()
            var buffer = ReadBuffer()
            let server = try AirServer(Endpoint(loopbackPort: 0), loop: &loop)
            var clients: [(transport: ByteTransport, token: Token, received: [UInt8])] = []
            for _ in 0..<5 {
                let token = loop.makeToken()
                clients.append((try transport("tcp-client:\(server.endpoint)"), token, []))
                try loop.watch(clients[clients.count - 1].transport, as: token)
            }
            let deadline = loop.patience()
            while clients.contains(where: { $0.received.count < 2 }), loop.now() < deadline {
                try loop.wait(until: deadline)
                for event in loop.events {
                    if let index = clients.firstIndex(where: { $0.token == event.token }) {
                        switch try clients[index].transport.read(into: &buffer) {
                        case .opened:
                            var block = ByteBlock()
                            block.append(UInt8(index))
                            try clients[index].transport.write(&block)
                        case .bytes(let count):
                            clients[index].received += buffer.bytes.prefix(count)
                        case .wouldBlock, .closed: break
                        }
                        try loop.watch(clients[index].transport, as: event.token)
                    } else if case .bytes(let peer, let count) = try server.handle(
                        event, loop: &loop, buffer: &buffer)
                    {
                        #expect(server.peer(peer.token) === peer)
                        for octet in buffer.bytes.prefix(count) {
                            peer.output.append([octet, octet])
                        }
                    }
                }
                _ = try server.flush(&loop)
            }
            #expect(clients.map(\.received) == (0..<5).map { [UInt8($0), UInt8($0)] })
        }

        @Test("a port that is taken is said with its address")
        func busyPort() throws {
            var loop = try EventLoop()
            let first = try AirServer(Endpoint(loopbackPort: 0), loop: &loop)
            let error = #expect(throws: SystemError.self) {
                var other = try EventLoop()
                _ = try AirServer(first.endpoint, loop: &other)
            }
            #expect(
                error?.description == "cannot listen at \(first.endpoint): Address already in use")
        }
    }
}

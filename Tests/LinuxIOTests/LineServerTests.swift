// The local server of text lines, and rude clients.
import Glibc
import SansIO
import Testing
import Wire

@testable import LinuxIO

extension LinuxIOTests {
    @Suite struct LineServerTests {
        /// A server that answers each line with its length, or `long`.
        private final class Rig {
            let path = temporaryPath("lines")
            var loop: EventLoop
            let server: LineServer
            var lines: [String] = []
            var reasons: [String] = []

            init() throws {
                var loop = try EventLoop()
                server = try LineServer(
                    path: path, lineOctetsMax: 64, refusal: "full\n", loop: &loop)
                self.loop = loop
            }

            func connect() throws -> Descriptor {
                guard case .done(let client) = try Sockets.connect(toPath: path) else {
                    throw SystemError(EINPROGRESS, operation: "connect to", object: path)
                }
                return client
            }

            func send(_ text: String, _ client: Descriptor) throws {
                let octets = Array(text.utf8)
                var start = 0
                while start < octets.count {
                    start += try client.write(octets, start..<octets.count, to: path)
                    try turn()
                }
            }

            func turn() throws {
                try loop.wait(until: loop.now() + .milliseconds(5))
                for event in loop.events { try server.handle(event, loop: &loop) }
                while let (client, line) = server.nextLine() {
                    switch line {
                    case .line(let octets):
                        lines.append(String(decoding: octets, as: UTF8.self))
                        client.answer(Array("\(octets.count)\n".utf8))
                    case .tooLong:
                        lines.append("long")
                        client.answer(Array("long\n".utf8))
                    }
                }
                reasons += try server.flush(&loop)
            }

            func turn(until isDone: () -> Bool) throws {
                let patience = loop.patience()
                while !isDone(), loop.now() < patience { try turn() }
            }

            func read(_ client: Descriptor) throws -> String? {
                var buffer = ReadBuffer()
                switch try buffer.fill(from: client, path) {
                case .wouldBlock: return nil
                case .count(let count):
                    return String(decoding: buffer.bytes.prefix(count), as: UTF8.self)
                }
            }
        }

        @Test("only the owner may connect, and the socket goes with the server")
        func mode() throws {
            var rig: Rig? = try Rig()
            let path = rig?.path ?? ""
            var status = stat()
            #expect(lstat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600 && status.st_mode & S_IFMT == S_IFSOCK)
            let mask = umask(0o022)
            umask(mask)
            #expect(mask != 0o177)
            rig = nil
            #expect(access(path, F_OK) != 0)
        }

        @Test("what a killed program left behind is replaced; what others use is refused")
        func occupied() throws {
            let rig = try Rig()
            var loop = try EventLoop()
            func refusal(_ path: String) -> String {
                do throws(SystemError) {
                    _ = try LineServer(path: path, lineOctetsMax: 64, loop: &loop)
                    return "it listens"
                } catch { return error.description }
            }
            #expect(
                refusal(rig.path) == "cannot listen at \(rig.path): another program listens there; "
                    + "choose another path, or end that program")
            let file = temporaryPath("no-socket")
            try FileOutput(path: file).close()
            #expect(
                refusal(file) == "cannot listen at \(file): there is a file that is no socket; "
                    + "choose another path, or remove the file")
            unlink(file)
            #expect(refusal("").contains("an empty path"))
            #expect(refusal(String(repeating: "a", count: 108)).contains("too long"))
            let stale = temporaryPath("stale")
            _ = try Sockets.listen(atPath: stale, backlog: 1)
            #expect(refusal(stale) == "it listens")
            #expect(access(stale, F_OK) != 0)
        }

        @Test("the end of a server leaves alone what others have put in the place of its socket")
        func replaced() throws {
            var rig: Rig? = try Rig()
            let path = rig?.path ?? ""
            unlink(path)
            let next = try Sockets.listen(atPath: path, backlog: 1)
            rig = nil
            #expect(access(path, F_OK) == 0)
            next.close()
            unlink(path)
        }

        @Test("of many that start at once at a path left behind one has it")
        func race() async throws {
            for _ in 0..<25 {
                let path = temporaryPath("race")
                try Sockets.listen(atPath: path, backlog: 1).close()
                let owners = await withTaskGroup(of: Int32?.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            var server = UnixServer(specification: path[...])
                            let listener = try? server?.listen(backlog: 1)
                            // It goes on to listen until all have tried.
                            return listener.map { dup($0.number) }
                        }
                    }
                    return await group.reduce(into: [Int32]()) { $0 += $1.map { [$0] } ?? [] }
                }
                #expect(owners.count == 1)
                for number in owners { close(number) }
                unlink(path)
            }
        }

        @Test("lines of several clients come whole, however they were sent")
        func lines() throws {
            let rig = try Rig()
            let (one, two) = (try rig.connect(), try rig.connect())
            try rig.send("ab", one)
            try rig.send("12345\n\n", two)
            try rig.send("c\nde\nlast", one)
            shutdown(one.number, Int32(SHUT_WR))
            try rig.turn { rig.lines.count == 5 && rig.server.clients.count == 1 }
            #expect(rig.lines.sorted() == ["", "12345", "abc", "de", "last"])
            #expect(try rig.read(one) == "3\n2\n4\n")
            #expect(try rig.read(two) == "5\n0\n")
        }

        @Test("a line that is too long is passed over, and the next one counts")
        func tooLong() throws {
            let rig = try Rig()
            let client = try rig.connect()
            try rig.send(String(repeating: "x", count: 200_000), client)
            try rig.send("tail\nshort\n" + String(repeating: "y", count: 64) + "\n", client)
            try rig.send(String(repeating: "z", count: 65) + "\nend\n", client)
            try rig.turn { rig.lines.last == "end" }
            let exact = String(repeating: "y", count: 64)
            #expect(rig.lines == ["long", "short", exact, "long", "end"])
        }

        @Test("who asks without end and reads nothing waits, and costs bounded memory")
        func slow() throws {
            let rig = try Rig()
            let client = try rig.connect()
            let lines = Array(String(repeating: "\n", count: 65_536).utf8)
            for _ in 0..<64 {
                _ = try client.write(lines, 0..<lines.count, to: rig.path)
                try rig.turn()
            }
            let peer = try #require(rig.server.clients.first)
            #expect(peer.output.count >= LineServer.answersOctetsMax)
            #expect(peer.output.count < 2 * LineServer.answersOctetsMax)
            // It reads at last, and gets all its answers.
            let count = rig.lines.count
            var read = 0
            try rig.turn {
                while let text = try? rig.read(client) { read += text.count }
                return rig.lines.count > count && read >= 2 * count
            }
            #expect(rig.reasons.isEmpty)
        }

        @Test("who is told much and reads nothing is dropped, and the others stay")
        func stalled() throws {
            let rig = try Rig()
            let (stalled, other) = (try rig.connect(), try rig.connect())
            try rig.turn { rig.server.clients.count == 2 }
            let peer = try #require(rig.server.clients.first)
            let piece = pattern(100_000)
            for _ in 0..<20 {
                peer.tell(piece)
                try rig.turn()
            }
            #expect(rig.reasons == ["it left more than 1 MiB unread"])
            #expect(rig.server.clients.count == 1)
            try rig.send("still\n", other)
            try rig.turn { !rig.lines.isEmpty }
            #expect(rig.lines == ["still"])
            stalled.close()
        }

        @Test("an answer of any size arrives; what is told besides it has its limit")
        func large() throws {
            let rig = try Rig()
            let client = try rig.connect()
            try rig.turn { rig.server.clients.count == 1 }
            let peer = try #require(rig.server.clients.first)
            peer.answer(pattern(3 << 20))
            for _ in 0..<20 { try rig.turn() }
            #expect(rig.reasons.isEmpty)
            var buffer = ReadBuffer()
            var octets: [UInt8] = []
            try rig.turn {
                while case .count(let count)? = try? buffer.fill(from: client, rig.path),
                    count > 0
                {
                    octets += buffer.bytes.prefix(count)
                }
                return octets.count >= 3 << 20
            }
            #expect(octets == pattern(3 << 20))
            peer.tell(pattern(2 << 20))
            try rig.turn()
            #expect(rig.reasons.count == 1 && rig.server.clients.isEmpty)
        }

        @Test("clients that vanish leave no descriptor and wake nobody")
        func abrupt() throws {
            let rig = try Rig()
            let before = openSocketCount()
            for number in 0..<100 {
                let client = try rig.connect()
                if number % 3 == 0 { try rig.send("half a li", client) }
                if number % 3 == 1 { try rig.send("ask\n", client) }
                client.close()
                try rig.turn()
            }
            try rig.turn { rig.server.clients.isEmpty }
            #expect(openSocketCount() == before)
            try rig.loop.wait(until: rig.loop.now() + .milliseconds(20))
            #expect(rig.loop.events.isEmpty)
        }

        @Test("the client that is one too many is turned away, and a half-closed one can stay")
        func many() throws {
            let rig = try Rig()
            var clients: [Descriptor] = []
            for _ in 0..<LineServer.clientsMax + 1 {
                clients.append(try rig.connect())
                try rig.turn()
            }
            #expect(rig.server.clients.count == LineServer.clientsMax)
            let last = try #require(clients.last)
            #expect(try rig.read(last) == "full\n")
            #expect(try rig.read(last) == "")
            let peer = try #require(rig.server.clients.first)
            peer.staysAfterEnd = true
            shutdown(clients[0].number, Int32(SHUT_WR))
            shutdown(clients[1].number, Int32(SHUT_WR))
            try rig.turn { rig.server.clients.count == LineServer.clientsMax - 1 }
            peer.tell(Array("told\n".utf8))
            try rig.turn()
            #expect(try rig.read(clients[0]) == "told\n")
            clients[0].close()
            try rig.turn { rig.server.clients.count == LineServer.clientsMax - 2 }
        }
    }
}

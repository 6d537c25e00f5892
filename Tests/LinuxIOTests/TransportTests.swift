// Two transports against each other: octets whole, ends noticed, nothing left behind.
import Glibc
import SansIO
import Testing
import Wire

@testable import LinuxIO

/// Two ends of a pipe, driven together. What `far` receives it sends back.
final class PipePair {
    var loop: EventLoop
    let near: ByteTransport
    let far: ByteTransport
    let nearToken: Token
    let farToken: Token
    var buffer = ReadBuffer()
    var nearOutput = ByteBlock()
    var farOutput = ByteBlock()
    /// What the near end has got back.
    var received: [UInt8] = []
    var opened: [String] = []
    var closed: [String] = []

    init(near: ByteTransport, far: ByteTransport) throws {
        var loop = try EventLoop()
        self.near = near
        self.far = far
        nearToken = loop.makeToken()
        farToken = loop.makeToken()
        self.loop = loop
        try watch()
    }

    private func watch() throws {
        try loop.watch(near, as: nearToken)
        try loop.watch(far, as: farToken)
    }

    /// One turn; false when patience is over.
    func turn(until deadline: Instant) throws -> Bool {
        try loop.wait(until: deadline)
        for event in loop.events {
            let isNear = event.token == nearToken
            let transport = isNear ? near : far
            switch try transport.read(into: &buffer) {
            case .opened: opened.append(isNear ? "near" : "far")
            case .closed: closed.append(isNear ? "near" : "far")
            case .wouldBlock: break
            case .bytes(let count):
                if isNear {
                    received += buffer.bytes.prefix(count)
                } else {
                    farOutput.append([UInt8](buffer.bytes.prefix(count)))
                }
            }
        }
        try near.write(&nearOutput)
        try far.write(&farOutput)
        try watch()
        return loop.now() < deadline
    }

    /// Sends `count` octets to and fro and returns whether they came back whole.
    func echo(_ count: Int) throws -> Bool {
        let sent = pattern(count)
        received = []
        nearOutput.append(sent)
        let deadline = loop.patience()
        while received.count < count, try turn(until: deadline) {}
        return received == sent
    }
}

extension LinuxIOTests {
    @Suite struct TransportTests {
        @Test("tcp-server and tcp-client carry octets both ways")
        func tcp() throws {
            let server = try transport("tcp-server:0")
            let pair = try PipePair(near: server, far: try transport("tcp-client:\(server.place)"))
            #expect(!server.isOpen)
            #expect(try pair.echo(300_000))
            #expect(pair.opened.sorted() == ["far", "near"])
            #expect(server.isOpen && pair.far.isOpen)
        }

        @Test("IPv6 loopback works like IPv4's", .enabled(if: hasIPv6))
        func ipv6() throws {
            let server = try transport("tcp-server:[::1]:0")
            #expect(server.place.hasPrefix("[::1]:"))
            let pair = try PipePair(near: server, far: try transport("tcp-client:\(server.place)"))
            #expect(try pair.echo(1_000))
        }

        static var hasIPv6: Bool { (try? transport("tcp-server:[::1]:0")) != nil }

        @Test("unix-server and unix carry octets, and the socket is removed at the end")
        func unix() throws {
            let path = temporaryPath("socket")
            do {
                let server = try transport("unix-server:\(path)")
                let pair = try PipePair(near: server, far: try transport("unix:\(path)"))
                #expect(try pair.echo(300_000))
                #expect(access(path, F_OK) == 0)
            }
            #expect(access(path, F_OK) != 0)
        }

        @Test("an abstract Unix socket needs no file")
        func abstractUnix() throws {
            let path = "@peripheral-emu-\(getpid())"
            let server = try transport("unix-server:\(path)")
            let pair = try PipePair(near: server, far: try transport("unix:\(path)"))
            #expect(try pair.echo(1_000))
        }

        @Test("a Unix socket that a killed program left behind is replaced")
        func leftBehind() throws {
            let path = temporaryPath("left")
            _ = try Sockets.listen(atPath: path, backlog: 1)
            #expect(access(path, F_OK) == 0)
            let server = try transport("unix-server:\(path)")
            let pair = try PipePair(near: server, far: try transport("unix:\(path)"))
            #expect(try pair.echo(10))
        }

        @Test("a pty opens when a serial port opens its link, and the link is removed at the end")
        func pty() throws {
            let link = temporaryPath("pty")
            do {
                let server = try transport("pty:\(link)")
                var loop = try EventLoop()
                let token = loop.makeToken()
                try loop.watch(server, as: token)
                try loop.wait(until: .zero)
                #expect(loop.events.isEmpty)
                loop.unwatch(token)
                let client = try transport("serial:\(link),115200")
                let pair = try PipePair(near: server, far: client)
                #expect(try pair.echo(100_000))
                #expect(pair.opened.sorted() == ["far", "near"])
            }
            #expect(access(link, F_OK) != 0)
            #expect(access(link, F_OK) != 0 && errno == ENOENT)
        }

        @Test("when the last one closes a pty it has ended, and reopening makes the next one")
        func ptyReopens() throws {
            let link = temporaryPath("pty-again")
            let server = try transport("pty:\(link)")
            for _ in 0..<3 {
                let client = try transport("serial:\(link),1000000")
                let pair = try PipePair(near: server, far: client)
                #expect(try pair.echo(500))
                client.close()
                let deadline = pair.loop.patience()
                while pair.closed.isEmpty, try pair.turn(until: deadline) {}
                #expect(pair.closed == ["near"])
                #expect(!server.isOpen)
                try server.reopen()
            }
        }

        @Test("all 256 octets pass a pty unchanged")
        func rawPty() throws {
            let link = temporaryPath("pty-raw")
            let server = try transport("pty:\(link)")
            let pair = try PipePair(near: server, far: try transport("serial:\(link),115200"))
            let sent = [UInt8](0...255)
            pair.nearOutput.append(sent)
            let deadline = pair.loop.patience()
            while pair.received.count < 256, try pair.turn(until: deadline) {}
            #expect(pair.received == sent)
        }

        @Test("a server serves one peer after another")
        func nextPeer() throws {
            let server = try transport("tcp-server:0")
            for _ in 0..<3 {
                let client = try transport("tcp-client:\(server.place)")
                let pair = try PipePair(near: server, far: client)
                #expect(try pair.echo(100))
                client.close()
                let deadline = pair.loop.patience()
                while pair.closed.isEmpty, try pair.turn(until: deadline) {}
                #expect(pair.closed == ["near"])
                try server.reopen()
            }
        }

        @Test("a client that lost its server connects to the next one after reopen")
        func clientReopens() throws {
            let server = try transport("tcp-server:0")
            let client = try transport("tcp-client:\(server.place)")
            for _ in 0..<3 {
                let pair = try PipePair(near: client, far: server)
                #expect(try pair.echo(100))
                try server.reopen()
                let deadline = pair.loop.patience()
                while pair.closed.isEmpty, try pair.turn(until: deadline) {}
                #expect(pair.closed == ["near"])
                #expect(!client.isOpen)
                try client.reopen()
            }
        }

        @Test("before the pipe is open nothing is taken from the block")
        func early() throws {
            let server = try transport("tcp-server:0")
            var block = ByteBlock()
            block.append([1, 3, 12, 0])
            try server.write(&block)
            #expect(block.bytes == [1, 3, 12, 0])
        }

        @Test("200 clients come and go and leave no descriptor behind")
        func noLeak() throws {
            let before = openSocketCount()
            do {
                let server = try transport("tcp-server:0")
                var loop = try EventLoop()
                let tokens = (loop.makeToken(), loop.makeToken())
                var buffer = ReadBuffer()
                var served = 0
                for _ in 0..<200 {
                    let client = try transport("tcp-client:\(server.place)")
                    let deadline = loop.patience()
                    let target = served + 1
                    while served < target, loop.now() < deadline {
                        try loop.watch(server, as: tokens.0)
                        try loop.watch(client, as: tokens.1)
                        try loop.wait(until: deadline)
                        for event in loop.events {
                            if event.token == tokens.1 {
                                if try client.read(into: &buffer) == .opened { client.close() }
                            } else if try server.read(into: &buffer) == .closed {
                                try server.reopen()
                                served += 1
                            }
                        }
                    }
                }
                #expect(served == 200)
            }
            #expect(openSocketCount() == before)
        }
    }
}

// What a user reads when a transport cannot be had.
import Glibc
import SansIO
import Testing
import Wire

@testable import LinuxIO

extension LinuxIOTests {
    @Suite struct TransportErrorTests {
        /// The sentence of opening, or of the first event when opening only begins.
        private func sentence(_ text: String) throws -> String? {
            do {
                let transport = try transport(text)
                var loop = try EventLoop()
                var buffer = ReadBuffer()
                let token = loop.makeToken()
                try loop.watch(transport, as: token)
                let deadline = loop.patience()
                while loop.events.isEmpty, loop.now() < deadline { try loop.wait(until: deadline) }
                do {
                    _ = try transport.read(into: &buffer)
                } catch {
                    #expect(transport.descriptor == nil)
                    throw error
                }
                return nil
            } catch { return "\(error)" }
        }

        @Test("a TCP port at which nobody listens")
        func refused() throws {
            // The port was free a moment ago.
            var loop = try EventLoop()
            let port = try AirServer(Endpoint(loopbackPort: 0), loop: &loop).endpoint.port
            loop.closeAll()
            #expect(
                try sentence("tcp-client:localhost:\(port)")
                    == "cannot connect to 127.0.0.1:\(port): Connection refused; "
                    + "no controller listens there: start it first, or correct the port")
        }

        @Test("a client that TCP connected to itself is not connected")
        func ownPeer() throws {
            let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let descriptor = Descriptor(number)
            let address = SocketAddress(Endpoint(loopbackPort: 0))
            try #require(address.withPointer { bind(number, $0, $1) } == 0)
            let own = SocketAddress(try #require(Sockets.localEndpoint(of: descriptor)))
            try #require(own.withPointer { connect(number, $0, $1) } == 0)
            #expect(Sockets.failure(of: descriptor) == ECONNREFUSED)
        }

        @Test("what may pass by itself is told from what needs the user")
        func passing() {
            func error(_ code: Int32) -> SystemError {
                SystemError(code, operation: "open", object: "it")
            }
            #expect(error(ECONNREFUSED).isPassing && error(ENOENT).isPassing)
            for code in [EPERM, EACCES, EAFNOSUPPORT, EBUSY, ENODEV, EADDRINUSE, ENOTTY] {
                #expect(!error(code).isPassing)
            }
        }

        @Test("a TCP port that is taken")
        func taken() throws {
            let server = try transport("tcp-server:0")
            #expect(
                try sentence("tcp-server:\(server.place)")
                    == "cannot listen at \(server.place): Address already in use; "
                    + "choose another port, or end the program that has it")
        }

        @Test("a Unix socket that is not there, or at which nobody listens")
        func noSocket() throws {
            let path = temporaryPath("absent")
            let advice = "no controller listens there: start it first, or correct the path"
            #expect(
                try sentence("unix:\(path)")
                    == "cannot connect to \(path): No such file or directory; \(advice)")
            _ = try Sockets.listen(atPath: path, backlog: 1)
            #expect(
                try sentence("unix:\(path)")
                    == "cannot connect to \(path): Connection refused; \(advice)")
            unlink(path)
        }

        @Test("a Unix socket's path that another program or a file has")
        func socketTaken() throws {
            let path = temporaryPath("taken")
            let server = try transport("unix-server:\(path)")
            #expect(
                try sentence("unix-server:\(path)")
                    == "cannot listen at \(path): another program listens there; "
                    + "choose another path, or end that program")
            server.close()
            try FileOutput(path: path).close()
            #expect(
                try sentence("unix-server:\(path)")
                    == "cannot listen at \(path): there is a file that is no socket; "
                    + "choose another path, or remove the file")
            #expect(access(path, F_OK) == 0)
            unlink(path)
        }

        @Test("a serial device that is not there, is none, or is in use")
        func serial() throws {
            #expect(
                try sentence("serial:/dev/absent,115200")
                    == "cannot open /dev/absent: No such file or directory; "
                    + "plug the adapter in, or correct the path")
            #expect(
                try sentence("serial:/dev/null,115200,rtscts")
                    == "cannot open /dev/null: it is no serial device; "
                    + "write serial:DEVICE,BAUD[,rtscts]")
            let link = temporaryPath("serial-taken")
            let line = try transport("pty:\(link)")
            let first = try transport("serial:\(link),115200")
            #expect(
                try sentence("serial:\(link),115200")
                    == "cannot open \(link): Device or resource busy; "
                    + "another program uses it: end that one first")
            withExtendedLifetime((line, first)) {}
        }

        @Test("a pty's link whose name a file has")
        func ptyTaken() throws {
            let path = temporaryPath("pty-taken")
            try FileOutput(path: path).close()
            #expect(
                try sentence("pty:\(path)")
                    == "cannot make the link \(path): File exists; "
                    + "remove it, or choose another name"
            )
            unlink(path)
        }

        @Test("a pty's link that a killed program left behind is replaced")
        func ptyLeftBehind() throws {
            let link = temporaryPath("pty-left")
            symlink("/dev/pts/4711", link)
            let line = try transport("pty:\(link)")
            #expect(line.place.hasPrefix("\(link) (/dev/pts/"))
            _ = try transport("serial:\(link),115200")
        }

        @Test(
            "an adapter says of each failure what it is and what to do",
            .enabled(if: !kernelHasBluetooth))
        func adapter() throws {
            let channel = HCIUserChannel(adapter: 0)
            let sentences: [(Int32, String)] = [
                (
                    EAFNOSUPPORT,
                    "no Bluetooth in this kernel; "
                        + "use --controller virtual, or a controller over TCP"
                ),
                (
                    EPERM,
                    "an adapter needs the capability CAP_NET_ADMIN; "
                        + "run as root, or once: sudo setcap cap_net_admin+ep "
                        + (try #require(linkTarget("/proc/self/exe")))
                ),
                (
                    EBUSY,
                    "the adapter is up; "
                        + "add --take-over, which takes it down for the time, or do that "
                        + "yourself: bluetoothctl power off, or sudo hciconfig hci0 down"
                ),
                (EUSERS, "another program has the adapter; end that program first"),
                (ENODEV, "there is no such adapter; peripheral-emu adapters lists those there are"),
                (
                    ERFKILL,
                    "the adapter is switched off by rfkill; run: sudo rfkill unblock bluetooth"
                ),
                (EMFILE, "Too many open files"),
            ]
            for (code, sentence) in sentences {
                #expect(channel.failure(code).description == "cannot open hci:0: " + sentence)
            }
        }

        @Test("without Bluetooth in the kernel that is said", .enabled(if: !kernelHasBluetooth))
        func noBluetooth() throws {
            for name in ["hci:0", "hci-socket:0"] {
                #expect(
                    try sentence(name)
                        == "cannot open hci:0: no Bluetooth in this kernel; "
                        + "use --controller virtual, or a controller over TCP")
            }
        }

        static var kernelHasBluetooth: Bool {
            let number = socket(31, Int32(SOCK_RAW.rawValue), 1)
            if number >= 0 { close(number) }
            return number >= 0
        }

        @Test("an adapter is written one packet a write, whole packets only")
        func packetWrites() throws {
            // A pair of packet sockets keeps the borders as the user channel does.
            var ends: [Int32] = [-1, -1]
            try #require(
                socketpair(
                    AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | O_NONBLOCK, 0, &ends) == 0)
            let (near, far) = (Descriptor(ends[0]), Descriptor(ends[1]))
            let channel = try #require(HCIUserChannel(specification: "0"))
            let packets: [[UInt8]] = [
                [0x01, 0x03, 0x0C, 0x00], [0x02, 0x40, 0x00, 0x03, 0x00, 1, 2, 3],
                [0x01, 0x0A, 0x20, 0x01, 0x01],
            ]
            let all = packets.flatMap { $0 }
            #expect(try channel.write(all, to: near, "hci:0") == all.count)
            var buffer = ReadBuffer()
            for packet in packets {
                guard case .count(let count) = try buffer.fill(from: far, "hci:0") else {
                    Issue.record("a packet is missing")
                    return
                }
                #expect([UInt8](buffer.bytes.prefix(count)) == packet)
            }
            #expect(throws: SystemError.self) { try channel.write([0x09], to: near, "hci:0") }
            #expect(throws: SystemError.self) {
                try channel.write([0x01, 0x03], to: near, "hci:0")
            }
            // A full socket stops at a border.
            let command: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
            let many = [UInt8]((0..<100_000).flatMap { _ in command })
            let taken = try channel.write(many, to: near, "hci:0")
            #expect(taken > 0 && taken < many.count && taken % 4 == 0)
        }
    }
}

extension EventLoop {
    /// Lets go of what the first tokens stand for.
    mutating func closeAll() { for value in 0..<16 { unwatch(Token(value: UInt32(value))) } }
}

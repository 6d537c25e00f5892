// Files, the machine's identity and its random numbers.
import Glibc
import Testing

@testable import LinuxIO

@Suite struct FileTests {
    @Test("what is appended stands in the file after flush, all of it after close")
    func output() throws {
        let path = temporaryPath("output")
        defer { unlink(path) }
        let output = try FileOutput(path: path)
        let piece = pattern(1_000)
        try output.write(piece)
        #expect(try readFile(path, octetsMax: 1 << 20).isEmpty)
        try output.flush()
        #expect(try readFile(path, octetsMax: 1 << 20) == piece)
        for _ in 0..<199 { try output.write(piece) }
        try output.close()
        try output.close()
        #expect(try readFile(path, octetsMax: 1 << 20) == (0..<200).flatMap { _ in piece })
    }

    @Test("an output that is let go of is written out")
    func letGo() throws {
        let path = temporaryPath("let-go")
        defer { unlink(path) }
        do { try FileOutput(path: path).write([1, 2, 3]) }
        #expect(try readFile(path, octetsMax: 10) == [1, 2, 3])
    }

    @Test("a pipe is read to its end, however slow; one that nobody writes to is refused")
    func pipe() async throws {
        let path = temporaryPath("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        #expect {
            try readFile(path, octetsMax: 10)
        } throws: {
            "\($0)" == "cannot read \(path): it is a pipe, and nobody writes to it; "
                + "name a regular file, or start the writer first"
        }
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        write(descriptor, [1, 2, 3] as [UInt8], 3)
        let writer = Task.detached {
            usleep(1_300_000)
            write(descriptor, [4] as [UInt8], 1)
            close(descriptor)
        }
        #expect(try readFile(path, octetsMax: 10) == [1, 2, 3, 4])
        await writer.value
    }

    @Test("a live pipe that nobody reads holds nothing up, and is given up in the end")
    func stalledPipe() throws {
        let path = temporaryPath("stalled")
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let output = try FileOutput(path: path, isLive: true)
        let piece = pattern(1_000_000)
        for _ in 0..<4 { try output.write(piece) }
        var bytes = [UInt8](repeating: 0, count: 60_000)
        #expect(read(reader, &bytes, bytes.count) == bytes.count)
        #expect(bytes == Array(piece.prefix(bytes.count)))
        let error = #expect(throws: SystemError.self) { try output.write(piece) }
        #expect(error?.description == "cannot write to \(path): nobody reads it")
        try output.write([1])
        let late = #expect(throws: SystemError.self) { try output.close() }
        #expect(late?.description == "cannot write to \(path): nobody reads it")
    }

    @Test("failures name the file and the reason")
    func failures() throws {
        let absent = #expect(throws: SystemError.self) { try readFile("/absent/x", octetsMax: 10) }
        #expect(absent?.description == "cannot read /absent/x: No such file or directory")
        let folder = #expect(throws: SystemError.self) { try readFile("/tmp", octetsMax: 10) }
        #expect(folder?.description == "cannot read /tmp: Is a directory")
        let endless = #expect(throws: SystemError.self) { try readFile("/dev/zero", octetsMax: 10) }
        #expect(endless?.description == "cannot read /dev/zero: it is larger than 10 octets")
        let create = #expect(throws: SystemError.self) { try FileOutput(path: "/absent/x") }
        #expect(create?.description == "cannot create /absent/x: No such file or directory")
        let full = try FileOutput(path: "/dev/full")
        try full.write([1])
        let error = #expect(throws: SystemError.self) { try full.close() }
        #expect(error?.description == "cannot write to /dev/full: No space left on device")
    }

    @Test("an attribute of sysfs is read, whatever size it is said to have")
    func attribute() throws {
        let path = "/sys/class/net/lo/mtu"
        guard access(path, R_OK) == 0 else { return }
        let text = String(decoding: try readFile(path, octetsMax: 16), as: UTF8.self)
        #expect(Int(text.dropLast()) != nil, "\(text)")
    }

    @Test("a file above the limit is refused before it is read, with its size")
    func tooLarge() throws {
        let path = temporaryPath("too-large")
        defer { unlink(path) }
        let file = try FileOutput(path: path)
        try file.write([UInt8](repeating: 65, count: 11))
        try file.close()
        let error = #expect(throws: SystemError.self) { try readFile(path, octetsMax: 10) }
        #expect(
            error?.description == "cannot read \(path): it has 11 octets, the limit is 10")
        #expect(try readFile(path, octetsMax: 11).count == 11)
    }

    @Test("a machine's identity stays, differs from another's, and is absent where there is none")
    func identity() throws {
        let path = temporaryPath("machine-id")
        defer { unlink(path) }
        func identity(_ text: String) throws -> UInt64? {
            let file = try FileOutput(path: path)
            try file.write([UInt8](text.utf8))
            try file.close()
            return machineID(path: path)
        }
        let one = try identity("0123456789abcdef0123456789abcdef\n")
        #expect(one == 5_170_672_119_986_316_749)
        #expect(try identity("0123456789abcdef0123456789abcdef\n") == one)
        #expect(try identity("0123456789abcdef0123456789abcdee\n") != one)
        #expect(try identity("1123456789abcdef0123456789abcdef\n") != one)
        for text in [
            "", "uninitialized\n", "0123456789abcdef\n", "0123456789abcdef0123456789abcdeg",
        ] {
            #expect(try identity(text) == nil)
        }
        #expect(machineID(path: "/absent") == nil)
    }

    @Test("random octets are as many as asked for, and others each time")
    func random() throws {
        #expect(try systemRandom(0).isEmpty)
        let octets = try systemRandom(16)
        #expect(octets.count == 16)
        #expect(try systemRandom(16) != octets)
        #expect(try systemRandom(256).count == 256)
    }
}

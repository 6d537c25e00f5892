// Live activity sources: lines that other processes write, and sensors of a made-up machine.
import Advertising
import Glibc
import SansIO
import Testing

@testable import LinuxIO

extension LinuxIOTests {
    @Suite struct LiveActivityTests {
        /// What comes in until there are `count` inputs.
        private func inputs(
            _ activity: LiveActivity, _ loop: inout EventLoop, _ count: Int
        ) throws -> [ActivityInput] {
            var found = Outputs<ActivityInput>()
            let patience = loop.patience()
            while found.count < count, loop.now() < patience {
                try loop.wait(until: earliest(activity.deadline, patience))
                try activity.takeTurn(of: &loop, at: loop.now(), emit: &found)
            }
            return found.elements
        }

        private func live(_ source: LiveSource) -> [ActivitySource] { [.gatt, .live(source)] }

        private func write(_ text: String, _ path: String) throws {
            let file = try #require(fopen(path, "w"))
            fputs(text, file)
            fclose(file)
        }

        private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

        @Test("a fifo is made, outlives its writers, and is removed at the end")
        func fifo() throws {
            let path = temporaryPath("fifo")
            var loop = try EventLoop()
            var activity = try #require(try LiveActivity(live(.fifo(path: path)), loop: &loop))
            try write("0.5\n0.01,0.02,1\n", path)
            #expect(
                try inputs(activity, &loop, 2) == [
                    .sample(0.5, source: 1), .acceleration(x: 0.01, y: 0.02, z: 1, source: 1),
                ])
            try write("rubbish\n0.25\n", path)
            let found = try inputs(activity, &loop, 2)
            #expect(
                found == [
                    .sourceLost(
                        reason: "line 3: 'rubbish' is no number; "
                            + "write a magnitude in g, or x,y,z in g", source: 1),
                    .sample(0.25, source: 1),
                ])
            // Half a value is none, and spoils no other writer's.
            try write("0.4\n0.", path)
            #expect(try inputs(activity, &loop, 1) == [.sample(0.4, source: 1)])
            try write("0.7\n", path)
            #expect(try inputs(activity, &loop, 1) == [.sample(0.7, source: 1)])
            // Without a writer the loop is not woken.
            let wakeUps = loop.wakeUpCount
            try loop.wait(until: loop.now() + .milliseconds(50))
            #expect(loop.wakeUpCount == wakeUps + 1 && loop.events.isEmpty)
            // Another one at the same path takes the pipe that is there, and leaves it.
            let other = try #require(try LiveActivity(live(.fifo(path: path)), loop: &loop))
            _ = other
            activity = other
            #expect(!exists(path))
        }

        @Test("a file that is no fifo is refused and stays")
        func noFifo() throws {
            let path = temporaryPath("no-fifo")
            try write("0.5\n", path)
            defer { unlink(path) }
            var loop = try EventLoop()
            do throws(SystemError) {
                _ = try LiveActivity(live(.fifo(path: path)), loop: &loop)
                Issue.record("it opens")
            } catch {
                #expect(
                    "\(error)" == "cannot read \(path): it is no fifo; choose a path where there "
                        + "is none yet, or make one with mkfifo")
            }
            #expect(exists(path))
        }

        @Test("a socket reads one client after another and says when one has gone")
        func socket() throws {
            let path = temporaryPath("activity")
            var loop = try EventLoop()
            var activity = try LiveActivity(live(.socket(path: path)), loop: &loop)
            for value in [0.5, 0.25] {
                guard case .done(let client) = try Sockets.connect(toPath: path) else {
                    Issue.record("not connected")
                    return
                }
                let line = Array("\(value)\n".utf8)
                _ = try client.write(line, 0..<line.count, to: path)
                client.close()
                let open = try #require(activity)
                #expect(
                    try inputs(open, &loop, 2) == [
                        .sample(value, source: 1),
                        .sourceLost(reason: "the client has gone", source: 1),
                    ])
            }
            #expect(exists(path))
            activity = nil
            #expect(!exists(path))
        }

        @Test("what the kernel cannot watch is read to its end")
        func plainInput() throws {
            let path = temporaryPath("input")
            try write("0.5\n0.25", path)
            defer { unlink(path) }
            let saved = dup(STDIN_FILENO)
            let file = open(path, O_RDONLY)
            dup2(file, STDIN_FILENO)
            defer {
                dup2(saved, STDIN_FILENO)
                close(saved)
                close(file)
            }
            var loop = try EventLoop()
            let activity = try #require(try LiveActivity(live(.stdin), loop: &loop))
            #expect(
                try inputs(activity, &loop, 3) == [
                    .sample(0.5, source: 1), .sample(0.25, source: 1),
                    .sourceLost(reason: "standard input has ended", source: 1),
                ])
            #expect(activity.deadline == nil)
        }

        @Test("a rule without live sources needs none")
        func none() throws {
            var loop = try EventLoop()
            #expect(try LiveActivity([.gatt], loop: &loop) == nil)
        }

        // MARK: a made-up sensor

        /// A folder as the kernel would have it.
        private func sensor(_ files: [String: String]) throws -> String {
            let root = temporaryPath("iio")
            mkdir(root, 0o700)
            mkdir(root + "/iio:device0", 0o700)
            mkdir(root + "/iio:device1", 0o700)
            try write("thermometer\n", root + "/iio:device0/name")
            for (name, text) in files.sorted(by: { $0.key < $1.key }) {
                try write(text, root + "/iio:device1/" + name)
            }
            return root
        }

        private func remove(_ root: String) {
            for folder in ["iio:device0", "iio:device1"] {
                for file in Self.files.keys.sorted() {
                    unlink("\(root)/\(folder)/\(file)")
                }
                rmdir("\(root)/\(folder)")
            }
            rmdir(root)
        }

        /// 1 g is 16384 steps; x is mounted upside down, y and z are exchanged.
        private static let files = [
            "name": "lis3dh\n", "in_accel_x_raw": "1638\n", "in_accel_y_raw": "-16384\n",
            "in_accel_z_raw": "8192\n", "in_accel_scale": "0.000598550415\n",
            "in_accel_z_offset": "-8192\n",
            "in_mount_matrix": "-1, 0, 0; 0, 0, 1; 0, 1, 0\n",
            "sampling_frequency": "1\n", "sampling_frequency_available": "1 10 25 50 100\n",
        ]

        @Test("a sensor's scale, offset and mount matrix give g, at the rate asked for")
        func iio() throws {
            let root = try sensor(Self.files)
            defer { remove(root) }
            var reader = SensorReader(
                name: "lis3dh", every: .milliseconds(40), source: 2, root: root)
            try reader.open()
            var buffer = ReadBuffer()
            var found = Outputs<ActivityInput>()
            reader.read(at: .zero, through: &buffer, emit: &found)
            #expect(reader.deadline == .zero + .milliseconds(40))
            guard case .acceleration(let x, let y, let z, 2) = found.elements.first else {
                Issue.record("\(found.elements)")
                return
            }
            #expect(abs(x + 0.1) < 0.001 && abs(y) < 0.001 && abs(z + 1) < 0.001)
            let rate = try readFile(root + "/iio:device1/sampling_frequency", octetsMax: 64)
            #expect(String(decoding: rate, as: UTF8.self).hasPrefix("25"))
            // The next value is read from the same files.
            try write("-1638\n", root + "/iio:device1/in_accel_x_raw")
            found.removeAll()
            reader.read(at: .zero + .milliseconds(100), through: &buffer, emit: &found)
            guard case .acceleration(let next, _, _, 2) = found.elements.first else { return }
            #expect(abs(next - 0.1) < 0.001)
            #expect(reader.deadline == .zero + .milliseconds(140))
        }

        @Test("a sensor that says rubbish is lost, and looked for again every second")
        func iioLost() throws {
            let root = try sensor(Self.files)
            defer { remove(root) }
            var reader = SensorReader(
                name: "lis3dh", every: .milliseconds(40), source: 0, root: root)
            try reader.open()
            try write("busy\n", root + "/iio:device1/in_accel_y_raw")
            var buffer = ReadBuffer()
            var found = Outputs<ActivityInput>()
            reader.read(at: .zero, through: &buffer, emit: &found)
            #expect(
                found.elements == [
                    .sourceLost(
                        reason: "cannot read the y axis of lis3dh: 'busy' is no number", source: 0)
                ])
            #expect(reader.deadline == .zero + .seconds(1))
            try write("0\n", root + "/iio:device1/in_accel_y_raw")
            found.removeAll()
            reader.read(at: .zero + .seconds(1), through: &buffer, emit: &found)
            #expect(found.count == 1)
            if case .acceleration = found.elements.first {} else { Issue.record("not back") }
        }

        @Test("a sensor that is not there is an error that names those that are")
        func iioMissing() throws {
            let root = try sensor(Self.files)
            defer { remove(root) }
            func message(_ name: String) -> String {
                var reader = SensorReader(
                    name: name, every: .milliseconds(40), source: 0, root: root)
                do throws(SystemError) {
                    try reader.open()
                    return ""
                } catch { return "\(error)" }
            }
            #expect(
                message("bma")
                    == "cannot find the sensor bma: there is none of that name; "
                    + "there are thermometer, lis3dh")
            #expect(message(root + "/iio:device1") == "")
            #expect(message(root + "/iio:device0").contains("in_accel_x_raw"))
        }

        // MARK: what the user writes

        @Test("every form of --activity is read, and nothing else")
        func forms() {
            #expect(ActivitySpec("csv:a.csv") == .csv(path: "a.csv", column: nil))
            #expect(ActivitySpec("csv:a,b.csv,x") == .csv(path: "a,b.csv", column: "x"))
            #expect(ActivitySpec("fifo:/a:b") == .live(.fifo(path: "/a:b")))
            #expect(ActivitySpec("socket:s") == .live(.socket(path: "s")))
            #expect(ActivitySpec("stdin") == .live(.stdin))
            #expect(ActivitySpec("iio:lis3dh") == .live(.iio(name: "lis3dh")))
            for text in ["", "csv", "csv:", "csv:,x", "csv:a,", "fifo:", "gatt", "stdin:", "x:y"] {
                #expect(ActivitySpec(text) == nil, "\(text)")
            }
        }

        @Test("the clock jumps where the time of day is not what has passed")
        func clock() {
            var clock = WallClock()
            let start = Instant.zero + .seconds(1000)
            #expect(clock.jump(to: .seconds(86_390), at: start) == .seconds(86_390))
            #expect(clock.jump(to: .seconds(86_399), at: start + .seconds(9)) == nil)
            // Midnight is no jump, and neither is drift.
            #expect(clock.jump(to: .seconds(5), at: start + .seconds(15)) == nil)
            #expect(clock.jump(to: .milliseconds(10_500), at: start + .seconds(20)) == nil)
            #expect(clock.jump(to: .seconds(3620), at: start + .seconds(30)) == .seconds(3620))
            #expect(clock.jump(to: .seconds(3621), at: start + .seconds(31)) == nil)
        }
    }
}

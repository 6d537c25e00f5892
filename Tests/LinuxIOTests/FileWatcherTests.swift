// Files that change in the ways of editors, version control and links.
import Glibc
import SansIO
import Testing

@testable import LinuxIO

extension LinuxIOTests {
    @Suite struct FileWatcherTests {
        /// A folder of its own with a loop and a watcher.
        struct Bench: ~Copyable {
            let folder: String
            var loop: EventLoop
            let watcher: FileWatcher

            init(_ name: String) throws {
                // All that can fail comes first: what cannot be copied is made at one stroke.
                var loop = try EventLoop()
                let watcher = try FileWatcher(loop: &loop)
                folder = temporaryPath("watch-\(name)")
                mkdir(folder, 0o700)
                self.loop = loop
                self.watcher = watcher
            }

            deinit {
                for name in listFolder(folder) where name != "." && name != ".." {
                    let inside = path(name)
                    for inner in listFolder(inside) { unlink(inside + "/" + inner) }
                    rmdir(inside)
                    unlink(inside)
                }
                rmdir(folder)
            }

            func path(_ name: String) -> String { "\(folder)/\(name)" }

            func write(_ name: String, _ text: String = "x") throws {
                let output = try FileOutput(path: path(name))
                try output.write(Array(text.utf8))
                try output.close()
            }

            mutating func follow(_ names: [String]) throws {
                watcher.follow(names.map { path($0) }, at: loop.now())
                // What is watched newly counts as changed.
                _ = try changes(within: .milliseconds(300))
            }

            /// How often a change is told in a while.
            mutating func changes(within span: TimeSpan) throws -> Int {
                let end = loop.now() + span
                var count = 0
                while loop.now() < end {
                    try loop.wait(until: earliest(watcher.deadline, end))
                    for event in loop.events { try watcher.handle(event, at: loop.now()) }
                    if watcher.takeChange(at: loop.now()) { count += 1 }
                }
                return count
            }

            /// Whether a change is told before patience ends.
            mutating func isTold() throws -> Bool {
                let end = loop.patience()
                while loop.now() < end {
                    try loop.wait(until: earliest(watcher.deadline, end))
                    for event in loop.events { try watcher.handle(event, at: loop.now()) }
                    if watcher.takeChange(at: loop.now()) { return true }
                }
                return false
            }
        }

        @Test("a file that is written, replaced, removed or made is told once each time")
        func ways() throws {
            var bench = try Bench("ways")
            try bench.write("a")
            try bench.follow(["a", "late"])
            try bench.write("a", "y")
            #expect(try bench.isTold())
            try bench.write("new")
            #expect(rename(bench.path("new"), bench.path("a")) == 0)
            #expect(try bench.isTold())
            #expect(rename(bench.path("a"), bench.path("a~")) == 0)
            try bench.write("a")
            #expect(try bench.isTold())
            unlink(bench.path("a"))
            #expect(try bench.isTold())
            try bench.write("late")
            #expect(try bench.isTold())
            #expect(try bench.changes(within: .milliseconds(300)) == 0)
        }

        @Test("other files in the folder, and reading, are nothing")
        func others() throws {
            var bench = try Bench("others")
            try bench.write("a")
            try bench.follow(["a"])
            let before = bench.loop.now()
            try bench.write("b")
            _ = try readFile(bench.path("a"), octetsMax: 10)
            #expect(try bench.changes(within: .milliseconds(300)) == 0)
            #expect(bench.watcher.deadline == nil, "nothing wakes the process after \(before)")
        }

        @Test("many writes in a row are told when they are over")
        func burst() throws {
            var bench = try Bench("burst")
            try bench.write("a")
            try bench.follow(["a"])
            for _ in 0..<20 { try bench.write("a") }
            #expect(try bench.isTold())
            #expect(try bench.changes(within: .milliseconds(300)) == 0)
        }

        @Test("writes without a pause are told at the limit all the same")
        func limit() throws {
            var bench = try Bench("limit")
            try bench.write("a")
            try bench.follow(["a"])
            let start = bench.loop.now()
            var told = 0
            while bench.loop.now() < start + .milliseconds(2500) {
                try bench.write("a")
                told += try bench.changes(within: .milliseconds(20))
            }
            #expect(told >= 1)
        }

        @Test("a folder that is missing is found, and one that is made anew is watched again")
        func folders() throws {
            var bench = try Bench("folders")
            try bench.follow(["sub/a"])
            #expect(mkdir(bench.path("sub"), 0o700) == 0)
            try bench.write("sub/a")
            #expect(try bench.isTold())
            unlink(bench.path("sub/a"))
            rmdir(bench.path("sub"))
            #expect(try bench.isTold())
            #expect(mkdir(bench.path("sub"), 0o700) == 0)
            try bench.write("sub/a")
            #expect(try bench.isTold())
            try bench.write("sub/a")
            #expect(try bench.isTold())
        }

        @Test("a folder that may not be watched is a failure, one that is missing is none")
        func failure() throws {
            var bench = try Bench("failure")
            try bench.follow(["none/a"])
            #expect(bench.watcher.failure == nil)
            // A path that is too long for the kernel.
            try bench.follow([String(repeating: "x", count: 5000) + "/a"])
            #expect(bench.watcher.failure?.code == ENAMETOOLONG)
        }

        @Test("what a link points to is watched, and the link")
        func links() throws {
            var bench = try Bench("links")
            #expect(mkdir(bench.path("far"), 0o700) == 0)
            try bench.write("far/b")
            #expect(symlink("far/b", bench.path("a")) == 0)
            try bench.follow(["a"])
            try bench.write("far/b", "y")
            #expect(try bench.isTold())
            unlink(bench.path("a"))
            try bench.write("a")
            #expect(try bench.isTold())
        }

        @Test("files that are followed no more are let go of")
        func change() throws {
            var bench = try Bench("change")
            #expect(mkdir(bench.path("far"), 0o700) == 0)
            try bench.write("far/b")
            try bench.write("a")
            try bench.follow(["a", "far/b"])
            try bench.follow(["a"])
            try bench.write("far/b")
            #expect(try bench.changes(within: .milliseconds(300)) == 0)
            try bench.write("a")
            #expect(try bench.isTold())
        }
    }
}

// The scanners that come with the program, and mistakes in a scanner's file.
import Bench
import PowerModel
import Profiles
import TestFiles
import Testing

struct ScannerFileTests {
    static let names = SourceTree.files("Profiles/power/scanners").map { String($0.dropLast(5)) }

    static func scanner(_ name: String) throws -> ScannerModel {
        let path = "Profiles/" + ModelKind.scanner.file(of: name)
        return try ModelLoader.scanner(path: path, bytes: SourceTree.bytes(path) ?? [])
    }

    @Test("Every scanner that comes with the program is read and says where it is from")
    func all() throws {
        #expect(Self.names.count == 17)
        for name in Self.names {
            let scanner = try Self.scanner(name)
            #expect(scanner.name == name)
            #expect(!scanner.title.isEmpty && !scanner.source.isEmpty)
            #expect(scanner.window <= scanner.interval)
        }
        let balanced = try Self.scanner("android-13-balanced")
        #expect(balanced.window == 183_000 && balanced.interval == 730_000)
        #expect(try Self.scanner("linux-suspend").window == 11_250)
    }

    private func errors(_ text: String) -> [String] {
        do {
            _ = try ModelLoader.scanner(path: "s.yaml", bytes: Array(text.utf8))
            return []
        } catch { return error.list.map { "\($0)" } }
    }

    @Test("What is wrong in a scanner's file is said with its line and column")
    func mistakes() {
        let right = "scanner: A\nwindow: 30 ms\ninterval: 40 ms\nsource: mine\n"
        #expect(errors(right) == [])
        let long = errors(right.replacing("30 ms", with: "50 ms"))
        #expect(long.count == 1 && long[0].contains("s.yaml:2:"))
        #expect(long[0].contains("the window is longer than the interval"))
        #expect(errors(right.replacing("source: mine\n", with: ""))[0].contains("source"))
        #expect(errors(right.replacing("40 ms", with: "99 s"))[0].contains("s.yaml:3:"))
        #expect(errors(right.replacing("window", with: "windows"))[0].contains("s.yaml:"))
        #expect(errors("")[0].contains("s.yaml:"))
        #expect(errors(right.replacing("30 ms", with: ".nan"))[0].contains("s.yaml:2:"))
    }
}

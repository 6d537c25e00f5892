// Where the packets of several accessories go.
import Emulator
import Testing

@testable import peripheral_emu

@Suite struct CaptureFilesTests {
    private static let two = AccessoryNames(files: ["in", "out"])

    @Test(
        "each of several accessories has a file, with its name before the ending",
        arguments: [
            ("hour.btsnoop", ["hour.in.btsnoop", "hour.out.btsnoop"]),
            ("a.b/hour", ["a.b/hour.in", "a.b/hour.out"]),
            ("/t/hour.2.btsnoop", ["/t/hour.2.in.btsnoop", "/t/hour.2.out.btsnoop"]),
            ("/t/.hour", ["/t/.hour.in", "/t/.hour.out"]),
        ])
    func several(_ path: String, _ paths: [String]) {
        #expect(CaptureFiles.paths(path, Self.two) == paths)
        #expect(CaptureFiles.paths(path, AccessoryNames(files: ["in"])) == [path])
    }
}

// The model files that come with the program, and what is said of wrong ones.
import Bench
import PowerModel
import Profiles
import TestFiles
import Testing

enum Models {
    static func chips() throws -> [ChipModel] {
        let folder = "Profiles/" + ModelKind.soc.folder
        return try SourceTree.files(folder).map { name in
            let path = folder + "/" + name
            return try ModelLoader.chip(path: path, bytes: try #require(SourceTree.bytes(path)))
        }
    }

    static func values() throws -> [PublishedValue] {
        let path = "Profiles/power/validation.yaml"
        return try ModelLoader.publishedValues(
            path: path, bytes: try #require(SourceTree.bytes(path)))
    }
}

struct ModelFileTests {
    @Test("All chips, batteries and sensors are read, and are called as their files")
    func bundled() throws {
        #expect(
            try Models.chips().map(\.chip.name) == [
                "CC2340R5", "EFR32xG22E", "EFR32xG24", "nRF52832", "nRF54L15", "SF32LB52x",
                "SF32LB56x", "STM32WBA2",
            ])
        for name in SourceTree.files("Profiles/" + ModelKind.battery.folder) {
            let path = "Profiles/" + ModelKind.battery.folder + "/" + name
            let battery = try ModelLoader.battery(
                path: path, bytes: try #require(SourceTree.bytes(path)))
            #expect(path == "Profiles/" + ModelKind.battery.file(of: battery.name))
        }
        for name in SourceTree.files("Profiles/" + ModelKind.sensor.folder) {
            let path = "Profiles/" + ModelKind.sensor.folder + "/" + name
            let sensor = try ModelLoader.sensor(
                path: path, bytes: try #require(SourceTree.bytes(path)))
            #expect(path == "Profiles/" + ModelKind.sensor.file(of: sensor.name))
        }
    }

    private func mistakes(_ edit: (String) -> String) -> String {
        let text = edit(SourceTree.text("Profiles/power/socs/nrf52832.yaml"))
        do throws(ProfileErrors) {
            _ = try ModelLoader.chip(path: "chip.yaml", bytes: Array(text.utf8))
            return "none"
        } catch { return error.description }
    }

    private func replacing(_ old: String, _ new: String) -> String {
        mistakes { text in
            guard let range = text.firstRange(of: old) else { return text }
            return text.replacingCharacters(range, new)
        }
    }

    @Test("A missing phase, a negative current and an unknown key are told with their places")
    func wrongFiles() {
        let missing = replacing("  crystal-ramp: {", "  crystal: {")
        #expect(
            missing.contains("chip.yaml:") && missing.contains("unknown key 'crystal'"),
            "\(missing)")
        let gone = replacing(
            "  standby: {time: 1071 us, current: 0.43 mA, source: *profiler}\n", "")
        #expect(gone.contains("phases: the key 'standby' is missing; write 'standby:'"), "\(gone)")
        let negative = replacing("current: 3.62 mA", "current: -3.62 mA")
        #expect(
            negative.contains("phases.pre-processing.current: '-3.62 mA' is not within 0 mA"),
            "\(negative)")
        let unit = replacing("current: 3.62 mA", "current: 3.62")
        #expect(unit.contains("3.62 has no unit; write '3.62 mA'"), "\(unit)")
        let key = replacing("voltage-law:", "voltage-lw:")
        #expect(key.contains("unknown key 'voltage-lw'; write 'voltage-law'"), "\(key)")
        let whole = replacing(
            "  receive: {", "  processing: {time: 1 us, current: 1 mA, source: x}\n  receive: {")
        #expect(whole.contains("is a part of 'processing'"), "\(whole)")
        let silent = replacing("predictions: [V01, V02, V03, V04, V05, V19]", "")
        #expect(silent.contains("what these numbers predict is not said"), "\(silent)")
        #expect(replacing("power: 4 dBm", "power: 0 dBm").contains("0 dBm stands twice"))
        #expect(mistakes { _ in "" }.contains("chip.yaml:1:1: the file is empty"))
    }

    @Test("No prefix of a file traps")
    func prefixes() {
        let bytes = SourceTree.bytes("Profiles/power/socs/cc2340r5.yaml") ?? []
        for count in stride(from: 0, to: bytes.count, by: 7) {
            _ = try? ModelLoader.chip(path: "chip.yaml", bytes: Array(bytes[..<count]))
        }
    }
}

extension String {
    fileprivate func replacingCharacters(_ range: Range<Index>, _ new: String) -> String {
        String(self[..<range.lowerBound]) + new + String(self[range.upperBound...])
    }
}

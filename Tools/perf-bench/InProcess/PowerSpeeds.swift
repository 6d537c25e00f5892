// The power benchmark's own speed: samples, advertising events, and a year of a profile.
import Advertising
import Bench
import CAllocations
import HCI
import LinuxIO
import PowerModel
import Profiles
import SansIO

/// One line a speed, as JSON: how many a second, or how many seconds.
struct PowerSpeeds {
    /// The folder of profiles.
    let folder: String

    func measure() {
        samples()
        events()
        year()
    }

    private func rate(_ name: String, _ count: Int64, _ body: () -> Void) {
        let start = cpu_nanoseconds()
        body()
        let seconds = Double(max(cpu_nanoseconds() - start, 1)) / 1e9
        print(
            "{\"speed\":\"\(name)\",\"count\":\(count),\"seconds\":\(seconds),"
                + "\"per_second\":\(Int64(Double(count) / seconds))}")
    }

    private func samples() {
        guard let scanner = scanner("android-13-balanced") else { return }
        let sampler = DiscoverySampler(
            scanner, on: .endless(interval: 1_022_500), from: StartSpans(from: 0, to: 1 << 40))
        var random = SeededRandom(seed: 1)
        var sums = LatencySums()
        sampler.sample(100_000, &random, into: &sums)
        rate("discovery samples, balanced Android, 1022.5 ms", 20_000_000) {
            sampler.sample(20_000_000, &random, into: &sums)
        }
    }

    /// A device with nothing to do but to advertise.
    private func events() {
        var profile = DeviceProfile(file: "", device: DeviceSpec(name: "A"))
        profile.advertising = [
            AdvertisingSet(
                kind: .connectable, policy: .fixed(AdvertisingInterval.minimum), data: [])
        ]
        var run = DeviceRun(profile, seed: 1, duration: .seconds(60 * 86_400))
        let start = cpu_nanoseconds()
        let events = run.run().events
        let seconds = Double(max(cpu_nanoseconds() - start, 1)) / 1e9
        print(
            "{\"speed\":\"advertising events of a device\",\"count\":\(events),"
                + "\"seconds\":\(seconds),\"per_second\":\(Int64(Double(events) / seconds))}")
    }

    private func year() {
        let names = [
            "android-13-low-latency", "android-13-balanced", "android-13-low-power",
            "ios-foreground",
        ]
        guard let profile = profile("adaptive-tag"),
            let chip = model(.soc, "nrf52832", ModelLoader.chip),
            let battery = model(.battery, "cr2032", ModelLoader.battery),
            let radio = Radio(chip.chip, voltage: battery.voltage, power: 0),
            let policy = profile.advertising.first?.policy
        else { return print("in-process: the models are not in \(folder)/power") }
        let request = BenchRequest(
            profile: profile, policies: [NamedPolicy(name: "own", policy: policy)],
            scanners: names.compactMap { scanner($0) }, radio: radio, battery: battery)
        rate("a year of adaptive-tag, 4 scanners at 1 %", 1) {
            _ = try? BenchRun.run(request)
        }
    }

    private func scanner(_ name: String) -> ScannerModel? {
        model(.scanner, name, ModelLoader.scanner)
    }

    private func model<Model>(
        _ kind: ModelKind, _ name: String,
        _ loader: (String, [UInt8]) throws(ProfileErrors) -> Model
    ) -> Model? {
        let path = folder + "/" + kind.file(of: name)
        guard let bytes = try? readFile(path, octetsMax: 1 << 20) else { return nil }
        return try? loader(path, bytes)
    }

    private func profile(_ name: String) -> DeviceProfile? {
        let path = folder + "/\(name).yaml"
        guard let bytes = try? readFile(path, octetsMax: 1 << 20) else { return nil }
        return try? ProfileLoader.load(path: path, bytes: bytes) { file in
            guard let bytes = try? readFile(file, octetsMax: 1 << 24) else {
                return .failure(FileFailure(reason: "it cannot be read"))
            }
            return .success(bytes)
        }
    }
}

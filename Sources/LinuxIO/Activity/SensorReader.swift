// The source `iio`: an accelerometer of Linux's Industrial I/O, read at a rate.
import Advertising
import Glibc
import SansIO

/// Polls an accelerometer's files (Documentation/ABI/testing/sysfs-bus-iio of the kernel):
/// (raw + offset) · scale is in m/s², and the mount matrix turns it to the device's axes.
struct SensorReader: ActivityReader {
    /// Where the kernel has its sensors.
    static let folder = "/sys/bus/iio/devices"
    /// Standard gravity, in m/s².
    private static let gravity = 9.80665
    /// A sensor that has gone is looked for again so often.
    private static let searchPeriod = TimeSpan.seconds(1)
    private static let axes = ["x", "y", "z"]

    private let name: String
    private let every: TimeSpan
    private let source: Int
    private let root: String
    private var sensor: Sensor?
    private(set) var deadline: Instant?

    /// One sensor that is open.
    private struct Sensor {
        var raw: [Descriptor] = []
        var scales = [1.0, 1, 1]
        var offsets = [0.0, 0, 0]
        /// By rows.
        var mount = [1.0, 0, 0, 0, 1, 0, 0, 0, 1]
    }

    /// - Parameters:
    ///   - name: what the file `name` of the sensor says, or its folder where it has a slash.
    ///   - root: where sensors are looked for.
    init(name: String, every: TimeSpan, source: Int, root: String = folder) {
        self.name = name
        self.every = max(every, .milliseconds(1))
        self.source = source
        self.root = root
    }

    var descriptor: Descriptor? { nil }

    mutating func open() throws(SystemError) {
        sensor = try openSensor()
        deadline = .zero
    }

    mutating func close() {
        sensor = nil
        deadline = nil
    }

    mutating func read(
        at now: Instant, through buffer: inout ReadBuffer, emit: inout Outputs<ActivityInput>
    ) {
        // Values that are late are not made up for.
        let next = (deadline ?? now) + every
        deadline = next > now ? next : now + every
        do throws(SystemError) {
            let opened: Sensor
            if let sensor { opened = sensor } else { opened = try openSensor() }
            sensor = opened
            let (x, y, z) = try acceleration(opened)
            emit.append(.acceleration(x: x, y: y, z: z, source: source))
        } catch {
            sensor = nil
            deadline = now + max(every, Self.searchPeriod)
            emit.append(.sourceLost(reason: "\(error)", source: source))
        }
    }

    /// In g.
    private func acceleration(
        _ sensor: Sensor
    ) throws(SystemError) -> (x: Double, y: Double, z: Double) {
        var values: [Double] = []
        for (index, descriptor) in sensor.raw.enumerated() {
            let raw = try Self.number(descriptor, "the \(Self.axes[index]) axis of \(name)")
            values.append((raw + sensor.offsets[index]) * sensor.scales[index] / Self.gravity)
        }
        let turned = (0..<3).map { row in
            (0..<3).reduce(0) { $0 + sensor.mount[3 * row + $1] * values[$1] }
        }
        return (turned[0], turned[1], turned[2])
    }

    // MARK: the sensor's files

    private func openSensor() throws(SystemError) -> Sensor {
        let path = try find()
        var sensor = Sensor()
        for (index, axis) in Self.axes.enumerated() {
            let raw = "\(path)/in_accel_\(axis)_raw"
            sensor.raw.append(
                Descriptor(
                    try systemCall("read", raw) { unsafe Glibc.open(raw, O_RDONLY | O_CLOEXEC) }))
            let scale = Self.text(path, ["in_accel_\(axis)_scale", "in_accel_scale"])
            guard let scale = scale.flatMap({ Double($0) }), scale.isFinite else {
                throw SystemError(
                    EINVAL, operation: "use the sensor", object: path,
                    reason: "it has no scale in in_accel_scale")
            }
            sensor.scales[index] = scale
            let offset = Self.text(path, ["in_accel_\(axis)_offset", "in_accel_offset"])
            sensor.offsets[index] = offset.flatMap { Double($0) } ?? 0
        }
        if let matrix = Self.text(
            path, ["in_accel_mount_matrix", "in_mount_matrix", "mount_matrix"])
        {
            let numbers = matrix.split { $0 == "," || $0 == ";" || $0 == " " }.compactMap {
                Double($0)
            }
            if numbers.count == 9, numbers.allSatisfy(\.isFinite) { sensor.mount = numbers }
        }
        setRate(path)
        return sensor
    }

    /// The folder of the sensor with this name.
    private func find() throws(SystemError) -> String {
        if name.contains("/") { return name }
        let folders = Self.names(in: root).filter { $0.hasPrefix("iio:device") }
        var found: [String] = []
        for folder in folders {
            guard let text = Self.text("\(root)/\(folder)", ["name"]) else { continue }
            if text == name { return "\(root)/\(folder)" }
            found.append(text)
        }
        throw SystemError(
            ENODEV, operation: "find the sensor", object: name,
            reason: "there is none of that name",
            advice: found.isEmpty
                ? "this machine has no IIO sensor; another source may do"
                : "there are \(found.joined(separator: ", "))")
    }

    /// Asks the sensor for as many samples as are read: the lowest rate it has that is enough. A
    /// sensor that does not take it keeps its own.
    private func setRate(_ path: String) {
        let wanted = 1_000_000 / Double(every.microseconds)
        for file in ["in_accel_sampling_frequency", "sampling_frequency"] {
            guard let text = Self.text(path, [file]), let now = Double(text), now < wanted,
                let available = Self.text(path, [file + "_available"])
            else { continue }
            let rates = available.split(separator: " ").filter { Double($0) ?? 0 >= wanted }
            guard let rate = rates.min(by: { Double($0) ?? 0 < Double($1) ?? 0 }) else { continue }
            let number = unsafe Glibc.open("\(path)/\(file)", O_WRONLY | O_CLOEXEC)
            guard number >= 0 else { continue }
            let octets = Array(rate.utf8)
            do throws(SystemError) {
                _ = try Descriptor(number).write(octets, 0..<octets.count, to: file)
            } catch { continue }
        }
    }

    /// The content of the first of `files` that is there, without white space around it.
    private static func text(_ path: String, _ files: [String]) -> String? {
        for file in files {
            do throws(SystemError) {
                let bytes = try readFile("\(path)/\(file)", octetsMax: 4096)
                return trimmed(bytes[...])
            } catch { continue }
        }
        return nil
    }

    /// What the file says now: it is read from its start each time.
    private static func number(
        _ descriptor: Descriptor, _ object: String
    ) throws(SystemError) -> Double {
        var octets = [UInt8](repeating: 0, count: 64)
        let count = try systemCall("read", object) {
            unsafe pread(descriptor.number, &octets, octets.count, 0)
        }
        let text = trimmed(octets.prefix(count))
        guard let number = Double(text), number.isFinite else {
            throw SystemError(
                EINVAL, operation: "read", object: object, reason: "'\(text)' is no number")
        }
        return number
    }

    private static func trimmed(_ octets: ArraySlice<UInt8>) -> String {
        var octets = octets.drop { $0 <= 0x20 }
        while let last = octets.last, last <= 0x20 { octets.removeLast() }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The names in a folder, sorted; none where it cannot be read.
    private static func names(in path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { octets in
                unsafe String(decoding: octets.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names.sorted()
    }
}

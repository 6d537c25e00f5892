// The file of a scanner: its window and interval, and where they are from.
public import PowerModel
public import Profiles

extension ModelLoader {
    public static func scanner(
        path: String, bytes: [UInt8]
    ) throws(ProfileErrors) -> ScannerModel {
        var scanner = try ProfileLoader.read(.scanner, path: path, bytes: bytes)
        let file = path.split(separator: "/").last ?? ""
        scanner.name = String(file.hasSuffix(".yaml") ? file.dropLast(5) : file)
        return scanner
    }
}

extension Form where Value == ScannerModel {
    static var scanner: Form {
        map(says: "a scanner: a map that begins with 'scanner'") { keys in
            let title = keys.required("scanner", .text(60, says: "what the scanner is called"))
            let window = keys.required("window", Form<Double>.scanTime)
            let interval = keys.required("interval", Form<Double>.scanTime)
            let source = keys.required("source", Form<String>.source)
            let note = keys.optional("note", .text(500, says: "what holds only in part"))
            guard let title, let window, let interval, let source else { return nil }
            guard window <= interval else {
                keys.report(
                    at: "window", "the window is longer than the interval",
                    "write how long it listens in each interval")
                return nil
            }
            return ScannerModel(
                name: title, title: title, window: Int64((window * 1_000).rounded()),
                interval: Int64((interval * 1_000).rounded()), source: source, note: note ?? "")
        }
    }
}

extension Form where Value == Double {
    /// LE_Scan_Interval and LE_Scan_Window (Core 6.0, Vol 4, Part E, 7.8.10, 7.8.64).
    fileprivate static var scanTime: Form { quantity("ms", 2.5...40_960, example: "183 ms") }
}

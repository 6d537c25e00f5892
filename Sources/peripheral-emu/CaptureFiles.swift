// --capture: the files of a run's packets, one for each controller.
import Emulator
import LinuxIO

enum CaptureFiles {
    /// Where the packets of each controller go: to `path`, or where several accessories have a
    /// controller each, to `hour.indoors.btsnoop` and the like for `hour.btsnoop`.
    static func paths(_ path: String, _ names: AccessoryNames) -> [String] {
        guard names.areSeveral else { return [path] }
        let slash = path.lastIndex(of: "/")
        let file = path[(slash.map { path.index(after: $0) } ?? path.startIndex)...]
        // The dot of a hidden file begins no ending.
        let end = file.dropFirst().lastIndex(of: ".") ?? path.endIndex
        return names.all.map { "\(path[..<end]).\($0)\(path[end...])" }
    }

    /// Opens the files.
    ///
    /// To be called before the event loop takes the signals: opening a pipe waits for its reader,
    /// and must end with them.
    static func open(_ options: RunOptions, _ paths: [String]) throws(SystemError) -> [FileOutput] {
        var files: [FileOutput] = []
        for path in paths {
            files.append(
                try FileOutput(
                    path: path == "-" ? "/dev/stdout" : path, isLive: !options.virtualTime))
        }
        return files
    }
}

// The `activity:` part: the signal's source and the two-level detector's rule.
import Advertising
import SansIO
import YAML

extension Form where Value == ActivityRule {
    static var activity: Form {
        map(says: "a map of source, active-above, idle-below and hold") { keys in
            let samples = keys.required("source", .traceSource)
            let level = Form<Double>.quantity("g", 0...100, example: "0.12 g")
            let above = keys.required("active-above", level)
            let below = keys.required("idle-below", level)
            let hold = keys.required("hold", .period)
            if let above, let below, below > above {
                keys.report(
                    at: "idle-below", "'idle-below' is above 'active-above'", "write a lower level")
                return nil
            }
            guard let samples, let above, let below, let hold else { return nil }
            return ActivityRule(samples: samples, activeAbove: above, idleBelow: below, hold: hold)
        }
    }
}

extension Form where Value == [ActivityRule.Sample] {
    fileprivate static var traceSource: Form {
        let says = "'{csv: FILE, column: NAME}'"
        return map(says: says) { keys in
            let path = keys.optional("csv", .text(4096, says: "the trace's file"))
            let column = keys.optional("column", .text(100, says: "the name of a column"))
            let later = ["iio", "fifo", "socket", "stdin", "generator", "gatt"]
            for key in later { keys.later(key) }
            keys.later("loop")
            guard let path else {
                if !keys.has("csv"), !later.contains(where: { keys.has($0) }) {
                    keys.context.report(keys.place, "the key 'csv' is missing", "write \(says)")
                }
                return nil
            }
            return trace(path, column: column ?? "magnitude", at: "csv", keys)
        }
    }

    /// A column of the file at `path`, which stands at `key`.
    static func trace(
        _ path: String, column: String, at key: String, _ keys: Keys
    ) -> [ActivityRule.Sample]? {
        let context = keys.context
        let full = resolve(path, besides: context.file)
        switch context.files(full) {
        case .failure(let failure):
            keys.report(
                at: key, "cannot read '\(full)': \(failure.reason)",
                "write the trace's path, relative to the profile's folder")
            return nil
        case .success(let bytes):
            let trace = ActivityTrace(file: full, column: column)
            do throws(ProfileError) { return try trace.read(bytes) } catch {
                context.report(error)
                return nil
            }
        }
    }

    /// A path in a profile is relative to the profile's folder.
    private static func resolve(_ path: String, besides profile: String) -> String {
        guard !path.hasPrefix("/"), let slash = profile.lastIndex(of: "/") else { return path }
        return profile[...slash] + path
    }
}

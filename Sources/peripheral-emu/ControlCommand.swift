// `ctl`: asks a running accessory for something and prints the answer.
import Emulator
import LinuxIO
import SansIO
import Wire

enum ControlCommand {
    /// How long an accessory may take to answer, in milliseconds.
    private static let patience: Int32 = 10_000

    static func run(_ options: ControlOptions, _ console: inout Console) -> ExitCode {
        do throws(SystemError) {
            let connection = try LineConnection(path: options.path)
            try connection.send(RPC.request(options.method.name, options.parameters, id: 1))
            guard let answer = try connection.line(within: patience) else {
                console.error("\(options.path): the accessory closed the connection")
                return .failure
            }
            guard let value = value(answer, options, &console) else { return .failure }
            guard let result = value["result"] else {
                console.error(value["error"]?["message"]?.string ?? answer)
                return .unmet
            }
            guard options.method.name == ControlMethod.watchName else {
                let lines = options.json ? [result.text()] : options.method.lines(of: result)
                for line in lines { console.print(line) }
                return .done
            }
            return try watch(connection, options, &console)
        } catch {
            console.error("\(error)")
            return .failure
        }
    }

    /// Prints events until the accessory has gone.
    private static func watch(
        _ connection: LineConnection, _ options: ControlOptions, _ console: inout Console
    ) throws(SystemError) -> ExitCode {
        while let line = try connection.line() {
            guard let value = value(line, options, &console) else { return .failure }
            guard let event = value["params"] else { continue }
            if options.json {
                console.print(event.text())
            } else {
                let time = event["time"]?.number.flatMap { Int64(exactly: ($0 * 1e6).rounded()) }
                let stamp = time.map { Console.stamp(TimeSpan(microseconds: $0)) } ?? ""
                let name = event[ControlMethod.accessory]?.string.map { "\($0): " } ?? ""
                console.print(stamp + name + (event["text"]?.string ?? event.text()))
            }
            console.flush()
        }
        console.error("\(options.path): the accessory has ended")
        return .done
    }

    private static func value(
        _ line: String, _ options: ControlOptions, _ console: inout Console
    ) -> JSONValue? {
        let octets = Array(line.utf8)
        do throws(JSONError) { return try JSONValue(octets.span) } catch {
            console.error("\(options.path): what answers there is no accessory: \(error)")
            return nil
        }
    }
}

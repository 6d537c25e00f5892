// libFuzzer at work on one of the targets: `fuzz --target=NAME` and libFuzzer's own options, or
// `--seeds` to print the inputs to begin with.
import CFuzzer
import Harness
import Wire

#if canImport(Glibc)
    import Glibc
#endif

@main
enum Fuzz {
    static let option = "--target="

    static func main() {
        let said = CommandLine.arguments.first { $0.hasPrefix(option) }
        let name = String((said ?? option).dropFirst(option.count))
        guard let callback = callback(named: name) else {
            let names = FuzzTarget.all.map(\.name).joined(separator: ", ")
            print("fuzz: give \(option)NAME; the names are \(names)")
            exit(2)
        }
        if CommandLine.arguments.contains("--seeds") {
            for seed in FuzzTarget.named(name)?.seeds() ?? [] {
                print(Hex.string(seed))
            }
            return
        }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments, callback))
    }

    typealias Callback = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

    /// A C function takes nothing along, so there is one for each target.
    static func callback(named name: String) -> Callback? {
        switch name {
        case "ad": { Fuzz.run("ad", $0, $1) }
        case "att": { Fuzz.run("att", $0, $1) }
        case "att-operations": { Fuzz.run("att-operations", $0, $1) }
        case "hci": { Fuzz.run("hci", $0, $1) }
        case "l2cap": { Fuzz.run("l2cap", $0, $1) }
        case "yaml": { Fuzz.run("yaml", $0, $1) }
        default: nil
        }
    }

    static func run(_ name: String, _ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
        FuzzTarget.named(name)?.run(Array(UnsafeBufferPointer(start: data, count: size)))
        return 0
    }
}

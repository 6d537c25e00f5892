// libFuzzer at work on one of the targets.
//
//   fuzz --names                        prints the targets' names
//   fuzz --target=NAME --seeds          prints the inputs to begin with, in hexadecimal
//   fuzz --target=NAME OPTION … FOLDER  runs libFuzzer
import CFuzzer
import Harness
import Wire

#if canImport(Glibc)
    import Glibc
#endif

@main
enum Fuzz {
    /// A C function takes nothing along, so the target stands here.
    static let target: FuzzTarget? = {
        let option = "--target="
        let said = CommandLine.arguments.first { $0.hasPrefix(option) }
        return said.flatMap { FuzzTarget.named(String($0.dropFirst(option.count))) }
    }()

    static func main() {
        if CommandLine.arguments.contains("--names") {
            for target in FuzzTarget.all { print(target.name) }
            return
        }
        guard let target else {
            print("fuzz: give --target=NAME with one of the names that --names prints")
            exit(2)
        }
        if CommandLine.arguments.contains("--seeds") {
            for seed in target.seeds() { print(Hex.string(seed)) }
            return
        }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { data, size in
                Fuzz.target?.run(Array(UnsafeBufferPointer(start: data, count: size)))
                return 0
            })
    }
}

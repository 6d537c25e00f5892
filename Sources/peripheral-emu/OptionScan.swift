// glibc's getopt_long over the table of options.
import CLinux
import Glibc
import Wire

extension Options {
    /// The options of a command line in their order, and what is left.
    struct Scan {
        var options: [(row: Int, argument: String)] = []
        var operands: [String] = []

        /// getopt_long's values for the rows: beyond every character.
        private static let firstValue: Int32 = 256

        init(_ arguments: [String]) throws(UsageError) {
            // getopt_long reads C strings and moves operands to the end of its array.
            var strings: [UnsafeMutablePointer<CChar>?] = unsafe []
            for text in ["peripheral-emu"] + arguments { unsafe strings.append(strdup(text)) }
            unsafe strings.append(nil)
            let owned = unsafe strings
            let names = unsafe Options.table.map { unsafe strdup($0.name) }
            defer { unsafe (owned + names).forEach { unsafe free($0) } }
            var rows = unsafe [option]()
            for index in Options.table.indices {
                let takesArgument = Options.table[index].argument != nil
                unsafe rows.append(
                    option(
                        name: names[index],
                        has_arg: takesArgument ? required_argument : no_argument,
                        flag: nil, val: Self.firstValue + Int32(index)))
            }
            unsafe rows.append(option())
            let count = Int32(arguments.count + 1)
            peripheral_emu_getopt_begin()
            while true {
                let found = unsafe peripheral_emu_getopt_next(count, strings, rows)
                let value = unsafe found.value
                let next = unsafe Int(found.next)
                if value == -1 {
                    operands = (next..<Int(count)).map { unsafe Self.text(strings[$0]) }
                    return
                }
                let before = unsafe Self.text(strings[next - 1])
                let culprit = unsafe found.culprit
                guard value >= Self.firstValue else {
                    throw Self.refusal(isMissing: value == 0x3A, culprit: culprit, text: before)
                }
                let argument = unsafe found.argument.map { unsafe String(cString: $0) } ?? ""
                options.append((Int(value - Self.firstValue), argument))
            }
        }

        private static func text(_ string: UnsafeMutablePointer<CChar>?) -> String {
            unsafe string.map { unsafe String(cString: $0) } ?? ""
        }

        /// - Parameters:
        ///   - isMissing: whether an argument is missing.
        ///   - culprit: the value of a known option, a short option's letter, or 0.
        ///   - text: the element of the command line.
        private static func refusal(isMissing: Bool, culprit: Int32, text: String) -> UsageError {
            if culprit >= firstValue {
                let row = Options.table[Int(culprit - firstValue)]
                guard isMissing else { return UsageError("--\(row.name) takes no argument") }
                return UsageError(
                    "--\(row.name) needs an argument; write --\(row.name) \(row.argument ?? "")")
            }
            let isShort = culprit != 0
            let name = isShort ? "-" + letter(culprit) : String(text.prefix { $0 != "=" })
            let bare = String(name.drop { $0 == "-" })
            let names = Options.table.map(\.name)
            let starting = names.filter { !bare.isEmpty && $0.hasPrefix(bare) }
            guard let near = starting.first ?? NearestName.of(bare, among: names) else {
                return UsageError("there is no option \(name); see --help")
            }
            return UsageError("there is no option \(name); did you mean --\(near)?")
        }

        private static func letter(_ code: Int32) -> String {
            String(decoding: [UInt8(truncatingIfNeeded: code)], as: UTF8.self)
        }
    }
}

// `bonds`: who has paired with an accessory, told or forgotten.
import Emulator
import LinuxIO
import SMP
import SQLiteStore
import Wire

/// The command line of `bonds`.
struct BondsOptions {
    enum Action: Equatable {
        case list, export
        /// nil: all.
        case remove(DeviceAddress?)
    }

    var action: Action
    /// The state's folder.
    var folder: String
    /// Whether `export` tells keys.
    var tellsKeys = false

    private static let usage =
        "write bonds list, bonds export or bonds remove ADDRESS|all, with --profile FILE or "
        + "--state DIR"

    init(_ scan: Options.Scan) throws(UsageError) {
        var choice = StateChoice.automatic
        var profile: String?
        for option in scan.options {
            switch Options.table[option.row].name {
            case Options.state: choice = try StateChoice(option.argument)
            case Options.profile: profile = option.argument
            case Options.keys: tellsKeys = true
            case let name: throw UsageError("bonds does not take --\(name); \(Self.usage)")
            }
        }
        switch (scan.operands.first, scan.operands.count) {
        case ("list", 1): action = .list
        case ("export", 1): action = .export
        case ("remove", 2):
            let text = scan.operands[1]
            let address = DeviceAddress(text)
            guard address != nil || text == "all" else {
                throw UsageError(
                    "\"\(text)\" is no address; write bonds remove C0:11:22:33:44:55, or all")
            }
            action = .remove(address)
        default: throw UsageError(Self.usage)
        }
        if tellsKeys, action != .export { throw UsageError("--keys belongs to bonds export") }
        if choice == .automatic, profile == nil { throw UsageError(Self.usage) }
        guard let folder = choice.path(profile: profile ?? "") else { throw UsageError(Self.usage) }
        self.folder = folder
    }
}

enum BondsCommand {
    static func run(_ options: BondsOptions, _ console: inout Console) -> ExitCode {
        let file = options.folder + StateKeeper.fileName
        guard exists(file) else {
            console.error(
                "there is no state in \(options.folder): nobody has paired; if somebody did, write "
                    + "the --profile or --state that it ran with")
            return .failure
        }
        do throws(SystemError) {
            // Looking does no harm while an accessory runs; removing would be undone by it.
            var folder: PrivateFolder?
            if case .remove = options.action { folder = try PrivateFolder(path: options.folder) }
            defer { withExtendedLifetime(folder) {} }
            return try run(options, on: file, &console)
        } catch {
            console.error("\(error)")
            return .failure
        }
    }

    private static func run(
        _ options: BondsOptions, on file: String, _ console: inout Console
    ) throws(SystemError) -> ExitCode {
        do throws(StoreError) {
            let database = try StateDatabase(path: file, creates: false)
            var state = try database.load()
            switch options.action {
            case .list:
                for bond in state.bonds { console.print(line(bond)) }
                if state.bonds.isEmpty { console.log(LogLine(.info, "nobody has paired yet")) }
            case .export:
                for bond in state.bonds {
                    console.print(json(bond, tellsKeys: options.tellsKeys).text())
                }
            case .remove(let address):
                let found = state.bonds.map(\.peer).filter {
                    address == nil || $0.address == address
                }
                guard address == nil || !found.isEmpty else {
                    console.error("there is no bond with \(address?.description ?? "")")
                    return .unmet
                }
                try database.store(found.flatMap { state.forget($0) })
                for peer in found { console.print("removed \(peer)") }
            }
            return .done
        } catch {
            console.error(StateKeeper.text(of: error, file))
            return .failure
        }
    }

    private static func line(_ bond: Bond) -> String {
        let quality = bond.quality
        return "\(bond.peer)  "
            + (quality.isAuthenticated ? "authenticated" : "not authenticated") + ", "
            + (quality.isSecureConnections ? "LE Secure Connections" : "LE legacy pairing")
            + ", key of \(quality.size) octets"
            + (bond.peerIdentityKey == nil ? "" : ", resolvable")
    }

    private static func json(_ bond: Bond, tellsKeys: Bool) -> JSONValue {
        var members = [
            JSONMember("address", .string("\(bond.peer.address)")),
            JSONMember("address-type", .string(bond.peer.isRandom ? "random" : "public")),
            JSONMember("authenticated", .boolean(bond.quality.isAuthenticated)),
            JSONMember("secure-connections", .boolean(bond.quality.isSecureConnections)),
            JSONMember("key-size", .integer(Int64(bond.quality.size))),
        ]
        guard tellsKeys else { return .object(members) }
        members += [
            JSONMember("ltk", .string(Hex.string(bond.longTermKey))),
            JSONMember("ediv", .integer(Int64(bond.ediv))),
            JSONMember("rand", .string(hexadecimal(bond.rand))),
        ]
        let others = [
            ("irk", bond.peerIdentityKey), ("csrk", bond.peerSignatureKey),
            ("own-csrk", bond.ownSignatureKey),
        ]
        for (name, key) in others {
            if let key { members.append(JSONMember(name, .string(Hex.string(key)))) }
        }
        return .object(members)
    }

    private static func hexadecimal(_ rand: UInt64) -> String {
        Hex.string((0..<8).map { UInt8(truncatingIfNeeded: rand >> UInt64(8 * $0)) })
    }
}

// swift-tools-version: 6.2
// The targets and the arrows between them; Sources/README.md draws the picture.
import PackageDescription

/// One set of rules for every target: Swift 6, warnings are errors, imports say what they need.
let house: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // The module brings a regular expression engine, whose types each start would search through.
    .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"]),
]

/// Targets that call C say `unsafe` where they do.
let edge = house + [.strictMemorySafety()]

func layer(_ name: String, _ dependencies: [Target.Dependency] = [], edge isEdge: Bool = false)
    -> Target
{
    .target(name: name, dependencies: dependencies, swiftSettings: isEdge ? edge : house)
}

/// Tests mirror Sources: one test target a layer. Fixtures are folders of text files that tests
/// read from the source tree; SwiftPM asks to be told of them.
func tests(
    _ name: String, _ dependencies: [Target.Dependency] = [], fixtures: [String] = []
) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: [.target(name: name)] + dependencies,
        exclude: fixtures,
        swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
}

let package = Package(
    name: "peripheral-emu",
    products: [.executable(name: "peripheral-emu", targets: ["peripheral-emu"])],
    targets: [
        // C: headers only for Bluetooth (libbluetooth is GPL and is not linked); libyaml,
        // libcrypto and SQLite are linked.
        .systemLibrary(name: "CBluetooth", providers: [.apt(["libbluetooth-dev"])]),
        .systemLibrary(name: "CYaml", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CCrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLinux"),

        // ground
        layer("Wire"),
        layer("SansIO"),

        // records
        layer("HCI", ["Wire"]),
        layer("YAML", ["CYaml"], edge: true),

        // layers
        layer("L2CAP", ["Wire", "SansIO", "HCI"]),
        layer("GATT", ["Wire", "SansIO"]),
        layer("SMP", ["Wire", "SansIO"]),
        layer("Advertising", ["Wire", "SansIO", "HCI"]),
        layer("Behaviours", ["Wire", "SansIO"]),

        // composition
        layer("BLEHost", ["Wire", "SansIO", "HCI", "L2CAP", "GATT", "SMP", "Advertising"]),
        layer(
            "Profiles",
            ["Wire", "SansIO", "HCI", "YAML", "GATT", "SMP", "Advertising", "Behaviours"]),
        layer("VirtualController", ["Wire", "SansIO", "HCI", "SMP"]),
        // Samples by the million, in tests too.
        .target(
            name: "PowerModel", dependencies: ["Wire", "SansIO", "Advertising"],
            swiftSettings: house + [.unsafeFlags(["-O"], .when(configuration: .debug))]),

        // device
        layer(
            "Emulator",
            [
                "Wire", "SansIO", "HCI", "L2CAP", "GATT", "SMP", "Advertising", "Behaviours",
                "BLEHost", "Profiles",
            ]),

        // edges
        layer(
            "Simulation",
            [
                "Wire", "SansIO", "HCI", "GATT", "SMP", "Advertising", "BLEHost",
                "VirtualController", "Profiles", "Emulator",
            ]),
        layer(
            "LinuxIO", ["Wire", "SansIO", "HCI", "Advertising", "CBluetooth", "CLinux"],
            edge: true),
        layer("OpenSSLCrypto", ["GATT", "SMP", "CCrypto"], edge: true),
        layer(
            "SQLiteStore", ["Wire", "GATT", "SMP", "Advertising", "Emulator", "CSQLite"],
            edge: true),

        // tools
        layer(
            "Bench",
            [
                "Wire", "SansIO", "HCI", "Advertising", "BLEHost", "VirtualController", "YAML",
                "Profiles", "PowerModel", "Emulator", "Simulation",
            ]),

        // executables
        .executableTarget(
            name: "peripheral-emu",
            dependencies: [
                "Wire", "SansIO", "HCI", "GATT", "SMP", "Advertising", "Behaviours", "BLEHost",
                "VirtualController", "YAML", "Profiles", "Emulator", "Simulation", "LinuxIO",
                "OpenSSLCrypto", "SQLiteStore", "CLinux", "PowerModel", "Bench",
            ],
            swiftSettings: edge),

        // What tests share, what they share with fuzzers, and libFuzzer's program, which Tools/fuzz
        // builds and runs.
        .target(name: "TestFiles", path: "Tests/TestFiles", swiftSettings: house),
        .target(
            name: "Harness",
            dependencies: [
                "Wire", "SansIO", "HCI", "L2CAP", "GATT", "SMP", "Advertising", "BLEHost",
                "Profiles", "VirtualController", "Emulator", "Simulation", "OpenSSLCrypto",
            ],
            path: "Tests/Harness", swiftSettings: house),
        .target(name: "CFuzzer", path: "Tools/libfuzzer/CFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: ["CFuzzer", "Harness", "Wire"],
            path: "Tools/libfuzzer/Driver", swiftSettings: house),

        // What Tools/perf measures inside the process.
        .target(name: "CAllocations", path: "Tools/perf-bench/CAllocations"),
        .executableTarget(
            name: "in-process",
            dependencies: [
                "CAllocations", "Wire", "SansIO", "HCI", "Advertising", "Profiles",
                "VirtualController", "PowerModel", "Emulator", "Bench", "LinuxIO",
            ],
            path: "Tools/perf-bench/InProcess", swiftSettings: house),
        // An hour on a lossy air in a process of its own, for Tests/Peers/test_loss.py.
        .executableTarget(
            name: "lossy-hour",
            dependencies: ["Harness", "LinuxIO", "SansIO", "VirtualController"],
            path: "Tests/LossyHour", swiftSettings: house),
        // Stores until it is killed, for Tests/Peers/test_state.py.
        .executableTarget(
            name: "state-workload",
            dependencies: ["Harness", "Emulator", "LinuxIO", "SQLiteStore", "SansIO"],
            path: "Tests/StateWorkload", swiftSettings: house),

        tests(
            "Harness",
            [
                "Wire", "SansIO", "HCI", "GATT", "SMP", "Advertising", "Profiles", "Emulator",
                "OpenSSLCrypto", "TestFiles",
            ]),

        tests("Wire"),
        tests("SansIO"),
        tests("HCI", ["Wire", "TestFiles"], fixtures: ["Vectors"]),
        tests("YAML", fixtures: ["Syntax"]),
        tests("L2CAP", ["Wire", "SansIO", "HCI"]),
        tests("GATT", ["Wire", "SansIO"]),
        tests(
            "Advertising",
            ["Wire", "SansIO", "HCI", "SMP", "Profiles", "OpenSSLCrypto", "Harness"]),
        tests("Behaviours", ["Wire", "SansIO"]),
        tests(
            "BLEHost",
            [
                "Wire", "SansIO", "HCI", "L2CAP", "GATT", "SMP", "Advertising", "OpenSSLCrypto",
                "Harness",
            ]),
        tests(
            "Profiles",
            [
                "Wire", "SansIO", "HCI", "YAML", "GATT", "Advertising", "Behaviours",
                "OpenSSLCrypto",
            ],
            fixtures: ["Snapshots", "Mistakes"]),
        tests("VirtualController", ["Wire", "SansIO", "HCI", "OpenSSLCrypto"]),
        tests(
            "Emulator",
            [
                "Wire", "SansIO", "HCI", "L2CAP", "GATT", "SMP", "Advertising", "Behaviours",
                "BLEHost", "Profiles", "VirtualController", "OpenSSLCrypto", "Harness", "TestFiles",
            ],
            fixtures: ["Snapshots"]),
        tests(
            "Simulation",
            [
                "Wire", "SansIO", "HCI", "GATT", "Advertising", "BLEHost", "VirtualController",
                "Profiles", "Emulator", "Harness", "TestFiles",
            ],
            fixtures: ["Snapshots"]),
        tests("PowerModel", ["Wire", "SansIO", "Advertising", "TestFiles"], fixtures: ["Vectors"]),
        tests(
            "Bench",
            [
                "Wire", "SansIO", "HCI", "Advertising", "BLEHost", "VirtualController", "YAML",
                "Profiles", "PowerModel", "Emulator", "Simulation", "LinuxIO", "TestFiles",
            ]),
        tests("LinuxIO", ["Wire", "SansIO", "HCI", "Advertising"]),
        tests("OpenSSLCrypto", ["Wire"]),
        tests("SQLiteStore", ["Wire", "GATT", "SMP", "Advertising", "Emulator"]),
        tests("SMP", ["Wire", "SansIO", "GATT", "OpenSSLCrypto", "Harness", "TestFiles"]),
        tests("peripheral-emu", ["Wire", "SansIO", "Emulator", "LinuxIO"]),
    ]
)

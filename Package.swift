// swift-tools-version: 6.2
import PackageDescription

// blectl is Linux only: its home is AF_BLUETOOTH. Everything but LinuxIO, LinuxBluetooth, Terminal, EventLoop, Crypto
// and Compression is pure Swift.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  // So that the linker can leave out what nobody calls, and put together what every start needs.
  .unsafeFlags(["-Xfrontend", "-function-sections"], .when(configuration: .release)),
]
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let fuzzed: [Target.Dependency] = [
  "blectl", "Gatttool", "Diagnosis", "Shell", "Completion", "Commands", "CommandLine", "Terminal", "ScriptLanguage", "Transfer",
  "Operations", "Finding", "LinuxIO", "LEHost", "Simulation", "Decoding", "Replay", "Peripherals", "HostCommon", "GAP", "DeviceFiles",
  "GATT", "ATT", "SMP", "L2CAP", "Captures", "HCI", "Values", "Bluetooth", "Crypto", "EventLoop", "Text", "TestSupport",
]

let package = Package(
  name: "blectl",
  dependencies: [
    // Minor versions may change what Sources/CommandLine/Grammar/ParserDetails.swift collects.
    .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.0")),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
  ],
  targets: [
    // From the bottom to the top: a room knows only those before it. scripts/check-rooms reads the imports.
    .target(name: "Text", swiftSettings: settings),
    .target(name: "EventLoop", dependencies: [deque, heap], swiftSettings: settings),
    .systemLibrary(name: "CBluetooth"),
    .systemLibrary(name: "CCrypto"),
    .systemLibrary(name: "CDBus"),
    .systemLibrary(name: "CZlib"),
    .target(name: "CLinux", publicHeadersPath: ".", cSettings: [.treatAllWarnings(as: .error)]),
    // Not headers like the others: what they keep exists once, however Swift is optimised.
    .target(name: "CCurses", cSettings: [.treatAllWarnings(as: .error)]),
    .target(name: "CReadline", cSettings: [.treatAllWarnings(as: .error)]),
    .target(
      name: "Crypto", dependencies: ["CCrypto"], swiftSettings: settings,
      // The static one: a shared libcrypto would be loaded at every start.
      linkerSettings: [.linkedLibrary(":libcrypto.a")]),
    .target(
      name: "Compression", dependencies: ["CZlib"], swiftSettings: settings,
      // The static one, likewise.
      linkerSettings: [.linkedLibrary(":libz.a")]),
    .target(name: "Bluetooth", dependencies: ["Text"], swiftSettings: settings),
    .target(name: "Values", dependencies: ["Bluetooth", "Text"], swiftSettings: settings),
    .target(
      name: "HCI", dependencies: ["Bluetooth", "EventLoop", "Text"], exclude: ["Commands/Commands.txt"], swiftSettings: settings),
    .target(name: "Captures", dependencies: ["Compression", "HCI", "Bluetooth", "EventLoop", "Text"], swiftSettings: settings),
    .target(name: "L2CAP", dependencies: ["HCI", "Bluetooth"], swiftSettings: settings),
    .target(name: "SMP", dependencies: ["Bluetooth", "Crypto", "EventLoop", "Text"], swiftSettings: settings),
    .target(name: "ATT", dependencies: ["Bluetooth", "EventLoop", "Text", deque], swiftSettings: settings),
    .target(name: "GATT", dependencies: ["ATT", "Values", "Bluetooth", "EventLoop", "Text"], swiftSettings: settings),
    .target(name: "DeviceFiles", dependencies: ["GATT", "ATT", "Bluetooth", "Text"], swiftSettings: settings),
    .target(name: "GAP", dependencies: ["SMP", "ATT", "Bluetooth", "EventLoop", "Text"], swiftSettings: settings),
    .target(name: "HostCommon", dependencies: ["GAP", "HCI", "Bluetooth", "EventLoop"], swiftSettings: settings),
    .target(name: "Replay", dependencies: ["ATT", "L2CAP", "Captures", "HCI", "Bluetooth", "EventLoop", deque], swiftSettings: settings),
    .target(
      name: "Decoding", dependencies: ["Replay", "HostCommon", "ATT", "L2CAP", "Captures", "HCI", "Bluetooth", "Text"],
      swiftSettings: settings),
    .target(
      name: "Peripherals", dependencies: ["DeviceFiles", "GATT", "SMP", "ATT", "Bluetooth", "Crypto", "EventLoop", "Text"],
      swiftSettings: settings
    ),
    .target(
      name: "Simulation", dependencies: ["Peripherals", "SMP", "ATT", "L2CAP", "HCI", "Bluetooth", "EventLoop", deque],
      swiftSettings: settings),
    .target(
      name: "LEHost", dependencies: ["HostCommon", "GAP", "SMP", "ATT", "L2CAP", "HCI", "Bluetooth", "EventLoop", deque],
      swiftSettings: settings),
    .target(
      name: "LinuxIO", dependencies: ["CLinux", "HCI", "Bluetooth", "EventLoop", "Text", deque, system], swiftSettings: settings
    ),
    .target(
      name: "LinuxBluetooth",
      dependencies: [
        "LinuxIO", "CBluetooth", "CDBus", "HostCommon", "GAP", "SMP", "ATT", "L2CAP", "HCI", "Bluetooth", "EventLoop", system,
      ],
      swiftSettings: settings),
    .target(
      name: "Finding", dependencies: ["GAP", "SMP", "DeviceFiles", "Bluetooth", "Crypto", "EventLoop", "Text"], swiftSettings: settings),
    .target(
      name: "Operations",
      dependencies: ["Finding", "GAP", "SMP", "DeviceFiles", "GATT", "ATT", "Values", "Bluetooth", "EventLoop", "Text"],
      swiftSettings: settings),
    .target(
      name: "Transfer", dependencies: ["Operations", "Finding", "GAP", "GATT", "ATT", "Bluetooth", "EventLoop", "Text"],
      swiftSettings: settings),
    .target(name: "TestReports", dependencies: ["Transfer", "ATT", "EventLoop", "Text"], swiftSettings: settings),
    .target(name: "ScriptLanguage", dependencies: ["GATT", "Text"], swiftSettings: settings),
    .target(
      name: "Terminal", dependencies: ["CCurses", "CReadline", "EventLoop", "Text"], swiftSettings: settings,
      // The static ones: shared libraries would be loaded at every start.
      linkerSettings: [
        .linkedLibrary(":libncursesw.a"), .linkedLibrary(":libreadline.a"), .linkedLibrary(":libtinfo.a"),
      ]),
    .target(
      name: "Presentation",
      dependencies: [
        "Terminal", "ScriptLanguage", "Transfer", "Operations", "Finding", "LinuxBluetooth", "LinuxIO", "LEHost", "Decoding",
        "Replay", "GAP", "SMP", "DeviceFiles", "GATT", "ATT", "HCI", "Values", "Bluetooth", "Crypto", "EventLoop", "Text", system,
      ], swiftSettings: settings),
    .target(
      name: "CommandLine",
      dependencies: [
        "Presentation", "Terminal", "ScriptLanguage", "Transfer", "Operations", "Finding", "LinuxBluetooth", "LinuxIO", "LEHost",
        "Simulation", "Decoding", "Replay", "Peripherals", "GAP", "SMP", "DeviceFiles", "GATT", "ATT", "Captures", "HCI", "Values",
        "Bluetooth",
        "EventLoop", "Compression", "Crypto", "Text", argumentParser, system,
      ], swiftSettings: settings),
    .target(
      name: "Commands",
      dependencies: [
        "CommandLine", "Presentation", "Terminal", "TestReports", "Transfer", "Operations", "Finding", "LinuxBluetooth", "LinuxIO",
        "Simulation", "Decoding", "GAP", "SMP", "DeviceFiles", "GATT", "ATT", "Captures", "HCI", "Values", "Bluetooth", "Crypto",
        "EventLoop", "Text", argumentParser, system,
      ], swiftSettings: settings),
    .target(
      name: "Completion",
      dependencies: [
        "CommandLine", "Presentation", "Terminal", "Operations", "Finding", "LinuxIO", "Peripherals", "GAP", "DeviceFiles",
        "GATT", "ATT", "Bluetooth", "EventLoop", "Text", argumentParser,
      ], swiftSettings: settings),
    .target(
      name: "Shell",
      dependencies: [
        "Completion", "CommandLine", "Presentation", "Terminal", "ScriptLanguage", "Operations", "Finding", "LinuxIO", "Replay", "GAP",
        "SMP", "DeviceFiles", "GATT", "ATT", "Bluetooth", "EventLoop", "Text", argumentParser, deque,
      ], swiftSettings: settings),
    .target(
      name: "Scripting",
      dependencies: [
        "Shell", "CommandLine", "Presentation", "Terminal", "ScriptLanguage", "TestReports", "Operations", "Finding", "LinuxIO", "GAP",
        "SMP",
        "DeviceFiles", "GATT", "ATT", "Bluetooth", "EventLoop", "Text", argumentParser, system,
      ], swiftSettings: settings),
    .target(
      name: "Browser",
      dependencies: [
        "CommandLine", "Presentation", "Terminal", "Operations", "Finding", "LinuxIO", "GAP", "DeviceFiles", "GATT", "ATT", "SMP", "Values",
        "Bluetooth", "EventLoop", "Text", argumentParser,
      ], swiftSettings: settings),
    .target(
      name: "Gatttool",
      dependencies: [
        "CommandLine", "Presentation", "Terminal", "Operations", "Finding", "LinuxBluetooth", "LinuxIO", "GAP", "GATT", "ATT", "SMP",
        "Bluetooth", "EventLoop", "Text", argumentParser, system,
      ], swiftSettings: settings),
    .target(
      name: "Diagnosis",
      dependencies: [
        "CommandLine", "Presentation", "Terminal", "LinuxBluetooth", "LinuxIO", "GAP", "HCI", "Bluetooth", "EventLoop", "Text",
        argumentParser,
      ], swiftSettings: settings),
    .executableTarget(
      name: "blectl",
      dependencies: [
        "Scripting", "Browser", "Gatttool", "Diagnosis", "Shell", "Completion", "Commands", "CommandLine", "LinuxIO", argumentParser,
      ],
      exclude: ["StartOrder.txt", "Static"], swiftSettings: settings,
      // Every start would read a megabyte of relocations: these are ten kilobytes. The default linker cannot do that. Needs glibc 2.36 to run.
      linkerSettings: [
        .unsafeFlags(
          [
            "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            // All functions of libraries are found at the start, and their table is read-only then (BIND_NOW).
            "-Xlinker", "-z", "-Xlinker", "now",
            // Nothing but libc and libm is loaded at a start, and nobody looks for a symbol of ours.
            "-L", "\(Context.packageDirectory)/Sources/blectl/Static", "-Xlinker", "--as-needed", "-Xlinker", "--no-export-dynamic",
            // See scripts/update-start-order.
            "-Xlinker", "--symbol-ordering-file=\(Context.packageDirectory)/Sources/blectl/StartOrder.txt", "-Xlinker",
            "--no-warn-symbol-ordering",
          ], .when(configuration: .release))
      ]),

    .target(
      name: "TestSupport",
      dependencies: [
        "TestReports", "LinuxIO", "GAP", "SMP", "DeviceFiles", "GATT", "ATT", "Captures", "HCI", "Bluetooth", "EventLoop", "Text",
      ],
      path: "Tests/TestSupport"),
    .testTarget(name: "TextTests", dependencies: ["Text", "TestSupport"]),
    .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "TestSupport"]),
    .testTarget(name: "BluetoothTests", dependencies: ["Bluetooth", "Text", "TestSupport"]),
    .testTarget(name: "CryptoTests", dependencies: ["Crypto", "Text", "TestSupport"]),
    .testTarget(name: "ValuesTests", dependencies: ["Values", "Bluetooth", "Text", "TestSupport"]),
    .testTarget(name: "CapturesTests", dependencies: ["Captures", "Compression", "HCI", "Bluetooth", "EventLoop", "Text", "TestSupport"]),
    .testTarget(
      name: "HostCommonTests", dependencies: ["HostCommon", "GAP", "HCI", "Bluetooth", "EventLoop", "TestSupport"]),
    .testTarget(name: "HCITests", dependencies: ["HCI", "Bluetooth", "EventLoop", "Text", "TestSupport"]),
    .testTarget(name: "L2CAPTests", dependencies: ["L2CAP", "HCI", "Bluetooth", "Text", "TestSupport"]),
    .testTarget(name: "SMPTests", dependencies: ["SMP", "L2CAP", "Crypto", "Bluetooth", "Text", "TestSupport"]),
    .testTarget(name: "ATTTests", dependencies: ["ATT", "Bluetooth", "EventLoop", "Text", "TestSupport"]),
    .testTarget(
      name: "GATTTests", dependencies: ["Peripherals", "GATT", "ATT", "Values", "Bluetooth", "EventLoop", "Text", "TestSupport"]),
    .testTarget(name: "DeviceFilesTests", dependencies: ["DeviceFiles", "GATT", "Bluetooth", "Text", "TestSupport"]),
    .testTarget(name: "GAPTests", dependencies: ["GAP", "Bluetooth", "Text", "TestSupport"]),
    .testTarget(
      name: "ReplayTests",
      dependencies: ["Replay", "L2CAP", "Captures", "HCI", "Bluetooth", "EventLoop", "TestSupport"]),
    .testTarget(
      name: "DecodingTests", dependencies: ["Decoding", "Replay", "ATT", "L2CAP", "Captures", "HCI", "Bluetooth", "Text", "TestSupport"]),
    .testTarget(
      name: "PeripheralsTests",
      dependencies: [
        "LEHost", "Simulation", "Peripherals", "GAP", "DeviceFiles", "GATT", "ATT", "Bluetooth", "Crypto", "EventLoop", "Text",
        "TestSupport",
      ]),
    .testTarget(
      name: "SimulationTests",
      dependencies: [
        "Simulation", "LEHost", "SMP", "DeviceFiles", "Peripherals", "HostCommon", "GAP", "GATT", "ATT", "L2CAP", "HCI", "Bluetooth",
        "EventLoop", "Text",
        "TestSupport",
      ]),
    .testTarget(
      name: "LEHostTests",
      dependencies: ["LEHost", "Simulation", "Peripherals", "GAP", "ATT", "L2CAP", "HCI", "Bluetooth", "EventLoop", "TestSupport"]),
    .testTarget(
      name: "LinuxIOTests", dependencies: ["LinuxIO", "Captures", "HCI", "EventLoop", "Text", "TestSupport", system]),
    .testTarget(
      name: "LinuxBluetoothTests",
      dependencies: [
        "LinuxBluetooth", "LinuxIO", "CBluetooth", "HostCommon", "GATT", "GAP", "SMP", "ATT", "HCI", "Bluetooth", "EventLoop",
        "TestSupport", system,
      ]),
    .testTarget(
      name: "FindingTests",
      dependencies: ["Finding", "GAP", "SMP", "DeviceFiles", "Bluetooth", "Crypto", "EventLoop", "Text", "TestSupport"]),
    .testTarget(
      name: "OperationsTests",
      dependencies: [
        "Transfer", "Operations", "Finding", "LEHost", "Simulation", "Peripherals", "GAP", "SMP", "DeviceFiles", "GATT", "ATT", "L2CAP",
        "Values", "Bluetooth", "EventLoop", "Text", "TestSupport",
      ]),
    .testTarget(name: "TestReportsTests", dependencies: ["TestReports", "ATT", "Text", "TestSupport"]),
    .testTarget(name: "ScriptLanguageTests", dependencies: ["ScriptLanguage", "Text", "TestSupport"]),
    .testTarget(name: "TerminalTests", dependencies: ["Terminal", "EventLoop", "Text", "TestSupport"]),
    .testTarget(
      name: "BlectlTests",
      dependencies: [
        "blectl", "Scripting", "Browser", "Gatttool", "Diagnosis", "Shell", "Completion", "Commands", "CommandLine", "Presentation",
        "Terminal", "ScriptLanguage", "Transfer", "Operations", "Finding", "LinuxBluetooth", "LinuxIO", "LEHost", "Simulation",
        "Peripherals", "GAP", "SMP", "DeviceFiles", "GATT", "ATT", "L2CAP", "Captures", "HCI", "Values", "Bluetooth", "Crypto",
        "EventLoop", "Text", "TestSupport", argumentParser, system,
      ]),
    .testTarget(name: "Fuzz", dependencies: fuzzed, path: "Tests/Fuzz", exclude: ["Fuzz.swift", "CLibFuzzer", "Corpus"]),
    .testTarget(
      name: "InteropTests",
      dependencies: [
        "blectl", "TestReports", "LinuxIO", "LEHost", "Simulation", "Peripherals", "GAP", "SMP", "ATT", "Captures", "Values", "Bluetooth",
        "EventLoop", "Text", "TestSupport",
      ],
      exclude: [
        "ant-junit.xsd", "bthome_frames.py", "bumble_air.py", "bumble_client.py", "foreign_values.py", "junit_facts.py", "tap_facts.pl",
        "trace_judges.py",
      ]),
    .testTarget(
      name: "KernelTests",
      dependencies: [
        "blectl", "Operations", "LinuxBluetooth", "LinuxIO", "Peripherals", "GATT", "ATT", "Captures", "Bluetooth",
        "EventLoop",
        "TestSupport", system,
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// Where scripts/fuzz names libFuzzer's library, there is nothing but Fuzz, and all it needs. The program is a library there.
if let libFuzzer = Context.environment["BLECTL_LIBFUZZER"], let program = package.targets.first(where: { $0.name == "blectl" }) {
  package.targets.removeAll { $0.type == .test || $0.name == program.name }
  package.targets += [
    .target(
      name: program.name, dependencies: program.dependencies, exclude: program.exclude + ["Main.swift"],
      swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]),
    .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
    .executableTarget(
      name: "Fuzz", dependencies: fuzzed + ["CLibFuzzer"], path: "Tests/Fuzz", exclude: ["CorpusTests.swift", "CLibFuzzer", "Corpus"],
      linkerSettings: [.unsafeFlags(["-use-ld=lld", "-Xlinker", libFuzzer]), .linkedLibrary("stdc++")]),
  ]
}

// Tests are compiled under the same rules as what they test.
for target in package.targets where target.type == .test || ["TestSupport", "Fuzz"].contains(target.name) {
  target.swiftSettings = settings
}

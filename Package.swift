// swift-tools-version: 6.2
import PackageDescription

// blectl is Linux only: its home is AF_BLUETOOTH. Everything but BluetoothLELinux, Terminal, and the rooms EventLoop, Streams,
// Crypto and Compression is pure Swift.
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
  "blectl", "Gatttool", "Program", "CommandLine", "Terminal", "Scripts", "Traces", "BluetoothLESimulator", "BluetoothLEFirmware",
  "BluetoothLEDeviceFiles",
  "BluetoothLECompression", "BluetoothLE", "BluetoothLEText", "TestSupport",
]

let package = Package(
  name: "blectl",
  products: [
    .executable(name: "blectl", targets: ["blectl"]),
    .library(name: "BluetoothLE", targets: ["BluetoothLE"]),
    .library(name: "BluetoothLEFirmware", targets: ["BluetoothLEFirmware"]),
    .library(name: "BluetoothLELinux", targets: ["BluetoothLELinux"]),
    .library(name: "BluetoothLESimulator", targets: ["BluetoothLESimulator"]),
  ],
  dependencies: [
    // Wide ranges: the library's users have them in their graphs, too. scripts/parts/versions has the versions that the program is built with.
    .package(url: "https://github.com/apple/swift-argument-parser", "1.5.0"..<"2.0.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.4.0"),
  ],
  targets: [
    // From the bottom to the top: a target knows only those before it. scripts/check rooms reads the imports, and keeps the order of the
    // rooms in a target.
    .target(name: "BluetoothLEText", swiftSettings: settings),
    .systemLibrary(name: "CBluetoothLEBlueZ"),
    .systemLibrary(name: "CBluetoothLECrypto"),
    .systemLibrary(name: "CBluetoothLEDBus"),
    .systemLibrary(name: "CZlib"),
    .target(name: "CBluetoothLESystem", publicHeadersPath: ".", cSettings: [.treatAllWarnings(as: .error)]),
    // Not headers like the others: what they keep exists once, however Swift is optimised.
    .target(name: "CCurses", cSettings: [.treatAllWarnings(as: .error)]),
    .target(name: "CReadline", cSettings: [.treatAllWarnings(as: .error)]),
    .target(
      name: "BluetoothLE",
      dependencies: ["BluetoothLEText", "CBluetoothLECrypto", "CBluetoothLESystem", deque, heap, system],
      exclude: ["HCI/Commands/Commands.txt", "LICENSE"],
      swiftSettings: settings,
      // The static one: a shared libcrypto would be loaded at every start.
      linkerSettings: [.linkedLibrary(":libcrypto.a")]),
    .target(
      name: "BluetoothLECompression", dependencies: ["BluetoothLEText", "CZlib"], swiftSettings: settings,
      // The static one, likewise.
      linkerSettings: [.linkedLibrary(":libz.a")]),
    .target(
      name: "BluetoothLELinux",
      dependencies: ["BluetoothLE", "CBluetoothLEBlueZ", "CBluetoothLEDBus", "CBluetoothLESystem", system],
      swiftSettings: settings),
    .target(name: "BluetoothLEDeviceFiles", dependencies: ["BluetoothLE", "BluetoothLEText"], swiftSettings: settings),
    .target(
      name: "BluetoothLEFirmware", dependencies: ["BluetoothLE", "BluetoothLECompression", "BluetoothLEText"], swiftSettings: settings),
    .target(
      name: "BluetoothLESimulator",
      dependencies: ["BluetoothLEFirmware", "BluetoothLEDeviceFiles", "BluetoothLE", "BluetoothLEText", deque],
      swiftSettings: settings),
    .target(
      name: "Traces", dependencies: ["BluetoothLE", "BluetoothLECompression", "BluetoothLEText", deque], swiftSettings: settings),
    .target(name: "Scripts", dependencies: ["BluetoothLE", "BluetoothLEText"], swiftSettings: settings),
    .target(
      name: "Terminal", dependencies: ["BluetoothLE", "BluetoothLEText", "CBluetoothLESystem", "CCurses", "CReadline"],
      swiftSettings: settings,
      // The static ones: shared libraries would be loaded at every start.
      linkerSettings: [
        .linkedLibrary(":libncursesw.a"), .linkedLibrary(":libreadline.a"), .linkedLibrary(":libtinfo.a"),
      ]),
    .target(
      name: "Presentation",
      dependencies: [
        "Terminal", "Scripts", "Traces", "BluetoothLESimulator", "BluetoothLEFirmware", "BluetoothLEDeviceFiles", "BluetoothLELinux",
        "BluetoothLECompression", "BluetoothLE", "BluetoothLEText", system,
      ], swiftSettings: settings),
    .target(
      name: "CommandLine",
      dependencies: [
        "Presentation", "Terminal", "Scripts", "Traces", "BluetoothLESimulator", "BluetoothLEDeviceFiles", "BluetoothLELinux",
        "BluetoothLECompression", "BluetoothLE", "BluetoothLEText", argumentParser, system,
      ],
      swiftSettings: settings),
    .target(
      name: "Program",
      dependencies: [
        "CommandLine", "Presentation", "Terminal", "Scripts", "Traces", "BluetoothLESimulator", "BluetoothLEFirmware",
        "BluetoothLEDeviceFiles",
        "BluetoothLELinux", "BluetoothLE", "BluetoothLEText", deque, system,
      ], swiftSettings: settings),
    .target(
      name: "Scripting",
      dependencies: [
        "Program", "CommandLine", "Presentation", "Terminal", "Scripts", "BluetoothLESimulator", "BluetoothLEFirmware",
        "BluetoothLEDeviceFiles", "BluetoothLELinux", "BluetoothLE", "BluetoothLEText", system,
      ], swiftSettings: settings),
    .target(
      name: "Browser",
      dependencies: [
        "CommandLine", "Presentation", "Terminal", "BluetoothLEDeviceFiles", "BluetoothLELinux", "BluetoothLE", "BluetoothLEText",
      ], swiftSettings: settings),
    .target(name: "Gatttool", dependencies: ["CommandLine", "BluetoothLELinux", "BluetoothLE", system], swiftSettings: settings),
    .executableTarget(
      name: "blectl",
      dependencies: ["Scripting", "Browser", "Gatttool", "Program", "CommandLine", "BluetoothLELinux"],
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
            // See scripts/parts/update/start-order.
            "-Xlinker", "--symbol-ordering-file=\(Context.packageDirectory)/Sources/blectl/StartOrder.txt", "-Xlinker",
            "--no-warn-symbol-ordering",
          ], .when(configuration: .release))
      ]),

    .target(
      name: "TestSupport",
      dependencies: ["Scripts", "Traces", "BluetoothLEDeviceFiles", "BluetoothLE", "BluetoothLEText", "CBluetoothLESystem"],
      path: "Tests/TestSupport"),
    .testTarget(name: "TextTests", dependencies: ["TestSupport"]),
    .testTarget(name: "EventLoopTests", dependencies: ["BluetoothLE", "TestSupport"]),
    .testTarget(name: "BasicsTests", dependencies: ["BluetoothLE", "TestSupport"]),
    .testTarget(name: "CryptoTests", dependencies: ["TestSupport"]),
    .testTarget(name: "ValuesTests", dependencies: ["BluetoothLE", "TestSupport"]),
    .testTarget(name: "CapturesTests", dependencies: ["Traces", "BluetoothLECompression", "TestSupport"]),
    .testTarget(name: "HostCommonTests", dependencies: ["TestSupport"]),
    .testTarget(name: "HCITests", dependencies: ["TestSupport"]),
    .testTarget(name: "L2CAPTests", dependencies: ["TestSupport"]),
    .testTarget(name: "SMPTests", dependencies: ["BluetoothLE", "TestSupport"]),
    .testTarget(name: "ATTTests", dependencies: ["BluetoothLE", "TestSupport"]),
    .testTarget(name: "GATTTests", dependencies: ["BluetoothLESimulator", "BluetoothLE", "TestSupport"]),
    .testTarget(name: "DeviceFilesTests", dependencies: ["BluetoothLEDeviceFiles", "BluetoothLE", "TestSupport"]),
    .testTarget(
      name: "FirmwareTests",
      dependencies: ["BluetoothLESimulator", "BluetoothLEFirmware", "BluetoothLECompression", "BluetoothLE", "TestSupport"]),
    .testTarget(name: "GAPTests", dependencies: ["TestSupport"]),
    .testTarget(name: "ReplayTests", dependencies: ["Traces", "TestSupport"]),
    .testTarget(name: "DecodingTests", dependencies: ["Traces", "TestSupport"]),
    .testTarget(
      name: "PeripheralsTests",
      dependencies: ["BluetoothLESimulator", "BluetoothLEFirmware", "BluetoothLEDeviceFiles", "TestSupport"]),
    .testTarget(
      name: "SimulationTests",
      dependencies: ["BluetoothLESimulator", "BluetoothLEDeviceFiles", "BluetoothLE", "TestSupport"]),
    .testTarget(name: "HostTests", dependencies: ["BluetoothLESimulator", "BluetoothLE", "TestSupport"]),
    .testTarget(
      name: "LinuxIOTests", dependencies: ["Traces", "BluetoothLELinux", "BluetoothLE", "TestSupport", system]),
    .testTarget(
      name: "LinuxBluetoothTests",
      dependencies: ["BluetoothLELinux", "BluetoothLE", "TestSupport", "CBluetoothLEBlueZ", system]),
    .testTarget(name: "ScanningTests", dependencies: ["BluetoothLEDeviceFiles", "BluetoothLE", "TestSupport"]),
    .testTarget(
      name: "LinksTests",
      dependencies: ["BluetoothLESimulator", "BluetoothLEDeviceFiles", "BluetoothLE", "TestSupport"]),
    .testTarget(name: "LibraryTests", dependencies: ["BluetoothLESimulator", "BluetoothLEDeviceFiles", "TestSupport"]),
    .testTarget(name: "TestReportsTests", dependencies: ["Scripts", "TestSupport"]),
    .testTarget(name: "ScriptLanguageTests", dependencies: ["Scripts", "TestSupport"]),
    .testTarget(name: "TerminalTests", dependencies: ["Terminal", "TestSupport"]),
    .testTarget(
      name: "BlectlTests",
      dependencies: [
        "blectl", "Scripting", "Browser", "Gatttool", "Program", "CommandLine", "Presentation", "Terminal", "Scripts", "Traces",
        "BluetoothLESimulator", "BluetoothLEDeviceFiles", "BluetoothLELinux", "BluetoothLEFirmware", "BluetoothLECompression",
        "BluetoothLE", "TestSupport", argumentParser, system,
      ]),
    .testTarget(name: "Fuzz", dependencies: fuzzed, path: "Tests/Fuzz", exclude: ["Fuzz.swift", "CLibFuzzer", "Corpus"]),
    .testTarget(
      name: "InteropTests",
      dependencies: ["blectl", "Scripts", "Traces", "BluetoothLESimulator", "BluetoothLEFirmware", "BluetoothLE", "TestSupport"],
      exclude: [
        "ant-junit.xsd", "beacon_frames.py", "bthome_frames.py", "bumble_air.py", "bumble_client.py", "clone_databases.py",
        "clone_judge.py", "firmware_images.py", "foreign_values.py", "junit_facts.py", "smp_server.py", "tap_facts.pl", "trace_judges.py",
        "update_clients.py",
      ]),
    .testTarget(
      name: "KernelTests",
      dependencies: ["blectl", "Traces", "BluetoothLESimulator", "BluetoothLELinux", "TestSupport", system]),
  ],
  swiftLanguageModes: [.v6]
)

// Where scripts/fuzz names libFuzzer's library, there is nothing but Fuzz, and all it needs. The program is a library there.
if let libFuzzer = Context.environment["BLECTL_LIBFUZZER"], let program = package.targets.first(where: { $0.name == "blectl" }) {
  package.targets.removeAll { $0.type == .test || $0.name == program.name }
  package.products.removeAll { $0.name == program.name }
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

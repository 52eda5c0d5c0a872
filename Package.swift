// swift-tools-version: 6.2
import PackageDescription

// blectl is Linux only: its home is AF_BLUETOOTH. Everything below LinuxIO is pure Swift.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let package = Package(
  name: "blectl",
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
  ],
  targets: [
    .systemLibrary(name: "CBluetooth"),
    .target(name: "EventLoop", swiftSettings: settings),
    .target(name: "Bluetooth", swiftSettings: settings),
    .target(name: "HCI", dependencies: ["Bluetooth", "EventLoop"], swiftSettings: settings),
    .target(name: "ATT", dependencies: ["Bluetooth", "EventLoop"], swiftSettings: settings),
    .target(name: "GATT", dependencies: ["ATT", "Bluetooth", "EventLoop"], swiftSettings: settings),
    .target(name: "LEHost", dependencies: ["GATT", "ATT", "HCI", "Bluetooth", "EventLoop"], swiftSettings: settings),
    .target(name: "Simulation", dependencies: ["GATT", "ATT", "HCI", "Bluetooth", "EventLoop"], swiftSettings: settings),
    .target(
      name: "LinuxIO", dependencies: ["CBluetooth", "GATT", "ATT", "HCI", "Bluetooth", "EventLoop", system], swiftSettings: settings),
    .target(name: "Terminal", dependencies: ["Bluetooth", system], swiftSettings: settings),
    .executableTarget(
      name: "blectl",
      dependencies: ["Terminal", "LinuxIO", "LEHost", "Simulation", "GATT", "ATT", "HCI", "Bluetooth", "EventLoop", argumentParser],
      swiftSettings: settings),
    .target(name: "TestSupport", dependencies: ["ATT", "HCI", "Bluetooth", "EventLoop"], path: "Tests/TestSupport"),
    .testTarget(name: "BluetoothTests", dependencies: ["Bluetooth", "TestSupport"]),
    .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "TestSupport"]),
    .testTarget(name: "HCITests", dependencies: ["HCI", "TestSupport"]),
    .testTarget(name: "ATTTests", dependencies: ["ATT", "TestSupport"]),
    .testTarget(name: "GATTTests", dependencies: ["GATT", "TestSupport"]),
    .testTarget(name: "LEHostTests", dependencies: ["LEHost", "Simulation", "TestSupport"]),
    .testTarget(name: "SimulationTests", dependencies: ["Simulation", "LEHost", "TestSupport"]),
    .testTarget(name: "LinuxIOTests", dependencies: ["LinuxIO", "TestSupport"]),
    .testTarget(name: "TerminalTests", dependencies: ["Terminal", "TestSupport"]),
    .testTarget(name: "BlectlTests", dependencies: ["blectl", "TestSupport"]),
    .testTarget(name: "InteropTests", dependencies: ["blectl", "TestSupport"], exclude: ["bumble_air.py"]),
    .testTarget(name: "KernelTests", dependencies: ["blectl", "LinuxIO", "GATT", "ATT", "Bluetooth", "EventLoop", "TestSupport", system]),
  ],
  swiftLanguageModes: [.v6]
)

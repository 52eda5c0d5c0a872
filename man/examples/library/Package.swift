// swift-tools-version: 6.2
import PackageDescription

// Each program opens the simulator. For a radio, take BluetoothLELinux, and `.default` or `.h4("tcp:HOST:PORT")`: see Sources/scan.
// BLECTL_PACKAGE is the package's address, a Git repository with version tags. The default is the checkout around this folder.
let address = Context.environment["BLECTL_PACKAGE"]
let blectl: Package.Dependency =
  if let address { .package(url: address, from: "0.1.0") } else { .package(name: "blectl", path: "../../..") }
let simulator = Target.Dependency.product(name: "BluetoothLESimulator", package: "blectl")

let package = Package(
  name: "library-examples",
  dependencies: [blectl],
  targets: [
    .executableTarget(name: "scan", dependencies: [simulator]),
    .executableTarget(name: "read", dependencies: [simulator]),
    .executableTarget(name: "notify", dependencies: [simulator]),
    .executableTarget(name: "lock", dependencies: [simulator]),
    .executableTarget(name: "transfer", dependencies: [simulator]),
    .executableTarget(name: "pair", dependencies: [simulator]),
    .executableTarget(name: "update", dependencies: [simulator]),
    .executableTarget(name: "serve", dependencies: [simulator]),
    .executableTarget(name: "tour", dependencies: [simulator, .product(name: "BluetoothLELinux", package: "blectl")]),
    .testTarget(name: "LockTests", dependencies: [simulator]),
    .testTarget(name: "BatteryTests", dependencies: [simulator]),
  ]
)

import BluetoothLEDeviceFiles
import TestSupport

extension FuzzTarget {
  /// A device file.
  static let device = FuzzTarget(
    "device", seeds: files("man/examples", [".json"]).filter { (try? DeviceFile.parse($0, name: "seed")) != nil },
    words: [
      "\"in\"", "\"with\"", "\"fields\"", "\"name\"", "\"type\"", "\"u8\"", "\"f64be\"", "\"bytes\"", "\"text\"", "\"length_of\"",
      "\"count_of\"",
      "\"list\"", "\"bits\"", "\"checksum\"", "\"until\"", "\"index\"", "\"scale\"", "\"value\"", "\"rest\"", "\"at\"", "{", "}", "[", "]",
      ":", ",",
      "65536", "-1", "1e308", "0xffffffffffffffff", "\0",
    ]
  ) { DeviceFuzz.parse($0) }

  /// Packets for a command of the example devices, which the first byte selects.
  static let packets = FuzzTarget(
    "packets",
    seeds: commands.enumerated().flatMap { number, one in DeviceFuzz.seeds(one.device).map { [UInt8(truncatingIfNeeded: number)] + $0 } },
    words: ["\u{5D}", "\u{1}", "\u{0}"]
  ) { bytes in
    guard let choice = bytes.first else { return }
    let (device, command) = commands[Int(choice) % commands.count]
    DeviceFuzz.packets(Array(bytes.dropFirst()), of: device, for: [command])
  }

  private static let commands = files("man/examples", [".json"]).compactMap { try? DeviceFile.parse($0, name: "seed") }
    .flatMap { device in device.commands.filter { $0.answer != nil }.map { (device: device, command: $0) } }
}

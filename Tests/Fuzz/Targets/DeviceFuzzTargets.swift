import DeviceFiles
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

  /// Packets for the commands of the example device that the first octet says.
  static let packets = FuzzTarget(
    "packets", seeds: devices.enumerated().flatMap { number, device in DeviceFuzz.seeds(device).map { [UInt8(number)] + $0 } },
    words: ["\u{5D}", "\u{1}", "\u{0}"]
  ) { bytes in
    guard let choice = bytes.first else { return }
    DeviceFuzz.packets(Array(bytes.dropFirst()), of: devices[Int(choice) % devices.count])
  }

  private static let devices = files("man/examples", [".json"]).compactMap { try? DeviceFile.parse($0, name: "seed") }
}

// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The decoders for the messages of Apple's and Microsoft's devices. The sources for Apple are Martin et al., "Handoff All Your Privacy",
/// 2019, and Heinrich et al. for Find My. The sources for Microsoft are [MS-CDP] §2.2.2.2.3 and Swift Pair.
enum VendorMessages {
  /// Decodes Apple's messages, a sequence of type, length and data. The overflow area has 16 bytes and no length. Each of its bits
  /// stands for a service of a background app, by a hash of the UUID (D. Young, "Hacking the Overflow Area", 2020).
  static func apple(_ data: [UInt8]) -> DecodedData? {
    var names: [String] = []
    var fields: [DecodedData.Field] = []
    var rest = data[...]
    while let type = rest.popFirst() {
      guard let length = type == 0x01 ? 16 : rest.popFirst().map({ Int($0) }), length <= rest.count else { break }
      names.append(appleTypes[type] ?? "0x" + Hex.encode(type))
      if type == 0x01 { fields = [.init("overflow_area", .text(Hex.encode(rest.prefix(16))))] }
      rest = rest.dropFirst(length)
    }
    return names.isEmpty ? nil : DecodedData("apple", [.init("types", .texts(names))] + fields)
  }

  static func microsoft(_ data: [UInt8]) -> DecodedData? {
    switch data.first {
    case 0x01 where data.count >= 2:
      var fields: [DecodedData.Field] = [.init("types", .texts(["Device Beacon"]))]
      if let device = microsoftDevices[data[1] & 0x1F] { fields.append(.init("device", .text(device))) }
      return DecodedData("microsoft", fields)
    case 0x03: return DecodedData("microsoft", [.init("types", .texts(["Swift Pair"]))])
    default: return nil
    }
  }

  private static let appleTypes: [UInt8: String] = [
    0x01: "Overflow Area", 0x02: "iBeacon", 0x03: "AirPrint", 0x05: "AirDrop", 0x06: "HomeKit", 0x07: "Proximity Pairing", 0x08: "Hey Siri",
    0x09: "AirPlay Target",
    0x0A: "AirPlay Source", 0x0B: "Magic Switch", 0x0C: "Handoff", 0x0D: "Tethering Target", 0x0E: "Tethering Source",
    0x0F: "Nearby Action", 0x10: "Nearby Info", 0x12: "Find My",
  ]

  private static let microsoftDevices: [UInt8: String] = [
    1: "Xbox One", 6: "Apple iPhone", 7: "Apple iPad", 8: "Android device", 9: "Windows 10 Desktop", 11: "Windows 10 Phone",
    12: "Linux device",
    13: "Windows IoT", 14: "Surface Hub", 15: "Windows laptop", 16: "Windows tablet",
  ]
}

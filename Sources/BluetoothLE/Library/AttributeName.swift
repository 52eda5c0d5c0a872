// SPDX-License-Identifier: Apache-2.0
/// A name of a characteristic or descriptor: an assigned one, or a string.
///
/// | string | meaning |
/// | --- | --- |
/// | `"ff02"` | the characteristic of a UUID: 4, 8 or 32 hex digits, with or without hyphens |
/// | `"battery_level"` | the name that the Bluetooth SIG assigned |
/// | `"ff00/ff02"` | a characteristic of a service |
/// | `"ff02[2]"` | the second one of several |
/// | `"ff02@2901"` | a descriptor of a characteristic |
/// | `"0x0012"` | a handle |
/// | `"batt"`, `"7a1e0002"` | the beginning of an assigned name or of a UUID |
/// | `"Picture"` | the user description (2901), which only the device knows |
public struct AttributeName: ExpressibleByStringLiteral, Hashable, Sendable, CustomStringConvertible {
  /// The text of the name.
  public let description: String

  /// Creates a name from text. Operations throw ``BluetoothError/Reason/invalidArgument`` if it is not a name.
  public init(_ text: String) { description = text }

  public init(stringLiteral text: String) { self.init(text) }

  /// - Throws: GATTError.invalidSelector.
  var selector: Selector { get throws { try Selector(typed: description) } }

  /// Battery Level: percent.
  public static let batteryLevel = AttributeName("2a19")
  /// Heart Rate Measurement: beats per minute, contact, energy, RR intervals.
  public static let heartRateMeasurement = AttributeName("2a37")
  /// Body Sensor Location.
  public static let bodySensorLocation = AttributeName("2a38")
  /// Device Name: UTF-8.
  public static let deviceName = AttributeName("2a00")
  /// Appearance: category and subcategory.
  public static let appearance = AttributeName("2a01")
  /// Manufacturer Name String.
  public static let manufacturerName = AttributeName("2a29")
  /// Model Number String.
  public static let modelNumber = AttributeName("2a24")
  /// Serial Number String.
  public static let serialNumber = AttributeName("2a25")
  /// Firmware Revision String.
  public static let firmwareRevision = AttributeName("2a26")
  /// Hardware Revision String.
  public static let hardwareRevision = AttributeName("2a27")
  /// Software Revision String.
  public static let softwareRevision = AttributeName("2a28")
  /// Temperature: °C.
  public static let temperature = AttributeName("2a6e")
  /// Humidity: percent.
  public static let humidity = AttributeName("2a6f")
  /// Current Time.
  public static let currentTime = AttributeName("2a2b")
}

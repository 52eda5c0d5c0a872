/// A name of a characteristic or descriptor, as blectl's users type it.
///
/// A UUID (`ff02`, 36 characters), an assigned name (`battery_level`), a service and a characteristic (`ff00/ff02`), the second of several
/// (`ff02[2]`), a descriptor (`ff02@2901`), a handle (`0x0012`), the beginning of a UUID or name, or a user description (2901).
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

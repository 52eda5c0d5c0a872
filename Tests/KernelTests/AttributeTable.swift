import TestSupport

/// The attributes of a device as one tool shows them, in a form that makes two tools comparable.
struct AttributeTable: Equatable {
  /// The type of each attribute as a 128-bit UUID, by attribute handle.
  var types: [Int: String] = [:]
  /// The last handle of each primary service, by its first handle.
  var services: [Int: Int] = [:]
  /// The property bits of each characteristic (Vol 3 Part G §3.3.1.1), by the handle of its declaration.
  var properties: [Int: Int] = [:]
  /// The values that were read, in lower-case hexadecimal, by attribute handle.
  var values: [Int: String] = [:]

  static let primaryService = long("2800")
  static let characteristic = long("2803")
  static let bits = [
    "broadcast": 0x01, "read": 0x02, "write_without_response": 0x04, "write": 0x08, "notify": 0x10, "indicate": 0x20,
    "authenticated_signed_writes": 0x40, "extended_properties": 0x80,
  ]

  static func long(_ uuid: String) -> String { uuid.count == 4 ? "0000\(uuid)-0000-1000-8000-00805f9b34fb" : uuid }

  init() {}

  /// Reads the table from the output of `services --values --json`.
  init(_ services: [Record]) {
    for service in services {
      guard let handle = service.int("handle"), let end = service.int("end_handle") else { continue }
      types[handle] = Self.primaryService
      self.services[handle] = end
      for characteristic in service.records("characteristics") {
        guard let handle = characteristic.int("handle"), let valueHandle = characteristic.int("value_handle") else { continue }
        types[handle] = Self.characteristic
        types[valueHandle] = characteristic.string("uuid").map(Self.long)
        properties[handle] = characteristic.strings("properties").reduce(0) { $0 | (Self.bits[$1] ?? 0x100) }
        values[valueHandle] = characteristic.string("value")
        for descriptor in characteristic.records("descriptors") {
          guard let handle = descriptor.int("handle") else { continue }
          types[handle] = descriptor.string("uuid").map(Self.long)
        }
      }
    }
  }
}

import ATT
import Bluetooth
import GATT
import Text

/// The lines of gatttool's results. Interactive lines have `:` in place of `=`.
struct GatttoolText {
  let isInteractive: Bool

  private var sign: String { isInteractive ? ":" : " =" }

  func service(_ item: Service) -> String {
    "attr handle\(sign) \(item.handle), end grp handle\(sign) \(item.endHandle) uuid: \(item.uuid.fullDescription)"
  }

  func range(_ range: HandleRange) -> String {
    func text(_ handle: AttributeHandle) -> String { isInteractive ? handle.description : String(handle.description.dropFirst(2)) }
    return "Starting handle: \(text(range.start)) Ending handle: \(text(range.end))"
  }

  func include(_ item: Include) -> String {
    "handle: \(item.handle), start handle: \(item.startHandle), end handle: \(item.endHandle) uuid: \(item.uuid?.fullDescription ?? "")"
  }

  func characteristic(_ item: Characteristic) -> String {
    let properties = Hex.encode([item.properties.rawValue])
    return "handle\(sign) \(item.handle), char properties\(sign) 0x\(properties), char value handle\(sign) \(item.valueHandle), "
      + "uuid\(sign) \(item.uuid.fullDescription)"
  }

  func attribute(_ item: HandleType) -> String { "handle\(sign) \(item.handle), uuid\(sign) \(item.type.fullDescription)" }

  func value(_ octets: [UInt8]) -> String { "Characteristic value/descriptor: \(Self.octets(octets))" }

  func value(_ item: HandleValue) -> String { "handle: \(item.handle) \t value: \(Self.octets(item.value))" }

  static func event(_ event: ValueEvent) -> String {
    "\(event.isIndication ? "Indication  " : "Notification") handle = \(event.handle) value: \(octets(event.value))"
  }

  /// Formats bytes in hex, each followed by a space.
  private static func octets(_ octets: [UInt8]) -> String { octets.isEmpty ? "" : Hex.encode(octets, separator: 0x20) + " " }

  /// Returns gatttool's message for a failed request.
  static func reason(_ error: any Error) -> String {
    switch error {
    case GATTError.errorResponse(let code, to: _, on: _): reason(code)
    case GATTError.tooLongForAttribute: reason(.invalidAttributeValueLength)
    case ATTError.violation(let violation) where !violation.endsBearer: reason(ErrorCode(rawValue: 0x80))
    // The bearer ended, for any reason.
    default: reason(.unlikelyError)
    }
  }

  private static func reason(_ code: ErrorCode) -> String { reasons[code.rawValue] ?? "Unexpected error code" }

  private static let reasons: [UInt8: String] = [
    0x01: "Invalid handle",
    0x02: "Attribute can't be read",
    0x03: "Attribute can't be written",
    0x04: "Attribute PDU was invalid",
    0x05: "Attribute requires authentication before read/write",
    0x06: "Server doesn't support the request received",
    0x07: "Offset past the end of the attribute",
    0x08: "Attribute requires authorization before read/write",
    0x09: "Too many prepare writes have been queued",
    0x0A: "No attribute found within the given range",
    0x0B: "Attribute can't be read/written using Read Blob Req",
    0x0C: "Encryption Key Size is insufficient",
    0x0D: "Attribute value length is invalid",
    0x0E: "Request attribute has encountered an unlikely error",
    0x0F: "Encryption required before read/write",
    0x10: "Attribute type is not a supported grouping attribute",
    0x11: "Insufficient Resources to complete the request",
    0x80: "Internal application error: I/O",
    0x81: "A timeout occured",
    0x82: "The operation was aborted",
  ]
}

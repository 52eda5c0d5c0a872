import BluetoothLE

/// The format of gatttool's result lines. Interactive lines have `:` in place of `=`.
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

  func value(_ bytes: [UInt8]) -> String { "Characteristic value/descriptor: \(Self.bytes(bytes))" }

  func value(_ item: HandleValue) -> String { "handle: \(item.handle) \t value: \(Self.bytes(item.value))" }

  static func event(_ event: ValueEvent) -> String {
    "\(event.isIndication ? "Indication  " : "Notification") handle = \(event.handle) value: \(bytes(event.value))"
  }

  /// Formats bytes in hex, with a space after each byte.
  private static func bytes(_ bytes: [UInt8]) -> String { bytes.isEmpty ? "" : Hex.encode(bytes, separator: 0x20) + " " }

  /// Returns gatttool's message for the error of a request.
  static func reason(_ error: any Error) -> String {
    switch error {
    case GATTError.errorResponse(let code, to: _, on: _): reason(code)
    case GATTError.noLongWrites: reason(.requestNotSupported)
    case GATTError.tooLongForAttribute: reason(.invalidAttributeValueLength)
    case ATTError.violation(let violation) where !violation.endsBearer: reason(ErrorCode(rawValue: 0x80))
    // The bearer ended, for any reason.
    default: reason(.unlikelyError)
    }
  }

  private static func reason(_ code: ErrorCode) -> String { reasons[code.rawValue] ?? "Unexpected error code" }
}

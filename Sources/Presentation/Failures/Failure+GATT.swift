import ATT
import Bluetooth
package import GATT
import Text

extension Failure {
  init(_ error: SegmentsMissing) {
    self.init(
      .expectation,
      "The device received \(error.arrived) of \(error.sent) bytes: it drops commands that arrive too fast. The next transfer keeps fewer in "
        + "flight. To lose none: --mode request")
  }

  init(_ error: GATTError) {
    switch error {
    case .errorResponse(let code, to: let request, on: let attribute):
      let (reason, advice) = Self.refusal(code, request, attribute)
      self.init(
        .att, "\(Self.attempt(request, attribute)): \(reason) (ATT 0x\(Hex.encode(code.rawValue))).\(advice.map { " \($0)" } ?? "")",
        code: Int(code.rawValue), name: code.snakeName)
    case .invalidSelector(let text, let fault): self.init(text, fault)
    case .notFound(let selector, let missing):
      self.init(.notFound, "The device has no attribute \(Self.head("\(selector)"))\(Self.hint(missing))")
    case .ambiguous(let selector, let found):
      let list = found.prefix(16).map {
        let properties = $0.attribute.properties.map { ", \($0.names.joined(separator: " "))" } ?? ""
        return "\($0.selector) (\($0.handle)\(properties))"
      }
      let more = found.count > 16 ? ", …" : ""
      let example = found.first.map { ", for example: \(ShellWords.quoteForShell($0.selector)) or \($0.handle)" } ?? "."
      self.init(
        .ambiguous,
        "\(found.count) attributes match \(Self.head("\(selector)")): \(list.joined(separator: ", "))\(more). Use one of these names or "
          + "handles\(example)")
    case .sendsNoValues(let item):
      self.init(
        .notFound,
        "Cannot subscribe to \(item.uuid) (handle \(item.valueHandle)): it does not notify or indicate. \(Self.list(item.properties))")
    case .gone(let item):
      self.init(
        .notFound,
        "The subscription to \(item.uuid) ended: the services of the device changed. Handle \(item.valueHandle) may now be another attribute."
      )
    case .tooLongForWriteRequest(let count, let limit, let mtu):
      self.init(
        .usage,
        "\(count) bytes do not fit one Write Request: the limit is \(limit) at MTU \(mtu). For one value of up to \(WritePlan.largestValue) "
          + "bytes, use --mode long. To send segments, use --chunk \(limit).")
    case .tooLongForAttribute(let count, let segment, let mode):
      self.init(
        .usage,
        "\(count) bytes do not fit an attribute, which holds at most \(WritePlan.largestValue). If the device takes segments, add --chunk "
          + "\(segment)\(mode == .auto ? "" : " and --mode request or command").")
    case .segmentTooLong(let octets, let limit, let mtu):
      self.init(.usage, "--chunk \(octets) is too large: a segment has at most \(limit) bytes at MTU \(mtu).")
    case .segmentTooShort(let octets): self.init(.usage, "--chunk \(octets) is too small: a segment has at least 1 byte.")
    case .planMismatch(let planned, let count):
      self.init(.internal, "Cannot write \(count) bytes with a plan for \(planned) bytes, a bug in blectl.")
    }
  }

  // MARK: Refusals

  static let listing = "To list the attributes, use services."
  private static let pairing = "blectl cannot pair yet. In bluetoothctl: pair ADDRESS, then menu gatt"

  private static func attempt(_ request: Request, _ attribute: Attribute?) -> String {
    switch request {
    case .findInformation(let range), .findByTypeValue(let range, _, _), .readByType(let range, _), .readByGroupType(let range, _):
      "The device refused the \(request.opcode) for handles \(range.start)-\(range.end)"
    case .exchangeMTU, .executeWrite, .readMultiple, .readMultipleVariable: "The device refused the \(request.opcode)"
    case .read, .readBlob: "Cannot read \(attribute?.shortName ?? "handle \(request.handle)")"
    case .write, .prepareWrite: "Cannot write \(attribute?.shortName ?? "handle \(request.handle)")"
    }
  }

  private static func refusal(_ code: ErrorCode, _ request: Request, _ attribute: Attribute?) -> (reason: String, advice: String?) {
    let properties = attribute?.properties
    switch code {
    case .invalidHandle: return ("the device has no such attribute", uuidHint(request.handle) + listing)
    case .readNotPermitted:
      guard let properties, !properties.contains(.read) else { return ("the device does not allow it", nil) }
      if !properties.isDisjoint(with: [.notify, .indicate]) { return ("it only sends notifications", "Use notify.") }
      if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { return ("it is write-only", nil) }
      return ("it is not readable", list(properties))
    case .writeNotPermitted:
      guard let properties, !properties.contains(.write) else { return ("the device does not allow it", nil) }
      if properties.contains(.writeWithoutResponse) { return ("it takes only Write Commands", "Use --mode command.") }
      return ("it is not writable", list(properties))
    case .insufficientAuthentication: return ("it needs pairing", pairing)
    case .insufficientEncryption: return ("it needs encryption", pairing)
    case .encryptionKeySizeTooShort: return ("the encryption key of the connection is too short", "Pair again with a longer key.")
    case .insufficientAuthorization: return ("the owner of the device must allow it first", "Trying again does not help.")
    case .requestNotSupported: return ("the device does not support the \(request.opcode)", nil)
    case .invalidOffset, .invalidAttributeValueLength:
      switch request {
      case .write(_, let value): return ("\(value.count) bytes not accepted", nil)
      case .prepareWrite(_, let offset, let value): return ("\(value.count) bytes at offset \(offset) not accepted", nil)
      case .executeWrite: return ("a value of this length is not accepted", "Nothing was written.")
      default: return (code.name, nil)
      }
    case .prepareQueueFull:
      return ("the queue for long writes is full", "Write fewer bytes, or write them in segments: --mode request --chunk N")
    case .databaseOutOfSync: return ("the services of the device changed", "Connect again, and name the attribute by UUID.")
    case _ where code.name == "Application Error": return ("vendor-defined error", nil)
    default: return (code.name, nil)
    }
  }

  private static func list(_ properties: Properties) -> String {
    "Its properties: \(properties.names.isEmpty ? "none" : properties.names.joined(separator: ", "))."
  }

  /// Explains the prefix 0x, which marks a handle. Many tools use it for UUIDs.
  private static func uuidHint(_ handle: AttributeHandle) -> String {
    let uuid = UUID(UInt32(handle.number))
    guard AssignedNumbers.name(of: uuid) != nil || handle.number >= 0xFC00 else { return "" }
    return "0x marks a handle. For the UUID, type \(uuid). "
  }

  // MARK: Names

  /// Creates the failure for an invalid selector. `advice` is for an unknown name, nil for the usual advice.
  package init(_ text: String, _ fault: Selector.Fault, advice: String? = nil) {
    self.init(
      .usage,
      "\(Self.problem(text, fault, advice).asSentence) Use a handle (0x0012), a UUID (ffe1, ffe0/ffe1, 'ffe1[2]'), a descriptor (ffe1@2901) or a name "
        + "(battery_level).")
  }

  private static func problem(_ text: String, _ fault: Selector.Fault, _ advice: String?) -> String {
    let text = head(text)
    return switch fault {
    case .tooManyParts: "Invalid attribute \"\(text)\": it has more than one /"
    case .handleInService: "Invalid attribute \"\(text)\": a handle needs no service"
    case .noHandle: "Invalid attribute \"\(text)\": handles go from 0x0001 to 0xffff"
    case .wrongIndex: "Invalid attribute \"\(text)\": [N] takes a number from 1"
    case .emptyPart: "Invalid attribute \"\(text)\": a part is empty"
    case .unknownName(let name):
      "Unknown attribute \"\(text)\"" + (head(name) == text ? "" : ": \(head(name)) is neither a UUID nor a name from the Bluetooth SIG")
        + ((advice ?? Self.advice(for: name)).map { ". \($0)" } ?? "")
    }
  }

  /// Guesses the meaning of an unknown attribute name.
  private static func advice(for name: String) -> String? {
    if let number = UInt16(name) { return "A handle is hex after 0x: 0x\(Hex.encode(number)) is \(number)." }
    if name.hasSuffix(",") { return "Separate commands with a semicolon." }
    let digits = name.count { $0 != "-" }
    if digits > 4, name.allSatisfy({ $0.isHexDigit || $0 == "-" }) { return "It has \(digits) hex digits. A UUID has 4, 8 or 32." }
    return SpellingSuggestion.nearest(to: name.lowercased(), among: AssignedNumbers.snakeNames.map(\.name)).map { "Did you mean \($0)?" }
  }

  private static func hint(_ missing: GATTError.Missing) -> String {
    switch missing {
    case .attribute: return ". \(listing)"
    case .only(let count, let uuid): return ": it has only \(count) of \(uuid)."
    case .isService(let service):
      let names = service.characteristics.map { "\(service.uuid)/\($0.uuid)" }.joined(separator: ", ")
      return ": \(service.uuid) is a service" + (names.isEmpty ? " without characteristics." : ". Use one of its characteristics: \(names)")
    case .elsewhere(let path): return ". It is in another service: \(path)"
    case .isCharacteristic(let path): return ": \(path.prefix { $0 != "@" }) is a characteristic. Its descriptor is \(path)"
    case .service(let uuid): return ": it has no service \(uuid). \(listing)"
    case .descriptor(let uuid): return ": the characteristic has no descriptor \(uuid). \(listing)"
    }
  }
}

extension Attribute {
  /// The short name of the attribute for messages: `ffe1 (handle 0x0010)`. Only the handle before discovery.
  var shortName: String {
    switch self {
    case .characteristic(let item, _): "\(item.uuid) (handle \(handle))"
    case .descriptor(let item, of: let owner, _): "\(owner.uuid)@\(item.uuid) (handle \(handle))"
    case .handle: "handle \(handle)"
    }
  }
}

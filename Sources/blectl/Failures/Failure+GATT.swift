import ATT
import Bluetooth
import GATT
import Text

extension Failure {
  init(_ error: SegmentsMissing) {
    self.init(
      .expectation,
      "the device tells of \(error.arrived) octets when \(error.sent) were sent, and of no more: it drops commands that it cannot take as fast; "
        + "the next transfer keeps fewer in flight, --mode request never loses any")
  }

  init(_ error: GATTError) {
    switch error {
    case .errorResponse(let code, to: let request, on: let attribute):
      let hint = Self.hint(code, request, attribute).map { ": \($0)" } ?? ""
      self.init(.att, "\(code) \(Self.place(request, attribute))\(hint)", code: Int(code.rawValue), name: code.snakeName)
    case .invalidSelector(let text, let fault):
      self.init(
        .usage,
        "\(Self.head(text)) does not name an attribute: \(Self.reason(fault)). Use a handle (0x0012), a UUID (ffe1, ffe0/ffe1, "
          + "'ffe1[2]'), a descriptor (ffe1@2901) or a name (battery_level)")
    case .notFound(let selector, .only(let count, of: let uuid)):
      self.init(.notFound, "\(Self.head("\(selector)")): the peer has only \(count) of \(uuid)")
    case .notFound(let selector, let missing): self.init(.notFound, "the peer has no attribute \(selector)\(Self.hint(missing))")
    case .ambiguous(let selector, let found):
      let list = found.prefix(16).map {
        let properties = $0.attribute.properties.map { ", \($0.names.joined(separator: " "))" } ?? ""
        return "\($0.selector) (\($0.handle)\(properties))"
      }
      let more = found.count > 16 ? ", … (\(found.count) in all)" : ""
      let example = found.first.map { ": \(ShellWords.quoteForShell($0.selector)), or \($0.handle)" } ?? ""
      self.init(
        .ambiguous,
        "\(Self.head("\(selector)")) is ambiguous: \(list.joined(separator: ", "))\(more). Name one as it stands here, or its handle\(example)"
      )
    case .sendsNoValues(let item):
      self.init(
        .notFound,
        "\(item.uuid) (handle \(item.valueHandle)) sends no values by itself: its properties are: "
          + item.properties.names.joined(separator: ", "))
    case .gone(let item):
      self.init(
        .notFound,
        "\(item.uuid) is not subscribed to any more: the peer's services have changed, and handle \(item.valueHandle) may be something else"
      )
    case .tooLongForWriteRequest(let count, let limit, let mtu):
      self.init(
        .usage,
        "\(count) octets do not fit one Write Request, which takes \(limit) at ATT_MTU \(mtu): use --mode long for one value of up to "
          + "\(WritePlan.largestValue) octets, or --chunk \(limit) to send it in segments")
    case .tooLongForAttribute(let count, let segment, let mode):
      self.init(
        .usage,
        "\(count) octets are more than an attribute can hold (\(WritePlan.largestValue)): if the peer takes them in segments, add --chunk "
          + "\(segment)" + (mode == .auto ? "" : " with --mode request or command"))
    case .segmentTooLong(let octets, let limit, let mtu):
      self.init(.usage, "--chunk \(octets) does not fit: at ATT_MTU \(mtu) a segment takes at most \(limit) octets")
    case .segmentTooShort(let octets): self.init(.usage, "--chunk takes 1 or more octets, not \(octets)")
    case .planMismatch(let planned, let count): self.init(.internal, "a plan for \(planned) octets for a value of \(count)")
    }
  }

  // MARK: Refusals

  private static func place(_ request: Request, _ attribute: Attribute?) -> String {
    switch request {
    case .findInformation(let range), .findByTypeValue(let range, _, _), .readByType(let range, _), .readByGroupType(let range, _):
      "in answer to a \(request.opcode) for handles \(range.start)-\(range.end)"
    case .exchangeMTU, .executeWrite, .readMultiple, .readMultipleVariable: "in answer to the \(request.opcode)"
    case .read, .readBlob, .write, .prepareWrite: "on \(attribute?.shortName ?? "handle \(request.handle)")"
    }
  }

  private static func hint(_ code: ErrorCode, _ request: Request, _ attribute: Attribute?) -> String? {
    let properties = attribute?.properties
    let has = properties.map { "its properties are: \($0.names.joined(separator: ", "))" }
    switch code {
    case .invalidHandle: return "the peer has no such attribute\(uuidHint(request.handle)); list what it has with: services"
    case .readNotPermitted:
      guard let properties, !properties.contains(.read) else { return "the peer does not let it be read" }
      return properties.isDisjoint(with: [.notify, .indicate]) ? has : "it only sends values by itself; use notify"
    case .writeNotPermitted:
      guard let properties, !properties.contains(.write) else { return "the peer does not let it be written this way" }
      return properties.contains(.writeWithoutResponse) ? "it only takes writes without response; use --mode command" : has
    case .insufficientAuthentication, .insufficientEncryption:
      return "the peer wants a paired, encrypted link, and blectl does not pair or encrypt by itself yet; bluetoothctl does both "
        + "(pair ADDRESS, then menu gatt)"
    case .encryptionKeySizeTooShort: return "the link's encryption key is too short for it; pair again with a longer one"
    case .insufficientAuthorization: return "the peer's owner has to allow it first; trying again does not help"
    case .requestNotSupported: return "the peer does not know the \(request.opcode)"
    case .invalidOffset, .invalidAttributeValueLength:
      switch request {
      case .write(_, let value): return "it does not take a value of \(value.count) octets"
      case .prepareWrite(_, let offset, let value): return "it does not take \(value.count) octets at offset \(offset)"
      case .executeWrite: return "the peer did not take a value of this length; nothing was written"
      default: return nil
      }
    case .prepareQueueFull: return "its queue for long writes is full; write less at once, or in segments (--mode request --chunk)"
    case .databaseOutOfSync: return "its services have changed; connect again and name the attribute by UUID"
    case _ where code.name == "Application Error": return "its meaning is the peer's own"
    default: return nil
    }
  }

  /// Many tools write UUIDs with 0x, which makes a handle here.
  private static func uuidHint(_ handle: AttributeHandle) -> String {
    let uuid = UUID(UInt32(handle.number))
    guard AssignedNumbers.name(of: uuid) != nil || handle.number >= 0xFC00 else { return "" }
    return "; with 0x it is a handle, the UUID is \(uuid)"
  }

  // MARK: Names

  private static func reason(_ fault: Selector.Fault) -> String {
    switch fault {
    case .tooManyParts: "more than one /"
    case .handleInService: "a handle needs no service"
    case .noHandle: "handles go from 0x0001 to 0xffff"
    case .wrongIndex: "[N] takes a number from 1"
    case .emptyPart: "a part is empty"
    case .unknownName(let name):
      "\(head(name)) is neither a UUID (4, 8 or 32 hex digits) nor a name that the Bluetooth SIG assigned"
    }
  }

  private static func hint(_ missing: GATTError.Missing) -> String {
    let list = "; list what it has with: services"
    switch missing {
    case .attribute, .only: return list
    case .isService(let service):
      let names = service.characteristics.map { "\(service.uuid)/\($0.uuid)" }.joined(separator: ", ")
      return "; \(service.uuid) is a service: name one of its characteristics" + (names.isEmpty ? "" : " (\(names))")
    case .service(let uuid): return "; it has no service \(uuid)\(list)"
    case .descriptor(let uuid): return "; no descriptor \(uuid) there\(list)"
    }
  }
}

extension Attribute {
  /// `ffe1 (handle 0x0010)`, or the handle alone when discovery has not seen it.
  var shortName: String {
    switch self {
    case .characteristic(let item, _): "\(item.uuid) (handle \(handle))"
    case .descriptor(let item, of: let owner, _): "\(owner.uuid)@\(item.uuid) (handle \(handle))"
    case .handle: "handle \(handle)"
    }
  }
}

package import BluetoothLE

extension ATTError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .violation(let violation):
      .protocolViolation(
        violation.sentence
          + (violation.endsBearer ? ". Disconnected, because later answers could be mistaken for answers to other requests." : ""))
    case .noResponse(to: let request, let handle, within: let limit):
      .timeout(
        "No answer to the \(ATTOpcode.request(request))\(handle.isValid ? " (handle \(handle))" : "") in \(limit.secondsText) s. "
          + "Disconnected, as the Attribute Protocol requires. To wait longer: --timeout SECONDS")
    case .noConfirmation(of: let handle, within: let limit):
      .timeout(
        "No confirmation of the indication (handle \(handle)) in \(limit.secondsText) s. Disconnected, as the Attribute Protocol requires.")
    case .nothingGotThrough(for: let limit):
      .timeout(
        "The controller delivered no packet for \(limit.secondsText) s. Check that the device is in range and the adapter works, "
          + "then connect again.")
    case .closedByThisSide: .linkLost("Connection closed by blectl")
    }
  }
}

extension Violation {
  /// A sentence about the violation, without a full stop. The sentence shows at most 32 bytes of the PDU.
  var sentence: String { "The device violated the Attribute Protocol: \(opcode) [\(Hex.head(bytes))]: \(reason)" }
}

extension Hex {
  /// Returns at most 32 bytes in hex. For longer data, adds an ellipsis and the number of bytes.
  static func head(_ bytes: [UInt8]) -> String {
    bytes.isEmpty ? "no bytes" : encode(bytes.prefix(32)) + (bytes.count > 32 ? "… (\(bytes.count) bytes)" : "")
  }
}

extension SegmentsMissing: FailureConvertible {
  package var failure: Failure {
    .expectation(
      "The device received \(arrived) of \(sent) bytes: it drops commands that arrive too fast. The next transfer keeps fewer in "
        + "flight. To lose none: --mode request")
  }
}

extension GATTError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .errorResponse(let code, to: let request, on: let attribute): Self.refusal(code, request, attribute)
    case .invalidSelector(let text, let fault): Failure(text, fault)
    case .notFound(let selector, let missing): .notFound("The device has no attribute \(Failure.head("\(selector)"))\(Self.hint(missing))")
    case .ambiguous(let selector, let found):
      .ambiguous(
        "\(found.count) attributes match \(Failure.head("\(selector)")): \(Self.list(found)). Use one of these names or handles"
          + (found.first.map { ", for example: \(ShellWords.quoteForShell($0.selector)) or \($0.handle)" } ?? "."))
    case .sendsNoValues(let item):
      .notFound(
        "Cannot subscribe to \(item.uuid) (handle \(item.valueHandle)): it does not notify or indicate. \(Self.list(item.properties))")
    case .gone(let item):
      .notFound(
        "The subscription to \(item.uuid) ended: the services of the device changed. Handle \(item.valueHandle) may now be another attribute."
      )
    case .noLongWrites(let attribute, let count, let limit):
      Failure(
        .att,
        "Cannot write \(attribute.shortName): the device does not support long writes (ATT 0x06). One Write Request holds \(limit) bytes. "
          + (count > limit ? "To send segments: --mode request --chunk \(limit)" : "This value fits: --mode request"),
        ErrorCode.requestNotSupported)
    case .tooLongForWriteRequest(let count, let limit, let mtu):
      .usage(
        "\(count) bytes do not fit one Write Request: the limit is \(limit) at MTU \(mtu). For one value of up to \(WriteProcedure.largestValue) "
          + "bytes, use --mode long. To send segments, use --chunk \(limit).")
    case .tooLongForAttribute(let count, let segment, let mode):
      .usage(
        "\(count) bytes do not fit an attribute, which holds at most \(WriteProcedure.largestValue). If the device takes segments, add --chunk "
          + "\(segment)\(mode == .auto ? "" : " and --mode request or command").")
    case .segmentTooLong(let bytes, let limit, let mtu):
      .usage("--chunk \(bytes) is too large: a segment has at most \(limit) bytes at MTU \(mtu).")
    case .segmentTooShort(let bytes): .usage("--chunk \(bytes) is too small: a segment has at least 1 byte.")
    case .planMismatch(let planned, let count):
      .internal("Cannot write \(count) bytes with a plan for \(planned) bytes, a bug in blectl.")
    }
  }

  private static func list(_ found: [GATTError.Candidate]) -> String {
    let list = found.prefix(16).map {
      "\($0.selector) (\($0.handle)\($0.attribute.properties.map { ", \($0.names.joined(separator: " "))" } ?? ""))"
    }
    return list.joined(separator: ", ") + (found.count > 16 ? ", …" : "")
  }

  // MARK: Refusals

  /// The advice about a wrong attribute. Errors about a device other than the connected one replace it.
  package static let listing = "To list the attributes, use services."

  private static func attempt(_ request: Request, _ attribute: Attribute?) -> String {
    switch request {
    case .findInformation(let range), .findByTypeValue(let range, _, _), .readByType(let range, _), .readByGroupType(let range, _):
      "The device refused the \(request.opcode) for handles \(range.start)-\(range.end)"
    case .exchangeMTU, .executeWrite, .readMultiple, .readMultipleVariable: "The device refused the \(request.opcode)"
    case .read, .readBlob: "Cannot read \(attribute?.shortName ?? "handle \(request.handle)")"
    case .write, .prepareWrite: "Cannot write \(attribute?.shortName ?? "handle \(request.handle)")"
    }
  }

  private static func refusal(_ code: ErrorCode, _ request: Request, _ attribute: Attribute?) -> Failure {
    let (reason, advice) = explanation(code, request, attribute?.properties)
    return Failure(
      .att, "\(attempt(request, attribute)): \(reason) (\(code.tag))." + (advice.map { " \($0)" } ?? ""), code)
  }

  private static func explanation(_ code: ErrorCode, _ request: Request, _ properties: Properties?) -> (reason: String, advice: String?) {
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
    case .insufficientAuthentication: return ("it needs pairing", nil)
    case .insufficientEncryption: return ("it needs encryption", nil)
    case .encryptionKeySizeTooShort: return ("the encryption key of the connection is too short", nil)
    case .insufficientAuthorization: return ("the device does not authorize this client", "Pairing does not change that.")
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
    case .databaseOutOfSync:
      return ("the services of the device changed", "Try again. Name the attribute by UUID, because its handle may have changed.")
    case _ where code.name == "Application Error": return ("vendor-defined error", nil)
    default: return (code.name, nil)
    }
  }

  private static func list(_ properties: Properties) -> String {
    "Its properties: \(properties.names.isEmpty ? "none" : properties.names.joined(separator: ", "))."
  }

  /// Returns a hint that `0x` marks a handle, if the handle looks like a UUID. Many tools use `0x` for UUIDs.
  private static func uuidHint(_ handle: AttributeHandle) -> String {
    let uuid = UUID(UInt32(handle.number))
    guard AssignedNumbers.name(of: uuid) != nil || handle.number >= 0xFC00 else { return "" }
    return "0x marks a handle. For the UUID, type \(uuid). "
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

extension Failure {
  /// Creates the failure for a text that is not a valid selector. `advice` replaces the default advice about an unknown name.
  package init(_ text: String, _ fault: Selector.Fault, advice: String? = nil) {
    self.init(
      .usage,
      "\(Self.problem(text, fault, advice).asSentence) Use a handle (0x0012), a UUID (ffe1, ffe0/ffe1, 'ffe1[2]'), a descriptor (ffe1@2901) or a name "
        + "(battery_level).")
  }

  /// Creates the failure for an invalid attribute among several words. Suggests the name that two to four words form: `Battery Level`.
  package init(_ error: any Error, in words: [String]) {
    self.init(error)
    if let name = AssignedNumbers.snakeName(in: words) { add("Did you mean \(name)?") }
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

  /// Returns advice for an unknown attribute name, such as the most similar name. Returns nil without a guess.
  private static func advice(for name: String) -> String? {
    if let number = UInt16(name) { return "A handle is hex after 0x: 0x\(Hex.encode(number)) is \(number)." }
    if name.hasSuffix(",") { return "Separate commands with a semicolon." }
    let digits = name.count { $0 != "-" }
    if digits > 4, name.allSatisfy({ $0.isHexDigit || $0 == "-" }) { return "It has \(digits) hex digits. A UUID has 4, 8 or 32." }
    return SpellingSuggestion.nearest(to: name.lowercased(), among: AssignedNumbers.snakeNames.map(\.name)).map { "Did you mean \($0)?" }
  }
}

extension Attribute {
  /// The note about Write Commands to an attribute that does not offer them.
  package var unofferedCommandsNote: String {
    "\(uuid?.description ?? handle.description) does not offer write_without_response. The device may drop these commands silently."
  }

  /// Returns the note about Write Commands to an attribute whose read the device refused with this error code.
  package func refusedReadNote(_ code: ErrorCode) -> String {
    "\(shortName) refused a read on this connection (\(code.tag)). The device may drop these commands silently. Try --pair."
  }

  /// The UUID and handle of the attribute, such as `ffe1 (handle 0x0010)`. An attribute with an unknown UUID has only its handle.
  var shortName: String {
    switch self {
    case .characteristic(let item, _): "\(item.uuid) (handle \(handle))"
    case .descriptor(let item, of: let owner, _): "\(owner.uuid)@\(item.uuid) (handle \(handle))"
    case .handle: "handle \(handle)"
    }
  }
}

extension ErrorCode {
  /// The error code as messages show it, such as `ATT 0x05`.
  var tag: String { "ATT 0x\(Hex.encode(rawValue))" }
}

extension ClientNote {
  /// One line for users that says what the device did and how blectl reacts.
  package var text: String {
    switch self {
    case .mtuBelowLeast(offered: let offered, let mtu):
      "The device offered an invalid MTU (\(offered); minimum 23). The MTU stays \(mtu)."
    case .mtuRefused(let code, let mtu):
      "The device refused the MTU exchange: \(code.name) (\(code.tag)). The MTU stays \(mtu)."
    case .mtuAnsweredWrongly(let violation, let mtu): "\(violation.sentence). The MTU stays \(mtu)."
    case .ignored(.empty): "Ignored an empty ATT PDU."
    case .ignored(.malformed(let error, let bytes)): "Ignored a malformed ATT PDU [\(Hex.encode(bytes.prefix(32)))]: \(error)"
    case .ignored(.stray(let opcode)): "Ignored a \(opcode) without a request."
    case .ignored(.unknownCommand(let opcode)): "Ignored an unknown command, \(opcode)."
    case .ignored(.lost(let count)), .lost(let count): "Lost \(count) received PDUs so far: they arrived too fast."
    case .discovering(let requests): "Still discovering: \(requests) requests so far. Press Ctrl-C to stop."
    case .includeWithoutUUID(let handle, let uuid): "The include at \(handle) omits its 16-bit UUID. Using \(uuid)."
    case .irregular(let entry): entry.text
    case .cutNotification: "A Multiple Handle Value Notification was cut. Its last value is lost."
    case .longNotification(let handle, let attribute):
      "\(attribute?.shortName ?? "handle \(handle)") sent more bytes than an attribute can hold. Kept the first \(WriteProcedure.largestValue)."
    case .longValue(let handle, let attribute, let type):
      "\(type.map { "\($0) (handle \(handle))" } ?? attribute?.shortName ?? "handle \(handle)") returned more bytes than an attribute can hold. "
        + "Kept the first \(WriteProcedure.largestValue)."
    case .noClientConfiguration(let item):
      "\(item.uuid) (handle \(item.valueHandle)) has no Client Characteristic Configuration (2902). Listening without subscribing."
    case .indicationsInstead(let item, let code):
      "The device refused notifications of \(item.uuid) (handle \(item.valueHandle)): \(code.name) (\(code.tag)). Subscribed to indications."
    case .onlySender(let selector, let item, of: let count):
      "\(selector): using \(item.selector) (handle \(item.handle)), the only one of \(count) that can notify or indicate."
    case .abbreviation(let selector, let attribute):
      "\(DisplayText.escape("\(selector)")) means "
        + (attribute.uuid.flatMap { AssignedNumbers.snakeName(of: $0) }.map { "\($0), " } ?? "") + "\(attribute.shortName)."
    case .servicesChanged: "The services of the device changed. blectl will discover them again."
    case .movedHandle(let handle):
      "The services of the device probably changed. \(handle) may now be another attribute. If its values stop, name it by UUID."
    case .wrongEcho: "The device echoed a part of the long write incorrectly. To stop in this case: --mode reliable"
    case .last(let note): "\(note.text) Further notes of this kind are not shown."
    }
  }
}

extension Restoration.Missing {
  /// A sentence about a subscription that blectl could not renew after a change of the services.
  package var text: String {
    "The subscription to \(characteristic.uuid) ended: \(reason.map { Failure($0).message } ?? "the characteristic no longer exists.")"
  }
}

extension IrregularEntry {
  /// One line for users that says what is irregular and what blectl did with the entry.
  var text: String {
    let range = { (range: HandleRange) in "\(range.start)-\(range.end)" }
    return switch fault {
    case .noHandle: "Ignored \(article) \(noun) at the invalid handle 0x0000."
    case .outside(let asked): "Kept \(name), which is outside the requested range \(range(asked))."
    case .outOfOrder(let other): "Kept \(name), which is out of order: it follows \(other)."
    case .repeated: "Kept \(name) once: the device lists it twice."
    case .notAdvancing(let asked):
      "The search for \(plural) ended at \(asked.start): the device returned nothing in the requested range \(range(asked))."
    case .malformed(let value): "Ignored \(name): its value is malformed (\(value.isEmpty ? "no bytes" : Hex.encode(value.prefix(32))))."
    case .uuidLength(let bytes): "Kept \(name): its UUID has \(bytes) bytes, which is not allowed here."
    case .endsBefore(let end) where kind == .include: "Kept \(name): its handle range is invalid (end \(end))."
    case .endsBefore(let end): "Extended \(name) to the next service: its end \(end) is before its start."
    case .overlaps(let uuid, let other): "Kept \(name), which overlaps service \(uuid) (\(range(other)))."
    case .value(let value, let place, let found):
      "\(found == nil ? "Kept" : "Corrected") \(name): its value is at \(value), \(Self.text(place))."
        + (found.map { " Using \($0), which has its type." } ?? "")
    case .outsideServices(let uuid?, let service?): "Kept \(name) in service \(uuid) (handle \(service)), but it is outside its range."
    case .outsideServices: "Ignored \(name), which is in no service."
    case .noCharacteristic: "Kept \(name), which belongs to no characteristic. Use its handle."
    case .unlisted: "Ignored \(name): the device does not list it with the others."
    case .tooMany: "Ignored \(name): the device lists more than 65,535 \(plural)."
    }
  }

  private var noun: String {
    switch kind {
    case .service: "service"
    case .include: "included service"
    case .characteristic: "characteristic"
    case .attribute: "attribute"
    }
  }

  private var plural: String { kind == .include ? "included services" : noun + "s" }
  private var article: String { kind == .include || kind == .attribute ? "an" : "a" }
  private var name: String { noun + (uuid.map { " \($0)" } ?? "") + " (handle \(handle))" }

  private static func text(_ place: ValuePlace) -> String {
    switch place {
    case .atNoHandle: "an invalid handle"
    case .beforeDeclaration: "not after its declaration"
    case .behindNextDeclaration: "after the next declaration"
    case .outsideService: "outside its service"
    }
  }
}

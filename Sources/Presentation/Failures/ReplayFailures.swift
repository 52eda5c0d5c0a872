import BluetoothLE
package import Traces

// After requests other than the recorded ones, the device's answers are unknown.
extension ReplayError: FailureConvertible {
  package var failure: Failure {
    let message =
      switch self {
      case .notRecorded(let asked, let next):
        "The recording has no \(Self.text(asked)). \(Self.text(next: next, insteadOf: asked)) Record this too, with the device and --trace."
      case .cut(let asked):
        "The recording ends before the answer to this request: \(Self.text(asked)). Record it again, with the device and --trace."
      case .unasked(let asked, let packet):
        "The next recorded values follow a request that you did not send: \(Self.text(asked)) (packet \(packet)). "
          + "Send it too. Or record again, with the device and --trace."
      case .ended: "The recording ends here and has no more values. Record for longer, with the device and --trace."
      }
    return .expectation(message)
  }

  private static func text(next: Asked?, insteadOf asked: Asked) -> String {
    guard let next else { return "It has no more requests." }
    if case .attribute(let ours, _) = asked, case .attribute(let theirs, _) = next, let difference = difference(ours, theirs) {
      return "The next recorded request is the same with other bytes: \(difference)."
    }
    if case .attribute(let pdu, _) = next, case .request(.readByType(let range, let type))? = try? PDU(parsing: pdu),
      type != UUID(0x2802), type != UUID(0x2803)
    {
      return "The next recorded request reads \(type)\(text(range))."
    }
    return "The next recorded request: \(text(next))."
  }

  /// Returns the first difference between two written values of more than 32 bytes. Returns nil for shorter values and other PDUs.
  private static func difference(_ ours: [UInt8], _ theirs: [UInt8]) -> String? {
    guard let (ours, our) = write(ours), let (theirs, their) = write(theirs), ours == theirs, max(our.count, their.count) > 32 else {
      return nil
    }
    guard let offset = zip(our, their).enumerated().first(where: { $1.0 != $1.1 })?.offset else {
      return "\(their.count) bytes, not \(our.count)"
    }
    return "\(Hex.encode([their[offset]])), not \(Hex.encode([our[offset]])), at offset \(offset)"
  }

  /// Splits a PDU into the bytes before the written value, and the value. Returns nil for a PDU that writes no value.
  private static func write(_ pdu: [UInt8]) -> (head: ArraySlice<UInt8>, value: [UInt8])? {
    switch try? PDU(parsing: pdu) {
    case .request(.write(_, let value)), .command(.write(_, let value)), .request(.prepareWrite(_, _, let value)):
      (pdu.dropLast(value.count), value)
    default: nil
    }
  }

  fileprivate static func text(_ asked: Asked) -> String {
    switch asked {
    case .connection(let peer): "connection to \(peer)"
    case .command(let command): "\(command)"
    case .attribute(let pdu, let attribute):
      switch try? PDU(parsing: pdu) {
      case .request(.write(let handle, let value)): "write of \(Hex.head(value)) to \(name(handle, attribute))"
      case .command(.write(let handle, let value)): "write of \(Hex.head(value)) to \(name(handle, attribute)) without response"
      case .request(.prepareWrite(let handle, let offset, let value)):
        "write of \(Hex.head(value)) to \(name(handle, attribute)) at offset \(offset)"
      case .request(.executeWrite): "end of a long write"
      case .request(.read(let handle)): "read of \(name(handle, attribute))"
      case .request(.readBlob(let handle, let offset)): "read of \(name(handle, attribute)) from offset \(offset)"
      case .request(.readByType(let range, UUID(0x2803))): "discovery of characteristics\(text(range))"
      case .request(.readByType(let range, UUID(0x2802))): "discovery of included services\(text(range))"
      case .request(.readByType(let range, let type)): "Read By Type request for \(type)\(text(range))"
      case .request(.readByGroupType(let range, _)): "discovery of services\(text(range))"
      case .request(.findByTypeValue(let range, _, let value)): "search for service \(service(value))\(text(range))"
      case .request(.findInformation(let range)): "discovery of descriptors\(text(range))"
      case .request(.exchangeMTU): "MTU exchange"
      default: "\(pdu.first.map { ATTOpcode(rawValue: $0).description } ?? "empty PDU") \(Hex.head(pdu))"
      }
    }
  }

  /// Returns the UUID and handle of an attribute, or only the handle if the UUID is unknown.
  private static func name(_ handle: AttributeHandle, _ attribute: Attribute?) -> String {
    guard let attribute else { return "handle \(handle)" }
    return "\(attribute.characteristic.map { "\($0)@" } ?? "")\(attribute.type) (handle \(handle))"
  }

  private static func service(_ value: [UInt8]) -> String { UUID(littleEndian: value[...]).map { "\($0)" } ?? Hex.head(value) }

  private static func text(_ range: HandleRange) -> String { range == .all ? "" : " in handles \(range.start)–\(range.end)" }
}

extension ReplayNote {
  /// Returns the note as text.
  /// - Parameter file: The path of the recording.
  package func text(_ file: String) -> String {
    switch self {
    case .notRecorded(let asked, let code?): "The recording has no \(ReplayError.text(asked)). The answer is \(code.name) (\(code.tag))."
    case .notRecorded(let asked, nil): "The recording has no \(ReplayError.text(asked)). Nothing follows it."
    case .partlyDiscovered(let asked): "The recording shows only some of the attributes. For example, it has no \(ReplayError.text(asked))."
    case .undiscovered([]): "The recording has no discovery of services, and no reads or writes."
    case .undiscovered(let handles):
      "The recording has no discovery of services. It shows only handles: "
        + handles.map { AttributeHandle(clamping: $0).description }.joined(separator: ", ").asSentence
    case .unheard(let peer):
      "The recording has a connection to \(peer), but no advertisement in its first 10 s. The scan shows the device without data."
    case .unnamed(let peer): "The recording lacks the address of a connected device. The scan shows it as \(peer), without data."
    case .endedInDiscovery(let peer, let number):
      "An earlier recorded connection to \(peer) ended during discovery. This is connection \(number) to the device in the recording."
    case .slowAttempt: "A connection attempt of the recording took longer than 10 s. Here it takes 10 s."
    case .more: "The recording may lack more. blectl omits further notes about it."
    case .cut(let error): "The recording \(DisplayText.quote(file)) is used up to an invalid packet: \(error)."
    }
  }
}

extension Recording {
  /// Returns a note about the packets that a recording lacks. Returns nil for a complete recording.
  package func holes(in file: String) -> String? {
    var parts: [String] = []
    if drops > 0 { parts.append(drops.counted("lost packet")) }
    if cut > 0 { parts.append(cut.counted("cut packet")) }
    guard !parts.isEmpty else { return nil }
    return "The recording \(DisplayText.quote(file)) is incomplete: \(parts.joined(separator: " and ")). Replay has no answers for them."
  }
}

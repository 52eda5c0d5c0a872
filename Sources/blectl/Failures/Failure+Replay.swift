import ATT
import Bluetooth
import HCI
import Replay
import Text

extension Failure {
  /// The device may do anything when it is asked something else: whether it passes cannot be said.
  init(_ error: ReplayError) {
    let message =
      switch error {
      case .notRecorded(let asked, let next):
        "the recording does not have what was asked: \(Self.text(asked)); \(Self.text(next: next, insteadOf: asked)); "
          + "record this too, with the device and --trace"
      case .cut(let asked):
        "the recording ends before the answer to what was asked: \(Self.text(asked)); record it again, with the device and --trace"
      case .unasked(let asked, let packet):
        "the recording brings the next values after what was not sent: \(Self.text(asked)) (packet \(packet)). "
          + "Send that too, or record again, with the device and --trace"
      case .ended: "the recording ends here: no more values are in it; record for longer, with the device and --trace"
      }
    self.init(.expectation, message)
  }

  private static func text(next: ReplayError.Asked?, insteadOf asked: ReplayError.Asked) -> String {
    guard let next else { return "nothing more is asked in it" }
    if case .attribute(let ours, _) = asked, case .attribute(let theirs, _) = next, let difference = difference(ours, theirs) {
      return "next in it: the same with other octets, \(difference)"
    }
    return "next in it: \(text(next))"
  }

  /// Where two long values differ that are to be written to the same place: the line has no room for them.
  private static func difference(_ ours: [UInt8], _ theirs: [UInt8]) -> String? {
    guard let ours = Write(ours), let theirs = Write(theirs), ours.kind == theirs.kind, ours.handle == theirs.handle,
      ours.offset == theirs.offset,
      max(ours.value.count, theirs.value.count) > shownOctets
    else { return nil }
    let offset = zip(ours.value, theirs.value).enumerated().first { $1.0 != $1.1 }?.offset
    guard let offset else { return "\(theirs.value.count) of them, not \(ours.value.count)" }
    let (our, their) = (Hex.encode(ours.value[offset...].prefix(1)), Hex.encode(theirs.value[offset...].prefix(1)))
    return "the one at offset \(offset) is \(their), not \(our)"
  }

  private struct Write {
    var kind: UInt8
    var handle: AttributeHandle
    var offset: UInt16 = 0
    var value: [UInt8]

    init?(_ pdu: [UInt8]) {
      guard let kind = pdu.first else { return nil }
      switch try? PDU(parsing: pdu) {
      case .request(.write(let handle, let value)), .command(.write(let handle, let value)):
        (self.kind, self.handle, self.value) = (kind, handle, value)
      case .request(.prepareWrite(let handle, let offset, let value)):
        (self.kind, self.handle, self.offset, self.value) = (kind, handle, offset, value)
      default: return nil
      }
    }
  }

  private static func text(_ asked: ReplayError.Asked) -> String {
    switch asked {
    case .connection(let peer): "a connection to \(peer)"
    case .command(let command): "\(command)"
    case .attribute(let pdu, let attribute):
      switch try? PDU(parsing: pdu) {
      case .request(.write(let handle, let value)): "to write \(hex(value)) to \(name(handle, attribute))"
      case .command(.write(let handle, let value)): "to write \(hex(value)) to \(name(handle, attribute)) without response"
      case .request(.prepareWrite(let handle, let offset, let value)):
        "to write \(hex(value)) to \(name(handle, attribute)) at offset \(offset)"
      case .request(.executeWrite): "to carry out a long write"
      case .request(.read(let handle)): "to read \(name(handle, attribute))"
      case .request(.readBlob(let handle, let offset)): "to read \(name(handle, attribute)) from offset \(offset)"
      case .request(.readByType(let range, UUID(0x2803))): "which characteristics there are\(text(range))"
      case .request(.readByType(let range, UUID(0x2802))): "which services are included\(text(range))"
      case .request(.readByType(let range, let type)): "to read \(type) wherever it is\(text(range))"
      case .request(.readByGroupType(let range, _)): "which services there are\(text(range))"
      case .request(.findByTypeValue(let range, _, let value)): "where the service \(service(value)) is\(text(range))"
      case .request(.findInformation(let range)): "which descriptors there are\(text(range))"
      case .request(.exchangeMTU): "to exchange the MTU"
      default: "\(pdu.first.map { ATT.Opcode(rawValue: $0).description } ?? "an empty PDU") \(hex(pdu))"
      }
    }
  }

  /// As in a selector, where it is known.
  private static func name(_ handle: AttributeHandle, _ attribute: ReplayError.Attribute?) -> String {
    guard let attribute else { return "handle \(handle)" }
    return "\(attribute.characteristic.map { "\($0)@" } ?? "")\(attribute.type) (handle \(handle))"
  }

  private static func service(_ value: [UInt8]) -> String { UUID(littleEndian: value[...]).map { "\($0)" } ?? hex(value) }

  private static func text(_ range: HandleRange) -> String {
    range == .all ? "" : " in handles \(range.start) to \(range.end)"
  }

  private static let shownOctets = 32

  /// What a line has room for.
  private static func hex(_ octets: [UInt8]) -> String {
    octets.isEmpty
      ? "no octets" : Hex.encode(octets.prefix(shownOctets)) + (octets.count > shownOctets ? "… (\(octets.count) octets)" : "")
  }
}

extension Recording {
  /// Nil where nothing is missing.
  func holes(in file: String) -> String? {
    var parts: [String] = []
    if drops > 0 { parts.append("\(drops) packet(s) that were lost while it was made") }
    if cut > 0 { parts.append("\(cut) of which it has only the beginning") }
    guard !parts.isEmpty else { return nil }
    return
      "the recording \(DisplayText.quote(file)) is not whole: it lacks \(parts.joined(separator: ", and ")); what was in them is not answered"
  }
}

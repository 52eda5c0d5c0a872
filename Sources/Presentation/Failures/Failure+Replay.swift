import ATT
import Bluetooth
import HCI
package import Replay
import Text

extension Failure {
  /// Creates the failure of a replay. After requests other than the recorded ones, the device's answers are unknown.
  init(_ error: ReplayError) {
    let message =
      switch error {
      case .notRecorded(let asked, let next):
        "The recording has no \(Self.text(asked)). \(Self.text(next: next, insteadOf: asked)) Record this too, with the device and --trace."
      case .cut(let asked):
        "The recording ends before the answer to this request: \(Self.text(asked)). Record it again, with the device and --trace."
      case .unasked(let asked, let packet):
        "The next recorded values follow a request that you did not send: \(Self.text(asked)) (packet \(packet)). "
          + "Send it too. Or record again, with the device and --trace."
      case .ended: "The recording ends here and has no more values. Record for longer, with the device and --trace."
      }
    self.init(.expectation, message)
  }

  private static func text(next: ReplayError.Asked?, insteadOf asked: ReplayError.Asked) -> String {
    guard let next else { return "It has no more requests." }
    if case .attribute(let ours, _) = asked, case .attribute(let theirs, _) = next, let difference = difference(ours, theirs) {
      return "Its next request is the same with other bytes: \(difference)."
    }
    return "Its next request: \(text(next))."
  }

  /// Returns the first difference between two long values, because the message has no room for both.
  private static func difference(_ ours: [UInt8], _ theirs: [UInt8]) -> String? {
    guard let ours = Write(ours), let theirs = Write(theirs), ours.kind == theirs.kind, ours.handle == theirs.handle,
      ours.offset == theirs.offset,
      max(ours.value.count, theirs.value.count) > shownOctets
    else { return nil }
    let offset = zip(ours.value, theirs.value).enumerated().first { $1.0 != $1.1 }?.offset
    guard let offset else { return "\(theirs.value.count) bytes, not \(ours.value.count)" }
    let (our, their) = (Hex.encode(ours.value[offset...].prefix(1)), Hex.encode(theirs.value[offset...].prefix(1)))
    return "\(their), not \(our), at offset \(offset)"
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
    case .connection(let peer): "connection to \(peer)"
    case .command(let command): "\(command)"
    case .attribute(let pdu, let attribute):
      switch try? PDU(parsing: pdu) {
      case .request(.write(let handle, let value)): "write of \(hex(value)) to \(name(handle, attribute))"
      case .command(.write(let handle, let value)): "write of \(hex(value)) to \(name(handle, attribute)) without response"
      case .request(.prepareWrite(let handle, let offset, let value)):
        "write of \(hex(value)) to \(name(handle, attribute)) at offset \(offset)"
      case .request(.executeWrite): "end of a long write"
      case .request(.read(let handle)): "read of \(name(handle, attribute))"
      case .request(.readBlob(let handle, let offset)): "read of \(name(handle, attribute)) from offset \(offset)"
      case .request(.readByType(let range, UUID(0x2803))): "discovery of characteristics\(text(range))"
      case .request(.readByType(let range, UUID(0x2802))): "discovery of included services\(text(range))"
      case .request(.readByType(let range, let type)): "read of every \(type)\(text(range))"
      case .request(.readByGroupType(let range, _)): "discovery of services\(text(range))"
      case .request(.findByTypeValue(let range, _, let value)): "search for service \(service(value))\(text(range))"
      case .request(.findInformation(let range)): "discovery of descriptors\(text(range))"
      case .request(.exchangeMTU): "MTU exchange"
      default: "\(pdu.first.map { ATT.Opcode(rawValue: $0).description } ?? "empty PDU") \(hex(pdu))"
      }
    }
  }

  /// Returns the attribute as a selector if its type is known, else the handle.
  private static func name(_ handle: AttributeHandle, _ attribute: ReplayError.Attribute?) -> String {
    guard let attribute else { return "handle \(handle)" }
    return "\(attribute.characteristic.map { "\($0)@" } ?? "")\(attribute.type) (handle \(handle))"
  }

  private static func service(_ value: [UInt8]) -> String { UUID(littleEndian: value[...]).map { "\($0)" } ?? hex(value) }

  private static func text(_ range: HandleRange) -> String {
    range == .all ? "" : " in handles \(range.start) to \(range.end)"
  }

  private static let shownOctets = 32

  /// Returns at most `shownOctets` bytes in hex, with the total count of longer data.
  private static func hex(_ octets: [UInt8]) -> String {
    octets.isEmpty
      ? "no bytes" : Hex.encode(octets.prefix(shownOctets)) + (octets.count > shownOctets ? "… (\(octets.count) bytes)" : "")
  }
}

extension Recording {
  /// Describes the packets missing from the recording. Nil for a complete recording.
  package func holes(in file: String) -> String? {
    var parts: [String] = []
    if drops > 0 { parts.append("\(drops) packet(s) were lost") }
    if cut > 0 { parts.append("\(cut) packet(s) are cut") }
    guard !parts.isEmpty else { return nil }
    return "The recording \(DisplayText.quote(file)) is incomplete: \(parts.joined(separator: " and ")). Replay has no answers for them."
  }
}

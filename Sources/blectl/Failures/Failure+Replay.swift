import ATT
import HCI
import Replay
import Text

extension Failure {
  /// The device may do anything when it is asked something else: whether it passes cannot be said.
  init(_ error: ReplayError) {
    switch error {
    case .notRecorded(let asked, let next):
      let told = next.map { "next in it is \(Self.text($0))" } ?? "nothing more is asked in it"
      self.init(.expectation, "the recording does not have what was asked: \(Self.text(asked)); \(told)")
    }
  }

  private static func text(_ asked: ReplayError.Asked) -> String {
    switch asked {
    case .connection(let peer): "a connection to \(peer)"
    case .command(let command): "\(command)"
    case .attribute(let pdu):
      switch try? PDU(parsing: pdu) {
      case .request(.write(let handle, let value)): "Write Request of \(hex(value)) to handle \(handle)"
      case .command(.write(let handle, let value)): "Write Command of \(hex(value)) to handle \(handle)"
      case .request(.prepareWrite(let handle, let offset, let value)):
        "Prepare Write Request of \(hex(value)) at offset \(offset) to handle \(handle)"
      case .request(.read(let handle)): "Read Request of handle \(handle)"
      case .request(.readBlob(let handle, let offset)): "Read Blob Request of handle \(handle) from offset \(offset)"
      case .request(.readByType(let range, let type)): "Read By Type Request of \(type) in handles \(range.start) to \(range.end)"
      case .request(.readByGroupType(let range, let type)):
        "Read By Group Type Request of \(type) in handles \(range.start) to \(range.end)"
      case .request(.findInformation(let range)): "Find Information Request of handles \(range.start) to \(range.end)"
      default: "\(pdu.first.map { ATT.Opcode(rawValue: $0).description } ?? "an empty PDU") \(hex(pdu))"
      }
    }
  }

  /// What a line has room for.
  private static func hex(_ octets: [UInt8]) -> String {
    octets.isEmpty ? "no octets" : Hex.encode(octets.prefix(32)) + (octets.count > 32 ? "… (\(octets.count) octets)" : "")
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

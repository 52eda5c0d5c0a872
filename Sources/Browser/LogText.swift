import ATT
import GATT
import Presentation
import Text

/// Renders a PDU as its name, its attribute, its bytes and their meaning.
enum LogText {
  /// Returns the name, the attribute and the value of a PDU as one text.
  /// - Parameters:
  ///   - handle: The handle of the PDU's attribute, if known.
  ///   - facts: The facts about the characteristic of that attribute.
  static func text(_ pdu: [UInt8], _ handle: AttributeHandle?, in table: AttributeTable?, facts: CharacteristicFacts?) -> String {
    guard let parsed = try? PDU(parsing: pdu) else { return "malformed \(Hex.encode(pdu))" }
    let attribute = handle.flatMap { table?.attribute(at: $0) }
    func value(_ octets: [UInt8]) -> String {
      if octets.isEmpty { return "(empty)" }
      if case .characteristic? = attribute, let facts {
        return ValueText.displayText(octets, of: facts.characteristic.uuid, formats: facts.formats)
      }
      return ValueText.displayText(octets, of: attribute?.uuid)
    }
    func place(_ handle: AttributeHandle) -> String { "\(handle)" + (attribute?.uuid.map { " \($0)" } ?? "") }
    let name = (pdu.first.map { ATT.Opcode(rawValue: $0).description } ?? "").lowercased().replacing("handle value ", with: "")
    switch parsed {
    case .request(.read(let handle)): return "\(name) \(place(handle))"
    case .request(.readBlob(let handle, let offset)): return "\(name) \(place(handle)) from \(offset)"
    case .request(.write(let handle, let octets)), .command(.write(let handle, let octets)):
      return "\(name) \(place(handle))  \(value(octets))"
    case .request(.prepareWrite(let handle, let offset, let octets)), .response(.prepareWrite(let handle, let offset, let octets)):
      return "\(name) \(place(handle)) at \(offset)  \(Hex.encode(octets))"
    case .response(.read(let octets)): return "\(name)  \(value(octets))"
    case .response(.readBlob(let octets)): return "\(name)  \(Hex.encode(octets))"
    case .response(.error(let request, let handle, let code)):
      return "\(name) to \(request.description.lowercased()) \(handle): \(code)"
    case .unsolicited(.notification(let item)), .unsolicited(.indication(let item)):
      return "\(name) \(place(item.handle))  \(value(item.value))"
    case .request, .response, .command, .unsolicited, .confirmation, .unknown:
      let rest = Hex.encode(pdu.dropFirst())
      return rest.isEmpty ? name : "\(name)  \(rest)"
    }
  }
}

import ATT
import Bluetooth
import GATT
import Text

extension IrregularEntry {
  /// The entry as one line for users.
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
    case .uuidLength(let octets): "Kept \(name): its UUID has \(octets) bytes, which is not allowed here."
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

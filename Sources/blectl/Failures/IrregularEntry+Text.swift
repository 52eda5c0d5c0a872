import ATT
import Bluetooth
import GATT
import Text

extension IrregularEntry {
  /// One line for users.
  var text: String {
    let range = { (range: HandleRange) in "\(range.start)-\(range.end)" }
    return switch fault {
    case .noHandle: "ignored \(article) \(noun) at handle 0x0000, which no attribute has"
    case .outside(let asked): "\(name) is outside of \(range(asked)), which was asked for: kept it"
    case .outOfOrder(let other): "\(name) comes after \(other) in an answer, which must be in order: kept it"
    case .repeated: "\(name) is listed twice: kept it once"
    case .notAdvancing(let asked):
      "the device answered a search in \(range(asked)) with nothing from there: the search for \(plural) ended at \(asked.start)"
    case .malformed(let value): "\(name) has a malformed value, \(value.isEmpty ? "no bytes" : Hex.encode(value.prefix(32))): ignored it"
    case .uuidLength(let octets): "\(name) has a UUID of \(octets) bytes, which is not allowed here: kept it"
    case .endsBefore(let end) where kind == .include: "\(name) names handles that are no range, up to \(end): kept it"
    case .endsBefore(let end): "\(name) ends at \(end), before it begins: blectl takes it to reach up to the next service"
    case .overlaps(let uuid, let other): "\(name) overlaps service \(uuid) (\(range(other))): kept both"
    case .value(let value, let place, let found):
      "\(name) has its value at \(value), \(Self.text(place)): " + (found.map { "used \($0), which has its type" } ?? "kept it")
    case .outsideServices(let uuid?, let service?): "\(name) lies in no service: shown with \(uuid) (handle \(service))"
    case .outsideServices: "\(name) lies in no service: ignored it"
    case .noCharacteristic: "\(name) belongs to no characteristic: use it by its handle"
    case .unlisted: "the device shows \(name) but does not list it with the others: ignored it"
    case .tooMany: "\(name) is one of more than 65535: ignored it"
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
    case .atNoHandle: "which no attribute has"
    case .beforeDeclaration: "not after its declaration"
    case .behindNextDeclaration: "after the next declaration"
    case .outsideService: "outside of its service"
    }
  }
}

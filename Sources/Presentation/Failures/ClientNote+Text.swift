import ATT
import Bluetooth
import GATT
import Text

extension ClientNote {
  /// The note as one line for users.
  package var text: String {
    switch self {
    case .mtuBelowLeast(offered: let offered, let mtu):
      "The device offered an invalid MTU (\(offered); minimum 23). The MTU stays \(mtu)."
    case .mtuRefused(let code, let mtu):
      "The device refused the MTU exchange: \(code.name) (ATT 0x\(Hex.encode(code.rawValue))). The MTU stays \(mtu)."
    case .mtuAnsweredWrongly(let violation, let mtu): "\(violation.sentence). The MTU stays \(mtu)."
    case .ignored(.empty): "Ignored an empty ATT PDU."
    case .ignored(.malformed(let error, let octets)): "Ignored a malformed ATT PDU [\(Hex.encode(octets.prefix(32)))]: \(error)"
    case .ignored(.stray(let opcode)): "Ignored a \(opcode) without a request."
    case .ignored(.unknownCommand(let opcode)): "Ignored an unknown command, \(opcode)."
    case .ignored(.lost(let count)), .lost(let count): "Lost \(count) received PDUs so far: they arrived too fast."
    case .discovering(let requests): "Still discovering: \(requests) requests so far. Press Ctrl-C to stop."
    case .includeWithoutUUID(let handle, let uuid): "The include at \(handle) omits its 16-bit UUID. Using \(uuid)."
    case .irregular(let entry): entry.text
    case .cutNotification: "A Multiple Handle Value Notification was cut. Its last value is lost."
    case .longNotification(let handle, let attribute):
      "\(attribute?.shortName ?? "handle \(handle)") sent more bytes than an attribute can hold. Kept the first \(WritePlan.largestValue)."
    case .longValue(let handle, let attribute, let type):
      "\(type.map { "\($0) (handle \(handle))" } ?? attribute?.shortName ?? "handle \(handle)") returned more bytes than an attribute can hold. "
        + "Kept the first \(WritePlan.largestValue)."
    case .noClientConfiguration(let item):
      "\(item.uuid) (handle \(item.valueHandle)) has no Client Characteristic Configuration (2902). Listening without subscribing."
    case .onlySender(let selector, let item, of: let count):
      "\(selector): using \(item.selector) (handle \(item.handle)), the only one of \(count) that can notify or indicate."
    case .abbreviation(let selector, let attribute):
      "\(DisplayText.escape("\(selector)")) means "
        + (attribute.uuid.flatMap { AssignedNumbers.snakeName(of: $0) }.map { "\($0), " } ?? "") + "\(attribute.shortName)."
    case .servicesChanged: "The services of the device changed. blectl will discover them again."
    case .wrongEcho: "The device echoed a part of the long write incorrectly. To stop in this case: --mode reliable"
    case .last(let note): "\(note.text) Further notes of this kind are not shown."
    }
  }
}

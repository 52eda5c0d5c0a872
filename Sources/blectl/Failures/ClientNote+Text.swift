import ATT
import Bluetooth
import GATT
import Text

extension ClientNote {
  /// One line for users.
  var text: String {
    switch self {
    case .mtuBelowLeast(offered: let offered, let mtu):
      "the peer offers an MTU of \(offered), which is less than the least (23): ATT_MTU stays \(mtu)"
    case .mtuRefused(let code, let mtu): "the peer does not exchange the MTU, \(code): ATT_MTU stays \(mtu)"
    case .mtuAnsweredWrongly(let violation, let mtu): "\(violation.sentence): ATT_MTU stays \(mtu)"
    case .ignored(.empty): "ignored an empty ATT PDU"
    case .ignored(.malformed(let error, let octets)): "ignored a malformed ATT PDU [\(Hex.encode(octets.prefix(32)))]: \(error)"
    case .ignored(.stray(let opcode)): "ignored a \(opcode) that answers nothing"
    case .ignored(.unknownCommand(let opcode)): "ignored an unknown command, \(opcode)"
    case .ignored(.lost(let count)), .lost(let count): "\(count) received PDUs were lost so far: they came faster than they were taken"
    case .discovering(let requests): "still discovering: \(requests) requests so far; Ctrl-C ends"
    case .includeWithoutUUID(let handle, let uuid): "the include at \(handle) left out its 16-bit UUID, \(uuid)"
    case .irregular(let entry): entry.text
    case .cutNotification: "a Multiple Handle Value Notification was cut short: its last value is lost"
    case .longNotification(let handle, let attribute):
      "\(attribute?.shortName ?? "handle \(handle)") sent more than an attribute can hold: kept the first \(WritePlan.largestValue) octets"
    case .longValue(let handle, let attribute, let type):
      "\(type.map { "\($0) (handle \(handle))" } ?? attribute?.shortName ?? "handle \(handle)") sends more than an attribute can hold: kept the "
        + "first \(WritePlan.largestValue) octets"
    case .noClientConfiguration(let item):
      "\(item.uuid) (handle \(item.valueHandle)) has no Client Characteristic Configuration (2902): listening without asking it to send"
    case .onlySender(let selector, let item, of: let count):
      "\(selector): taking \(item.selector) (handle \(item.handle)), the only one of \(count) that can notify or indicate"
    case .servicesChanged: "the peer says that its services have changed: they will be discovered again"
    case .wrongEcho: "the peer repeated a part of the long write wrongly; --mode reliable would stop here"
    case .last(let note): "\(note.text); more of these are not reported"
    }
  }
}

import ATT
import Bluetooth
import Testing
import Text

@testable import GATT
@testable import blectl

/// The sentences of the contract, made from the facts of ATT and GATT.
@Suite struct FailureGATTTests {
  static let item = { () -> Characteristic in
    Characteristic(uuid: UUID(0xFFE1), handle: 0x15, valueHandle: 0x16, endHandle: 0x16, properties: .writeWithoutResponse)
  }()
  static let service = { () -> Service in
    var service = Service(uuid: UUID(0xFFE0), handle: 0x14, endHandle: 0x16, isPrimary: true)
    service.characteristics = [item, item]
    return service
  }()
  static let attribute = Attribute.characteristic(item, service)

  @Test(
    arguments: [
      (
        0x03, .write(0x16, value: [1]),
        "Write Not Permitted (0x03) on ffe1 (handle 0x0016): it only takes writes without response; use --mode command"
      ),
      (0x02, .read(0x16), "Read Not Permitted (0x02) on ffe1 (handle 0x0016): its properties are: write_without_response"),
      (
        0x0F, .read(0x16),
        "Insufficient Encryption (0x0f) on ffe1 (handle 0x0016): the peer wants a paired, encrypted link, and blectl does not pair or encrypt by "
          + "itself yet; bluetoothctl does both (pair ADDRESS, then menu gatt)"
      ),
      (0x81, .read(0x16), "Application Error (0x81) on ffe1 (handle 0x0016): its meaning is the peer's own"),
      (
        0x0D, .write(0x16, value: [1, 2]),
        "Invalid Attribute Value Length (0x0d) on ffe1 (handle 0x0016): it does not take a value of 2 octets"
      ),
      (
        0x0E, .readByGroupType(HandleRange(1, 0x20), type: UUID(0x2800)),
        "Unlikely Error (0x0e) in answer to a Read By Group Type Request for handles 0x0001-0x0020"
      ),
      (
        0x07, .executeWrite(flags: 1),
        "Invalid Offset (0x07) in answer to the Execute Write Request: the peer did not take a value of this length; nothing was written"
      ),
    ] as [(UInt8, Request, String)]) func refusals(_ code: UInt8, _ request: Request, _ sentence: String)
  {
    let failure = Failure(GATTError.errorResponse(ErrorCode(rawValue: code), to: request, on: Self.attribute))
    #expect(failure.message == sentence)
    #expect(failure.kind == .att && failure.code == Int(code) && failure.name == ErrorCode(rawValue: code).snakeName)
  }

  @Test func withoutDiscoveryTheHandleIsNamed() {
    let failure = Failure(GATTError.errorResponse(.readNotPermitted, to: .read(3), on: nil))
    #expect(failure.message == "Read Not Permitted (0x02) on handle 0x0003: the peer does not let it be read")
    #expect(Failure(GATTError.errorResponse(.invalidHandle, to: .read(3), on: nil)).exitStatus == .notFound)
  }

  @Test(
    arguments: [
      (
        .violation(.response(.write), [0x13, 0xFF], "Write Response: 1 trailing octets (at octet 1)"), "protocol",
        "the peer broke the Attribute Protocol: Write Response [13ff]: Write Response: 1 trailing octets (at octet 1)"
      ),
      (
        .noResponse(to: .read, handle: 0x16, within: .seconds(30)), "timeout",
        "no answer to the Read Request for handle 0x0016 within 30 s; the connection is given up, as the Attribute Protocol asks. Connect again, or "
          + "allow more time with --timeout"
      ),
      (
        .noResponse(to: .exchangeMTU, handle: 0, within: .milliseconds(1500)), "timeout",
        "no answer to the Exchange MTU Request within 1.5 s; the connection is given up, as the Attribute Protocol asks. Connect again, or allow more "
          + "time with --timeout"
      ),
      (
        .nothingGotThrough(for: .seconds(2)), "timeout",
        "nothing that was sent got through for 2 s: the controller reported no packet as delivered. Check that the device is in range and the adapter "
          + "works, then connect again"
      ), (.closedByThisSide, "link_lost", "the connection was closed by blectl"),
    ] as [(ATTError, String, String)]) func bearers(_ error: ATTError, _ kind: String, _ sentence: String)
  {
    #expect(Failure(error).message == sentence && Failure(error).kind.rawValue == kind)
  }

  @Test func aBearerThatIsGivenUpSaysWhy() {
    var violation = Violation(opcode: .response(.write), octets: [UInt8](repeating: 0x13, count: 40), reason: "no")
    violation.endsBearer = true
    let message = Failure(ATTError.violation(violation)).message
    #expect(
      message.hasSuffix("… (40 octets)]: no; the connection is given up, because later answers could be taken for those of other requests"))
  }

  @Test(
    arguments: [
      (.notFound(try Selector("ffe9"), .attribute), "not_found", "the peer has no attribute ffe9; list what it has with: services"),
      (
        .notFound(try Selector("ffe0"), .isService(service)), "not_found",
        "the peer has no attribute ffe0; ffe0 is a service: name one of its characteristics (ffe0/ffe1, ffe0/ffe1)"
      ),
      (.notFound(try Selector("ffe1[3]"), .only(2, of: UUID(0xFFE1))), "not_found", "ffe1[3]: the peer has only 2 of ffe1"),
      (
        .notFound(try Selector("fff0/ffe1"), .service(UUID(0xFFF0))), "not_found",
        "the peer has no attribute fff0/ffe1; it has no service fff0; list what it has with: services"
      ),
      (
        .notFound(try Selector("ffe2@2904"), .descriptor(UUID(0x2904))), "not_found",
        "the peer has no attribute ffe2@2904; no descriptor 2904 there; list what it has with: services"
      ),
      (
        .ambiguous(
          try Selector("ffe1"),
          [.init(attribute: attribute, selector: "ffe0/ffe1[1]"), .init(attribute: attribute, selector: "ffe0/ffe1[2]")]), "ambiguous",
        "ffe1 is ambiguous: ffe0/ffe1[1] (0x0016, write_without_response), ffe0/ffe1[2] (0x0016, write_without_response). Name one as it stands "
          + "here, or its handle: 'ffe0/ffe1[1]', or 0x0016"
      ),
      (
        .ambiguous(
          try Selector(String(repeating: "0", count: 32) + "/" + String(repeating: "0", count: 31) + "1"),
          [.init(attribute: .handle(9), selector: "0x0009")]),
        "ambiguous",
        "000000000000000000000000000000…00000000000000000000000000001 is ambiguous: 0x0009 (0x0009). Name one as it stands here, or its handle: "
          + "0x0009, or 0x0009"
      ),
      (
        .invalidSelector("1\u{1b}[31m", .wrongIndex), "usage",
        "1\\x1b[31m does not name an attribute: [N] takes a number from 1. Use a handle (0x0012), a UUID (ffe1, ffe0/ffe1, 'ffe1[2]'), a descriptor "
          + "(ffe1@2901) or a name (battery_level)"
      ),
      (.sendsNoValues(item), "not_found", "ffe1 (handle 0x0016) sends no values by itself: its properties are: write_without_response"),
      (
        .gone(item), "not_found",
        "ffe1 is not subscribed to any more: the peer's services have changed, and handle 0x0016 may be something else"
      ),
      (
        .tooLongForWriteRequest(21, limit: 20, mtu: 23), "usage",
        "21 octets do not fit one Write Request, which takes 20 at ATT_MTU 23: use --mode long for one value of up to 512 octets, or --chunk 20 to "
          + "send it in segments"
      ),
      (
        .tooLongForAttribute(513, segment: 20, mode: .long), "usage",
        "513 octets are more than an attribute can hold (512): if the peer takes them in segments, add --chunk 20 with --mode request or command"
      ),
      (.segmentTooLong(21, limit: 20, mtu: 23), "usage", "--chunk 21 does not fit: at ATT_MTU 23 a segment takes at most 20 octets"),
      (.segmentTooShort(0), "usage", "--chunk takes 1 or more octets, not 0"),
    ] as [(GATTError, String, String)]) func procedures(_ error: GATTError, _ kind: String, _ sentence: String)
  {
    #expect(Failure(error).message == sentence)
    #expect(Failure(error).kind.rawValue == kind)
  }

  @Test(
    arguments: [
      (.mtuBelowLeast(offered: 22, mtu: 23), "the peer offers an MTU of 22, which is less than the least (23): ATT_MTU stays 23"),
      (
        .last(.cutNotification),
        "a Multiple Handle Value Notification was cut short: its last value is lost; more of these are not reported"
      ),
      (
        .irregular(IrregularEntry(.characteristic, 0x11, UUID(0x2A00), .value(0x16, .outsideService, found: nil))),
        "characteristic 2a00 (handle 0x0011) has its value at 0x0016, outside of its service: kept it"
      ),
      (
        .irregular(IrregularEntry(.characteristic, 0x11, UUID(0x2A00), .value(0, .atNoHandle, found: 0x12))),
        "characteristic 2a00 (handle 0x0011) has its value at 0x0000, which no attribute has: used 0x0012, which has its type"
      ),
      (
        .irregular(IrregularEntry(.service, 5, UUID(0xFFE0), .overlaps(UUID(0x1800), HandleRange(1, 9)))),
        "service ffe0 (handle 0x0005) overlaps service 1800 (0x0001-0x0009): kept both"
      ),
      (
        .irregular(IrregularEntry(.service, 9, UUID(0xFFE0), .endsBefore(5))),
        "service ffe0 (handle 0x0009) ends at 0x0005, before it begins: blectl takes it to reach up to the next service"
      ),
      (
        .irregular(IrregularEntry(.include, 2, nil, .malformed([1, 2]))),
        "included service (handle 0x0002) has a malformed value, 0102: ignored it"
      ),
      (
        .irregular(IrregularEntry(.attribute, 9, UUID(0x2902), .outOfOrder(after: 0x10))),
        "attribute 2902 (handle 0x0009) comes after 0x0010 in an answer, which must be in order: kept it"
      ),
      (
        .irregular(IrregularEntry(.characteristic, 9, nil, .notAdvancing(HandleRange(0x10, 0xFFFF)))),
        "the device answered a search in 0x0010-0xffff with nothing from there: the search for characteristics ended at 0x0010"
      ),
      (
        .irregular(IrregularEntry(.characteristic, 9, UUID(0x2A00), .outsideServices(UUID(0x1800), 1))),
        "characteristic 2a00 (handle 0x0009) lies in no service: shown with 1800 (handle 0x0001)"
      ),
      (.longNotification(0x16, attribute), "ffe1 (handle 0x0016) sent more than an attribute can hold: kept the first 512 octets"),
      (.longValue(0x16, nil, type: UUID(0xFFE1)), "ffe1 (handle 0x0016) sends more than an attribute can hold: kept the first 512 octets"),
      (.lost(1000), "1000 received PDUs were lost so far: they came faster than they were taken"),
      (.wrongEcho, "the peer repeated a part of the long write wrongly; --mode reliable would stop here"),
    ] as [(ClientNote, String)]) func notes(_ note: ClientNote, _ sentence: String)
  { #expect(note.text == sentence) }
}

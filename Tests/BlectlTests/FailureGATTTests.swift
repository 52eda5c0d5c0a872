import Testing

@testable import BluetoothLE
@testable import Presentation

/// The messages for errors of ATT and GATT.
@Suite(.timeLimit(.minutes(15))) struct FailureGATTTests {
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
        "Cannot write ffe1 (handle 0x0016): it takes only Write Commands (ATT 0x03). Use --mode command."
      ),
      (0x02, .read(0x16), "Cannot read ffe1 (handle 0x0016): it is write-only (ATT 0x02)."),
      (
        0x0F, .read(0x16),
        "Cannot read ffe1 (handle 0x0016): it needs encryption (ATT 0x0f)."
      ),
      (0x81, .read(0x16), "Cannot read ffe1 (handle 0x0016): vendor-defined error (ATT 0x81)."),
      (
        0x0D, .write(0x16, value: [1, 2]),
        "Cannot write ffe1 (handle 0x0016): 2 bytes not accepted (ATT 0x0d)."
      ),
      (
        0x0E, .readByGroupType(HandleRange(1, 0x20), type: UUID(0x2800)),
        "The device refused the Read By Group Type Request for handles 0x0001-0x0020: Unlikely Error (ATT 0x0e)."
      ),
      (
        0x07, .executeWrite(flags: 1),
        "The device refused the Execute Write Request: a value of this length is not accepted (ATT 0x07). Nothing was written."
      ),
    ] as [(UInt8, Request, String)]) func refusals(_ code: UInt8, _ request: Request, _ sentence: String)
  {
    let failure = Failure(GATTError.errorResponse(ErrorCode(rawValue: code), to: request, on: Self.attribute))
    #expect(failure.message == sentence)
    #expect(failure.kind == .att && failure.code == Int(code) && failure.name == ErrorCode(rawValue: code).snakeName)
  }

  @Test func withoutLongWrites() {
    let start = "Cannot write ffe1 (handle 0x0016): the device does not support long writes (ATT 0x06). One Write Request holds 20 bytes. "
    for (count, end) in [(30, "To send segments: --mode request --chunk 20"), (20, "This value fits: --mode request")] {
      let failure = Failure(GATTError.noLongWrites(Self.attribute, count: count, limit: 20))
      #expect(failure.message == start + end && failure.kind == .att && failure.code == 6 && failure.name == "request_not_supported")
    }
  }

  @Test func withoutDiscoveryTheHandleIsNamed() {
    let failure = Failure(GATTError.errorResponse(.readNotPermitted, to: .read(3), on: nil))
    #expect(failure.message == "Cannot read handle 0x0003: the device does not allow it (ATT 0x02).")
    #expect(Failure(GATTError.errorResponse(.invalidHandle, to: .read(3), on: nil)).exitStatus == .notFound)
  }

  @Test(
    arguments: [
      (
        .violation(.response(.write), [0x13, 0xFF], "Write Response: 1 trailing byte (at byte 1)"), "protocol",
        "The device violated the Attribute Protocol: Write Response [13ff]: Write Response: 1 trailing byte (at byte 1)"
      ),
      (
        .noResponse(to: .read, handle: 0x16, within: .seconds(30)), "timeout",
        "No answer to the Read Request (handle 0x0016) in 30 s. Disconnected, as the Attribute Protocol requires. To wait longer: --timeout "
          + "SECONDS"
      ),
      (
        .noResponse(to: .exchangeMTU, handle: 0, within: .milliseconds(1500)), "timeout",
        "No answer to the Exchange MTU Request in 1.5 s. Disconnected, as the Attribute Protocol requires. To wait longer: --timeout SECONDS"
      ),
      (
        .nothingGotThrough(for: .seconds(2)), "timeout",
        "The controller delivered no packet for 2 s. Check that the device is in range and the adapter works, then connect again."
      ), (.closedByThisSide, "link_lost", "Connection closed by blectl"),
    ] as [(ATTError, String, String)]) func bearers(_ error: ATTError, _ kind: String, _ sentence: String)
  {
    #expect(Failure(error).message == sentence && Failure(error).kind.rawValue == kind)
  }

  @Test func aBearerThatIsGivenUpSaysWhy() {
    var violation = Violation(opcode: .response(.write), bytes: [UInt8](repeating: 0x13, count: 40), reason: "no")
    violation.endsBearer = true
    let message = Failure(ATTError.violation(violation)).message
    #expect(
      message.hasSuffix("… (40 bytes)]: no. Disconnected, because later answers could be mistaken for answers to other requests."))
  }

  @Test(
    arguments: [
      (.notFound(try Selector("ffe9"), .attribute), "not_found", "The device has no attribute ffe9. To list the attributes, use services."),
      (
        .notFound(try Selector("ffe0"), .isService(service)), "not_found",
        "The device has no attribute ffe0: ffe0 is a service. Use one of its characteristics: ffe0/ffe1, ffe0/ffe1"
      ),
      (
        .notFound(try Selector("ffe1[3]"), .only(2, of: "ffe1")), "not_found",
        "The device has no attribute ffe1[3]: it has only 2 of ffe1."
      ),
      (
        .notFound(try Selector("fff0/ffe1"), .service(UUID(0xFFF0))), "not_found",
        "The device has no attribute fff0/ffe1: it has no service fff0. To list the attributes, use services."
      ),
      (
        .notFound(try Selector("ffe2@2904"), .descriptor(UUID(0x2904))), "not_found",
        "The device has no attribute ffe2@2904: the characteristic has no descriptor 2904. To list the attributes, use services."
      ),
      (
        .ambiguous(
          try Selector("ffe1"),
          [.init(attribute: attribute, selector: "ffe0/ffe1[1]"), .init(attribute: attribute, selector: "ffe0/ffe1[2]")]), "ambiguous",
        "2 attributes match ffe1: ffe0/ffe1[1] (0x0016, write_without_response), ffe0/ffe1[2] (0x0016, write_without_response). Use one of "
          + "these names or handles, for example: 'ffe0/ffe1[1]' or 0x0016"
      ),
      (
        .ambiguous(
          try Selector(String(repeating: "0", count: 32) + "/" + String(repeating: "0", count: 31) + "1"),
          [.init(attribute: .handle(9), selector: "0x0009")]),
        "ambiguous",
        "1 attributes match 000000000000000000000000000000…00000000000000000000000000001: 0x0009 (0x0009). Use one of these names or handles, "
          + "for example: 0x0009 or 0x0009"
      ),
      (
        .invalidSelector("1\u{1b}[31m", .wrongIndex), "usage",
        "Invalid attribute \"1\\x1b[31m\": [N] takes a number from 1. Use a handle (0x0012), a UUID (ffe1, ffe0/ffe1, 'ffe1[2]'), a descriptor "
          + "(ffe1@2901) or a name (battery_level)."
      ),
      (
        .sendsNoValues(item), "not_found",
        "Cannot subscribe to ffe1 (handle 0x0016): it does not notify or indicate. Its properties: write_without_response."
      ),
      (
        .gone(item), "not_found",
        "The subscription to ffe1 ended: the services of the device changed. Handle 0x0016 may now be another attribute."
      ),
      (
        .tooLongForWriteRequest(21, limit: 20, mtu: 23), "usage",
        "21 bytes do not fit one Write Request: the limit is 20 at MTU 23. For one value of up to 512 bytes, use --mode long. To send segments, "
          + "use --chunk 20."
      ),
      (
        .tooLongForAttribute(513, segment: 20, mode: .long), "usage",
        "513 bytes do not fit an attribute, which holds at most 512. If the device takes segments, add --chunk 20 and --mode request or command."
      ),
      (.segmentTooLong(21, limit: 20, mtu: 23), "usage", "--chunk 21 is too large: a segment has at most 20 bytes at MTU 23."),
      (.segmentTooShort(0), "usage", "--chunk 0 is too small: a segment has at least 1 byte."),
    ] as [(GATTError, String, String)]) func procedures(_ error: GATTError, _ kind: String, _ sentence: String)
  {
    #expect(Failure(error).message == sentence)
    #expect(Failure(error).kind.rawValue == kind)
  }

  @Test(
    arguments: [
      (.mtuBelowLeast(offered: 22, mtu: 23), "The device offered an invalid MTU (22; minimum 23). The MTU stays 23."),
      (
        .last(.cutNotification),
        "A Multiple Handle Value Notification was cut. Its last value is lost. Further notes of this kind are not shown."
      ),
      (
        .irregular(IrregularEntry(.characteristic, 0x11, UUID(0x2A00), .value(0x16, .outsideService, found: nil))),
        "Kept characteristic 2a00 (handle 0x0011): its value is at 0x0016, outside its service."
      ),
      (
        .irregular(IrregularEntry(.characteristic, 0x11, UUID(0x2A00), .value(0, .atNoHandle, found: 0x12))),
        "Corrected characteristic 2a00 (handle 0x0011): its value is at 0x0000, an invalid handle. Using 0x0012, which has its type."
      ),
      (
        .irregular(IrregularEntry(.service, 5, UUID(0xFFE0), .overlaps(UUID(0x1800), HandleRange(1, 9)))),
        "Kept service ffe0 (handle 0x0005), which overlaps service 1800 (0x0001-0x0009)."
      ),
      (
        .irregular(IrregularEntry(.service, 9, UUID(0xFFE0), .endsBefore(5))),
        "Extended service ffe0 (handle 0x0009) to the next service: its end 0x0005 is before its start."
      ),
      (
        .irregular(IrregularEntry(.include, 2, nil, .malformed([1, 2]))),
        "Ignored included service (handle 0x0002): its value is malformed (0102)."
      ),
      (
        .irregular(IrregularEntry(.attribute, 9, UUID(0x2902), .outOfOrder(after: 0x10))),
        "Kept attribute 2902 (handle 0x0009), which is out of order: it follows 0x0010."
      ),
      (
        .irregular(IrregularEntry(.characteristic, 9, nil, .notAdvancing(HandleRange(0x10, 0xFFFF)))),
        "The search for characteristics ended at 0x0010: the device returned nothing in the requested range 0x0010-0xffff."
      ),
      (
        .irregular(IrregularEntry(.characteristic, 9, UUID(0x2A00), .outsideServices(UUID(0x1800), 1))),
        "Kept characteristic 2a00 (handle 0x0009) in service 1800 (handle 0x0001), but it is outside its range."
      ),
      (.longNotification(0x16, attribute), "ffe1 (handle 0x0016) sent more bytes than an attribute can hold. Kept the first 512."),
      (
        .longValue(0x16, nil, type: UUID(0xFFE1)),
        "ffe1 (handle 0x0016) returned more bytes than an attribute can hold. Kept the first 512."
      ),
      (.lost(1000), "Lost 1000 received PDUs so far: they arrived too fast."),
      (
        .movedHandle(0x12),
        "The services of the device probably changed. 0x0012 may now be another attribute. If its values stop, name it by UUID."
      ),
      (.wrongEcho, "The device echoed a part of the long write incorrectly. To stop in this case: --mode reliable"),
    ] as [(ClientNote, String)]) func notes(_ note: ClientNote, _ sentence: String)
  { #expect(note.text == sentence) }
}

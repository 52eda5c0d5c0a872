import TestSupport

@testable import BluetoothLE

/// Checks GATT procedures byte for byte against the tables of Vol 3 Part F §3.4 and Part G §4.
@Suite(.timeLimit(.minutes(15))) struct ClientProcedureTests {
  struct Procedure: Sendable, CustomTestStringConvertible {
    let title: String
    /// The PDUs of the client (`>`) and of the peer (`<`).
    let script: String
    let expected: String
    /// Whether the peer's answer ends the bearer.
    let closes: Bool
    /// The client's calls. ATT_MTU is 23 unless the script starts with an exchange.
    let run: @LoopActor @Sendable (Client) async throws -> String
    var testDescription: String { title }

    init(
      _ title: String, _ script: String, _ expected: String, closes: Bool = false,
      _ run: @escaping @LoopActor @Sendable (Client) async throws -> String
    ) {
      self.closes = closes
      self.title = title
      self.script = script
      self.expected = expected
      self.run = run
    }
  }

  static func services(_ services: [Service]) -> String {
    services.map { "\($0.uuid)[\(hex($0.handle))-\(hex($0.endHandle))]" }.joined(separator: " ")
  }
  @LoopActor static func write(
    _ client: Client, _ count: Int, _ handle: AttributeHandle, _ mode: WriteMode, chunk: Int? = nil, _ properties: Properties? = nil
  )
    async throws
    -> String
  {
    let plan = try WriteProcedure(value: count, properties: properties, mtu: client.mtu, mode: mode, chunk: chunk)
    var steps: [WriteProgress] = []
    do { try await client.write((0..<count).map { UInt8($0 & 255) }, to: handle, plan: plan) { steps.append($0) } } catch {
      guard plan.mode == .request, let last = steps.last else { throw error }
      throw Interrupted(cause: error, last: last, count: count)
    }
    return "\(plan.mode.rawValue) \(steps.map(\.sent))"
  }
  /// The progress of an interrupted write, and the reason for its end.
  struct Interrupted: Error {
    let cause: any Error
    let last: WriteProgress
    let count: Int
  }
  static let notifying = { () -> Characteristic in
    var item = Characteristic(uuid: UUID(0x2A37), handle: 0x11, valueHandle: 0x12, endHandle: 0x13, properties: [.notify, .indicate])
    item.descriptors = [Descriptor(uuid: UUID(0x2902), handle: 0x13)]
    return item
  }()
  static let indicating = { () -> Characteristic in
    var item = notifying
    item.properties = [.indicate]
    return item
  }()

  static let long22 = "000102030405060708090a0b0c0d0e0f101112131415"

  static let table: [Procedure] = [
    Procedure("Exchange MTU: the smaller one counts", ">020502 <03f700", "247") { "\(try await $0.exchangeMTU())" },
    Procedure("Exchange MTU: ours is the smaller", ">026400 <030502", "100") { "\(try await $0.exchangeMTU(100))" },
    Procedure("Exchange MTU refused", ">020502 <0102000006", "23") { "\(try await $0.exchangeMTU())" },
    Procedure("Exchange MTU: 22 is less than the least", ">020502 <031600", "23") { "\(try await $0.exchangeMTU())" },
    Procedure("Exchange MTU malformed", ">020502 <0305", "23") { "\(try await $0.exchangeMTU())" },
    Procedure("Exchange MTU, offering", ">026400 <03f700", "100") { "\(try await $0.exchangeMTU(offering: 100) ?? 0)" },
    Procedure("Exchange MTU, offering: 22 is less than the least", ">026400 <031600", "0") {
      "\(try await $0.exchangeMTU(offering: 100) ?? 0)"
    },
    Procedure("a value up to an error", ">0a0300 <0b\(long22) >0c03001600 <010c03000e", long22) {
      hex(try await $0.valueUpToError(0x0003))
    },
    Procedure("a value up to an empty part", ">0a0300 <0b\(long22) >0c03001600 <0d", long22) {
      hex(try await $0.valueUpToError(0x0003))
    },
    Procedure(
      "primary services, the last one to ffff", ">100100ffff0028 <1106010005000018 >100600ffff0028 <11060600ffff0f18",
      "1800[0001-0005] 180f[0006-ffff]"
    ) {
      services(try await $0.discoverPrimaryServices())
    },
    Procedure(
      "primary services of both sizes",
      ">100100ffff0028 <1106010005000018 >100600ffff0028 <111406000900fb349b5f8000008000100000e0ff0000 >100a00ffff0028 <01100a000a",
      "1800[0001-0005] ffe0[0006-0009]"
    ) { services(try await $0.discoverPrimaryServices()) },
    Procedure("primary services: none", ">100100ffff0028 <011001000a", "") { services(try await $0.discoverPrimaryServices()) },
    Procedure("primary services: an error in the middle", ">100100ffff0028 <1106010005000018 >100600ffff0028 <0110060008", "att 08") {
      services(try await $0.discoverPrimaryServices())
    },
    Procedure("primary service by UUID", ">060100ffff00280f18 <0710001400 >061500ffff00280f18 <010615000a", "180f[0010-0014]") {
      services(try await $0.discoverPrimaryServices(UUID(0x180F)))
    },
    Procedure(
      "includes: short, and long ones that need a Read",
      ">0801002000 0228 <0908020030003f000f18 >0803002000 0228 <09060300 40004f00 >0a4000 <0b00112233445566778899aabbccddeeff >0804002000 0228 <010804000a"
        .compact(), "180f ffeeddcc-bbaa-9988-7766-554433221100"
    ) { client in try await client.discoverIncludedServices(HandleRange(1, 0x20)).map { $0.uuid?.description ?? "?" }.joined(separator: " ")
    },
    Procedure(
      "characteristics up to the end of the range",
      ">0810001400 0328 <0907 1100 12 1200 372a 1300 08 1400 392a >0814001400 0328 <010814000a".compact(),
      "2a37[0011 0012-0012] 2a39[0013 0014-0014]"
    ) { client in
      try await client.discoverCharacteristics(HandleRange(0x10, 0x14)).map {
        "\($0.uuid)[\(hex($0.handle)) \(hex($0.valueHandle))-\(hex($0.endHandle))]"
      }.joined(separator: " ")
    },
    Procedure("descriptors", ">0413001500 <050113000229 14000129".compact() + " >0415001500 <010415000a", "2902 2901") { client in
      try await client.discoverDescriptors(HandleRange(0x13, 0x15)).map(\.uuid.description).joined(separator: " ")
    },
    Procedure("read", ">0a1500 <0b0102", "0102") { hex(try await $0.read(0x15)) },
    Procedure("read, empty", ">0a1500 <0b", "") { hex(try await $0.read(0x15)) },
    Procedure("read, 21 octets are whole", ">0a1500 <0b\(long22.dropLast(2))", "21") { "\(try await $0.read(0x15).count)" },
    Procedure("read, 22 octets and no more", ">0a1500 <0b\(long22) >0c15001600 <0d", "22") { "\(try await $0.read(0x15).count)" },
    Procedure("read, 22 octets, Attribute Not Long", ">0a1500 <0b\(long22) >0c15001600 <010c15000b", "22") {
      "\(try await $0.read(0x15).count)"
    },
    Procedure("read, 22 octets, Invalid Offset", ">0a1500 <0b\(long22) >0c15001600 <010c150007", "22") {
      "\(try await $0.read(0x15).count)"
    },
    Procedure("read, 47 octets", ">0a1500 <0b\(long22) >0c15001600 <0d\(long22) >0c15002c00 <0daabbcc", "47 aabbcc") {
      let value = try await $0.read(0x15)
      return "\(value.count) \(hex(value.suffix(3)))"
    },
    Procedure("read, a later part refused", ">0a1500 <0b\(long22) >0c15001600 <0d\(long22) >0c15002c00 <010c150002", "att 02") {
      hex(try await $0.read(0x15))
    },
    Procedure("read not permitted", ">0a1500 <010a150002", "att 02") { hex(try await $0.read(0x15)) },
    Procedure("read, refused for another handle: the opcode counts", ">0a1500 <010a170002", "att 02") { hex(try await $0.read(0x15)) },
    Procedure("read, answered by a Write Response", ">0a1500 <13", "protocol", closes: true) { hex(try await $0.read(0x15)) },
    Procedure("read by UUID", ">080100ffff192a <0903 0500 3c".compact() + " >080600ffff192a <010806000a", "0005=3c") { client in
      try await client.read(uuid: UUID(0x2A19)).map { "\(hex($0.handle))=\(hex($0.value))" }.joined(separator: " ")
    },
    Procedure(
      "read by UUID: the rest of a long value",
      ">080100ffff192a <0915 0500 ".compact() + "000102030405060708090a0b0c0d0e0f101112 >0c05001300 <0dff >080600ffff192a <010806000a", "20"
    ) { client in try await client.read(uuid: UUID(0x2A19)).map { "\($0.value.count)" }.joined(separator: " ") },
    Procedure("read by UUID: none", ">080100ffff192a <010801000a", "att 0a") { "\(try await $0.read(uuid: UUID(0x2A19)).count)" },
    Procedure("read multiple", ">0e15001700 <0f0102", "0102") { hex(try await $0.readMultiple([0x15, 0x17])) },
    Procedure("write", ">121500000102 <13", "request [3]") { try await write($0, 3, 0x15, .request) },
    Procedure("write, empty", ">121500 <13", "request [0]") { try await write($0, 0, 0x15, .request) },
    Procedure("write not permitted", ">12150000 <0112150003", "att 03") { try await write($0, 1, 0x15, .request) },
    Procedure("write command", ">5215000001", "command [2]") { try await write($0, 2, 0x15, .command) },
    Procedure(
      "write commands in segments, then a barrier",
      ">521500000102030405060708090a0b0c0d0e0f10111213 >52150014151617 >0415001500 <010415000a", "command [20, 24]"
    ) {
      let result = try await write($0, 24, 0x15, .auto, [.writeWithoutResponse])
      try await $0.barrier(after: 0x15)
      return result
    },
    Procedure("write requests in segments of 2", ">1215000001 <13 >1215000203 <13 >12150004 <13", "request [2, 4, 5]") {
      try await write($0, 5, 0x15, .request, chunk: 2)
    },
    Procedure("segments: the second refused", ">1215000001 <13 >1215000203 <011215000d", "att 0d; 2 of 5 octets were confirmed") {
      try await write($0, 5, 0x15, .request, chunk: 2)
    },
    Procedure(
      "long write",
      ">1615000000000102030405060708090a0b0c0d0e0f1011 <1715000000000102030405060708090a0b0c0d0e0f1011 >161500120012131415 <171500120012131415 >1801 <19",
      "long [18, 22]"
    ) { try await write($0, 22, 0x15, .auto, [.write]) },
    Procedure("long write: the queue is full, so it is cancelled", ">161500000000 <0116150009 >1800 <19", "att 09") {
      try await write($0, 1, 0x15, .long)
    },
    Procedure("long write refused at its end", ">161500000000 <171500000000 >1801 <0118150007 >1800 <19", "att 07") {
      try await write($0, 1, 0x15, .long)
    },
    Procedure("reliable write", ">1615000000000102 <1715000000000102 >1801 <19", "reliable [3]") {
      try await write($0, 3, 0x15, .reliable)
    },
    Procedure("reliable write: wrong offset in the echo", ">1615000000000102 <1715000100000102 >1800 <19", "protocol") {
      try await write($0, 3, 0x15, .reliable)
    },
    Procedure("notification", ">1213000100 <13 <1b1200aa >1213000000 <13", "0012 aa false") { client in
      let subscription = try await client.subscribe(notifying)
      let event = try await subscription.next()
      try await subscription.cancel()
      return "\(hex(event.handle)) \(hex(event.value)) \(event.isIndication)"
    },
    Procedure("notification before the answer to the subscription", ">1213000100 <1b1200aa <13 >1213000000 <13", "aa") { client in
      let subscription = try await client.subscribe(notifying)
      let event = try await subscription.next()
      try await client.unsubscribeAll()
      return hex(event.value)
    },
    Procedure("indication, confirmed", ">1213000200 <13 <1d1200bbcc >1e", "bbcc true") { client in
      let event = try await client.subscribe(indicating).next()
      return "\(hex(event.value)) \(event.isIndication)"
    },
    Procedure("indication by choice", ">1213000200 <13 <1d1200bb >1e", "bb") { client in
      hex(try await client.subscribe(notifying, kind: .indication).next().value)
    },
    Procedure("subscription refused", ">1213000100 <0112130005", "att 05") { client in
      _ = try await client.subscribe(notifying)
      return "subscribed"
    },
    Procedure("several values in one notification", ">1213000100 <13 <2312000100aa12000200bbcc", "aa bbcc") { client in
      let subscription = try await client.subscribe(notifying)
      let first = try await subscription.next().value
      return "\(hex(first)) \(hex(try await subscription.next().value))"
    },
    Procedure("an indication while a request is open", ">0a1500 <1dff7f01 >1e <0b07", "07") { hex(try await $0.read(0x15)) },
    Procedure(
      "the peer's own requests while ours is open",
      ">0a1500 <020002 >030502 <100100ffff0028 >011001000a <0a0300 >010a030001 <0e03000400 >010e000006 <0b07", "07 512"
    ) { "\(hex(try await $0.read(0x15))) \($0.mtu)" },
    Procedure("the peer's broken requests", ">0a1500 <0a15 >010a000004 <bf00 >01bf000006 <ff00 <0b07", "07") {
      hex(try await $0.read(0x15))
    },
  ]

  @Test(arguments: table) func goesAsWritten(_ procedure: Procedure) async throws {
    let result = try await onLoop { () -> String in
      let (near, far) = MemoryChannel.pair()
      let peer = Replay(far)
      let client = Client(near)
      peer.play(Replay.steps(procedure.script))
      var result: String
      do { result = try await procedure.run(client) } catch {
        let interrupted = error as? Interrupted
        let cause = interrupted?.cause ?? error
        result = code(cause).map { "att \(Hex.encode([$0]))" } ?? kind(cause) ?? ""
        if let interrupted { result += "; \(interrupted.last.confirmed) of \(interrupted.count) octets were confirmed" }
      }
      try await EventLoop.shared.sleep(for: .milliseconds(1))
      #expect(
        peer.missing.isEmpty && peer.unexpected.isEmpty,
        "missing \(peer.missing.map { hex($0.bytes) }), sent instead \(peer.unexpected.map { hex($0) })")
      #expect(client.bearer.isIdle && (client.closed != nil) == procedure.closes)
      client.close()
      return result
    }
    #expect(result == procedure.expected)
  }

  @Test func thereAreEnough() { #expect(Self.table.count >= 30) }
}

extension String {
  /// Removes the spaces inside PDUs.
  fileprivate func compact() -> String {
    let parts = split(separator: " ")
    var text = ""
    for part in parts { text += (part.hasPrefix(">") || part.hasPrefix("<")) && !text.isEmpty ? " \(part)" : String(part) }
    return text
  }
}

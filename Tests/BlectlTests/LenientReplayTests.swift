import Foundation
import TestSupport
import Traces

/// Captures of phones and sniffers: the device answers in any order what the capture shows, and errors for the rest.
@Suite(.timeLimit(.minutes(15))) struct LenientReplayTests {
  private func run(_ trace: PhoneTrace, _ arguments: String..., isStrict: Bool = false) throws -> Blectl.Result {
    let file = try TemporaryFolder.file(trace.file)
    return try Blectl.run(arguments + (isStrict ? ["--strict"] : []), adapter: "replay:\(file)", virtual: false)
  }

  private static let peer = "\(PhoneTrace.peer.address)"

  /// A phone's capture has no advertisement: the scan shows the device, and its tree and values are there in any order.
  @Test func aPhonesCapture() throws {
    var trace = PhoneTrace()
    trace.connect()
    trace.discover()
    trace.ask([0x0A, 3, 0], [0x0B] + Array("Ring".utf8))
    trace.ask([0x0A, 8, 0], [0x0B, 77])
    let scan = try run(trace, "scan", "-d", "3", "--json")
    #expect(try scan.records.map { $0.string("address") } == [Self.peer], "\(scan.text)")
    #expect(scan.errors.contains("has a connection to \(Self.peer)/public, but no advertisement in its first 10 s."), "\(scan.errors)")
    for words in [["--mtu", "23"], ["--mtu", "517"], []] {
      let tree = try Blectl.run(["services", Self.peer, "--values"] + words, adapter: "replay:\(try TemporaryFolder.file(trace.file))")
      #expect(tree.status == 0 && tree.text.contains("Ring") && tree.text.contains("77 %"), "\(tree.text)\(tree.errors)")
      #expect(tree.text.contains("2902"), "\(tree.text)")
    }
    let reads = try run(trace, "read", Self.peer, "2a19", "2a00", "2a19")
    #expect(reads.status == 0 && reads.lines.count == 3, "\(reads.text)\(reads.errors)")
    #expect(try run(trace, "read", Self.peer, "2a19", "2a00", "2a19", isStrict: true).status == 7)
  }

  /// What the capture lacks is an error and a note, and the connection stays.
  @Test func whatTheCaptureLacks() throws {
    var trace = PhoneTrace()
    trace.connect()
    trace.discover()
    trace.ask([0x0A, 8, 0], [0x0B, 77])
    trace.ask([0x12, 9, 0, 1, 0], [0x13])
    let result = try run(trace, "-k", "-e", "read 2a00; write 2a00 41; write 0x0008 01 --mode command; read 2a19", Self.peer)
    #expect(result.status == 5 && result.text.hasSuffix("77 %\n"), "\(result.text)\(result.errors)")
    for mention in [
      "The recording has no read of 2a00 (handle 0x0003). The answer is Unlikely Error (ATT 0x0e).",
      "The recording has no write of 41 to 2a00 (handle 0x0003). The answer is Unlikely Error (ATT 0x0e).",
      "The recording has no write of 01 to 2a19 (handle 0x0008) without response. Nothing follows it.",
    ] { #expect(result.errors.contains(mention), "\(result.errors)") }
    let strict = try run(trace, "read", Self.peer, "2a00", isStrict: true)
    #expect(strict.status == 7 && strict.errors.contains("The next recorded request: "), "\(strict.errors)")
    let script = try TemporaryFolder.file("device \(Self.peer)\ntest \"level\"\n  read 2a19\n  expect == 4e\nend\n")
    let failed = try run(trace, "run", script, "--tap")
    #expect(failed.status == 7 && failed.text.contains("4d"), "\(failed.text)\(failed.errors)")
  }

  /// The phone knew the handles from an earlier connection. No other request shows the attributes.
  @Test func handlesWithoutDiscovery() throws {
    var trace = PhoneTrace()
    trace.connect()
    trace.ask([0x0A, 0x15, 0], [0x0B, 1, 2])
    trace.ask([0x12, 0x18, 0, 1, 0], [0x13])
    let tree = try run(trace, "services", Self.peer)
    #expect(tree.status == 0 && tree.text.isEmpty, "\(tree.text)")
    #expect(tree.errors.contains("The recording has no discovery of services. It shows only handles: 0x0015, 0x0018."), "\(tree.errors)")
    let read = try run(trace, "read", Self.peer, "0x0015")
    #expect(read.status == 0 && read.text.hasPrefix("0102"), "\(read.text)\(read.errors)")
    // Another connection to the same device shows them.
    trace.disconnect()
    trace.connect()
    trace.discover()
    #expect(try run(trace, "services", Self.peer).text.contains("2a19"))
    #expect(try run(trace, "read", Self.peer, "0x0015").status == 0)
  }

  /// Long values, read in parts, and a value of which the phone read only the beginning.
  @Test func longValues() throws {
    var trace = PhoneTrace()
    trace.connect()
    trace.discover()
    trace.ask([0x0A, 3, 0], [0x0B] + Array(0x41...0x56))
    trace.ask([0x0C, 3, 0, 22, 0], [0x0D] + Array(0x57...0x5A))
    trace.ask([0x0A, 8, 0], [0x0B] + [UInt8](repeating: 7, count: 22))
    let whole = try run(trace, "read", Self.peer, "0x0003", "--json")
    #expect(try whole.records.first?.string("text") == "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "\(whole.text)\(whole.errors)")
    let part = try run(trace, "read", Self.peer, "0x0008", "--raw")
    #expect(part.status == 0 && part.output.count == 22, "\(part.errors)")
    #expect(part.errors.contains("from offset 22. The answer is Attribute Not Long (ATT 0x0b)."), "\(part.errors)")
  }

  /// Values follow their write at the recorded pace, although this host reads nothing in between. Writes of other connections are known.
  @Test func valuesAfterWrites() throws {
    var trace = PhoneTrace()
    trace.connect()
    trace.discover()
    trace.ask([0x12, 9, 0, 1, 0], [0x13])
    for level in [50, 49, 48] as [UInt8] {
      trace.now += 1_000_000
      trace.att([0x1B, 8, 0, level], .controllerToHost)
      trace.ask([0x0A, 3, 0], [0x0B, level])
    }
    trace.disconnect()
    trace.connect()
    trace.ask([0x12, 8, 0, 0x55], [0x13])
    let values = try run(trace, "notify", Self.peer, "2a19", "-n", "3", "--json")
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let times = try values.records.compactMap { $0.string("time") }.map { try format.parse($0).timeIntervalSince1970 }
    #expect(values.status == 0 && times.count == 3, "\(values.text)\(values.errors)")
    if times.count == 3 { #expect(abs(times[2] - times[0] - 2) < 0.1, "\(times)") }
    #expect(try run(trace, "write", Self.peer, "0x0008", "55", "--mode", "request").status == 0)
    #expect(try run(trace, "write", Self.peer, "0x0008", "56", "--mode", "request").status == 5)
    let more = try run(trace, "notify", Self.peer, "2a19", "-n", "4")
    // Then the recorded device ends the connection.
    #expect(more.status == 6 && more.lines.count == 3, "\(more.text)\(more.errors)")
  }

  /// A connection from before the capture has no address.
  @Test func aConnectionFromBefore() throws {
    var trace = PhoneTrace()
    trace.discover()
    trace.ask([0x0A, 8, 0], [0x0B, 77])
    let scan = try run(trace, "scan", "-d", "1")
    #expect(scan.text.contains("00:00:00:00:00:01") && scan.errors.contains("lacks the address of a connected device"), "\(scan.errors)")
    for peer in ["00:00:00:00:00:01", "D1:22:33:44:55:66"] {
      let read = try run(trace, "read", peer, "2a19")
      #expect(read.status == 0 && read.text.contains("77 %"), "\(read.errors)")
    }
  }

  /// A phone cancels attempts, uses several connections at a time, and records packets of the classic Bluetooth radio.
  @Test func severalConnections() throws {
    var trace = PhoneTrace()
    trace.cancelledAttempt()
    trace.connect()
    trace.connect(handle: 0x41, peer: PhoneTrace.other)
    trace.discover()
    trace.discover(handle: 0x41)
    trace.ask([0x0A, 8, 0], [0x0B, 11], handle: 0x41)
    trace.ask([0x0A, 8, 0], [0x0B, 22])
    for (peer, level) in [(PhoneTrace.peer, "22 %"), (PhoneTrace.other, "11 %")] {
      let read = try run(trace, "read", "\(peer.address)", "2a19")
      #expect(read.status == 0 && read.text.contains(level), "\(peer): \(read.text)\(read.errors)")
    }
  }

  /// A phone waits longer for a device than blectl does.
  @Test(arguments: [(12, true), (60, true), (9, false)]) func aSlowConnection(_ seconds: Int64, _ isNoted: Bool) throws {
    var trace = PhoneTrace()
    trace.connect(after: seconds)
    trace.discover()
    trace.ask([0x0A, 8, 0], [0x0B, 77])
    let read = try run(trace, "-e", "connect \(Self.peer); read 2a19; disconnect; connect \(Self.peer)")
    #expect(read.status == 0 && read.text.contains("77 %"), "\(read.text)\(read.errors)")
    #expect(read.errors.components(separatedBy: "Here it takes 10 s.").count == (isNoted ? 2 : 1), "\(read.errors)")
  }

  /// The packets of a sniffer, without a host.
  @Test func aSniffersCapture() throws {
    var trace = SnifferTrace()
    trace.connect()
    trace.discover()
    trace.ask([0x0A, 8, 0], [0x0B, 77])
    let file = try TemporaryFolder.file(trace.file)
    let tree = try Blectl.run(["services", Self.peer, "--values"], adapter: "replay:\(file)", virtual: false)
    #expect(tree.status == 0 && tree.text.contains("77 %"), "\(tree.text)\(tree.errors)")
    let advertised = try Blectl.run(["scan", "-d", "2"], adapter: "replay:\(file)", virtual: false)
    #expect(advertised.text.contains("Ring"), "\(advertised.text)\(advertised.errors)")
  }

  /// The file ends in the middle of a packet: everything before counts.
  @Test func aCutFile() throws {
    var trace = PhoneTrace()
    trace.connect()
    trace.ask([0x0A, 8, 0], [0x0B, 77])
    trace.file += [0, 0, 0, 9]
    let read = try run(trace, "read", Self.peer, "0x0008")
    #expect(read.status == 0 && read.errors.contains("is used up to an invalid packet: btsnoop record: needs 4 bytes"), "\(read.errors)")
    #expect(try run(trace, "read", Self.peer, "0x0008", isStrict: true).status == 66)
    // The controller's answer to a command is lost.
    var silent = PhoneTrace()
    silent.raw(Reset().encoded, .hostToController)
    #expect(try run(silent, "scan", "-d", "1").status == 0)
  }

  /// Our recordings of devices with defects: a phone's session that its device or the user ended.
  @Test(arguments: [
    ("cut22", "0x0012", 0, 0), ("foreign", "0x0016", 0, 5), ("hang", "2a00", 0, 0), ("nodisc", "0x0003", 6, 5), ("reboot", "0x0003", 0, 5),
    ("link-without-advertisement", "ae02", 0, 5),
  ]) func ownRecordings(_ name: String, _ attribute: String, _ tree: Int32, _ value: Int32) throws {
    let adapter = "replay:\(Vectors.path("\(name).btsnoop"))"
    let peer = name.hasPrefix("link") ? "D0:00:00:00:00:02" : "D2:00:00:00:00:02"
    let services = try Blectl.run(["services", peer], adapter: adapter, virtual: false)
    #expect(services.status == tree, "\(services.text)\(services.errors)")
    let read = try Blectl.run(["-e", "read \(attribute)", peer], adapter: adapter, virtual: false)
    #expect(read.status == value, "\(read.text)\(read.errors)")
  }

  @Test func theOptionNeedsARecording() throws {
    let result = try Blectl.run("scan", "--strict")
    #expect(result.status == 64 && result.errors.contains("--strict needs a recording: -i replay:TRACE."), "\(result.errors)")
  }
}

/// A phone's capture, built packet by packet, 10 ms apart.
struct PhoneTrace {
  static let peer = PeerAddress(Address(rawValue: 0xC0FF_EE00_0007), .public)
  static let other = PeerAddress(Address(rawValue: 0xC0FF_EE00_0008), .random)

  var file = Snoop.header
  /// The time in µs since 1970.
  var now: Int64 = 1_700_000_000_000_000

  mutating func raw(_ packet: [UInt8], _ direction: Direction) {
    now += 10_000
    file += Snoop.Record(packet: packet, direction: direction, wallClock: now * 1000).encoded
  }

  private mutating func create(_ peer: PeerAddress) {
    raw(
      LECreateConnection(
        scanInterval: 96, scanWindow: 96, peer: peer, ownAddressType: 0,
        parameters: ConnectionParameters(intervalMin: 12, intervalMax: 24, latency: 0, supervisionTimeout: 400)
      ).encoded, .hostToController)
    raw(Event.commandStatus(.init(status: .success, opcode: LECreateConnection.opcode)).encoded, .controllerToHost)
  }

  private mutating func complete(_ status: ControllerErrorCode, _ handle: ConnectionHandle, _ peer: PeerAddress) {
    raw(
      Event.leConnectionComplete(
        .init(status: status, handle: handle, peer: peer, interval: 12, latency: 0, supervisionTimeout: 400)
      ).encoded, .controllerToHost)
  }

  mutating func connect(handle: ConnectionHandle = 0x40, peer: PeerAddress = peer, after seconds: Int64 = 0) {
    create(peer)
    now += seconds * 1_000_000
    complete(.success, handle, peer)
  }

  mutating func cancelledAttempt() {
    create(Self.peer)
    raw(LECreateConnectionCancel().packet.encoded, .hostToController)
    complete(.unknownConnectionIdentifier, 0, Self.peer)
  }

  mutating func disconnect(handle: ConnectionHandle = 0x40) {
    raw(Event.disconnectionComplete(status: .success, handle: handle, reason: .connectionTimeout).encoded, .controllerToHost)
  }

  mutating func att(_ pdu: [UInt8], _ direction: Direction, handle: ConnectionHandle = 0x40) {
    let first: ACLData.Boundary = direction == .hostToController ? .firstNonFlushable : .firstFlushable
    for data in L2CAPFrame(channel: .att, payload: pdu).fragments(handle: handle, length: 27, first: first) { raw(data.encoded, direction) }
  }

  mutating func ask(_ request: [UInt8], _ response: [UInt8], handle: ConnectionHandle = 0x40) {
    att(request, .hostToController, handle: handle)
    att(response, .controllerToHost, handle: handle)
  }

  /// Discovers the services 1800 (0x0001 to 0x0003) and 180F (0x0004 to 0x0009), their characteristics, and a service of 128 bits.
  mutating func discover(handle: ConnectionHandle = 0x40) {
    for (request, response) in Self.discovery { ask(request, response, handle: handle) }
  }

  static let discovery: [([UInt8], [UInt8])] = [
    ([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 1, 0, 3, 0, 0x00, 0x18, 4, 0, 9, 0, 0x0F, 0x18]),
    ([0x10, 10, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 20, 10, 0, 12, 0] + Array(0x10...0x1F)),
    ([0x10, 13, 0, 0xFF, 0xFF, 0, 0x28], [0x01, 0x10, 13, 0, 10]),
    ([0x08, 1, 0, 3, 0, 3, 0x28], [0x09, 7, 2, 0, 0x0A, 3, 0, 0x00, 0x2A]),
    ([0x08, 4, 0, 9, 0, 3, 0x28], [0x09, 7, 7, 0, 0x1A, 8, 0, 0x19, 0x2A]),
    ([0x08, 8, 0, 9, 0, 3, 0x28], [0x01, 0x08, 8, 0, 10]),
    ([0x08, 10, 0, 12, 0, 3, 0x28], [0x09, 21, 11, 0, 2, 12, 0] + Array(0x20...0x2F)),
    ([0x04, 9, 0, 9, 0], [0x05, 1, 9, 0, 2, 0x29]),
  ]
}

/// A sniffer's capture of the same session (link type 251), in which the sniffer does not name the senders.
struct SnifferTrace {
  private(set) var file: [UInt8] =
    [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 8) + [0xFF, 0xFF, 0, 0, 251, 0, 0, 0]
  private var now: Int64 = 1_700_000_000_000_000
  private var sequence: [UInt8] = [0, 0]

  private mutating func add(_ access: UInt32, _ pdu: [UInt8]) {
    let packet = PackedFiles.number(access, 4) + pdu + [0, 0, 0]
    file += PackedFiles.number(now / 1_000_000, 4) + PackedFiles.number(now % 1_000_000, 4)
    file += PackedFiles.number(packet.count, 4) + PackedFiles.number(packet.count, 4) + packet
    now += 150 + Int64(packet.count + 1) * 8
  }

  mutating func connect() {
    let address = PackedFiles.number(PhoneTrace.peer.address.rawValue, 6)
    let data: [UInt8] = [5, 9] + Array("Ring".utf8)
    add(AirPacket.advertisingAccessAddress, [0, UInt8(6 + data.count)] + address + data)
    add(
      AirPacket.advertisingAccessAddress,
      [5, 34, 1, 2, 3, 4, 5, 6] + address + [0x78, 0x56, 0x34, 0x12] + [0, 0, 0, 3, 0, 0, 24, 0, 0, 0, 144, 1] + [
        0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 5,
      ])
  }

  /// Adds a connection event: the central's packet and the peripheral's.
  private mutating func event(_ central: [UInt8], _ peripheral: [UInt8]) {
    now += 30_000
    for (side, frame) in [central, peripheral].enumerated() {
      let llid: UInt8 = frame.isEmpty ? 1 : 2
      add(0x1234_5678, [llid | sequence[side] << 3, UInt8(frame.count)] + frame)
      sequence[side] ^= 1
    }
  }

  mutating func ask(_ request: [UInt8], _ response: [UInt8]) {
    func frame(_ pdu: [UInt8]) -> [UInt8] { PackedFiles.number(pdu.count, 2) + [4, 0] + pdu }
    event(frame(request), [])
    event([], frame(response))
  }

  mutating func discover() { for (request, response) in PhoneTrace.discovery { ask(request, response) } }
}

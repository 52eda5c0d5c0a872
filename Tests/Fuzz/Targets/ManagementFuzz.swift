import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText
import TestSupport

extension FuzzTarget {
  /// A client of MCUmgr, and a device that answers well, nearly well, or arbitrarily.
  static let management = FuzzTarget(
    "mcumgr", seeds: dialogues, words: ["cimages", "cslot", "crc", "coff", "ematch", "cerr", "egroup", "hbuf_size", "ibuf_count", "dmode"]
  ) { bytes in await VirtualTime.run { try await ManagementDialogue(bytes).run() } }

  /// Parameters, a list with one image, an upload that begins at 0, and the values of an error.
  private static let dialogues = [
    "c10018a2686275665f73697a65190180696275665f636f756e7404c755ff" + String(repeating: "90", count: 20),
    "c20018a166696d6167657381a264736c6f740066616374697665f5", "c50012a163657272a26567726f757001627263181c0001a0",
  ].compactMap { Hex.decode($0) }
}

/// Takes the calls and the answers from the tape.
@LoopActor
private final class ManagementDialogue {
  private var tape: Tape
  private let client: Client
  private let channel: MemoryChannel
  private var server: PlainServer
  private static let characteristic = Hex.decode("487c99741126 9eae01cefb28782eda".filter { $0 != " " }) ?? []

  init(_ bytes: [UInt8]) {
    tape = Tape(bytes)
    let (near, far) = MemoryChannel.pair()
    let service = Hex.decode("84aa6074528a8b86d34cb71d1ddc538d") ?? []
    server = PlainServer([
      PlainServer.Item(handle: 1, type: UUID(0x2800), value: service),
      PlainServer.Item(handle: 2, type: UUID(0x2803), value: [0x14, 3, 0] + Self.characteristic),
      PlainServer.Item(handle: 3, type: UUID(littleEndian: Self.characteristic) ?? UUID(0), value: []),
      PlainServer.Item(handle: 4, type: UUID(0x2902), value: [0, 0]),
    ])
    server.largestMTU = [23, 65, 100, 247][Int(bytes.first ?? 0) >> 6]
    (channel, client) = (far, Client(near))
    channel.handler = { [weak self] in if case .received(let pdu) = $0 { self?.receive(pdu) } }
  }

  func run() async throws {
    let management = try await ManagementClient(client)
    for _ in 0..<8 where client.closed == nil && !tape.isAtEnd { do { try await ask(management) } catch {} }
    client.close()
    try await EventLoop.shared.sleep(for: .milliseconds(1))
  }

  private func ask(_ management: ManagementClient) async throws {
    switch tape.byte() & 7 {
    case 0: _ = try await management.echo("text")
    case 1:
      if let parameters = try await management.parameters() {
        expect(parameters.bufferSize > 8 && parameters.bufferCount > 0, "impossible parameters")
      }
    case 2: check(try await management.images())
    case 3: expect((try await management.slotInfo() ?? []).allSatisfy { min($0.image, $0.slot, $0.size ?? 0) >= 0 }, "a negative number")
    case 4: try await management.erase()
    case 5: _ = (try await management.bootloader(), try await management.applicationInfo())
    case 6: check(try await management.setState(hash: [1, 2], confirm: false))
    default:
      let image = [UInt8](repeating: tape.byte(), count: 2000)
      try await management.upload(image[...]) { sent, confirmed in
        expect((0...sent).contains(confirmed) && sent <= image.count, "progress \(sent) \(confirmed)")
      }
    }
  }

  private func check(_ list: ImageList) {
    expect(list.unreadable >= 0 && list.images.allSatisfy { min($0.image, $0.slot) >= 0 }, "a negative number")
  }

  private func receive(_ pdu: [UInt8]) {
    if let answer = server.answer(pdu) { return channel.send(answer) }
    guard !tape.isAtEnd else { return channel.lose(LinkLost("the end of the input")) }
    guard pdu.count >= 11 else { return }
    let how = tape.byte()
    var body: [UInt8]
    switch how {
    case ..<96: body = tape.piece()
    case ..<128: body = CBOR.map(["off": .integer(Int(tape.number16() & 0x7FF)), "match": .bool(how & 1 == 1)]).encoded
    case ..<240:
      // The request was taken: its offset and its data.
      let values = try? CBOR(decoding: pdu[11...])
      body = CBOR.map(["off": .integer((values?["off"]?.integer ?? 0) + (values?["data"]?.bytes?.count ?? 0))]).encoded
    case ..<250: return channel.send([0x1B, 3, 0] + tape.piece())
    default: return
    }
    let message = [pdu[3] | 1, 0, UInt8(truncatingIfNeeded: body.count >> 8), UInt8(truncatingIfNeeded: body.count)] + pdu[7...10] + body
    for start in stride(from: 0, to: message.count, by: server.mtu - 3) {
      channel.send([0x1B, 3, 0] + message[start..<min(start + server.mtu - 3, message.count)])
    }
  }
}

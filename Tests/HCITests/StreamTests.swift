import Foundation
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct H4FramerTests {
  private func packets(_ bytes: [UInt8], pieces: () -> Int, _ sender: Direction = .controllerToHost) throws -> [[UInt8]] {
    var framer = H4Framer(sender)
    var result: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(max(1, pieces()))
      rest = rest.dropFirst(piece.count)
      framer.append(piece)
      while let packet = try framer.next() { result.append(packet) }
    }
    #expect(framer.count == 0)
    return result
  }

  @Test func everyKindOfPacketByteByByte() throws {
    let stream: [[UInt8]] = [
      [4, 0x0E, 4, 1, 3, 0x0C, 0], [2, 0x40, 0x20, 3, 0, 1, 2, 3], [3, 0x40, 0, 2, 1, 2], [5, 0x40, 0, 1, 0x40, 9], [4, 0x10, 0],
      [2, 0x40, 0x20, 0, 4] + [UInt8](repeating: 7, count: 1024),
    ]
    let bytes = Array(stream.joined())
    #expect(try packets(bytes, pieces: { 1 }) == stream)
    #expect(try packets(bytes, pieces: { bytes.count }) == stream)
    let commands: [[UInt8]] = [[1, 3, 0x0C, 0], [1, 0x0C, 0x20, 2, 1, 0]]
    #expect(try packets(Array(commands.joined()), pieces: { 1 }, .hostToController) == commands)
  }

  /// Data from another controller parse in pieces of any size.
  @Test func captureInAnyPieces() throws {
    let lines = String(decoding: try Vectors.own("h4_controller.txt"), as: UTF8.self).split(separator: "\n")
    let expected = lines.filter { !$0.hasPrefix("#") }.compactMap { Hex.decode(String($0)) }
    #expect(expected.count == 83)
    try readsInAnyPieces(expected)
  }

  /// Data from another host's controller (google/bumble) parse in pieces of any size.
  @Test(.enabled(if: Vectors.folder != nil, "BLECTL_VECTORS names no folder: the H4 capture of another project was not read"))
  func vectorInAnyPieces() throws {
    struct Index: Decodable {
      struct Entry: Decodable { let offset, length: Int, type: String }
      let packets: [Entry]
    }
    let bytes = [UInt8](try Vectors.data("hci_h4_bumble_001.bin"))
    let entries = try JSONDecoder().decode(Index.self, from: try Vectors.data("hci_h4_bumble_001.json")).packets
    let expected = entries.map { Array(bytes[$0.offset..<$0.offset + $0.length]) }
    #expect(expected.count == 118)
    try readsInAnyPieces(expected)
  }

  private func readsInAnyPieces(_ expected: [[UInt8]]) throws {
    let bytes = Array(expected.joined())
    #expect(try packets(bytes, pieces: { 1 }) == expected)
    var random = SplitMix64(seed: 1)
    for _ in 0..<200 { #expect(try packets(bytes, pieces: { Int.random(in: 1...9, using: &random) }) == expected) }
    // The codec agrees with every packet.
    for bytes in expected {
      let packet = try Packet(bytes)
      #expect(packet.encoded == bytes)
      if case .event(.commandComplete(let complete)) = packet { try readReturn(of: complete) }
    }
  }

  @Test func lostSynchronisationIsAnErrorForEver() throws {
    for bad in try BadInputs.packets("T01") + [[0], [1, 3, 0x0C, 0], [6, 0]] {
      var framer = H4Framer(.controllerToHost)
      framer.append([4, 0x10, 1, 0] + bad)
      #expect(try framer.next() == [4, 0x10, 1, 0])
      #expect(throws: MalformedPacket.self) { try framer.next() }
      framer.append([4, 0x10, 1, 0])
      #expect(throws: MalformedPacket.self) { try framer.next() }
      #expect(framer.count == 0)
    }
  }

  @Test func aCutPacketWaitsForItsRest() throws {
    for cut in try BadInputs.packets("T03") {
      var framer = H4Framer(.controllerToHost)
      framer.append(cut)
      #expect(try framer.next() == nil)
      #expect(framer.count == cut.count)
    }
  }

  @Test func hostileStreamsNeverTrapAndStayBounded() {
    let seeds: [[UInt8]] = [[4, 0x0E, 4, 1, 3, 0x0C, 0], [2, 0x40, 0x20, 3, 0, 1, 2, 3], [5, 0x40, 0, 1, 0, 9]]
    hostile(seeds) { bytes in
      var framer = H4Framer(.controllerToHost)
      for byte in bytes {
        framer.append([byte])
        while let packet = try? framer.next() { if packet.isEmpty { Issue.record("empty packet") } }
      }
      if framer.count > bytes.count { Issue.record("grew") }
    }
  }
}

@Suite(.timeLimit(.minutes(15))) struct TappedTransportTests {
  @Test(.onLoop) @LoopActor func tapSeesBothDirections() async throws {
    let inner = Inner()
    let tap = Recorder()
    let transport = TappedTransport(inner, tap: tap)
    var received: [[UInt8]] = []
    transport.handler = { if case .received(let packet) = $0 { received.append(packet) } }
    transport.send([1, 3, 0x0C, 0])
    inner.handler?(.received([4, 0x10, 0]))
    inner.handler?(.closed(ControllerError("gone", .closed)))
    transport.close()
    #expect(inner.sent == [[1, 3, 0x0C, 0]])
    #expect(received == [[4, 0x10, 0]])
    #expect(tap.seen.map(\.0) == [[1, 3, 0x0C, 0], [4, 0x10, 0]])
    #expect(tap.seen.map(\.1) == [.hostToController, .controllerToHost])
    #expect(inner.isClosed)
  }

  @LoopActor private final class Inner: Transport {
    var handler: (@LoopActor (TransportEvent) -> Void)?
    var sent: [[UInt8]] = []
    var isClosed = false
    func send(_ packet: [UInt8]) { sent.append(packet) }
    func close() { isClosed = true }
  }

  @LoopActor private final class Recorder: Tap {
    var seen: [([UInt8], Direction)] = []
    func record(_ packet: [UInt8], _ direction: Direction, isOurs: Bool) { seen.append((packet, direction)) }
  }
}

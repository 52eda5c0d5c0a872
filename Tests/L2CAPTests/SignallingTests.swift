import TestSupport

@Suite(.timeLimit(.minutes(15))) struct SignallingTests {
  @Test(arguments: [
    // T26: unknown command.
    ("aa010000", false, "0101" + "02000000"),
    // Connection Parameter Update Request: 7.5–30 ms, latency 0, 4 s; then the same if the link refuses.
    ("1207080006001800000090" + "01", false, "update 1307" + "02000000"),
    ("1207080006001800000090" + "01", true, "1307" + "02000100"),
    // Interval of 5 units; supervision timeout too short; length too short or too long.
    ("120708000500180000009001", false, "1307" + "02000100"),
    ("120708000600180000000200", false, "1307" + "02000100"),
    ("1207080006001800000090", false, "0107" + "02000000"),
    ("12070800060018000000900100", false, "0107" + "02000000"),
    ("12070700060018000000" + "90", false, "0107" + "02000000"),
    // Credit based connection request.
    ("1409" + "0a00" + "80004000170017000a00", false, "0109" + "02000000"),
    // Flow Control Credit Indication has no response.
    ("16080400" + "40000100", false, ""),
    // Never answered: responses, rejects, no identifier, no header.
    ("010102000000", false, ""), ("130102000000", false, ""), ("aa000000", false, ""), ("aa01", false, ""), ("", false, ""),
  ]) func answers(_ row: (String, Bool, String)) throws {
    let text =
      switch Signalling.answer(try #require(Hex.decode(row.0)), deciding: { row.1 ? nil : $0 }) {
      case nil: ""
      case let answer?: (answer.update == nil ? "" : "update ") + Hex.encode(answer.reply.encoded)
      }
    #expect(text == row.2)
  }

  @Test func hostileNeverTraps() {
    hostile([[0x12, 7, 8, 0, 6, 0, 24, 0, 0, 0, 0x90, 1], [0xAA, 1, 0, 0]]) { _ = Signalling.answer($0, deciding: { $0 }) }
  }

  /// Only a peripheral may request other parameters, so a peripheral rejects a central's request.
  @Test func aPeripheralRejectsWhatOnlyACentralAnswers() {
    let request = SignallingPDU.connectionParameterUpdateRequest(
      identifier: 7, ConnectionParameters(intervalMin: 6, intervalMax: 24, latency: 0, supervisionTimeout: 400))
    #expect(Signalling.answer(request.encoded)?.reply == .commandReject(identifier: 7, reason: SignallingPDU.notUnderstood))
  }

  @Test(arguments: [
    ("0107020000" + "00", SignallingPDU.commandReject(identifier: 7, reason: 0)),
    ("01070600" + "020040004100", .commandReject(identifier: 7, reason: 2, data: [0x40, 0, 0x41, 0])),
    (
      "1201080006000c000100c800",
      .connectionParameterUpdateRequest(
        identifier: 1, ConnectionParameters(intervalMin: 6, intervalMax: 12, latency: 1, supervisionTimeout: 200))
    ), ("130102000000", .connectionParameterUpdateResponse(identifier: 1, isAccepted: true)),
    ("130102000100", .connectionParameterUpdateResponse(identifier: 1, isAccepted: false)),
    ("aa020100ff", .other(code: 0xAA, identifier: 2, data: [0xFF])), ("13010100" + "00", .other(code: 0x13, identifier: 1, data: [0])),
  ]) func pdus(_ row: (String, SignallingPDU)) throws {
    let bytes = try #require(Hex.decode(row.0))
    #expect(try SignallingPDU(bytes) == row.1)
    #expect(row.1.encoded == bytes)
    for count in 0..<bytes.count { #expect(throws: MalformedPacket.self) { try SignallingPDU(Array(bytes.prefix(count))) } }
  }
}

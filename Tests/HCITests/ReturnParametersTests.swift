import TestSupport

/// The return parameters of a successful command, with their bytes: one of each type.
private struct ReturnVector: Sendable {
  let name: String
  let check: @Sendable () throws -> Void

  init<C: Command>(_: C.Type, _ returned: C.Return, _ hex: String) {
    name = C.opcode.name
    check = {
      let bytes = Event.CommandComplete(C.self, returned).parameters
      #expect(Hex.encode(bytes) == hex)
      let whole = try C.Return.decode(bytes)
      #expect(whole == .success(returned))
      for length in 0..<bytes.count {
        #expect(throws: MalformedPacket.self) { try C.Return.decode(Array(bytes.prefix(length))) }
      }
      // Later versions add fields.
      let longer = try C.Return.decode(bytes + [1, 2, 3])
      #expect(longer == .success(returned))
      // An error may come alone or with the fields.
      for rest in [[], Array(bytes.dropFirst())] {
        let failed = try C.Return.decode([0x12] + rest)
        #expect(failed == .failure(.invalidParameters))
      }
    }
  }
}

private let vectors: [ReturnVector] = [
  ReturnVector(ReadBDADDR.self, .init(Address(rawValue: 0x11_22_33_44_55_66)), "00665544332211"),
  ReturnVector(
    ReadBufferSize.self, .init(aclLength: 1021, synchronousLength: 64, aclCount: 8, synchronousCount: 1), "00fd034008000100"),
  ReturnVector(LEReadBufferSize.self, .init(aclLength: 27, aclCount: 64), "001b0040"),
  ReturnVector(LEReadLocalSupportedFeatures.self, .init([.encryption, .extendedAdvertising]), "000110000000000000"),
  ReturnVector(ReadLocalSupportedFeatures.self, .init(0x60_00000000), "000000000060000000"),
  ReturnVector(
    ReadLocalSupportedCommands.self, .init(SupportedCommands(bytes: [1, 2])), "000102" + String(repeating: "00", count: 62)),
  ReturnVector(
    ReadLocalVersion.self, .init(hciVersion: 12, hciSubversion: 1, lmpVersion: 12, company: 2, lmpSubversion: 3), "000c01000c02000300"),
  ReturnVector(ReadRSSI.self, .init(handle: 0x40, rssi: -60), "004000c4"),
  ReturnVector(LEReadPHY.self, .init(handle: 0x40, tx: 2, rx: 1), "0040000201"),
  ReturnVector(LESetDataLength.self, .init(0x40), "004000"),
  ReturnVector(
    LEReadMaximumDataLength.self, .init(txOctets: 251, txTime: 2120, rxOctets: 251, rxTime: 2120), "00fb004808fb004808"),
  ReturnVector(LEReadSuggestedDefaultDataLength.self, .init(txOctets: 27, txTime: 328), "001b004801"),
  ReturnVector(LEReadAdvertisingPhysicalChannelTXPower.self, .init(-4), "00fc"),
  ReturnVector(LESetExtendedAdvertisingParameters.self, .init(selectedTXPower: 7), "0007"),
  ReturnVector(LEReadMaximumAdvertisingDataLength.self, .init(1650), "007206"),
  ReturnVector(LEReadNumberOfSupportedAdvertisingSets.self, .init(4), "0004"),
  ReturnVector(Reset.self, .init(), "00"),
]

/// Decodes the return parameters of the command that the event names. - Throws: MalformedPacket.
func readReturn(of complete: Event.CommandComplete) throws {
  func read<C: Command>(_: C) throws { _ = try C.Return.decode(complete.parameters) }
  for (command, _) in commandVectors where command.opcode == complete.opcode { try read(command) }
}

@Suite(.timeLimit(.minutes(15))) struct ReturnParametersTests {
  @Test(arguments: vectors.indices) func vectorsBothWays(_ index: Int) throws { try vectors[index].check() }

  /// Command Status answers the commands whose result arrives in another event.
  @Test func whatAnswersWhat() {
    func isAnsweredByStatus<C: Command>(_: C) -> Bool { C.answeringEvent == .commandStatus }
    var statuses: [String] = []
    for (command, _) in commandVectors where isAnsweredByStatus(command) { statuses.append(command.opcode.name) }
    #expect(
      statuses == [
        "Disconnect", "Read Remote Version Information", "LE Create Connection", "LE Connection Update", "LE Read Remote Features",
        "LE Enable Encryption", "LE Set PHY", "LE Extended Create Connection",
      ])
  }
}

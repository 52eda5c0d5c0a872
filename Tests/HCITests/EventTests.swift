import TestSupport

private let phone = PeerAddress(Address(rawValue: 0x11_22_33_44_55_66), .random)
private var enhancedV2: Event.ConnectionComplete {
  var complete = Event.ConnectionComplete(
    form: .enhancedV2, status: .success, handle: 0x40, peer: phone, interval: 24, latency: 0, supervisionTimeout: 400)
  complete.localResolvableAddress = Address(rawValue: 1)
  complete.peerResolvableAddress = Address(rawValue: 2)
  return complete
}

/// Events with their bytes, from the specification's tables and from captures.
private let vectors: [(Event, String)] = [
  (.disconnectionComplete(status: .success, handle: 0x40, reason: .connectionTimeout), "04050400400008"),
  (.encryptionChange(status: .success, handle: 0x40, isEnabled: true), "04080400400001"),
  (.encryptionChange(status: .pinOrKeyMissing, handle: 0x40, isEnabled: false, keySize: 16), "04590506400000" + "10"),
  (.encryptionKeyRefreshComplete(status: .success, handle: 0x40), "043003004000"),
  (.readRemoteVersionComplete(status: .success, handle: 0x40, version: 12, company: 0x0059, subversion: 0x1234), "040c080040000c59003412"),
  (.commandComplete(Event.CommandComplete(Reset.self, .init())), "040e0401030c00"),
  (.commandComplete(Event.CommandComplete(credits: 3, opcode: .none, parameters: [])), "040e03030000"),
  (.commandStatus(Event.CommandStatus(status: .commandDisallowed, credits: 1, opcode: LECreateConnection.opcode)), "040f040c010d20"),
  (.hardwareError(0x42), "04100142"),
  (
    .numberOfCompletedPackets([Event.CompletedPackets(handle: 0x40, count: 2), Event.CompletedPackets(handle: 0x41, count: 1)]),
    "041309024000020041000100"
  ),
  (
    .leConnectionComplete(
      Event.ConnectionComplete(status: .success, handle: 0x40, peer: phone, interval: 24, latency: 0, supervisionTimeout: 400)),
    "043e13010040000001665544332211180000009001" + "00"
  ),
  (.leConnectionComplete(enhancedV2), "043e22290040000001665544332211010000000000020000000000180000009001" + "00ffffff"),
  (
    .leAdvertisingReports(
      AdvertisingReports([
        LegacyAdvertisingReport(eventType: 0, peer: phone, data: [2, 1, 6], rssi: -60),
        LegacyAdvertisingReport(eventType: 4, peer: phone, data: [], rssi: 127),
      ])),
    "043e190202000166554433221103020106c404016655443322110" + "07f"
  ),
  (
    .leExtendedAdvertisingReports(
      AdvertisingReports([ExtendedAdvertisingReport(eventType: 0x13, peer: phone, rssi: -60, data: [2, 1, 6])])),
    "043e1d0d011300016655443322110100ff7fc40000000000000000000302" + "0106"
  ),
  (
    .leDirectedAdvertisingReports(AdvertisingReports([DirectedAdvertisingReport(peer: phone, direct: phone, rssi: -1)])),
    "043e120b01010166554433221101665544332211ff"
  ),
  (
    .leConnectionUpdateComplete(status: .success, handle: 0x40, interval: 6, latency: 0, supervisionTimeout: 400),
    "043e0a03004000060000009001"
  ),
  (
    .leReadRemoteFeaturesComplete(status: .success, handle: 0x40, features: [.dataLengthExtension, .phy2M]),
    "043e0c040040002001000000000000"
  ),
  (.leLongTermKeyRequest(handle: 0x40, random: 0x1122_3344_5566_7788, ediv: 0x99AA), "043e0d0540008877665544332211aa99"),
  (
    .leRemoteConnectionParameterRequest(handle: 0x40, intervalMin: 6, intervalMax: 12, latency: 1, supervisionTimeout: 100),
    "043e0b0640000600" + "0c0001006400"
  ),
  (.leDataLengthChange(handle: 0x40, maxTxOctets: 251, maxTxTime: 2120, maxRxOctets: 27, maxRxTime: 328), "043e0b074000fb0048081b004801"),
  (.lePHYUpdateComplete(status: .success, handle: 0x40, tx: 2, rx: 2), "043e060c0040000202"),
  (.leAdvertisingSetTerminated(status: .success, advertisingHandle: 2, handle: 0x40, events: 7), "043e0612000240" + "0007"),
  (.leOther(subevent: 0xFF, []), "043e01ff"),
  (.leOther(subevent: nil, []), "043e00"),
  (.other(code: 0x12, [6, 0x40, 0, 0]), "04120406400000"),
]

@Suite(.timeLimit(.minutes(15))) struct EventTests {
  @Test(arguments: vectors.indices) func vectorsBothWays(_ index: Int) throws {
    let (event, hex) = vectors[index]
    #expect(Hex.encode(event.encoded) == hex)
    let bytes = try #require(Hex.decode(hex))
    #expect(try Packet(bytes) == .event(event))
    for length in 0..<bytes.count { #expect(throws: MalformedPacket.self) { try Packet(Array(bytes.prefix(length))) } }
    #expect(throws: MalformedPacket.self) { try Packet(bytes + [0]) }
    // With a matching length, cut or extended parameters give an error or the part before it, never the same event.
    if case .other = event { return }
    if case .leOther = event { return }
    for parameters in (0..<bytes.count - 3).map({ Array(bytes[3...].prefix($0)) }) + [Array(bytes[3...] + [0])] {
      let changed = try? Packet([4, bytes[1], UInt8(parameters.count)] + parameters)
      #expect(changed != .event(event), "\(parameters)")
    }
  }

  @Test func hostileBytesNeverTrap() {
    hostile(vectors.map { $0.0.encoded }) { bytes in
      guard let packet = try? Packet(bytes), case .event(let event) = packet else { return }
      switch event {
      case .commandComplete(let complete): try? readReturn(of: complete)
      default: break
      }
      _ = event.encoded
    }
  }

  @Test func badInputs() throws {
    for bytes in try BadInputs.packets("T03") { #expect(throws: MalformedPacket.self) { try Packet(bytes) } }
    let meta = try BadInputs.packets("T05").map { try Packet($0) }
    #expect(meta == [.event(.leOther(subevent: nil, [])), .event(.leOther(subevent: 0xFF, []))])
    // Data length 31 without data, 255, and a missing second report. Only the first report of the last event is kept.
    let counts = try BadInputs.packets("T07").map { bytes -> Int in
      guard case .event(.leAdvertisingReports(let reports)) = try Packet(bytes) else { return -1 }
      #expect(reports.error != nil)
      return reports.reports.count
    }
    #expect(counts.prefix(2) == [0, 0])
    #expect((counts.last ?? 9) <= 1)
    for bytes in try BadInputs.packets("T09") {
      guard case .event(.leExtendedAdvertisingReports(let reports)) = try Packet(bytes) else {
        Issue.record("not an extended report")
        continue
      }
      #expect(reports.reports.isEmpty == (reports.error != nil))
    }
    let complete = try BadInputs.packets("T11")
    #expect(throws: MalformedPacket.self) { try Packet(complete[0]) }
    guard case .event(.commandComplete(let noStatus)) = try Packet(complete[1]) else { throw BadInputs.Missing(id: "T11") }
    #expect(throws: MalformedPacket.self) { try readReturn(of: noStatus) }
    let counted = try BadInputs.packets("T13")
    #expect(throws: MalformedPacket.self) { try Packet(counted[0]) }
    guard case .event(.leConnectionComplete(let failed)) = try Packet(try BadInputs.packets("T15")[0]) else {
      throw BadInputs.Missing(id: "T15")
    }
    #expect(failed.status == .connectionFailedToBeEstablished)
    #expect(
      try Packet(try BadInputs.packets("T17")[0])
        == .event(.encryptionChange(status: .pinOrKeyMissing, handle: 0x40, isEnabled: false)))
  }
}

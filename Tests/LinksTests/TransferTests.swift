import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct TransferTests {
  static let file = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  /// Sends a part of the file to the picture panel over its own link.
  @LoopActor
  private func send(_ range: Range<Int>, to air: TestAir, resetting: Bool = false, lying: Bool = false) async throws
    -> ArrivalProof.Outcome?
  {
    var outcome: ArrivalProof.Outcome?
    try await air.withPeer("panel") { _, client in
      if resetting { try await client.writeRequest([0], to: try await client.attribute(Selector("fff8"), discovering: true).handle) }
      let target = try await client.attribute(Selector("fff6"), discovering: true)
      let subscription = try await client.subscribe(client.characteristic(Selector("fff7")), kind: .auto)
      let data = Array(Self.file[range])
      let options = TransferOptions()
      let segment = try options.segment(.command, mtu: client.mtu, link: LinkCapacity(dataLength: 251))
      let plan = try WriteProcedure(value: data.count, properties: target.properties, mtu: client.mtu, mode: .command, chunk: segment)
      var last = WriteProgress()
      try await client.send(data, to: target.handle, plan: plan, pacing: options.pacing(segment: segment)) { last = $0 }
      #expect(last == WriteProgress(sent: data.count, confirmed: data.count))
      let proof = ArrivalProof(lying ? Self.file.reversed() : Self.file, from: range.lowerBound)
      outcome = try await subscription.arrival(of: proof, until: EventLoop.shared.now.advanced(by: .seconds(5))) { _ in }
    }
    return outcome
  }

  /// The panel's counter survives the link, so the second part confirms the whole file.
  @Test(.onLoop) @LoopActor func aTransferThatGoesOnIsProvenByACounterThatSurvivedTheLink() async throws {
    let air = try await TestAir()
    let first = try await self.send(0..<6000, to: air)
    #expect(first == .contradicted(ArrivalReport(of: Array(Self.file[..<6000]))), "so far it is not the file")
    #expect(try await self.send(6000..<10_000, to: air) == .proven(from: 0))
    await air.central.close()
  }

  @Test(.onLoop) @LoopActor func andByOneThatBeganAnew() async throws {
    let air = try await TestAir()
    _ = try await self.send(0..<6000, to: air)
    let outcome = try await self.send(6000..<10_000, to: air, resetting: true)
    #expect(outcome == .proven(from: 6000))
    await air.central.close()
  }

  @Test(.onLoop) @LoopActor func whatArrivedWronglyIsContradicted() async throws {
    let air = try await TestAir()
    let outcome = try await self.send(0..<10_000, to: air, lying: true)
    #expect(outcome == .contradicted(ArrivalReport(of: Self.file)))
    await air.central.close()
  }

  @Test(arguments: [
    (ArrivalReport([1, 0, 0, 0, 0, 0, 0, 0]), ArrivalProof.Outcome?.none), (ArrivalReport(of: [3, 4]), .proven(from: 2)),
    (ArrivalReport(of: [1, 2, 3, 4]), .proven(from: 0)), (ArrivalReport(of: [5, 6]), nil),
    (ArrivalReport(of: [1, 2, 3, 5]), .contradicted(ArrivalReport(of: [1, 2, 3, 5]))),
    (ArrivalReport(of: [1, 2, 3, 4, 5]), .contradicted(ArrivalReport(of: [1, 2, 3, 4, 5]))),
  ])
  func judgement(_ report: ArrivalReport?, _ outcome: ArrivalProof.Outcome?) throws {
    #expect(ArrivalProof([1, 2, 3, 4], from: 2).evaluate(try #require(report)) == outcome)
  }

  /// A report of zero bytes from a device that lost its data proves nothing.
  @Test func aReportOfNothingProvesNothing() {
    #expect(ArrivalProof([1, 2], from: 2).evaluate(ArrivalReport(of: [])) == nil)
  }

  @Test func aReportHasEightBytes() {
    #expect(ArrivalReport([1, 0, 0, 0, 2, 0, 0, 0]).map { [$0.count, Int($0.crc)] } == [1, 2])
    #expect(ArrivalReport([UInt8](repeating: 0, count: 7)) == nil && ArrivalReport([UInt8](repeating: 0, count: 9)) == nil)
  }

  /// An early end reports where to resume, after a lost link or Ctrl-C.
  @Test(.onLoop, arguments: [TransferOptions.Mode.request, .command], [true, false])
  @LoopActor func anEarlyEndTellsHowFarItCame(_ mode: TransferOptions.Mode, _ isLost: Bool) async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far) { pdu in pdu.first == 0x12 ? [0x13] : pdu.first == 0x04 ? [0x01, 0x04, 0x10, 0, 0x0A] : nil }
    let client = Client(near)
    var options = TransferOptions()
    options.mode = mode
    options.pacing.gap = .milliseconds(10)
    options.pacing.provesEvery = 2
    let segment = try options.segment(mode, mtu: 23, link: LinkCapacity())
    let plan = try WriteProcedure(value: 200, properties: nil, mtu: 23, mode: mode.writeMode, chunk: segment)
    #expect(segment == 20 && plan.segments.count == 10)
    let sending = EventLoop.shared.spawn { () -> (any Error)? in
      do {
        try await client.send([UInt8](repeating: 1, count: 200), to: 0x10, plan: plan, pacing: options.pacing(segment: segment))
      } catch { return error }
      return nil
    }
    EventLoop.shared.schedule(after: .milliseconds(45)) {
      if isLost { far.lose(LinkLost("gone")) } else { sending.cancel() }
    }
    let error = try #require(await sending.value as? IncompleteWrite)
    #expect(error.total == 200 && error.segments == 10)
    #expect(error.progress == (mode == .request ? WriteProgress(sent: 100, confirmed: 100) : WriteProgress(sent: 100, confirmed: 80)))
    #expect(isLost ? error.cause as? LinkLost == LinkLost("gone") : error.cause is CancellationError)
    withExtendedLifetime(peer) {}
  }

  private struct Full: Error {}

  @Test(.onLoop) @LoopActor func whatProgressThrowsComesThrough() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far)
    let client = Client(near)
    let plan = try WriteProcedure(value: 50, properties: nil, mtu: 23, mode: .command)
    await #expect(throws: Full.self) {
      try await client.send([UInt8](repeating: 1, count: 50), to: 0x10, plan: plan) { _ in throw Full() }
    }
    withExtendedLifetime(peer) {}
    client.close()
  }

  @Test(.onLoop) @LoopActor func theModeFollowsTheProperties() async throws {
    let air = try await TestAir()
    try await air.withPeer("panel") { _, client in
      let table = try await client.discover()
      let options = TransferOptions()
      func mode(_ text: String) throws -> TransferOptions.Mode { try options.mode(for: table.resolve(Selector(text))) }
      #expect(try mode("fff6") == .command)
      #expect(try mode("fff8") == .request)
      let silent = try table.resolve(Selector("fff7"))
      #expect(throws: TransferError.notWritable(silent)) { try mode("fff7") }
      let descriptor = try table.resolve(Selector("fff7@2902"))
      #expect(throws: TransferError.unknownProperties(descriptor)) { try mode("fff7@2902") }
    }
    await air.central.close()
  }
}

extension ArrivalProof {
  fileprivate init(_ file: [UInt8], from offset: Int) {
    self.init(part: ArrivalReport(of: Array(file.dropFirst(offset))), whole: ArrivalReport(of: file))
  }
}

import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ListenTests {
  /// No report arrives after the end, although one event or one turn may bring several.
  @Test(.onLoop, arguments: [1, 2, 3]) @LoopActor func noReportAfterTheEnd(_ count: Int) async throws {
    let central = ScriptedCentral()
    central.batches = (0..<3).map { _ in (.milliseconds(20), (0..<3000).map { report($0) }) }
    var taken = 0
    try await central.listen(ScanParameters(), for: .seconds(10)) { _, _ in
      taken += 1
      return taken >= count ? .end : .goOn
    }
    #expect(taken == count)
    #expect(!central.isScanning)
  }

  @Test(.onLoop) @LoopActor func whatATakerHadNotGotToWhenItWasCancelledIsTold() async throws {
    let central = ScriptedCentral()
    central.batches = [(.milliseconds(20), (0..<100).map { report($0) })]
    var dropped = 0
    let task = EventLoop.shared.spawn {
      try? await central.listen(ScanParameters(), for: nil) { _, _ in
        try await EventLoop.shared.sleep(for: .seconds(60))
        return .goOn
      } onDrop: {
        dropped = $0
      }
    }
    try await EventLoop.shared.sleep(for: .seconds(1))
    task.cancel()
    await task.value
    #expect(dropped == 99)
  }

  @Test(.onLoop) @LoopActor func theLimitCountsFromWhenTheControllerListens() async throws {
    let central = ScriptedCentral()
    central.startDelay = .seconds(3)
    let start = EventLoop.shared.now
    try await central.listen(ScanParameters(), for: .seconds(2)) { _, _ in .goOn }
    #expect(start.duration(to: EventLoop.shared.now) == .seconds(5))
    #expect(!central.isScanning)
  }

  @Test(.onLoop) @LoopActor func aLittleLongerAfterAReport() async throws {
    let central = ScriptedCentral()
    central.batches = [(.seconds(1), [report(1)]), (.milliseconds(200), [report(2)]), (.milliseconds(200), [report(3)])]
    var taken: [PeerAddress?] = []
    try await central.listen(ScanParameters(), for: nil) { report, _ in
      taken.append(report.peer)
      return .endAfter(.milliseconds(300))
    }
    #expect(taken == [peer(1), peer(2)])
  }

  /// A slow consumer still gets the reports from before the end. Excess reports are counted.
  @Test(.onLoop) @LoopActor func aSlowTakerLosesOnlyWhatIsTooMuch() async throws {
    let central = ScriptedCentral()
    central.batches = [(.milliseconds(20), (0..<9000).map { report($0) })]
    var (taken, dropped) = (0, 0)
    try await central.listen(ScanParameters(), for: .seconds(1)) { _, _ in
      if taken == 0 { try await EventLoop.shared.sleep(for: .seconds(5)) }
      taken += 1
      return .goOn
    } onDrop: {
      dropped = $0
    }
    #expect(taken + dropped == 9000)
    #expect(taken == 8192)
  }

  private struct Broken: Error, Equatable {}

  @Test(.onLoop) @LoopActor func errorsOfBothSidesComeThrough() async throws {
    let central = ScriptedCentral()
    central.batches = [(.milliseconds(20), [report(1)])]
    await #expect(throws: Broken.self) { try await central.listen(ScanParameters(), for: .seconds(1)) { _, _ in throw Broken() } }
    #expect(!central.isScanning)
    central.scanFailure = Broken()
    await #expect(throws: Broken.self) { try await central.listen(ScanParameters(), for: .seconds(1)) { _, _ in .goOn } }
  }

  @Test(.onLoop) @LoopActor func cancellationEndsTheScan() async throws {
    let central = ScriptedCentral()
    let result: Void? = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(1))) {
      try await central.listen(ScanParameters(), for: nil) { _, _ in .goOn }
    }
    #expect(result == nil && central.scans == 1 && !central.isScanning)
  }
}

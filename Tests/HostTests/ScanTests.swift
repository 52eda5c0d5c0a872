import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ScanTests {
  /// Scans for `time` and returns the reports.
  @LoopActor
  private func scan(
    _ central: HostCentral, for time: Duration = .seconds(1), _ parameters: ScanParameters = ScanParameters(),
    started: @escaping @LoopActor () -> Void = {}
  ) async throws -> [AdvertisingReport] {
    var reports: [AdvertisingReport] = []
    _ = try await withDeadline(EventLoop.shared.now.advanced(by: time)) {
      try await central.scan(parameters, started: started) { reports.append($0) }
    }
    return reports
  }

  private func legacyReport(_ data: [UInt8]) -> Event {
    .leAdvertisingReports(AdvertisingReports([LegacyAdvertisingReport(eventType: 0, peer: lock, data: data, rssi: -60)]))
  }

  private func extendedReport(_ eventType: UInt16, _ data: [UInt8]) -> Event {
    .leExtendedAdvertisingReports(
      AdvertisingReports([ExtendedAdvertisingReport(eventType: eventType, peer: lock, sid: 1, rssi: -60, data: data)]))
  }

  @Test(.onLoop) @LoopActor func reportsThatComeWithTheConfirmationCount() async throws {
    let controller = ScriptedController()
    controller.rules[LESetScanEnable.opcode] = { command in
      let answer = controller.complete(command)
      guard LESetScanEnable(command)?.isOn == true else { return answer }
      // One report is too early. After the confirmation none is lost, however many arrive together.
      return [self.legacyReport([0])] + answer + (1...5000).map { self.legacyReport([UInt8($0 & 255)]) }
    }
    let (central, _) = try await started(controller)
    #expect(try await self.scan(central).map(\.data) == (1...5000).map { [UInt8($0 & 255)] })
  }

  @Test(.onLoop, arguments: [false, true]) @LoopActor func commandsFollowTheControllerReportsDoNot(_ isExtended: Bool) async throws {
    let controller = ScriptedController()
    if isExtended { controller.supported = ScriptedController.extended }
    let (central, _) = try await started(controller)
    let reports = try await self.scan(central) {
      // Reports before the confirmation do not count. After it, both kinds do.
      controller.emit(self.legacyReport([1]))
      controller.emit(self.extendedReport(0x13, [2]))
      controller.emit(
        .leDirectedAdvertisingReports(AdvertisingReports([DirectedAdvertisingReport(peer: lock, direct: absent, rssi: -1)])))
    }
    #expect(reports.map(\.data) == [[1], [2], []])
    #expect(reports.map(\.pdu) == [.connectable, .connectable, .directed])
    let scanning = controller.commands.suffix(3)
    if isExtended {
      #expect(
        scanning.map(\.opcode) == [LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode, LESetExtendedScanEnable.opcode])
      #expect(scanning.last == LESetExtendedScanEnable(false, filterDuplicates: 0, duration: 0, period: 0))
    } else {
      #expect(scanning.map(\.opcode) == [LESetScanParameters.opcode, LESetScanEnable.opcode, LESetScanEnable.opcode])
      #expect(scanning.last == LESetScanEnable(false, filterDuplicates: false))
    }
    // Late reports are dropped, and the host can scan again.
    controller.emit(self.legacyReport([9]))
    #expect(try await self.scan(central).isEmpty)
  }

  @Test(.onLoop) @LoopActor func whatCannotBeReadIsToldAtTheEnd() async throws {
    let (central, controller) = try await started()
    var notes: [GAPNote] = []
    central.onNote = { notes.append($0) }
    let reports = try await self.scan(central) {
      for type: UInt8 in [0, 9, 0xFF] {
        let report = LegacyAdvertisingReport(eventType: type, peer: lock, data: [type], rssi: -60)
        controller.emit(.leAdvertisingReports(AdvertisingReports([report])))
      }
    }
    #expect(reports.map(\.data) == [[0]])
    #expect(notes == [.unreadableReports(adapter: "tcp:test", 2)])
    _ = try await self.scan(central)
    #expect(notes.count == 1, "nothing was wrong with the next scan")
  }

  /// The first, tenth and hundredth malformed packets are reported, as a broken controller may send thousands.
  @Test(.onLoop) @LoopActor func malformedPacketsAreReported() async throws {
    let (central, controller) = try await started()
    var notes: [GAPNote] = []
    central.onNote = { notes.append($0) }
    for _ in 0..<120 { controller.emit([0x04, 0x0E, 0xFF]) }
    _ = try await self.scan(central)
    #expect(notes == [1, 10, 100].map { .malformedPackets(adapter: "tcp:test", $0) })
    central.onNote = { notes.append($0) }
    #expect(notes.last == .malformedPackets(adapter: "tcp:test", 120), "whoever listens later hears of them, too")
  }

  @Test(.onLoop) @LoopActor func droppedPacketsAreReported() async throws {
    let (central, controller) = try await started()
    var notes: [GAPNote] = []
    central.onNote = { notes.append($0) }
    controller.droppedPackets = 3
    _ = try await self.scan(central)
    #expect(notes.isEmpty, "these were lost before the scan")
    _ = try await self.scan(central) { controller.droppedPackets = 10 }
    #expect(notes == [.droppedPackets(adapter: "tcp:test", 7)])
  }

  @Test(.onLoop) @LoopActor func aScanLeftOnIsTurnedOffFirst() async throws {
    let (central, controller) = try await started()
    var isOn = true
    controller.rules[LESetScanParameters.opcode] = {
      isOn ? controller.complete($0, failed: .commandDisallowed) : controller.complete($0)
    }
    controller.rules[LESetScanEnable.opcode] = { command in
      if let command = LESetScanEnable(command) { isOn = command.isOn }
      return controller.complete(command)
    }
    var confirmed = 0
    _ = try await self.scan(central) { confirmed += 1 }
    #expect(confirmed == 1)
    #expect(!isOn)
  }

  @Test(.onLoop) @LoopActor func disallowedForGoodIsExplained() async throws {
    let (central, controller) = try await started()
    controller.rules[LESetScanParameters.opcode] = { controller.complete($0, failed: .commandDisallowed) }
    let error = await failure { _ = try await self.scan(central) }
    #expect(error as? HostError == .cannotScan(adapter: "tcp:test", isExtended: false))
    #expect(controller.count(LESetScanParameters.opcode) == 2)
  }

  @Test(.onLoop) @LoopActor func cancelledWhileTheCommandIsOnItsWay() async throws {
    let (central, controller) = try await started()
    controller.rules[LESetScanEnable.opcode] = { command in
      EventLoop.shared.schedule(after: .seconds(1)) { for event in controller.complete(command) { controller.emit(event) } }
      return nil
    }
    var confirmed = 0
    _ = try await self.scan(central, for: .milliseconds(500)) { confirmed += 1 }
    #expect(confirmed == 0)
    #expect(controller.commands.last == LESetScanEnable(false, filterDuplicates: false))
  }

  @Test(.onLoop) @LoopActor func theTransportEndsIt() async throws {
    let (central, controller) = try await started()
    let error = await failure {
      _ = try await self.scan(central, for: .seconds(100)) {
        EventLoop.shared.schedule(after: .seconds(1)) { controller.emit(.hardwareError(7)) }
      }
    }
    let again = await failure { _ = try await self.scan(central) }
    for error in [error, again] { #expect(error as? ControllerError == ControllerError("tcp:test", .hardware(7))) }
  }

  @Test(.onLoop) @LoopActor func chainedDataIsJoinedAndGivenUpAfterAWhile() async throws {
    let controller = ScriptedController()
    controller.supported = ScriptedController.extended
    let (central, _) = try await started(controller)
    let reports = try await self.scan(central, for: .seconds(5)) {
      controller.emit(self.extendedReport(0x20, [1]))
      controller.emit(self.extendedReport(0x00, [2]))
      controller.emit(self.extendedReport(0x20, [3]))
    }
    #expect(reports.map(\.data) == [[1, 2], [3]])
    #expect(reports.map(\.isTruncated) == [false, true])
  }

  @Test(.onLoop) @LoopActor func whatCannotBeIsRefusedHere() async throws {
    let (central, controller) = try await started()
    let before = controller.commands.count
    var parameters = ScanParameters()
    parameters.phys = [.coded]
    let coded = parameters
    await #expect(throws: GAPError.cannotScan(adapter: "tcp:test", on: .coded, hasExtended: false)) {
      _ = try await self.scan(central, coded)
    }
    parameters.phys = [.le2M]
    let none = parameters
    await #expect(throws: GAPError.noPrimaryPHY) { _ = try await self.scan(central, none) }
    #expect(controller.commands.count == before)
    let error = await failure {
      _ = try await self.scan(central) {
        EventLoop.shared.spawn { await #expect(throws: GAPError.isScanning(adapter: "tcp:test")) { _ = try await self.scan(central) } }
      }
    }
    #expect(error == nil)
  }

  @Test(.onLoop) @LoopActor func closingEndsIt() async throws {
    let (central, controller) = try await started()
    let error = await failure {
      _ = try await self.scan(central, for: .seconds(100)) { EventLoop.shared.spawn { await central.close() } }
    }
    #expect(error as? ControllerError == ControllerError("tcp:test", .closed))
    #expect(controller.commands.last == LESetScanEnable(false, filterDuplicates: false))
    #expect(controller.isClosed)
  }
}

extension ScanTests {
  @LoopActor
  private func scan(_ central: HostCentral, _ parameters: ScanParameters) async throws -> [AdvertisingReport] {
    try await scan(central, for: .seconds(1), parameters)
  }
}

import TestSupport

/// A faulty or silent controller causes no trap, and every operation ends within its limits.
@Suite(.timeLimit(.minutes(15))) struct HostileControllerTests {
  /// Ctrl-C does not wait for the timeouts of several commands.
  @Test(.onLoop, arguments: [true, false]) @LoopActor func cancellingEndsSoonAlthoughTheControllerIsSilent(_ scans: Bool) async throws {
    let (central, controller) = try await started()
    for opcode in ScriptedController.legacy { controller.rules[opcode] = { _ in nil } }
    let task = EventLoop.shared.spawn {
      await failure {
        if scans {
          try await central.scan(ScanParameters(), started: {}, report: { _ in })
        } else {
          _ = try await central.connect(lock, timeout: .seconds(20))
        }
      }
    }
    try await settle()
    task.cancel()
    let time = await duration {
      _ = await task.value
      await central.close()
    }
    #expect(time < .seconds(5), "\(time)")
  }

  /// Packets that controllers send in a session.
  private let seeds: [[UInt8]] =
    [
      Event.disconnectionComplete(status: .success, handle: 0x40, reason: .connectionTimeout),
      .complete(ReadBDADDR.opcode, ReadBDADDR.Return(Address(rawValue: 1))),
      .complete(ReadRSSI.opcode, ReadRSSI.Return(handle: 0x40, rssi: -4)),
      .commandStatus(Event.CommandStatus(status: .success, opcode: LECreateConnection.opcode)),
      .numberOfCompletedPackets([Event.CompletedPackets(handle: 0x40, count: 1), Event.CompletedPackets(handle: 0x41, count: 9)]),
      .leConnectionComplete(
        Event.ConnectionComplete(status: .success, handle: 0x40, peer: lock, interval: 24, latency: 0, supervisionTimeout: 400)),
      .leAdvertisingReports(AdvertisingReports([LegacyAdvertisingReport(eventType: 0, peer: lock, data: [2, 1, 6], rssi: -60)])),
      .leExtendedAdvertisingReports(
        AdvertisingReports([ExtendedAdvertisingReport(eventType: 0x20, peer: lock, sid: 1, rssi: -60, data: [2, 1, 6])])),
      .leConnectionUpdateComplete(status: .success, handle: 0x40, interval: 6, latency: 0, supervisionTimeout: 400),
      .leReadRemoteFeaturesComplete(status: .success, handle: 0x40, features: .dataLengthExtension),
      .leRemoteConnectionParameterRequest(handle: 0x40, intervalMin: 6, intervalMax: 6, latency: 0, supervisionTimeout: 400),
      .leDataLengthChange(handle: 0x40, maxTxOctets: 251, maxTxTime: 2120, maxRxOctets: 251, maxRxTime: 2120),
      .lePHYUpdateComplete(status: .success, handle: 0x40, tx: 2, rx: 2),
    ].map(\.encoded)
    + [
      L2CAPFrame(channel: 4, payload: [0x1B, 3, 0, 1]), L2CAPFrame(channel: 5, payload: [0x12, 7, 8, 0, 6, 0, 24, 0, 0, 0, 0x90, 1]),
      L2CAPFrame(channel: 6, payload: [1, 3, 0, 1, 0x10, 0, 0]),
    ].flatMap { $0.fragments(handle: 0x40, length: 6, first: .firstFlushable).map(\.encoded) }

  @Test func aHundredThousandBadPacketsIntoALiveHost() async throws {
    let seeds = seeds
    try await onLoop {
      var packets: [[UInt8]] = []
      hostile(seeds, mutations: 100_000) { packets.append($0) }
      let controller = ScriptedController()
      controller.supported = ScriptedController.extended
      let (central, _) = try await started(controller)
      let scan = EventLoop.shared.spawn { await failure { try await central.scan(ScanParameters(), started: {}, report: { _ in }) } }
      var link: (any Link)?
      for (number, packet) in packets.enumerated() {
        // A hardware error rightly ends the host, and would end the test.
        if packet.starts(with: [4, 0x10, 1]), packet.count == 4 { continue }
        if number % 500 == 0 {
          if central.openLinks.isEmpty { link = try? await central.connect(lock, timeout: .milliseconds(100)) }
          link?.channel.handler = { _ in }
          link?.channel.send([UInt8](repeating: 1, count: 60))
          try await EventLoop.shared.sleep(for: .milliseconds(20))
        }
        controller.handler?(.received(packet))
      }
      let time = await duration { await central.close() }
      #expect(time < .milliseconds(2500))
      let end = await scan.value as? ControllerError
      #expect(end == ControllerError("tcp:test", .closed))
      #expect(central.malformedPackets > 1000)
      #expect(central.openLinks.isEmpty)
    }
  }

  @Test(.onLoop) @LoopActor func sessionsWithALiarEnd() async throws {
    var completed = 0
    for seed in UInt64(0)..<400 {
      var random = SplitMix64(seed: seed)
      let controller = ScriptedController()
      if seed % 2 == 0 { controller.supported = ScriptedController.extended }
      controller.features = [.dataLengthExtension, .phy2M, .extendedAdvertising]
      // One packet in five is changed, lost, doubled or replaced.
      controller.mangle = { packet in
        guard random.next() % 5 == 0 else { return [packet] }
        var bytes = packet
        switch random.next() % 5 {
        case 0: return []
        case 1: return [packet, packet]
        case 2: bytes = Array(bytes.prefix(Int(random.next() % UInt64(bytes.count + 1))))
        case 3: return [self.seeds[Int(random.next() % UInt64(self.seeds.count))], packet]
        default: bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        return [bytes]
      }
      let isDone = await self.session(controller)
      if isDone { completed += 1 }
      #expect(controller.isClosed, "seed \(seed)")
    }
    // The host survives most faults, or the test would show nothing.
    #expect(completed > 20)
  }

  /// Starts, scans, connects, writes, tunes and closes. Returns whether all of it worked.
  @LoopActor
  private func session(_ controller: ScriptedController) async -> Bool {
    let central = HostCentral(controller, name: "tcp:liar")
    var isDone = false
    let time = await duration {
      do {
        try await central.start()
        _ = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(1))) {
          try await central.scan(ScanParameters(), started: {}, report: { _ in })
        }
        let link = try await central.connect(lock, timeout: .seconds(5))
        link.channel.handler = { _ in }
        let sent: Void? = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(10))) {
          for _ in 0..<10 {
            try await link.channel.waitUntilWritable()
            link.channel.send([UInt8](repeating: 1, count: 40))
          }
        }
        guard sent != nil else { throw CancellationError() }
        _ = try await link.requestInterval(.milliseconds(15))
        _ = try await link.parameters()
        await link.disconnect()
        isDone = true
      } catch {}
      await central.close()
    }
    // Thirty commands take at most 4 s each, plus the limits of the operations.
    #expect(time < .seconds(150))
    return isDone
  }
}

import TestSupport

@Suite(.timeLimit(.minutes(15))) struct SharedCentralTests {
  /// A radio that records the requested scans and runs one scan at a time.
  @LoopActor private final class Radio: Central {
    var onNote: (@LoopActor (GAPNote) -> Void)?
    /// The parameters of the current scan.
    var scanning: ScanParameters?
    var scans: [ScanParameters] = []
    /// The error that scanning throws.
    var scanFailure: (any Error)?
    var failure: (any Error)?
    private var report: (@LoopActor (AdvertisingReport) -> Void)?
    /// The name in a report that precedes the start of the scan.
    var early: String?
    private var end = Wait<Void>()
    let connected = Wait<any Link>()

    func scan(
      _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
    ) async throws {
      if let scanFailure { throw scanFailure }
      guard scanning == nil else { throw GAPError.isScanning(adapter: "radio") }
      scanning = parameters
      scans.append(parameters)
      self.report = report
      end = Wait<Void>()
      defer { scanning = nil }
      if let early { hear(early) }
      started()
      try await end.value()
    }

    func hear(_ text: String) {
      report?(
        AdvertisingReport(
          pdu: .connectable, isConnectable: true, isScannable: true, peer: PeerAddress(Address(rawValue: 1), .public), rssi: -50,
          data: Array(text.utf8)))
    }

    func connect<Value>(
      _ peer: PeerAddress, timeout: Duration, retries: Int, confirm: @escaping @LoopActor (any Link, Int) async throws -> Value
    ) async throws -> Value {
      end.resume(throwing: GAPError.scanEnded(adapter: "radio", connecting: peer))
      return try await confirm(try await connected.value(), retries)
    }

    func connectedPeer(_ address: Address) -> PeerAddress? { nil }
    func close() async {}
  }

  @LoopActor private final class Listener {
    var heard: [String] = []
    var started = 0
    var failure: (any Error)?
    private var task: Task<Void, Never>?

    init(_ central: SharedCentral, active: Bool = true, phys: Set<PHY> = [.le1M]) {
      var parameters = ScanParameters()
      parameters.isActive = active
      parameters.phys = phys
      task = EventLoop.shared.spawn {
        do {
          try await central.scan(parameters) {
            self.started += 1
          } report: {
            self.heard.append(String(decoding: $0.data, as: UTF8.self))
          }
        } catch { self.failure = error }
      }
    }

    func end() async {
      task?.cancel()
      await task?.value
    }

    func untilEnded() async { await task?.value }
  }

  @LoopActor private func settle() async { for _ in 0..<50 { await Task.yield() } }

  @Test(.onLoop) @LoopActor func severalListenToOneScan() async throws {
    let radio = Radio()
    let central = SharedCentral(radio)
    let first = Listener(central)
    await settle()
    radio.hear("a")
    let second = Listener(central)
    await settle()
    radio.hear("b")
    await first.end()
    radio.hear("c")
    #expect(radio.scanning != nil)
    await second.end()
    #expect(radio.scanning == nil && radio.scans.count == 1)
    #expect(first.heard == ["a", "b"] && second.heard == ["b", "c"] && first.started == 1 && second.started == 1)
    #expect(first.failure is CancellationError)
  }

  /// A controller may report before it answers. A device that is heard only then is still reported.
  @Test(.onLoop) @LoopActor func whatComesBeforeTheAnswerIsHeard() async throws {
    let radio = Radio()
    radio.early = "a"
    let listener = Listener(SharedCentral(radio))
    await settle()
    radio.hear("b")
    #expect(listener.heard == ["a", "b"] && listener.started == 1)
    await listener.end()
  }

  @Test(.onLoop) @LoopActor func theScanIsOfAllThatIsWanted() async throws {
    let radio = Radio()
    let central = SharedCentral(radio)
    let quiet = Listener(central, active: false)
    await settle()
    let coded = Listener(central, active: true, phys: [.coded])
    await settle()
    #expect(radio.scanning?.isActive == true && radio.scanning?.phys == [.le1M, .coded])
    radio.hear("a")
    await coded.end()
    await settle()
    #expect(radio.scanning?.isActive == false && radio.scanning?.phys == [.le1M])
    radio.hear("b")
    await quiet.end()
    #expect(quiet.heard == ["a", "b"] && coded.heard == ["a"] && quiet.started == 1 && radio.scans.count == 3)
  }

  @Test(.onLoop) @LoopActor func aScanThatHadToEndForAConnectionGoesOnAfterIt() async throws {
    let radio = Radio()
    let central = SharedCentral(radio)
    let listener = Listener(central)
    await settle()
    let connecting = EventLoop.shared.spawn {
      _ = try? await central.connect(PeerAddress(Address(rawValue: 2), .public), timeout: .seconds(1), retries: 0)
    }
    await settle()
    #expect(radio.scanning == nil)
    radio.connected.resume(throwing: GAPError.noConnection(PeerAddress(Address(rawValue: 2), .public), within: .seconds(1)))
    await connecting.value
    await settle()
    radio.hear("a")
    await listener.end()
    #expect(listener.heard == ["a"] && listener.started == 1 && radio.scans.count == 2)
  }

  @Test(.onLoop) @LoopActor func whatKeepsItFromScanningIsToldToAllAndNotForEver() async throws {
    let radio = Radio()
    let central = SharedCentral(radio)
    radio.scanFailure = GAPError.noPrimaryPHY
    let listeners = [Listener(central), Listener(central)]
    for listener in listeners { await listener.untilEnded() }
    #expect(listeners.allSatisfy { $0.failure as? GAPError == .noPrimaryPHY && $0.started == 0 })
    radio.scanFailure = nil
    let next = Listener(central)
    await settle()
    #expect(next.started == 1)
    await next.end()
    #expect(radio.scanning == nil)
  }
}

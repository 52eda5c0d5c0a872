// SPDX-License-Identifier: Apache-2.0
/// A central for several tasks that scan and connect at the same time, such as the commands of a session. The tasks share one scan
/// with combined parameters. If the host cannot scan while it connects, the scan continues after the connection attempt.
@LoopActor
package final class SharedCentral: Central {
  private let central: any Central
  /// The handler of every advertising report, which runs before the `report` functions of the tasks that scan.
  package var onReport: (@LoopActor (AdvertisingReport) -> Void)?

  @LoopActor private final class Listener {
    let parameters: ScanParameters
    let report: @LoopActor (AdvertisingReport) -> Void
    let ended = Wait<Void>()
    /// The handler that runs when the scan has started. Nil after that.
    var started: (@LoopActor () -> Void)?

    init(
      _ parameters: ScanParameters, _ started: @escaping @LoopActor () -> Void, _ report: @escaping @LoopActor (AdvertisingReport) -> Void
    ) {
      (self.parameters, self.started, self.report) = (parameters, started, report)
    }
  }

  private var listeners: [Listener] = []
  private var scanning: Task<Void, Never>?
  /// The parameters of the running scan. Nil if no scan is running.
  private var present: ScanParameters?
  private var connecting = 0
  private var connected: Wait<Void>?

  package init(_ central: any Central) { self.central = central }

  package var onNote: (@LoopActor (GAPNote) -> Void)? {
    get { central.onNote }
    set { central.onNote = newValue }
  }

  package var failure: (any Error)? { central.failure }

  package var identity: PeerAddress? { central.identity }

  package var controllerFacts: ControllerFacts? { central.controllerFacts }

  package var peripheral: (any PeripheralRole)? { central.peripheral }

  // MARK: Scanning

  package func scan(
    _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws {
    let listener = Listener(parameters, started, report)
    listeners.append(listener)
    // Start and end wait until the previous scan has ended, even in a canceled task.
    await shielded { await self.update() }
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await listener.ended.value()) } catch { outcome = .failure(error) }
    listeners.removeAll { $0 === listener }
    await shielded { await self.update() }
    try outcome.get()
  }

  /// The combined parameters of all listeners, which may cause reports that a listener did not request. Nil without listeners.
  private var wanted: ScanParameters? {
    guard var all = listeners.first?.parameters else { return nil }
    for listener in listeners {
      all.isActive = all.isActive || listener.parameters.isActive
      all.phys.formUnion(listener.parameters.phys)
    }
    return all
  }

  /// Ends a scan whose parameters differ from those that the listeners want, then starts the wanted scan, if any.
  private func update() async {
    while true {
      let wanted = wanted
      if wanted == present {
        for listener in listeners where present != nil && hasStarted { start(listener) }
        return
      }
      if let scanning {
        scanning.cancel()
        await scanning.value
        // Another task may have continued during the wait.
        if self.scanning == scanning { (self.scanning, present, hasStarted) = (nil, nil, false) }
      } else if let wanted {
        present = wanted
        scanning = EventLoop.shared.spawn { await self.run(wanted) }
      }
    }
  }

  private var hasStarted = false

  private func start(_ listener: Listener) {
    let started = listener.started
    listener.started = nil
    started?()
  }

  private func hasBegun() {
    hasStarted = true
    for listener in listeners { start(listener) }
  }

  private func run(_ parameters: ScanParameters) async {
    while !Task.isCancelled {
      do {
        try await central.scan(parameters) {
          self.hasBegun()
        } report: { report in
          // A controller may report before it answers.
          if !self.hasStarted { self.hasBegun() }
          self.onReport?(report)
          for listener in self.listeners where listener.started == nil { listener.report(report) }
        }
        return
      } catch GAPError.scanEnded where connecting > 0 {
        let wait = connected ?? Wait<Void>()
        connected = wait
        try? await wait.value()
      } catch {
        if error is CancellationError { return }
        // The next listener starts a new scan.
        (present, hasStarted) = (nil, false)
        for listener in listeners { listener.ended.resume(throwing: error) }
        return
      }
    }
  }

  // MARK: The rest

  package func connect<Value>(
    _ peer: PeerAddress, timeout: Duration, retries: Int, confirm: @escaping @LoopActor (any Link, Int) async throws -> Value
  ) async throws -> Value {
    connecting += 1
    defer {
      connecting -= 1
      if connecting == 0 {
        connected?.resume(returning: ())
        connected = nil
      }
    }
    return try await central.connect(peer, timeout: timeout, retries: retries, confirm: confirm)
  }

  package func connectedPeer(_ address: Address) -> PeerAddress? { central.connectedPeer(address) }

  package func close() async { await central.close() }
}

/// A scan over a raw HCI socket. It executes the steps of a `ScanProcedure` and passes the controller's events to the procedure.
@LoopActor
final class KernelScan {
  /// A wait that finishes when the scan has ended for any reason.
  let over = Wait<Void>()
  private let central: KernelCentral
  /// The state of the scan. Nil before the scan starts and after it ends.
  private var procedure: ScanProcedure?
  private var failure: (any Error)?
  private var change = Wait<Void>()

  init(_ central: KernelCentral) { self.central = central }

  /// Ends the scan, so that `run` throws the error.
  func end(_ error: any Error) {
    if failure == nil { failure = error }
    change.resume(returning: ())
  }

  /// Runs the scan until an error, a cancellation or a call of `end`.
  /// - Throws: CancellationError, ControllerError, AdapterProblem, or the error of `end`.
  func run(
    _ procedure: ScanProcedure, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws {
    self.procedure = procedure
    let hci = central.hci
    let isDiscovering = central.isOthersDiscovery
    let reader = AdvertisingReportReader(onUnreadable: { [central] in central.onNote?(.unreadableReports(adapter: hci.name, $0)) }, report)
    // The procedure must learn of each packet while it is handled: a waiting task resumes only after the
    // packets that follow.
    hci.onOthersCommand = { [self] command in
      switch command {
      case .sent(let command): tell { $0.sawSent(command, at: now) }
      case .answered(let command, let status): tell { $0.sawAnswered(command, status, at: now) }
      }
    }
    let observer = hci.addObserver { [self] in
      end($0)
    } _: { [self] event in
      reader.receive(event)
      if case .leConnectionComplete = event { tell { $0.connectionEnded(at: now) } }
    }
    let ticker = EventLoop.shared.spawn { [self] in
      while (try? await EventLoop.shared.sleep(for: .seconds(1))) != nil {
        // An adapter that goes down stops scanning without an event.
        if !central.isUp(central.adapter.index) { end(AdapterProblem.down(central.adapter.name)) }
      }
    }
    let dropped = hci.droppedPackets
    defer {
      if let note = GAPNote.droppedPackets(adapter: hci.name, before: dropped, now: hci.droppedPackets) { central.onNote?(note) }
      reader.stop()
      ticker.cancel()
      hci.removeObserver(observer)
      hci.onOthersCommand = nil
    }
    do {
      try await follow(started: started)
    } catch {
      let last = self.procedure?.end()
      self.procedure = nil
      await shielded { [central] in
        guard let last else { return }
        if let stop = last.stop { _ = try? await hci.send(stop, for: .scanning) }
        if last.endsDiscovery, !isDiscovering, !central.discovery.end(central.adapter) {
          // This needs only CAP_NET_RAW. The kernel ends the discovery also if the controller answers Command Disallowed, but not if the
          // controller has no BR/EDR (hci_cc_inquiry_cancel).
          _ = try? await hci.send(InquiryCancel(), for: .scanning)
        }
        for command in last.restored { _ = try? await hci.send(command, for: .scanning) }
        if last.remindsKernel { central.discovery.remindOfBackgroundScan(central.adapter) }
      }
      throw error
    }
  }

  private func follow(started: @LoopActor () -> Void) async throws {
    let hci = central.hci
    while true {
      if let failure { throw failure }
      guard let step = decide({ $0.next(at: now) }) else { return }
      switch step {
      case .send(let command): try await hci.send(command, for: .scanning) { [self] status in tell { $0.answered(status, at: now) } }
      case .askForDiscovery:
        let isActive = central.discovery.isActive(central.adapter)
        tell { $0.discovery(isActive, at: now) }
      case .started: started()
      case .note(let note): central.onNote?(.scan(adapter: hci.name, note))
      case .failed(let opcode, let status): throw ControllerError(hci.name, .refused(opcode, status))
      case .wait(let time): try await waitForChange(until: time)
      }
    }
  }

  private func tell(_ body: (inout ScanProcedure) -> Void) {
    _ = decide(body)
    change.resume(returning: ())
  }

  private func decide<T>(_ body: (inout ScanProcedure) -> T) -> T? {
    guard var changed = procedure else { return nil }
    defer { procedure = changed }
    return body(&changed)
  }

  private var now: LoopClock.Instant { EventLoop.shared.now }

  private func waitForChange(until time: LoopClock.Instant?) async throws {
    let change = Wait<Void>()
    self.change = change
    _ = try await change.value(until: time)
  }
}

// SPDX-License-Identifier: Apache-2.0
/// The central role of blectl's LE host, over any HCI transport.
@LoopActor
package final class HostCentral: Central {
  package var onNote: (@LoopActor (GAPNote) -> Void)? {
    didSet {
      // The start has no observer yet.
      if malformedPackets > 0 { onNote?(.malformedPackets(adapter: name, malformedPackets)) }
    }
  }
  /// The function that finds a device that no scan reports, such as a recorded device without advertisements. Nil on a radio.
  package var unheardPeer: (@LoopActor (Address) -> PeerAddress?)?

  let host: Host
  /// The peripheral role. Nil until a caller uses it, so that no central connects.
  private var hostPeripheral: HostPeripheral?
  /// The connection attempt in progress. Other attempts wait for their turn. Nil without an attempt.
  var initiation: Initiation?
  let initiators = TurnQueue()
  var scan: Scan?
  /// The devices whose advertisements arrived on the coded PHY, at most 256. The host connects to these devices on the coded PHY.
  var codedPeers: Set<PeerAddress> = []

  /// - Parameter staticAddress: The static address for a controller without a public address. Nil means a random one.
  package init(_ transport: any Transport, name: String, tap: (any Tap)? = nil, staticAddress: Address? = nil) {
    host = Host(tap.map { TappedTransport(transport, tap: $0) } ?? transport, name: name)
    host.staticAddress = staticAddress
    host.onEvent = { [weak self] event in self?.handle(event) }
    host.onFailure = { [weak self] error in
      self?.initiation?.settle(.failure(error))
      self?.scan?.ended.resume(throwing: error)
      self?.hostPeripheral?.onFailure?(error)
    }
    host.controller.onMalformed = { [weak self] count in
      // At 1, 10, 100, …: a broken controller sends thousands.
      if Self.isPowerOfTen(count) { self?.onNote?(.malformedPackets(adapter: name, count)) }
    }
  }

  private static func isPowerOfTen(_ count: Int) -> Bool {
    var count = count
    while count > 1, count.isMultiple(of: 10) { count /= 10 }
    return count == 1
  }

  /// The name of the controller in messages, for example `tcp:127.0.0.1:9000`.
  package var name: String { host.name }
  /// The abilities of the controller, which `start` reads.
  package var adapterInfo: ControllerInfo { host.adapterInfo }
  package var identity: PeerAddress? { adapterInfo.ownAddress }
  package var controllerFacts: ControllerFacts? {
    ControllerFacts(name: name, address: adapterInfo.address, features: adapterInfo.features)
  }
  /// The links that are up, sorted by connection handle.
  package var openLinks: [HostLink] { host.openLinks }
  package var failure: (any Error)? { host.controller.failure }
  /// The number of malformed packets from the controller. The host ignores them.
  package var malformedPackets: Int { host.controller.malformed }

  package func connectedPeer(_ address: Address) -> PeerAddress? {
    host.links.values.first { $0.peer.address == address }?.peer ?? unheardPeer?(address)
  }

  package var peripheral: (any PeripheralRole)? {
    let peripheral = hostPeripheral ?? HostPeripheral(host)
    hostPeripheral = peripheral
    return peripheral
  }

  /// Resets the controller and reads its abilities. Idempotent.
  /// - Throws: ControllerError if the controller does not answer, lacks LE, or refuses an indispensable command.
  package func start() async throws { try await host.start() }

  package func close() async {
    let roles = [scan?.commands.disable, initiation.map { _ in LECreateConnectionCancel().packet }].compactMap(\.self)
    await host.close(roles + (hostPeripheral?.stopCommands ?? []))
  }

  private func handle(_ event: Event) {
    switch event {
    case .leConnectionComplete(let complete): connected(complete)
    case .leAdvertisingSetTerminated(let status, let set, _, _): hostPeripheral?.terminated(set, status)
    default: scan?.reader.receive(event)
    }
  }
}

/// A scan of the host, from the first command to the command that disables it.
@LoopActor
final class Scan {
  let commands: ScanCommands
  let ended = Wait<Void>()
  private(set) lazy var reader = AdvertisingReportReader(onUnreadable: onUnreadable) { [weak self] in self?.deliver($0) }
  /// Whether the controller confirmed the scan. Earlier reports belong to another scan.
  private var isOn = false
  private var isOver = false
  private let onUnreadable: @LoopActor (Int) -> Void
  private let report: @LoopActor (AdvertisingReport) -> Void

  init(
    _ commands: ScanCommands, onUnreadable: @escaping @LoopActor (Int) -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) {
    (self.commands, self.onUnreadable, self.report) = (commands, onUnreadable, report)
  }

  private func deliver(_ one: AdvertisingReport) { if isOn { report(one) } }

  /// Starts reporting. Returns false if the scan has already ended.
  func begin() -> Bool {
    isOn = !isOver
    return isOn
  }

  func end() {
    (isOn, isOver) = (false, true)
    reader.stop()
  }
}

extension HostCentral {
  package func scan(
    _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws {
    try host.check()
    guard scan == nil else { throw GAPError.isScanning(adapter: name) }
    try Task.checkCancellation()
    let commands = try ScanCommands(parameters, adapter: name, adapterInfo, sharing: !host.links.isEmpty)
    let scan = Scan(commands) { [weak self, name] in
      self?.onNote?(.unreadableReports(adapter: name, $0))
    } report: { [weak self] in
      if $0.primaryPHY == .coded, let self, let peer = $0.peer, codedPeers.count < 256 { codedPeers.insert(peer) }
      report($0)
    }
    self.scan = scan
    let dropped = host.controller.droppedPackets
    defer {
      if let note = GAPNote.droppedPackets(adapter: name, before: dropped, now: host.controller.droppedPackets) { onNote?(note) }
    }
    do {
      // Start in the callback, not after the wait: thousands of reports may follow the confirmation before this task continues.
      try await enable(scan) { if scan.begin() { started() } }
      try await scan.ended.value()
    } catch {
      await finish(scan)
      throw error
    }
    await finish(scan)
  }

  /// Disables the scan, even if the controller has not answered the command that starts it.
  private func finish(_ scan: Scan) async {
    scan.end()
    if host.controller.failure == nil { await shielded { [host] in _ = await host.controller.cleanUp(scan.commands.disable) } }
    if self.scan === scan { self.scan = nil }
  }

  private func enable(_ scan: Scan, confirmed: @escaping @LoopActor () -> Void) async throws {
    do {
      try await perform(scan, confirmed)
    } catch let error as ControllerError where error.status == .commandDisallowed {
      // Another host left a scan on. Its parameters cannot change while it runs.
      do {
        try await host.controller.perform(scan.commands.disable)
      } catch let error as ControllerError where error.status != nil {}
      do {
        try await perform(scan, confirmed)
      } catch let error as ControllerError where error.status == .commandDisallowed {
        throw HostError.cannotScan(adapter: name, isExtended: scan.commands.isExtended)
      }
    }
  }

  private func perform(_ scan: Scan, _ confirmed: @escaping @LoopActor () -> Void) async throws {
    try await host.controller.perform(scan.commands.configure)
    try await host.controller.perform(scan.commands.enable, accepted: confirmed)
  }
}

/// A connection attempt, from LE Create Connection to LE Connection Complete.
@LoopActor
final class Initiation {
  let peer: PeerAddress
  /// Whether the controller accepted the command to connect. An earlier Connection Complete belongs to another attempt.
  var isAccepted = false
  private(set) var outcome: Result<HostLink, any Error>?
  private let settled = PendingEvent<Void>()

  init(_ peer: PeerAddress) { self.peer = peer }

  func settle(_ outcome: Result<HostLink, any Error>) {
    guard self.outcome == nil else { return }
    self.outcome = outcome
    settled.fire(())
  }

  /// Waits until the attempt has a link or has failed.
  /// - Returns: Nil if the attempt is undecided at `deadline`.
  /// - Throws: CancellationError, or the reason for the failure.
  func link(until deadline: LoopClock.Instant) async throws -> HostLink? {
    if outcome == nil { _ = try await settled.next().value(until: deadline) }
    return try outcome?.get()
  }
}

extension HostCentral {
  package func connect<Value>(
    _ peer: PeerAddress, timeout: Duration, retries: Int, confirm: @escaping @LoopActor (any Link, Int) async throws -> Value
  ) async throws -> Value {
    try host.check()
    let deadline = EventLoop.shared.now.advanced(by: timeout)
    return try await retrying(peer, times: retries, confirm: confirm) {
      // The time limit includes the wait for a turn.
      guard let link = try await establish(peer, deadline) else { throw GAPError.noConnection(peer, within: timeout) }
      return link
    }
  }

  /// Establishes a link after the earlier attempts have ended. Returns nil if the link is not up at `deadline`.
  private func establish(_ peer: PeerAddress, _ deadline: LoopClock.Instant) async throws -> HostLink? {
    let place = initiators.enter()
    defer { place.leave() }
    guard try await place.untilTurn(until: deadline) else { return nil }
    let link: HostLink?
    do {
      let initiation = Initiation(peer)
      self.initiation = initiation
      defer {
        self.initiation = nil
        place.leave()
      }
      try host.check()
      try Task.checkCancellation()
      link = try await initiate(initiation, deadline)
    }
    guard let link else { return nil }
    do {
      try await confirmEstablishment(link, deadline)
    } catch {
      await link.disconnect()
      throw error
    }
    return link
  }

  private func initiate(_ initiation: Initiation, _ deadline: LoopClock.Instant) async throws -> HostLink? {
    do {
      try await create(initiation)
      if let link = try await initiation.link(until: deadline) { return link }
    } catch {
      // The controller refused, so there is nothing to cancel.
      if error is HostError || (error as? ControllerError)?.status != nil { throw error }
      await abandon(initiation)
      throw error
    }
    await abandon(initiation)
    return nil
  }

  /// Cancels an attempt and waits for its outcome. Disconnects a link that came up before the cancellation.
  private func abandon(_ initiation: Initiation) async {
    await shielded { [self] in
      var patience: Duration = .seconds(2)
      if initiation.outcome == nil, host.controller.failure == nil, await !host.controller.cleanUp(LECreateConnectionCancel().packet) {
        // There is nothing to cancel: the completion is on its way, or never arrives.
        patience = .milliseconds(300)
      }
      if let link = try? await initiation.link(until: EventLoop.shared.now.advanced(by: patience)) {
        await link.disconnect(within: .seconds(2))
      }
    }
  }

  private func create(_ initiation: Initiation) async throws {
    let peer = initiation.peer
    let command = createCommand(peer)
    do {
      try await host.controller.perform(command) { initiation.isAccepted = true }
    } catch let error as ControllerError where error.status == .commandDisallowed {
      // Another host left an attempt behind.
      do {
        try await host.controller.perform(LECreateConnectionCancel())
      } catch let error as ControllerError where error.status != nil {}
      do {
        try await host.controller.perform(command) { initiation.isAccepted = true }
      } catch let error as ControllerError where error.status == .commandDisallowed {
        throw HostError.cannotConnect(adapter: name, peer)
      }
    } catch let error as ControllerError where error.status == .connectionAlreadyExists {
      throw HostError.hasLinkAlready(adapter: name, peer)
    }
  }

  private func createCommand(_ peer: PeerAddress) -> any Command {
    // Interval 15–30 ms, latency 0, timeout 4 s, any event length (0).
    let parameters = ConnectionParameters(intervalMin: 12, intervalMax: 24, latency: 0, supervisionTimeout: 400)
    let own = adapterInfo.ownAddress.type.hciValue
    guard adapterInfo.supported.contains(LEExtendedCreateConnection.self) else {
      return LECreateConnection(scanInterval: 96, scanWindow: 96, peer: peer, ownAddressType: own, parameters: parameters)
    }
    var phys: PHYMask = codedPeers.contains(peer) ? .coded : .le1M
    // An extended advertisement may continue on 2M. The controller never scans on 2M.
    if adapterInfo.leFeatures.contains(.phy2M) { phys.insert(.le2M) }
    return LEExtendedCreateConnection(
      ownAddressType: own, peer: peer, phys: phys,
      initiating: phys.phys.map { _ in LEExtendedCreateConnection.Initiating(scanInterval: 96, scanWindow: 96, parameters: parameters) })
  }

  /// Confirms that the peer answers on a new link, by reading its features. Then requests the longest data length.
  /// A link may still fail to be established after Connection Complete (reason 0x3E, Vol 6 Part B §4.5).
  private func confirmEstablishment(_ link: HostLink, _ deadline: LoopClock.Instant) async throws {
    let alive = link.procedures.remoteFeaturesRead.next()
    host.controller.submit(LEReadRemoteFeatures(handle: link.handle)) { answer in
      if case .failure = answer { alive.resume(returning: .unknownCommand) }
    }
    _ = try await alive.value(until: min(deadline, EventLoop.shared.now.advanced(by: .seconds(1))))
    if let ended = link.ended { throw ended }
    host.requestLongPackets(link)
  }

  /// Adds the link of an LE Connection Complete event, or fails the attempt. Disconnects a link that no attempt requested.
  func connected(_ complete: Event.ConnectionComplete) {
    guard complete.status == .success else {
      guard let initiation, initiation.isAccepted, initiation.outcome == nil else { return }
      return initiation.settle(.failure(GAPError.connectionFailed(initiation.peer, complete.status)))
    }
    // Reserved handles cannot carry data.
    guard !complete.handle.isReserved else { return }
    if let old = host.links[complete.handle] { host.drop(old, Disconnection(old.peer, .handleReused(adapter: name))) }
    if complete.role == 1, hostPeripheral?.connected(complete) == true { return }
    guard let initiation, initiation.isAccepted, initiation.outcome == nil, complete.role == 0,
      initiation.peer.address == complete.peer.address
    else {
      // No role asked for this link, so no role would ever close it.
      guard host.controller.backlog < 32 else { return }
      host.controller.submit(Disconnect(handle: complete.handle, reason: .remoteUserTerminated), isCleanUp: true)
      return
    }
    let link = HostLink(complete, peer: initiation.peer, host: host)
    host.add(link)
    initiation.settle(.success(link))
  }
}

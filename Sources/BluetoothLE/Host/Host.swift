// SPDX-License-Identifier: Apache-2.0
/// The part of blectl's LE host that all roles share. It owns the controller, the links, and the queue for the controller's buffers.
@LoopActor
final class Host: LinkController {
  let name: String
  let controller: Controller
  /// The abilities of the controller, which `start` reads.
  var adapterInfo = ControllerInfo()
  var sendQueue = SendQueue(length: 27, total: 1)
  private(set) var links: [ConnectionHandle: HostLink] = [:]
  /// The static address for a controller without a public address. Nil means a random one.
  var staticAddress: Address?
  var isStarted = false
  /// The callback for the events that concern a role: advertising reports, LE Connection Complete, LE Advertising Set Terminated.
  var onEvent: (@LoopActor (Event) -> Void)?
  /// The callback after the end of a link, whose place in the controller is free.
  var onFreePlace: (@LoopActor () -> Void)?
  /// The callback after a failure of the controller, when the host has ended all links.
  var onFailure: (@LoopActor (any Error) -> Void)?

  private var isClosed = false
  /// The last sent fragment. The next fragment reuses this memory unless the transport still holds it.
  private var fragment: [UInt8] = []

  init(_ transport: any Transport, name: String) {
    self.name = name
    controller = Controller(transport, name: name)
    controller.onEvent = { [weak self] event in self?.handle(event) }
    controller.onData = { [weak self] data in self?.links[data.handle]?.receive(data) }
    controller.onDisconnection = { [weak self] handle, error in
      guard let self, let link = links[handle] else { return }
      drop(link, error)
    }
    controller.onLinkExhaustion = { [weak self] handle, error in self?.links[handle]?.exhaust(error) }
    controller.onFailure = { [weak self] error in self?.fail(error) }
  }

  func check() throws {
    if let failure = controller.failure { throw failure }
    guard isStarted, !isClosed else { throw ControllerError(name, .notStarted) }
  }

  /// Ends all links and closes the controller, within 2 s. Idempotent.
  /// - Parameter commands: The commands that end the procedures of a role.
  func close(_ commands: [CommandPacket]) async {
    guard !isClosed else { return }
    isClosed = true
    await shielded { await self.shutDown(commands, within: .seconds(2)) }
  }

  private func shutDown(_ commands: [CommandPacket], within limit: Duration) async {
    let deadline = EventLoop.shared.now.advanced(by: limit)
    let closed = ControllerError(name, .closed)
    if controller.failure == nil, isStarted {
      // All in parallel: each of them has the whole time.
      let disconnections = openLinks.map { link in EventLoop.shared.spawn { await link.disconnect(within: limit) } }
      for wait in commands.map(submit) { _ = try? await wait.value(until: deadline) }
      for task in disconnections { await task.value }
      // A link may have come up in the meantime.
      for link in openLinks { await link.disconnect(within: EventLoop.shared.now.duration(to: deadline)) }
    }
    controller.close(closed)
  }

  private func submit(_ command: CommandPacket) -> Wait<Void> {
    let done = Wait<Void>()
    controller.submit(command) { _ in done.resume(returning: ()) }
    return done
  }

  func supports<C: Command>(_ command: C.Type) -> Bool { adapterInfo.supported.contains(command) }

  @discardableResult
  func perform<C: Command>(_ command: C) async throws -> C.Return { try await controller.perform(command) }

  // MARK: Links

  var openLinks: [HostLink] { links.values.sorted { $0.handle < $1.handle } }

  func transmit(_ channel: ChannelIdentifier, _ payload: [UInt8], _ link: HostLink) {
    guard links[link.handle] === link else { return }
    sendQueue.add(channel, payload, to: link.handle)
    pump()
  }

  func add(_ link: HostLink) {
    links[link.handle] = link
    sendQueue.open(link.handle)
  }

  /// Removes a link from the host and ends the link with an error.
  func drop(_ link: HostLink, _ error: any Error) {
    if links[link.handle] === link {
      links[link.handle] = nil
      sendQueue.close(link.handle)
    }
    link.end(error)
    // Its buffers are free for the others.
    pump()
    onFreePlace?()
  }

  private func pump() { while sendQueue.next(&fragment) { controller.send(data: fragment) } }

  private func fail(_ error: any Error) {
    for link in openLinks { drop(link, error) }
    onFailure?(error)
  }

  // MARK: Events

  private func handle(_ event: Event) {
    switch event {
    case .numberOfCompletedPackets(let entries):
      for entry in entries { sendQueue.completed(entry.handle, Int(entry.count)) }
      pump()
      for entry in entries { links[entry.handle]?.progressed() }
    case .leAdvertisingReports, .leExtendedAdvertisingReports, .leDirectedAdvertisingReports, .leConnectionComplete,
      .leAdvertisingSetTerminated:
      onEvent?(event)
    case .disconnectionComplete(let status, let handle, let reason):
      guard status == .success, let link = links[handle] else { return }
      drop(link, Disconnection(link.peer, link.isDisconnecting ? .endedHere(reason) : .lost(reason)))
    case .leConnectionUpdateComplete(_, let handle, _, _, _), .leReadRemoteFeaturesComplete(_, let handle, _),
      .lePHYUpdateComplete(_, let handle, _, _), .leDataLengthChange(let handle, _, _, _, _):
      links[handle]?.procedures.receive(event)
    case .encryptionChange(let status, let handle, let isEnabled, _):
      links[handle]?.securityManager.encryptionChanged(status == .success ? isEnabled ? .on : .off : .failed(status))
    case .encryptionKeyRefreshComplete(let status, let handle):
      links[handle]?.securityManager.encryptionChanged(status == .success ? .on : .failed(status))
    case .leLongTermKeyRequest(let handle, let random, let ediv):
      guard controller.backlog < 64 else { return }
      links[handle]?.securityManager.longTermKeyRequested(ediv: ediv, rand: random)
    case .leRemoteConnectionParameterRequest(let handle, let intervalMin, let intervalMax, let latency, let supervisionTimeout):
      answer(
        handle,
        ConnectionParameters(intervalMin: intervalMin, intervalMax: intervalMax, latency: latency, supervisionTimeout: supervisionTimeout))
    // Data Buffer Overflow (Vol 4 Part E §7.7.26) of ACL data.
    case .other(code: 0x1A, [0x01]): for link in openLinks { link.loseData(ControllerError(name, .overflow)) }
    case .readRemoteVersionComplete, .leOther, .other, .commandComplete, .commandStatus, .hardwareError: break
    }
  }

  /// Requests the longest packets on a new link, unless one of the controllers is known to lack them.
  func requestLongPackets(_ link: HostLink) {
    let isPossible = adapterInfo.leFeatures.contains(.dataLengthExtension) && adapterInfo.supported.contains(LESetDataLength.self)
    guard isPossible, link.procedures.state.remoteFeatures?.contains(.dataLengthExtension) ?? true else { return }
    controller.submit(LESetDataLength(handle: link.handle, txOctets: adapterInfo.maxTxOctets, txTime: adapterInfo.maxTxTime))
  }

  /// Answers the peer's Link Layer request for other connection parameters.
  private func answer(_ handle: ConnectionHandle, _ wanted: ConnectionParameters) {
    guard let link = links[handle], controller.backlog < 64 else { return }
    if let granted = link.grant(wanted) {
      controller.submit(LERemoteConnectionParameterRequestReply(handle: handle, granted))
    } else {
      controller.submit(LERemoteConnectionParameterRequestNegativeReply(handle: handle, reason: .unacceptableParameters))
    }
  }
}

extension Host {
  /// Resets the controller and reads its abilities. Idempotent.
  /// - Throws: ControllerError if the controller does not answer, lacks LE, or refuses an indispensable command.
  func start() async throws {
    guard !isStarted else { return }
    if let failure = controller.failure { throw failure }
    controller.open()
    try await controller.perform(Reset())
    var info = ControllerInfo()
    info.version = try await ask(ReadLocalVersion())
    if let returned = try await ask(ReadLocalSupportedCommands()) { info.supported = returned.commands }
    // LMP feature bit 38: LE Supported (Controller), Vol 2 Part C §3.2.
    if let features = try await ask(ReadLocalSupportedFeatures())?.features, features != 0, features & 1 << 38 == 0 {
      throw ControllerError(name, .withoutLE)
    }
    if let returned = try await ask(LEReadLocalSupportedFeatures()) { info.leFeatures = returned.features }
    try await readBuffers(&info)
    try await controller.perform(SetEventMask(Self.events))
    try await setLEEventMask(info)
    try await chooseAddress(&info)
    try await setDataLength(&info)
    adapterInfo = info
    sendQueue = SendQueue(length: info.aclLength, total: info.aclCount)
    isStarted = true
  }

  /// Performs a command. Returns nil if the controller refuses the command or sends a malformed answer.
  private func ask<C: Command>(_ command: C) async throws -> C.Return? {
    do {
      return try await controller.perform(command)
    } catch let error as ControllerError {
      switch error.fault {
      case .refused, .unreadable: return nil
      case .silent, .starved, .hardware, .overflow, .withoutLE, .withoutBuffers, .notStarted, .closed: throw error
      }
    }
  }

  private func readBuffers(_ info: inout ControllerInfo) async throws {
    if let size = try await ask(LEReadBufferSize()), size.aclLength > 0, size.aclCount > 0 {
      (info.aclLength, info.aclCount) = (Int(size.aclLength), Int(size.aclCount))
      return
    }
    // The buffers are shared with Classic (Vol 4 Part E §4.1.1).
    let size = try await controller.perform(ReadBufferSize())
    guard size.aclLength > 0, size.aclCount > 0 else { throw ControllerError(name, .withoutBuffers) }
    (info.aclLength, info.aclCount) = (Int(size.aclLength), Int(size.aclCount))
  }

  /// The event mask of an LE host (Vol 4 Part E §7.3.1). It enables Disconnection Complete, Encryption Change, Read Remote Version
  /// Information Complete, Hardware Error, Data Buffer Overflow, Encryption Key Refresh Complete and LE Meta.
  /// The mask has no effect on events about commands and buffers.
  static let events: UInt64 = 1 << 4 | 1 << 7 | 1 << 11 | 1 << 15 | 1 << 25 | 1 << 47 | 1 << 61

  private func setLEEventMask(_ info: ControllerInfo) async throws {
    // Connection Complete, Advertising Report, Connection Update, Remote Features, Long Term Key Request.
    // The others need features of the controller.
    let basic: UInt64 = 0x1F
    var mask = basic
    if info.leFeatures.contains(.connectionParametersRequest), info.supported.contains(LERemoteConnectionParameterRequestReply.self) {
      mask |= 1 << 5
    }
    if info.leFeatures.contains(.dataLengthExtension) { mask |= 1 << 6 }
    if info.leFeatures.contains(.extendedScannerFilter) { mask |= 1 << 10 }
    if info.supported.contains(LESetPHY.self) { mask |= 1 << 11 }
    // In some controllers, the reports follow this feature and not the scan command.
    if info.leFeatures.contains(.extendedAdvertising) || info.supported.scansExtended { mask |= 1 << 12 }
    if info.supported.advertisesExtended { mask |= 1 << 17 }
    if try await ask(LESetEventMask(mask)) == nil { try await controller.perform(LESetEventMask(basic)) }
  }

  private func chooseAddress(_ info: inout ControllerInfo) async throws {
    if let address = try await ask(ReadBDADDR())?.address, address.rawValue != 0, address.rawValue != 0xFFFF_FFFF_FFFF {
      info.address = address
      info.ownAddress = PeerAddress(address, .public)
      return
    }
    // Static: the two upper bits set, the others neither all zero nor all one (Vol 6 Part B §1.3.2.1).
    let random = staticAddress ?? Address(rawValue: 0b11 << 46 | UInt64.random(in: 1..<(1 << 46) - 1))
    try await controller.perform(LESetRandomAddress(random))
    info.ownAddress = PeerAddress(random, .random)
  }

  /// Sets the default data length, so that new links start with the longest packets.
  private func setDataLength(_ info: inout ControllerInfo) async throws {
    guard info.leFeatures.contains(.dataLengthExtension) else { return }
    (info.maxTxOctets, info.maxTxTime) = (251, 2120)
    if info.supported.contains(LEReadMaximumDataLength.self), let most = try await ask(LEReadMaximumDataLength()) {
      info.setDataLength(bytes: most.txOctets, time: most.txTime)
    }
    if info.supported.contains(LEWriteSuggestedDefaultDataLength.self) {
      _ = try await ask(LEWriteSuggestedDefaultDataLength(txOctets: info.maxTxOctets, txTime: info.maxTxTime))
    }
  }
}

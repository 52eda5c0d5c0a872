// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

extension VirtualController {
  /// A host's command to connect, which waits for the peer to advertise.
  struct Initiator {
    let peer: PeerAddress
    let own: PeerAddress
    let parameters: LinkLayer.Parameters
    let isExtended: Bool
    let hears1M: Bool
    let scanInterval: Slots
    let scanWindow: Slots
    let start: Int64

    func isListening(at now: Int64) -> Bool { hears1M && (now - start) % scanInterval.nanoseconds < scanWindow.nanoseconds }
  }

  @LoopActor
  final class Connection {
    let link: VirtualLink
    var isEnding = false
    /// The number of link layer procedures that wait or run.
    var procedures = 0
    /// The results of PHY procedures with the peer's controller, in the order of the commands.
    var phyOutcomes: [ControllerErrorCode] = []
    /// The data lengths that the controller reported last, in bytes: of the central, then of the peripheral.
    var reportedDataLength = (27, 27)
    var isEncrypting = false
    var isEncrypted = false

    init(_ link: VirtualLink) { self.link = link }

    func phy(of side: LinkLayer.Side) -> PHY { link.coding(of: side).phy }
  }

  // MARK: Creating

  static func enterLinks(_ commands: inout Commands) {
    commands.on(LECreateConnection.self) { (controller, create) throws(ControllerErrorCode) in try controller.create(create) }
    commands.on(LECreateConnectionCancel.self) { (controller, _) throws(ControllerErrorCode) in try controller.cancelCreation() }
    commands.on(Disconnect.self) { (controller, command) throws(ControllerErrorCode) in try controller.disconnect(command) }
    commands.reply(to: ReadRSSI.self) { (controller, command) throws(ControllerErrorCode) in
      .init(handle: command.handle, rssi: try controller.connection(command.handle).link.rssi)
    }
    commands.on(ReadRemoteVersion.self) { (controller, command) throws(ControllerErrorCode) in
      try controller.start(.versionExchange, on: command.handle)
    }
    commands.on(LEReadRemoteFeatures.self) { (controller, command) throws(ControllerErrorCode) in
      try controller.start(.featureExchange, on: command.handle)
    }
    commands.on(LEEnableEncryption.self) { (controller, command) throws(ControllerErrorCode) in
      let connection = try controller.connection(command.handle)
      guard !connection.isEncrypting else { throw .commandDisallowed }
      try controller.start(
        .encryptionRequest(.init(key: command.longTermKey, rand: command.random, ediv: command.ediv)), on: command.handle)
      connection.isEncrypting = true
    }
    commands.on(LEConnectionUpdate.self) { (controller, command) throws(ControllerErrorCode) in
      _ = try controller.connection(command.handle)
      guard command.parameters.isValid else { throw .invalidParameters }
      try controller.start(.connectionUpdate(LinkLayer.Parameters(command.parameters)), on: command.handle)
    }
  }

  private func create(_ command: LECreateConnection) throws(ControllerErrorCode) {
    try use(.legacy, for: command)
    guard command.filterPolicy == 0, isOwnAddress(command.ownAddressType) else { throw .invalidParameters }
    try initiate(
      command.peer, ownAddress(command.ownAddressType), command.parameters, scanInterval: command.scanInterval,
      scanWindow: command.scanWindow, isExtended: false, hears1M: true
    )
  }

  func create(_ command: LEExtendedCreateConnection) throws(ControllerErrorCode) {
    try use(.extended, for: command)
    // 2M is not a primary PHY, so it cannot be alone.
    guard command.filterPolicy == 0, isOwnAddress(command.ownAddressType), !command.phys.intersection([.le1M, .coded]).isEmpty,
      let first = command.initiating.first, command.initiating.allSatisfy({ $0.parameters.isValid })
    else { throw .invalidParameters }
    guard PHYMask(configuration.phys).isSuperset(of: command.phys) else { throw .unsupportedFeature }
    try initiate(
      command.peer, ownAddress(command.ownAddressType), first.parameters, scanInterval: first.scanInterval, scanWindow: first.scanWindow,
      isExtended: true,
      hears1M: command.phys.contains(.le1M))
  }

  private func ownAddress(_ type: UInt8) -> PeerAddress {
    if type & 1 == 1, let randomAddress { PeerAddress(randomAddress, .random) } else { PeerAddress(address, .public) }
  }

  private func initiate(
    _ peer: PeerAddress, _ own: PeerAddress, _ parameters: ConnectionParameters, scanInterval: Slots, scanWindow: Slots, isExtended: Bool,
    hears1M: Bool
  ) throws(ControllerErrorCode) {
    guard parameters.isValid, scanInterval >= 4, (4...scanInterval).contains(scanWindow) else { throw .invalidParameters }
    guard initiator == nil else { throw .commandDisallowed }
    guard !connections.values.contains(where: { $0.link.peer == peer }) else { throw .connectionAlreadyExists }
    guard connections.count < configuration.maxConnections else { throw .connectionLimitExceeded }
    initiator = Initiator(
      peer: peer, own: own, parameters: LinkLayer.Parameters(parameters), isExtended: isExtended, hears1M: hears1M,
      scanInterval: scanInterval,
      scanWindow: scanWindow, start: EventLoop.shared.now.nanoseconds)
    updateListening()
  }

  private func cancelCreation() throws(ControllerErrorCode) {
    guard let initiator else { throw .commandDisallowed }
    self.initiator = nil
    updateListening()
    afterAnswer = { [self] in emitComplete(.unknownConnectionIdentifier, handle: 0, peer: initiator.peer, initiator.parameters) }
  }

  private func emitComplete(_ status: ControllerErrorCode, handle: ConnectionHandle, peer: PeerAddress, _ parameters: LinkLayer.Parameters)
  {
    // Send the enhanced event if the host unmasked it (Vol 4 Part E §7.7.65.10).
    emit(
      .leConnectionComplete(
        Event.ConnectionComplete(
          form: leEventMask & 1 << 9 != 0 ? .enhanced : .plain, status: status, handle: handle, peer: peer, interval: parameters.interval,
          latency: parameters.latency, supervisionTimeout: parameters.supervisionTimeout)))
  }

  private func connect(_ advertisement: Air.Advertisement, for initiator: Initiator) {
    let handles = configuration.firstHandle..<configuration.firstHandle + UInt16(configuration.maxConnections)
    guard let handle = handles.lazy.map({ ConnectionHandle($0) }).first(where: { connections[$0] == nil }),
      let link = air.connect(to: advertisement, from: initiator.own, parameters: initiator.parameters)
    else { return }
    self.initiator = nil
    updateListening()
    let connection = Connection(link)
    connections[handle] = connection
    link.central = { [weak self] actions in self?.take(actions, handle, connection) }
    link.failController = { [weak self] code in self?.fail(code) }
    link.begin(dataLength: configuration.dataLength, phys: configuration.phys)
    emitComplete(.success, handle: handle, peer: link.peer, link.parameters)
    if suggestedDataLength > 27 { startDataLength(suggestedDataLength, on: connection) }
    if !defaultTxPHYs.isEmpty, link.limits.phys.count > 1 {
      startPHY(tx: defaultTxPHYs, rx: defaultRxPHYs, options: 0, on: connection, isAutomatic: true)
    }
  }

  // MARK: On a link

  func connection(_ handle: ConnectionHandle) throws(ControllerErrorCode) -> Connection {
    guard let connection = connections[handle] else { throw .unknownConnectionIdentifier }
    return connection
  }

  private func disconnect(_ command: Disconnect) throws(ControllerErrorCode) {
    let connection = try connection(command.handle)
    // Vol 4 Part E §7.1.6.
    guard [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B].contains(command.reason.rawValue) else { throw .invalidParameters }
    guard !connection.isEnding else { throw .commandDisallowed }
    connection.isEnding = true
    connection.link.terminate(by: .central, reason: command.reason)
  }

  func setDataLength(_ command: LESetDataLength) throws(ControllerErrorCode) -> HandleReturned {
    let connection = try connection(command.handle)
    guard Self.isDataLength(command.txOctets, command.txTime) else { throw .invalidParameters }
    try checkProcedures(on: connection)
    startDataLength(Int(command.txOctets), on: connection)
    return HandleReturned(command.handle)
  }

  func setPHY(_ command: LESetPHY) throws(ControllerErrorCode) {
    let connection = try connection(command.handle)
    let (tx, rx) = try preferences(allPHYs: command.allPHYs, tx: command.tx, rx: command.rx)
    guard command.options <= 2 else { throw .unsupportedFeature }
    try checkProcedures(on: connection)
    startPHY(tx: tx, rx: rx, options: command.options, on: connection, isAutomatic: false)
  }

  private static let procedureLimit = 16

  private func checkProcedures(on connection: Connection) throws(ControllerErrorCode) {
    guard connection.procedures < Self.procedureLimit else { throw .controllerBusy }
  }

  private func start(_ procedure: LinkLayer.Procedure, on handle: ConnectionHandle) throws(ControllerErrorCode) {
    let connection = try connection(handle)
    try checkProcedures(on: connection)
    connection.procedures += 1
    connection.link.start(procedure)
  }

  /// Starts a Data Length Update to at most `octets` bytes per PDU. Does nothing if either side supports only 27 bytes.
  private func startDataLength(_ octets: Int, on connection: Connection) {
    let peer = connection.link.limits.dataLength
    guard peer > 27, configuration.dataLength > 27 else { return }
    connection.procedures += 1
    connection.link.start(
      .dataLength(central: min(octets, peer, configuration.dataLength), peripheral: min(peer, configuration.dataLength)))
  }

  private func startPHY(tx: PHYMask, rx: PHYMask, options: UInt16, on connection: Connection, isAutomatic: Bool) {
    let link = connection.link
    let both = configuration.phys.intersection(link.limits.phys)
    func choose(_ wanted: PHYMask, _ current: AirTime.Coding) -> AirTime.Coding {
      guard let phy = [PHY.le2M, .le1M, .coded].first(where: { both.contains($0) && wanted.contains(PHYMask($0)) }) else { return current }
      // PHY options: 1 prefers S=2, 2 prefers S=8.
      return phy == .coded && (options == 1 || options == 0 && link.limits.prefersS2) ? .codedS2 : AirTime.Coding(phy)
    }
    let chosen = (central: choose(tx, link.coding(of: .central)), peripheral: choose(rx, link.coding(of: .peripheral)))
    // Report an automatic procedure only if it changes a PHY.
    if isAutomatic, chosen == (link.coding(of: .central), link.coding(of: .peripheral)) { return }
    // A peer with only 1M does not know LL_PHY_REQ either.
    connection.phyOutcomes.append(link.limits.phys.count > 1 ? .success : .unsupportedRemoteFeature)
    connection.procedures += 1
    link.start(.phy(central: chosen.central, peripheral: chosen.peripheral))
  }

  func transmit(_ data: ACLData) {
    guard let connection = connections[data.handle] else { return violate("ACL data for an unknown handle, \(data.handle)") }
    guard data.payload.count <= configuration.bufferLength else {
      return overflow("an ACL packet of \(data.payload.count) bytes, longer than the buffers")
    }
    let queued = connections.values.reduce(0) { $0 + $1.link.queued(by: .central) }
    guard queued < configuration.buffers else { return overflow("more ACL packets than buffers") }
    switch data.boundary {
    case .firstNonFlushable, .continuing: break
    default: violate("ACL data with an invalid packet boundary flag")
    }
    guard !connection.isEnding else { return }
    connection.link.send(by: .central, data.payload, isStart: data.boundary != .continuing)
  }

  private func overflow(_ text: String) {
    violate(text)
    // Data Buffer Overflow, ACL (Vol 4 Part E §7.7.26).
    emit(.other(code: 0x1A, [0x01]))
  }

  // MARK: From the link

  private func take(_ actions: [LinkLayer.Action], _ handle: ConnectionHandle, _ connection: Connection) {
    for action in actions {
      switch action {
      case .received(by: .central, let octets, let isStart):
        emit(ACLData(handle: handle, boundary: isStart ? .firstFlushable : .continuing, payload: octets))
      case .completed(by: .central, let count):
        emit(.numberOfCompletedPackets([Event.CompletedPackets(handle: handle, count: UInt16(clamping: count))]))
      case .done(let procedure):
        // The procedure that starts encryption, or refuses it, goes on with this one.
        if case .encryptionRequest = procedure { continue }
        // The peer may have started the procedure.
        connection.procedures = max(0, connection.procedures - 1)
        finish(procedure, handle, connection)
      case .closed(let reason, _):
        connections[handle] = nil
        emit(.disconnectionComplete(status: .success, handle: handle, reason: reason))
      case .received, .completed: break
      }
    }
    deliver()
  }

  private func finish(_ procedure: LinkLayer.Procedure, _ handle: ConnectionHandle, _ connection: Connection) {
    switch procedure {
    case .featureExchange:
      let limits = connection.link.limits
      var features: LEFeatures = [.encryption, .peripheralInitiatedFeatures]
      if limits.dataLength > 27 { features.insert(.dataLengthExtension) }
      if limits.phys.contains(.le2M) { features.insert(.phy2M) }
      if limits.phys.contains(.coded) { features.insert(.phyCoded) }
      emit(.leReadRemoteFeaturesComplete(status: .success, handle: handle, features: features))
    case .encryptionRequest: break
    case .encryptionStart:
      connection.isEncrypting = false
      emit(
        connection.isEncrypted
          ? .encryptionKeyRefreshComplete(status: .success, handle: handle)
          : .encryptionChange(status: .success, handle: handle, isEnabled: true))
      connection.isEncrypted = true
    case .encryptionRefusal:
      connection.isEncrypting = false
      emit(.encryptionChange(status: .pinOrKeyMissing, handle: handle, isEnabled: false))
    case .versionExchange: emit(.readRemoteVersionComplete(status: .success, handle: handle, version: 13, company: 0xFFFF, subversion: 1))
    case .connectionUpdate(let new):
      emit(
        .leConnectionUpdateComplete(
          status: .success, handle: handle, interval: new.interval, latency: new.latency, supervisionTimeout: new.supervisionTimeout))
    case .dataLength(let central, let peripheral):
      // Report only changes (Vol 4 Part E §7.7.65.7).
      guard connection.reportedDataLength != (central, peripheral) else { return }
      connection.reportedDataLength = (central, peripheral)
      emit(
        .leDataLengthChange(
          handle: handle, maxTxOctets: UInt16(central), maxTxTime: Self.time(octets: central), maxRxOctets: UInt16(peripheral),
          maxRxTime: Self.time(octets: peripheral)))
    case .phy(let central, let peripheral):
      let outcome = connection.phyOutcomes.isEmpty ? .success : connection.phyOutcomes.removeFirst()
      emit(.lePHYUpdateComplete(status: outcome, handle: handle, tx: central.phy.rawValue, rx: peripheral.phy.rawValue))
    }
  }
}

extension VirtualController: AirListener {
  func hear(_ advertisement: Air.Advertisement) {
    let now = EventLoop.shared.now.nanoseconds
    report(advertisement, at: now)
    if let initiator, initiator.peer == advertisement.peer, initiator.isListening(at: now),
      initiator.isExtended || !advertisement.isExtended
    {
      connect(advertisement, for: initiator)
    }
    deliver()
  }
}

extension LinkLayer.Parameters {
  /// Creates link layer parameters with the shortest interval that the host accepts.
  fileprivate init(_ wanted: ConnectionParameters) {
    self.init(interval: wanted.intervalMin, latency: wanted.latency, supervisionTimeout: wanted.supervisionTimeout)
  }
}

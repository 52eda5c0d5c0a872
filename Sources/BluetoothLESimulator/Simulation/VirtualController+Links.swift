// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

extension VirtualController {
  /// A host's command to connect, which waits for the peer to advertise.
  struct Initiator {
    let peer: PeerAddress
    let own: PeerAddress
    let parameters: LinkLayer.Parameters
    let isExtended: Bool
    let phys: PHYMask
    let scanInterval: Slots
    let scanWindow: Slots
    let start: Int64

    /// Returns whether the advertisement is heard and allows to connect.
    func fits(_ pdus: AdvertisingPDUs, at now: Int64) -> Bool {
      guard pdus.target ?? own == own, isExtended || !pdus.isExtended, phys.contains(PHYMask(pdus.primary)) else { return false }
      guard !pdus.isExtended || phys.contains(PHYMask(pdus.secondary)) else { return false }
      return (now - start) % scanInterval.nanoseconds < scanWindow.nanoseconds
    }
  }

  @LoopActor
  final class Connection {
    let link: VirtualLink
    /// The role of the controller.
    let side: LinkLayer.Side
    var isEnding = false
    /// The number of link layer procedures of the controller that wait or run.
    var procedures = 0
    /// The results of PHY procedures with the peer's controller, in the order of the commands. Nil for a procedure that no command started.
    var phyOutcomes: [ControllerErrorCode?] = []
    /// The data lengths, in bytes, and the PHYs that the host knows: of the central, then of the peripheral.
    var reportedDataLength = (27, 27)
    var reportedPHYs: (PHY, PHY)
    var isEncrypting = false
    var isEncrypted = false
    /// The timer that limits the wait for the host's answer to LE Long Term Key Request.
    var keyTimer: LoopTimer?

    init(_ link: VirtualLink, _ side: LinkLayer.Side) {
      (self.link, self.side) = (link, side)
      reportedPHYs = (link.coding(of: .central).phy, link.coding(of: .peripheral).phy)
    }

    var peer: PeerAddress { side == .central ? link.peer : link.initiator }
    func own<Value>(_ central: Value, _ peripheral: Value) -> Value { side == .central ? central : peripheral }

    func phy(of side: LinkLayer.Side) -> PHY { link.coding(of: side).phy }

    /// Loses the link without an event for the host. The peer notices the loss after the supervision timeout.
    func drop() {
      keyTimer?.cancel()
      if side == .central { link.central = nil } else { link.peripheral = nil }
      link.cut()
    }
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
      guard connection.side == .central, !connection.isEncrypting else { throw .commandDisallowed }
      try controller.start(
        .encryptionRequest(.init(key: command.longTermKey, rand: command.random, ediv: command.ediv)), on: command.handle)
      connection.isEncrypting = true
    }
    commands.reply(to: LELongTermKeyRequestReply.self) { (controller, command) throws(ControllerErrorCode) in
      try controller.answerKeyRequest(command.key, on: command.handle)
    }
    commands.reply(to: LELongTermKeyRequestNegativeReply.self) { (controller, command) throws(ControllerErrorCode) in
      try controller.answerKeyRequest(nil, on: command.handle)
    }
    commands.on(LEConnectionUpdate.self) { (controller, command) throws(ControllerErrorCode) in
      let connection = try controller.connection(command.handle)
      guard command.parameters.isValid else { throw .invalidParameters }
      // A peripheral needs the Connection Parameters Request procedure, which this controller lacks.
      guard connection.side == .central else { throw .unsupportedRemoteFeature }
      try controller.start(.connectionUpdate(LinkLayer.Parameters(command.parameters)), on: command.handle)
    }
  }

  private func create(_ command: LECreateConnection) throws(ControllerErrorCode) {
    try use(.legacy, for: command)
    guard command.filterPolicy == 0, isOwnAddress(command.ownAddressType) else { throw .invalidParameters }
    try initiate(
      command.peer, ownAddress(command.ownAddressType), command.parameters, scanInterval: command.scanInterval,
      scanWindow: command.scanWindow, isExtended: false, phys: .le1M)
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
      isExtended: true, phys: command.phys)
  }

  func ownAddress(_ type: UInt8) -> PeerAddress {
    if type & 1 == 1, let randomAddress { PeerAddress(randomAddress, .random) } else { PeerAddress(address, .public) }
  }

  private func initiate(
    _ peer: PeerAddress, _ own: PeerAddress, _ parameters: ConnectionParameters, scanInterval: Slots, scanWindow: Slots, isExtended: Bool,
    phys: PHYMask
  ) throws(ControllerErrorCode) {
    guard parameters.isValid, scanInterval >= 4, (4...scanInterval).contains(scanWindow) else { throw .invalidParameters }
    guard initiator == nil else { throw .commandDisallowed }
    guard !connections.values.contains(where: { $0.peer == peer }) else { throw .connectionAlreadyExists }
    guard connections.count < configuration.maxConnections else { throw .connectionLimitExceeded }
    initiator = Initiator(
      peer: peer, own: own, parameters: LinkLayer.Parameters(parameters), isExtended: isExtended, phys: phys, scanInterval: scanInterval,
      scanWindow: scanWindow, start: EventLoop.shared.now.nanoseconds)
    updateListening()
  }

  private func cancelCreation() throws(ControllerErrorCode) {
    guard let initiator else { throw .commandDisallowed }
    self.initiator = nil
    updateListening()
    afterAnswer = { [self] in emitComplete(.unknownConnectionIdentifier, peer: initiator.peer, initiator.parameters) }
  }

  func emitComplete(
    _ status: ControllerErrorCode, handle: ConnectionHandle = 0, _ side: LinkLayer.Side = .central, peer: PeerAddress,
    _ parameters: LinkLayer.Parameters
  ) {
    // Send the enhanced event if the host unmasked it (Vol 4 Part E §7.7.65.10).
    emit(
      .leConnectionComplete(
        Event.ConnectionComplete(
          form: leEventMask & 1 << 9 != 0 ? .enhanced : .plain, status: status, handle: handle, role: side == .central ? 0 : 1, peer: peer,
          interval: parameters.interval, latency: parameters.latency, supervisionTimeout: parameters.supervisionTimeout)))
  }

  private func connect(_ advertisement: Air.Advertisement, for initiator: Initiator) {
    guard let handle = freeHandle,
      let link = air.connect(to: advertisement, from: initiator.own, parameters: initiator.parameters, central: linkEnd)
    else { return }
    self.initiator = nil
    updateListening()
    let connection = add(link, .central, handle)
    link.failController = { [weak self] code in self?.fail(code) }
    link.begin()
    startDefaults(on: connection)
  }

  /// Takes the connection of a central to an advertising set.
  func accept(_ link: VirtualLink, of set: AdvertisingSet) {
    guard let handle = freeHandle else { return }
    let connection = add(link, .peripheral, handle)
    if commandSet == .extended {
      emit(.leAdvertisingSetTerminated(status: .success, advertisingHandle: set.handle, handle: handle, events: set.countedEvents))
    }
    startDefaults(on: connection)
  }

  /// The handle of the next link. Nil if the controller has as many links as it can.
  var freeHandle: ConnectionHandle? {
    let handles = configuration.firstHandle..<configuration.firstHandle + UInt16(configuration.maxConnections)
    return handles.lazy.map { ConnectionHandle($0) }.first { connections[$0] == nil }
  }

  /// The abilities of the controller on a new link, with the wishes of its host.
  var linkEnd: LinkEnd {
    var end = LinkEnd(dataLength: configuration.dataLength, phys: PHYMask(configuration.phys))
    end.txOctets = suggestedDataLength
    if !defaultTxPHYs.isEmpty { (end.tx, end.rx) = (defaultTxPHYs, defaultRxPHYs) }
    return end
  }

  private func add(_ link: VirtualLink, _ side: LinkLayer.Side, _ handle: ConnectionHandle) -> Connection {
    let connection = Connection(link, side)
    connections[handle] = connection
    let take: @LoopActor ([LinkLayer.Action]) -> Void = { [weak self] actions in self?.take(actions, handle, connection) }
    if side == .central { link.central = take } else { link.peripheral = take }
    emitComplete(.success, handle: handle, side, peer: connection.peer, link.parameters)
    return connection
  }

  /// Starts the procedures for the default data length and PHYs. A peripheral leaves them to a central that starts them.
  private func startDefaults(on connection: Connection) {
    let central = connection.link.ends.central
    if suggestedDataLength > 27, connection.side == .central || central.txOctets <= 27 {
      startDataLength(suggestedDataLength, on: connection)
    }
    if !defaultTxPHYs.isEmpty, connection.link.ends[connection.side.other].phys != .le1M {
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
    connection.link.terminate(by: connection.side, reason: command.reason)
  }

  private func answerKeyRequest(_ key: UInt128?, on handle: ConnectionHandle) throws(ControllerErrorCode) -> HandleReturned {
    let connection = try connection(handle)
    guard let timer = connection.keyTimer else { throw .commandDisallowed }
    timer.cancel()
    connection.keyTimer = nil
    connection.link.answer(key)
    return HandleReturned(handle)
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
    connection.link.start(procedure, by: connection.side)
  }

  private func startDataLength(_ bytes: Int, on connection: Connection) {
    if connection.link.startDataLength(bytes, by: connection.side) { connection.procedures += 1 }
  }

  private func startPHY(tx: PHYMask, rx: PHYMask, options: UInt16, on connection: Connection, isAutomatic: Bool) {
    let link = connection.link
    guard link.startPHY(tx: tx, rx: rx, options: options, by: connection.side, isNeeded: !isAutomatic) else { return }
    // A peer with only 1M does not know LL_PHY_REQ either.
    connection.phyOutcomes.append(isAutomatic ? nil : link.ends[connection.side.other].phys != .le1M ? .success : .unsupportedRemoteFeature)
    connection.procedures += 1
  }

  func transmit(_ data: ACLData) {
    guard let connection = connections[data.handle] else { return violate("ACL data for an unknown handle, \(data.handle)") }
    guard data.payload.count <= configuration.bufferLength else {
      return overflow("an ACL packet of \(data.payload.count) bytes, longer than the buffers")
    }
    let queued = connections.values.reduce(0) { $0 + $1.link.queued(by: $1.side) }
    guard queued < configuration.buffers else { return overflow("more ACL packets than buffers") }
    switch data.boundary {
    case .firstNonFlushable, .continuing: break
    default: violate("ACL data with an invalid packet boundary flag")
    }
    guard !connection.isEnding else { return }
    connection.link.send(by: connection.side, data.payload, isStart: data.boundary != .continuing)
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
      case .received(let side, let bytes, let isStart) where side == connection.side:
        emit(ACLData(handle: handle, boundary: isStart ? .firstFlushable : .continuing, payload: bytes))
      case .completed(let side, let count) where side == connection.side:
        emit(.numberOfCompletedPackets([Event.CompletedPackets(handle: handle, count: UInt16(clamping: count))]))
      case .done(let procedure, let side):
        finish(procedure, isOwn: side == connection.side, handle, connection)
      case .closed(let central, let peripheral):
        connections[handle] = nil
        connection.keyTimer?.cancel()
        emit(.disconnectionComplete(status: .success, handle: handle, reason: connection.own(central, peripheral)))
      case .received, .completed: break
      }
    }
    deliver()
  }

  /// Reports the end of a procedure.
  /// - Parameter isOwn: Whether this controller started the procedure.
  private func finish(_ procedure: LinkLayer.Procedure, isOwn: Bool, _ handle: ConnectionHandle, _ connection: Connection) {
    // The procedure that starts encryption, or refuses it, goes on with LL_ENC_REQ.
    if case .encryptionRequest(let request) = procedure { return requestKey(request, handle, connection) }
    if isOwn { connection.procedures -= 1 }
    switch procedure {
    case .featureExchange:
      guard isOwn else { return }
      let peer = connection.link.ends[connection.side.other]
      var features: LEFeatures = [.encryption, .peripheralInitiatedFeatures]
      if peer.dataLength > 27 { features.insert(.dataLengthExtension) }
      if peer.phys.contains(.le2M) { features.insert(.phy2M) }
      if peer.phys.contains(.coded) { features.insert(.phyCoded) }
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
      guard isOwn else { return }
      emit(.encryptionChange(status: .pinOrKeyMissing, handle: handle, isEnabled: false))
    case .versionExchange:
      guard isOwn else { return }
      emit(.readRemoteVersionComplete(status: .success, handle: handle, version: 13, company: 0xFFFF, subversion: 1))
    case .connectionUpdate(let new):
      emit(
        .leConnectionUpdateComplete(
          status: .success, handle: handle, interval: new.interval, latency: new.latency, supervisionTimeout: new.supervisionTimeout))
    case .dataLength(let central, let peripheral):
      // Report only changes (Vol 4 Part E §7.7.65.7).
      guard connection.reportedDataLength != (central, peripheral) else { return }
      connection.reportedDataLength = (central, peripheral)
      let (tx, rx) = (connection.own(central, peripheral), connection.own(peripheral, central))
      emit(
        .leDataLengthChange(
          handle: handle, maxTxOctets: UInt16(tx), maxTxTime: Self.time(bytes: tx), maxRxOctets: UInt16(rx),
          maxRxTime: Self.time(bytes: rx)))
    case .phy(let central, let peripheral):
      let outcome = isOwn && !connection.phyOutcomes.isEmpty ? connection.phyOutcomes.removeFirst() : nil
      // Without a command, report only changes (Vol 4 Part E §7.7.65.12).
      guard outcome != nil || connection.reportedPHYs != (central.phy, peripheral.phy) else { return }
      connection.reportedPHYs = (central.phy, peripheral.phy)
      let (tx, rx) = (connection.own(central, peripheral).phy, connection.own(peripheral, central).phy)
      emit(.lePHYUpdateComplete(status: outcome ?? .success, handle: handle, tx: tx.rawValue, rx: rx.rawValue))
    }
  }

  /// Asks the peripheral's host for the key that the central names.
  private func requestKey(_ request: LinkLayer.EncryptionRequest, _ handle: ConnectionHandle, _ connection: Connection) {
    guard connection.side == .peripheral else { return }
    let event = Event.leLongTermKeyRequest(handle: handle, random: request.rand, ediv: request.ediv)
    // The controller answers for a host that masks the event (Vol 4 Part E §7.7.65.5).
    guard isWanted(event) else { return connection.link.answer(nil) }
    emit(event)
    // The procedure response timeout, Vol 6 Part B §5.2.
    connection.keyTimer = EventLoop.shared.schedule(after: .seconds(40)) { [weak connection] in
      connection?.keyTimer = nil
      connection?.link.fail(.llResponseTimeout)
    }
  }
}

extension VirtualController: AirListener {
  func hear(_ advertisement: Air.Advertisement) {
    let now = EventLoop.shared.now.nanoseconds
    report(advertisement, at: now)
    if let initiator, initiator.peer == advertisement.peer, initiator.fits(advertisement.pdus, at: now) {
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

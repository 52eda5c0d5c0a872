// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

// What controls and observes a running device: lines, faults, the security of its links, and events.

extension VirtualPeripheral {
  /// Performs a line, also before any central is connected.
  /// - Returns: the number of centrals that receive the value of `notify` or `indicate`. Nil for other lines.
  /// - Throws: the errors of `AttributeDatabase.resolve`; `PeripheralLineError` for what the attribute or a link cannot carry.
  @discardableResult
  package func perform(_ line: PeripheralLine) throws -> Int? {
    switch line {
    case .set(let selector, let value):
      let attribute = try store.database.resolve(selector)
      begin([.init(.set(attribute.handle, Template(parts: [.bytes(try fitting(value, attribute, selector))])))])
    case .notify(let selector, let value): return try send(selector, value, bit: 1)
    case .indicate(let selector, let value): return try send(selector, value, bit: 2)
    case .disconnect(let reason): begin([.init(.disconnect(.terminate(reason)))])
    case .advertise(let isOn): begin([.init(.advertise(isOn))])
    case .fault(let fault): try add(fault)
    }
    return nil
  }

  private func fitting(_ value: [UInt8], _ attribute: AttributeDatabase.Attribute, _ selector: Selector) throws -> [UInt8] {
    if case .configuration = attribute.role {
      throw PeripheralLineError(
        word: selector.description, expected: "an attribute whose value all centrals share", example: "set \(attribute.handle.previous) 00")
    }
    guard value.count <= attribute.maximumLength else {
      throw PeripheralLineError(
        word: "\(value.count) bytes", expected: "at most \(attribute.maximumLength) bytes for \(selector)", example: "set \(selector) 00")
    }
    return value
  }

  private func send(_ selector: Selector, _ value: [UInt8]?, bit: UInt16) throws -> Int {
    let attribute = try store.database.resolve(selector)
    let (property, name): (Properties, String) = bit == 1 ? (.notify, "notify") : (.indicate, "indicate")
    guard case .value(let properties, _) = attribute.role, properties.contains(property) else {
      let other = store.database.attributes.first { if case .value(let its, _) = $0.role { its.contains(property) } else { false } }
      throw PeripheralLineError(
        word: selector.description, expected: "a characteristic with the property \(name)",
        example: "\(name) \(other.map { "\($0.handle)" } ?? "ffe1") 00")
    }
    let bytes = try fitting(value ?? attribute.value, attribute, selector)
    let template = Template(parts: [.bytes(bytes)])
    begin([.init(bit == 1 ? .notify(attribute.handle, template) : .indicate(attribute.handle, template))])
    return links.count { $0.server.reaches(attribute.handle, bit) }
  }

  // MARK: Faults

  private func add(_ fault: PeripheralLine.Fault) throws {
    if case .access(_, .raw(let bytes), _) = fault, let limit = links.map(\.server.bearer.largestPDU).min(), bytes.count > limit {
      throw PeripheralLineError(
        word: "\(bytes.count) bytes", expected: "at most \(limit) bytes, which a link carries", example: "fault ffe1 raw 0b01")
    }
    try faults.add(fault, store.database)
    for link in links { apply(faults, to: link.server, link.channel) }
    guard fault == .forgetBonds else { return }
    bonds = [:]
    for link in links { link.channel?.manager?.bond = nil }
    report(.fault("forget bonds"), nil)
  }

  func apply(_ faults: FaultPlan, to server: Server, _ channel: (any DeviceChannel)?) {
    let peer = channel?.peer
    server.onRequest = nil
    if faults.concernsRequests {
      server.onRequest = { [weak self, weak server] handles, intent in self?.decision(on: handles, intent, server, peer) }
    }
    server.bearer.announced = faults.mtu
    if faults.mtu == nil { server.bearer.offer(rxMTU: description.mtu) }
    server.onAnnouncedMTU = { [weak self] mtu in self?.report(.fault("mtu \(mtu)"), peer) }
    channel?.manager?.acceptance = acceptance
    channel?.manager?.onRefusal = { [weak self] in self?.refused($0, peer) }
  }

  /// Reports a refused pairing, if a fault refused it.
  func refused(_ reason: PairingFailedReason, _ peer: PeerAddress?) {
    if faults.refusal == reason { report(.fault("refuse pairing \(reason.snakeName)"), peer) }
  }

  private func decision(
    on handles: [AttributeHandle], _ intent: ServerSession.Intent, _ server: Server?, _ peer: PeerAddress?
  ) -> Server.Decision? {
    guard let server, let hit = faults.take(handles, intent) else { return nil }
    var decision = Server.Decision()
    decision.handle = hit.handle
    var texts = hit.access.map { [$0.text] } ?? []
    switch hit.access {
    case .error(let code): decision.error = code
    case .delay(let time): decision.delay = time
    case .silent: decision.isPerformed = false
    case .drop: decision.isAnswered = false
    case .truncate(let length): decision.length = length
    case .raw(let bytes) where bytes.count > server.bearer.largestPDU:
      texts = ["raw: not sent, because \(bytes.count) bytes exceed \(server.bearer.largestPDU), the limit of the link"]
    case .raw(let bytes): decision.bytes = bytes
    case nil: break
    }
    // An ignored or refused write is no write.
    let disconnects = hit.disconnects && decision.isPerformed && decision.error == nil
    if disconnects {
      decision.isAnswered = false
      texts.append("disconnect on write")
    }
    decision.then = { [weak self, weak server] in
      for text in texts { self?.report(.fault(text), peer, hit.handle) }
      guard disconnects, let self, let link = links.first(where: { $0.server === server }) else { return }
      disconnect(link, .terminate(.remoteUserTerminated))
    }
    return decision
  }

  // MARK: Security

  /// Whether and how the device pairs now.
  package var acceptance: Pairing.Acceptance {
    faults.refusal.map { .refuse($0) } ?? description.security?.acceptance ?? .refuse(.pairingNotSupported)
  }

  /// The user of the device, as its description says.
  package var user: any PairingUser {
    DeviceUser(passkey: description.security?.passkey) { [weak self] in self?.observer?.displayed($0) }
  }

  func secure(_ server: Server, _ channel: any DeviceChannel) {
    channel.onSecurityLevel = { [weak self, weak server, weak channel] level in
      if let server, let channel { self?.secured(server, channel, level, nil) }
    }
    if channel.securityLevel > .unencrypted { secured(server, channel, channel.securityLevel, nil) }
    guard let manager = channel.manager else { return }
    let (security, peer) = (description.security, manager.pairing.peer)
    manager.bond = bonds[peer]
    manager.user = user
    // The host may have handlers of its own.
    let (onEnd, onEncrypted) = (manager.onEnd, manager.onEncrypted)
    // Lets its user try again at once.
    manager.onEnd = { [weak self, weak manager] in
      onEnd?()
      if let self { manager?.acceptance = acceptance }
    }
    manager.onEncrypted = { [weak self, weak server, weak channel] level, pairing in
      onEncrypted?(level, pairing)
      guard let self, let server, let channel else { return }
      if let bond = pairing?.bond, security?.forgets == false { bonds[peer] = bond }
      secured(server, channel, level.level, pairing)
    }
  }

  func secured(_ server: Server, _ channel: any DeviceChannel, _ level: SecurityLevel, _ pairing: PairingResult?) {
    server.security = level >= .authenticated ? .authenticated : level == .encrypted ? .encrypted : .none
    if let pairing { report(.paired(pairing), channel.peer) }
    observer?.secured(server, channel, level, pairing)
  }

  /// Reports a restored subscription of a bonded central, with the CCCD bits of the value.
  package func restored(_ bits: UInt16, of handle: AttributeHandle, _ peer: PeerAddress) {
    report(.subscribed(bits), peer, handle)
    subscriptionChanged(handle)
  }

  // MARK: Events

  func observe(_ server: Server, _ peer: PeerAddress?) {
    guard observer != nil else { return }
    server.onRead = { [weak self] handle, value in self?.report(.read, peer, handle, value) }
    server.onDropped = { [weak self] handle in
      self?.report(.fault("not sent, because \(Bearer.answerLimit) values wait for the central"), peer, handle)
    }
    server.onSend = { [weak self] handle, value, isIndication in self?.report(isIndication ? .indicated : .notified, peer, handle, value) }
  }

  func report(_ kind: ServedEvent.Kind, _ peer: PeerAddress?, _ handle: AttributeHandle? = nil, _ value: [UInt8]? = nil) {
    guard let observer else { return }
    observer.happened(ServedEvent(kind, peer, handle, handle.flatMap { store.database[$0]?.type }, value: value))
  }
}

// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A peripheral that advertises, serves each link and reacts as its `PeripheralDescription` says. It is simulated, or on a radio.
/// Values, variables, timers and counters survive a disconnection. A client's configurations and prepared writes do not.
/// When the last client disconnects, the device drops collected bytes and waiting actions.
/// Without a connection and without an observer, the device runs no loop timer. It catches up when a scanner or a central next needs it.
@LoopActor
package final class VirtualPeripheral: Advertiser {
  /// The description that runs now. A device that takes updates may have another one after each start.
  package private(set) var description: PeripheralDescription
  /// The attributes with their current values, which all clients share.
  package let store: AttributeStore

  struct Link {
    let server: Server
    /// The channel to the central. Nil if the radio's channel is not a `DeviceChannel`.
    let channel: (any DeviceChannel)?
  }
  private(set) var links: [Link] = []
  private var servers: [Server] { links.map(\.server) }
  /// The bonds by the address of the central on its link.
  var bonds: [PeerAddress: Bond] = [:]
  /// The observer of what happens, for a device on a radio.
  package weak var observer: (any DeviceObserver)? { didSet { arm() } }
  var faults = FaultPlan()
  private var machine: PeripheralMachine
  private var timer: LoopTimer?
  /// The due time of `timer` in nanoseconds. Nil if no timer runs.
  private var armed: Int64?
  private var periodic: [AttributeHandle: LoopTimer] = [:]
  private var collected: [AttributeHandle: (bytes: [UInt8], timer: LoopTimer)] = [:]
  private var counters: [AttributeHandle: (counter: ReactionCounter, timer: LoopTimer?)] = [:]
  /// The firmware that takes updates. Nil for a device without `update`.
  private let firmware: (any UpdatableFirmware)?
  /// The timer of a start that is not complete. Nil while the device runs.
  private var starting: LoopTimer?
  private let seed: UInt64

  /// Creates a device that runs a description.
  /// - Parameter seed: The seed of the random numbers.
  /// - Parameter wallClock: The initial time of the device's clock, in nanoseconds since 1970-01-01T00:00:00Z.
  package init(_ description: PeripheralDescription, seed: UInt64 = 1, wallClock: Int64 = EventLoop.shared.wallClock) {
    firmware = description.update?.firmware(description)
    let faults = description.faults
    let description = firmware?.running ?? description
    (self.description, self.seed) = (description, seed)
    store = AttributeStore(description.database)
    for fault in faults { try? self.faults.add(fault, description.database) }
    machine = Self.machine(description, seed, wallClock)
    countFromZero()
    firmware?.host = self
  }

  private static func machine(_ description: PeripheralDescription, _ seed: UInt64, _ wallClock: Int64) -> PeripheralMachine {
    // Each device draws from its own stream, independent of the other devices.
    let stream = 1 << 48 | UInt64(description.address.address.rawValue)
    let state = PeripheralState(
      variables: description.variables, now: EventLoop.shared.now.nanoseconds, wallClock: wallClock, seed: seed, stream: stream)
    return PeripheralMachine(state: state, timers: description.timers, description.database)
  }

  private func countFromZero() {
    for (handle, behaviour) in description.behaviours {
      guard let sink = behaviour.sink else { continue }
      counters[handle] = (ReactionCounter(), nil)
      store.database.setValue(ReactionCounter().report, of: sink.report)
    }
  }

  // MARK: Advertiser

  package var address: PeerAddress { description.address }
  package var advertising: AdvertisingSettings {
    catchUp()
    var settings = description.advertising
    settings.isOn = machine.isAdvertising && isRunning
    if let template = description.advertisement { settings.data = template.data(value) }
    if let template = description.scanResponse { settings.scanResponse = template.data(value) }
    return settings
  }
  package var linkLimits: LinkLimits { description.linkLimits }

  package func connected(_ channel: any Channel) {
    catchUp()
    let server = Server(store: store, bearer: Bearer(channel, rxMTU: description.mtu))
    let deviceChannel = channel as? any DeviceChannel
    links.append(Link(server: server, channel: deviceChannel))
    if let deviceChannel { secure(server, deviceChannel) }
    apply(faults, to: server, deviceChannel)
    observe(server, deviceChannel?.peer)
    server.unasked = description.behaviours.compactMapValues(\.unasked)
    server.onAccess = { [weak self, weak server] access in
      if case .write(let handle, let value, _) = access, let server,
        let decision = self?.firmware?.decision(on: handle, value, from: server)
      {
        return decision
      }
      return self?.accessed(access) ?? Server.Decision()
    }
    let peer = deviceChannel?.peer
    server.onWrite = { [weak self] handle, value, kind in
      self?.report(.written(kind), peer, handle, value)
      self?.written(handle, value)
    }
    server.onSubscription = { [weak self] handle, bits in
      self?.report(bits == 0 ? .unsubscribed : .subscribed(bits), peer, handle)
      self?.configured(handle, bits)
    }
    server.onClosed = { [weak self, weak server] error in
      self?.closed(server)
      self?.report(.disconnected(error), peer)
    }
    report(.connected, peer)
    for handle in server.unasked.keys.sorted() { subscriptionChanged(handle) }
    begin(description.onConnect)
    server.start()
  }

  package func restore(_ bond: Bond, with central: PeerAddress) {
    guard let security = description.security, !security.forgets, !description.faults.contains(.forgetBonds) else { return }
    bonds[central] = bond
  }

  package var connectionCount: Int { links.count }

  private func closed(_ server: Server?) {
    guard links.contains(where: { $0.server === server }) else { return }
    catchUp()
    links.removeAll { $0.server === server }
    firmware?.forgetClient()
    for handle in description.behaviours.keys.sorted() { subscriptionChanged(handle) }
    if links.isEmpty {
      for collection in collected.values { collection.timer.cancel() }
      collected = [:]
      machine.forget()
    }
    begin(description.onDisconnect)
  }

  // MARK: Time

  private var now: Int64 { EventLoop.shared.now.nanoseconds }

  private func catchUp() { if let due = machine.due, due <= now { perform(machine.advance(to: now, &store.database)) } }

  /// Schedules the loop timer for the next due time. Schedules none if no client is connected, no action waits and nobody observes.
  private func arm() {
    let due = links.isEmpty && !machine.isWaiting && observer == nil ? nil : machine.due
    guard due != armed else { return }
    timer?.cancel()
    armed = due
    timer = due.map { due in
      EventLoop.shared.schedule(at: LoopClock.Instant(nanoseconds: due)) { [weak self] in
        self?.armed = nil
        self?.catchUp()
        self?.arm()
      }
    }
  }

  func begin(_ actions: [Reaction.Action], _ written: [UInt8] = []) {
    perform(machine.begin(actions, written: written, at: now, &store.database))
  }

  private func value(_ template: Template) -> [UInt8] { machine.value(template, at: now, store.database) }

  // MARK: Reads and writes

  private func accessed(_ access: ServerSession.Access) -> Server.Decision {
    guard let behaviour = description.behaviours[access.handle] else { return Server.Decision() }
    catchUp()
    switch access {
    case .read:
      guard let reaction = machine.choose(behaviour.readReactions, written: [], at: now, store.database) else { return Server.Decision() }
      // The read returns the values that these actions set.
      begin(reaction.actions)
      return decision(reaction.answer)
    case .write(_, let value, _):
      guard behaviour.collect == nil, let reaction = machine.choose(behaviour.reactions, written: value, at: now, store.database) else {
        return Server.Decision()
      }
      var decision = decision(reaction.answer)
      decision.then = { [weak self] in self?.begin(reaction.actions, value) }
      return decision
    }
  }

  private func decision(_ answer: Reaction.Answer) -> Server.Decision {
    var decision = Server.Decision()
    (decision.error, decision.delay, decision.isAnswered) = (answer.error, answer.delay, answer.isSent)
    return decision
  }

  private func written(_ handle: AttributeHandle, _ value: [UInt8]) {
    guard let behaviour = description.behaviours[handle] else { return }
    if let sink = behaviour.sink { count(value, handle, sink) }
    guard let collect = behaviour.collect else { return }
    collected[handle]?.timer.cancel()
    let bytes = (collected[handle]?.bytes ?? []) + value
    guard bytes.count < collect.bytes else {
      collected[handle] = nil
      return react(behaviour, bytes)
    }
    let timer = EventLoop.shared.schedule(after: collect.pause) { [weak self] in
      self?.collected[handle] = nil
      self?.react(behaviour, bytes)
    }
    collected[handle] = (bytes, timer)
  }

  private func react(_ behaviour: PeripheralDescription.Behaviour, _ written: [UInt8]) {
    catchUp()
    guard let reaction = machine.choose(behaviour.reactions, written: written, at: now, store.database) else { return }
    begin(reaction.actions, written)
  }

  // MARK: Effects

  private func perform(_ effects: [PeripheralMachine.Effect]) {
    for effect in effects {
      switch effect {
      case .notify(let handle, let value): for server in servers { server.notify(handle, value) }
      case .indicate(let handle, let value): for server in servers { server.indicateWhenFree(handle, value) }
      case .reset(let sink): reset(sink)
      case .disconnect(let how): for link in links { disconnect(link, how) }
      case .busy(let time): for link in links { link.channel?.keepBusy(for: time) }
      case .failController(let code): for link in links { link.channel?.failController(code) }
      }
    }
    arm()
    observer?.changed()
  }

  func disconnect(_ link: Link, _ how: Reaction.Disconnection) {
    switch (how, link.channel) {
    case (.outOfRange, let channel?): channel.cut()
    case (.terminate(let reason), let channel?) where reason != .remoteUserTerminated: channel.terminate(reason: reason)
    default: link.server.close()
    }
  }

  // MARK: Sinks

  private func count(_ value: [UInt8], _ handle: AttributeHandle, _ sink: PeripheralDescription.Sink) {
    counters[handle]?.timer?.cancel()
    counters[handle]?.counter.add(value)
    guard let report = counters[handle]?.counter.report else { return }
    store.database.setValue(report, of: sink.report)
    counters[handle]?.timer = EventLoop.shared.schedule(after: sink.pause) { [weak self] in
      guard let self else { return }
      for server in servers { send(report, sink.report, server) }
    }
  }

  private func reset(_ handle: AttributeHandle) {
    guard let sink = description.behaviours[handle]?.sink else { return }
    counters[handle]?.timer?.cancel()
    counters[handle] = (ReactionCounter(), nil)
    store.database.setValue(ReactionCounter().report, of: sink.report)
  }

  // MARK: Subscriptions

  private func configured(_ handle: AttributeHandle, _ bits: UInt16) {
    subscriptionChanged(handle)
    if bits == 0 { firmware?.forgetClient() }
    guard let behaviour = description.behaviours[handle] else { return }
    catchUp()
    begin(bits == 0 ? behaviour.onUnsubscribe : behaviour.onSubscribe)
  }

  func subscriptionChanged(_ handle: AttributeHandle) {
    let clients = servers.count { $0.configuration(ofValue: handle) != 0 }
    machine.subscribed(handle, clients: clients)
    let isUnasked = description.behaviours[handle]?.unasked != nil
    guard let behaviour = description.behaviours[handle]?.periodic else { return }
    let isWanted = clients > 0 || isUnasked && !links.isEmpty
    if !isWanted {
      periodic.removeValue(forKey: handle)?.cancel()
    } else if periodic[handle] == nil {
      schedule(behaviour, handle, 0)
    }
  }

  private func schedule(_ behaviour: PeripheralDescription.Periodic, _ handle: AttributeHandle, _ next: Int) {
    let interval = Duration.nanoseconds(machine.nanoseconds(behaviour.interval, at: now, store.database))
    periodic[handle] = EventLoop.shared.schedule(after: interval) { [weak self] in
      guard let self, behaviour.values.indices.contains(next) else { return }
      store.database.setValue(value(behaviour.values[next]), of: handle)
      let value = store.database[handle]?.value ?? []
      schedule(behaviour, handle, (next + 1) % behaviour.values.count)
      for server in servers { send(value, handle, server) }
    }
  }

  /// Notifies a client, or sends an indication if the client subscribed to indications. Skips the indication while another is unconfirmed.
  private func send(_ value: [UInt8], _ handle: AttributeHandle, _ server: Server) {
    if !server.notify(handle, value), !server.bearer.isIndicating { server.indicateWhenFree(handle, value) }
  }
}

// MARK: Updates

extension VirtualPeripheral {
  package var management: ManagementDevice? { firmware as? ManagementDevice }
  package var bootloader: SecureBootloader? { firmware as? SecureBootloader }
  package var isRunning: Bool { starting == nil }

  /// Takes the power away for a moment. Does nothing to a device without `update`, which keeps no state that power would end.
  package func powerCut() { restart(.outOfRange) }

  /// Stops the firmware, ends the links, and starts it again.
  func restart(_ how: Reaction.Disconnection) {
    guard let firmware else { return }
    let ended = links
    links = []
    for link in ended {
      if how == .outOfRange, let channel = link.channel { channel.abandon() } else { disconnect(link, how) }
    }
    for timer in [timer] + periodic.values.map({ $0 }) + collected.values.map({ $0.timer }) + counters.values.map({ $0.timer }) {
      timer?.cancel()
    }
    (timer, armed, periodic, collected, counters) = (nil, nil, [:], [:], [:])
    firmware.ledger.restarts += 1
    continueStart(after: firmware.stop())
  }

  private func continueStart(after time: Duration) {
    starting?.cancel()
    starting = EventLoop.shared.schedule(after: time) { [weak self] in
      guard let self, let firmware else { return }
      starting = nil
      let next = firmware.start()
      // The power may have been cut in this step.
      guard starting == nil else { return }
      if let next { return continueStart(after: next) }
      description = firmware.running
      store.database = description.database
      machine = Self.machine(description, seed, EventLoop.shared.wallClock)
      countFromZero()
      observer?.restarted()
    }
  }
}

extension PeripheralDescription: AdvertiserDescription {
  package func advertiser(seed: UInt64) -> any Advertiser { VirtualPeripheral(self, seed: seed) }
}

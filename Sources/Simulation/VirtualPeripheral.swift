package import ATT
package import Bluetooth
package import EventLoop
package import GATT

/// Runs a `PeripheralDescription`: advertises, serves each link, reacts.
///
/// What survives the end of a link: the values and the counters of sinks. What does not: that client's configurations and prepared writes,
/// and, when it was the last client, collected octets and actions that still wait.
@LoopActor
package final class VirtualPeripheral: Advertiser {
  package let description: PeripheralDescription
  /// The attributes as they are now.
  package let store: AttributeStore

  private var servers: [Server] = []
  private var periodic: [AttributeHandle: LoopTimer] = [:]
  private var collected: [AttributeHandle: (octets: [UInt8], timer: LoopTimer)] = [:]
  private var counters: [AttributeHandle: (counter: ReactionCounter, timer: LoopTimer?)] = [:]
  private var pending: [Int: LoopTimer] = [:]
  private var nextPending = 0

  package init(_ description: PeripheralDescription) {
    self.description = description
    store = AttributeStore(description.database)
    for (handle, behaviour) in description.behaviours {
      guard let sink = behaviour.sink else { continue }
      counters[handle] = (ReactionCounter(), nil)
      store.database.setValue(ReactionCounter().report, of: sink.report)
    }
  }

  // MARK: Advertiser

  package var address: PeerAddress { description.address }
  package var advertising: AdvertisingSettings { description.advertising }
  package var linkLimits: LinkLimits { description.linkLimits }

  package func connected(_ channel: any ATT.Channel) {
    let server = Server(store: store, bearer: Bearer(channel, rxMTU: description.mtu))
    servers.append(server)
    server.onWrite = { [weak self] handle, value, _ in self?.written(handle, value) }
    server.onSubscription = { [weak self] handle, _ in self?.subscriptionChanged(handle) }
    server.onClosed = { [weak self, weak server] _ in self?.closed(server) }
    server.start()
  }

  /// Links that are served now.
  package var connectionCount: Int { servers.count }

  private func closed(_ server: Server?) {
    servers.removeAll { $0 === server }
    for handle in Array(periodic.keys) { subscriptionChanged(handle) }
    guard servers.isEmpty else { return }
    for collection in collected.values { collection.timer.cancel() }
    collected = [:]
    for timer in pending.values { timer.cancel() }
    pending = [:]
  }

  // MARK: Writes

  private func written(_ handle: AttributeHandle, _ value: [UInt8]) {
    guard let behaviour = description.behaviours[handle] else { return }
    if let sink = behaviour.sink { count(value, handle, sink) }
    guard let collect = behaviour.collect else { return react(behaviour, value) }
    collected[handle]?.timer.cancel()
    let octets = (collected[handle]?.octets ?? []) + value
    guard octets.count < collect.octets else {
      collected[handle] = nil
      return react(behaviour, octets)
    }
    let timer = EventLoop.shared.schedule(after: collect.pause) { [weak self] in
      self?.collected[handle] = nil
      self?.react(behaviour, octets)
    }
    collected[handle] = (octets, timer)
  }

  private func react(_ behaviour: PeripheralDescription.Behaviour, _ written: [UInt8]) {
    guard let reaction = behaviour.reactions.first(where: { $0.condition.matches(written) }) else { return }
    perform(reaction.actions[...], written)
  }

  /// One action after the other, each at its delay after the one before.
  private func perform(_ actions: ArraySlice<Reaction.Action>, _ written: [UInt8]) {
    var rest = actions
    while let action = rest.first {
      guard action.delay == .zero else {
        // The delay is waited for here, once.
        let number = nextPending
        nextPending += 1
        pending[number] = EventLoop.shared.schedule(after: action.delay) { [weak self, rest] in
          guard let self else { return }
          pending[number] = nil
          perform(action, written)
          perform(rest.dropFirst(), written)
        }
        return
      }
      perform(action, written)
      rest = rest.dropFirst()
    }
  }

  private func perform(_ action: Reaction.Action, _ written: [UInt8]) {
    switch action {
    case .notify(let handle, let template, _):
      let value = keep(template, handle, written)
      for server in servers { server.notify(handle, value) }
    case .indicate(let handle, let template, _):
      let value = keep(template, handle, written)
      for server in servers { server.indicateWhenFree(handle, value) }
    case .set(let handle, let template, _): _ = keep(template, handle, written)
    case .reset(let sink, _): reset(sink)
    case .disconnect: for server in servers { server.close() }
    }
  }

  private func keep(_ template: Reaction.Template, _ handle: AttributeHandle, _ written: [UInt8]) -> [UInt8] {
    store.database.setValue(template.octets(written: written, store.database), of: handle)
    return store.database[handle]?.value ?? []
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

  private func subscriptionChanged(_ handle: AttributeHandle) {
    guard let behaviour = description.behaviours[handle]?.periodic else { return }
    let isWanted = servers.contains { $0.configuration(ofValue: handle) != 0 }
    if !isWanted {
      periodic.removeValue(forKey: handle)?.cancel()
    } else if periodic[handle] == nil {
      schedule(behaviour, handle, 0)
    }
  }

  private func schedule(_ behaviour: PeripheralDescription.Periodic, _ handle: AttributeHandle, _ next: Int) {
    periodic[handle] = EventLoop.shared.schedule(after: behaviour.interval) { [weak self] in
      guard let self, behaviour.values.indices.contains(next) else { return }
      let value = keep(behaviour.values[next], handle, [])
      schedule(behaviour, handle, (next + 1) % behaviour.values.count)
      for server in servers { send(value, handle, server) }
    }
  }

  /// As the client asked for it; indications are not piled up for a client that does not confirm.
  private func send(_ value: [UInt8], _ handle: AttributeHandle, _ server: Server) {
    if !server.notify(handle, value), !server.isIndicating { server.indicateWhenFree(handle, value) }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The choices of a `ServedDevice` that its description does not make.
package struct ServingOptions: Sendable {
  /// The advertising interval, 20 ms to 10.24 s. Nil takes that of the description.
  package var interval: Duration?
  /// Whether the device uses extended advertising. A connectable device then sends its scan response data after its advertising data.
  package var isExtended = false
  /// Whether the device takes no connections.
  package var onlyAdvertises = false

  package init() {}
}

/// A device that runs a `PeripheralDescription` on a radio: it advertises, serves centrals, and remembers the bonded ones.
/// A radio cannot follow the keys `rssi`, `data_length`, `phys`, `packets_per_event`, `failing_connections`, `link` and `firmware`.
@LoopActor
package final class ServedDevice {
  package let device: VirtualPeripheral
  /// The bonded centrals. They are those of `init` until a central pairs or subscribes.
  package private(set) var centrals: [BondedCentral]
  package var onEvent: (@LoopActor (ServedEvent) -> Void)?
  /// The handler that runs after each change of `centrals`.
  package var onCentrals: (@LoopActor () -> Void)?
  /// The handler of a later advertisement that the host refused. The device keeps running.
  package var onFailure: (@LoopActor (any Error) -> Void)?

  private let peripheral: any PeripheralRole
  private let options: ServingOptions
  private let hash: [UInt8]
  /// The bonded centrals on encrypted links, by address on the link.
  private var known: [PeerAddress: (server: Server, identity: PeerAddress)] = [:]
  private var startsAt: LoopClock.Instant?
  /// The last advertisement that the host got. The outer nil means none yet.
  private var applied: Advertising??
  private var applying: Task<Void, Never>?
  private var timer: LoopTimer?
  private lazy var refreshes = DeferredAction { [weak self] in self?.refresh() }
  private static let mostCentrals = 256
  private static let shortestRefresh = Duration.milliseconds(100)

  /// Creates a device on a host. Writes the Database Hash into the characteristic 2b2a, if the description has it.
  /// - Parameter centrals: the bonded centrals of an earlier device.
  package init(
    _ description: PeripheralDescription, on peripheral: any PeripheralRole, centrals: [BondedCentral] = [],
    options: ServingOptions = ServingOptions()
  ) {
    device = VirtualPeripheral(description)
    device.store.database.updateHash()
    hash = device.store.database.databaseHash
    (self.peripheral, self.options) = (peripheral, options)
    self.centrals = description.faults.contains(.forgetBonds) ? [] : centrals
    device.observer = self
  }

  // MARK: Life

  /// Starts to advertise and to take connections.
  /// - Throws: the errors of `PeripheralRole.advertise`. Call `end` then, too.
  package func start() async throws {
    startsAt = EventLoop.shared.now.advanced(by: device.advertising.startsAfter)
    peripheral.onCentral = { [weak self] link in self?.connected(link) }
    let first = advertising
    if let first { try await peripheral.advertise(first) }
    applied = .some(first)
    scheduleRefresh()
    refresh()
  }

  /// Performs a line, also before `start`.
  /// - Returns: see `VirtualPeripheral.perform`.
  @discardableResult
  package func perform(_ line: PeripheralLine) throws -> Int? {
    let result = try device.perform(line)
    if line == .fault(.forgetBonds) {
      (centrals, known) = ([], [:])
      onCentrals?()
    }
    return result
  }

  /// Stops advertising and disconnects the centrals. Idempotent. Works in a canceled task.
  package func end() async {
    startsAt = nil
    timer?.cancel()
    // A change in progress would advertise again.
    await applying?.value
    await peripheral.end()
    peripheral.onCentral = nil
    // Timers of the device end.
    device.observer = nil
  }

  // MARK: Advertising

  private var advertising: Advertising? {
    let settings = device.advertising
    guard let startsAt, settings.isOn, EventLoop.shared.now >= startsAt else { return nil }
    var advertising = Advertising()
    advertising.isConnectable = settings.isConnectable && !options.onlyAdvertises
    advertising.isExtended = options.isExtended
    advertising.interval = options.interval ?? settings.interval
    (advertising.data, advertising.scanResponse) = (settings.data, settings.scanResponse)
    if options.isExtended, advertising.isConnectable {
      (advertising.data, advertising.scanResponse) = (settings.data + settings.scanResponse, [])
    }
    return advertising
  }

  /// Evaluates advertisements that depend on time. Others change only with the state, which `changed` reports.
  private func scheduleRefresh() {
    timer?.cancel()
    guard let startsAt else { return }
    let now = EventLoop.shared.now
    let description = device.description
    let isComputed = description.advertisement != nil || description.scanResponse != nil
    guard now < startsAt || isComputed || description.update != nil else { return }
    let next = now < startsAt ? startsAt : now.advanced(by: max(Self.shortestRefresh, options.interval ?? description.advertising.interval))
    timer = EventLoop.shared.schedule(at: next) { [weak self] in
      self?.scheduleRefresh()
      self?.refresh()
    }
  }

  private func refresh() {
    guard startsAt != nil, applying == nil, applied != nil else { return }
    let next = advertising
    guard applied != .some(next) else { return }
    applied = .some(next)
    applying = EventLoop.shared.spawn { [self] in
      do { try await peripheral.advertise(next) } catch { onFailure?(error) }
      applying = nil
      refreshes.request()
    }
  }

  // MARK: Centrals

  private func connected(_ link: any CentralLink) {
    let channel = ServedChannel(link)
    channel.onInability = { [weak self] text in self?.happened(ServedEvent(.fault(text), link.peer)) }
    if let bond = centrals.first(where: { $0.mayBe(link.peer) })?.bond { device.bonds[link.peer] = bond }
    device.connected(channel)
  }

  /// Adds a bonded central, in place of the oldest one if there are too many.
  private func add(_ central: BondedCentral) {
    if centrals.count >= Self.mostCentrals { centrals.removeFirst() }
    centrals.append(central)
  }

  /// Stores the subscriptions of a bonded central.
  private func remember(_ peer: PeerAddress) {
    guard let (server, identity) = known[peer], let index = centrals.firstIndex(where: { $0.identity == identity }) else { return }
    let subscriptions = server.configurations.filter { $0.value != 0 }.sorted { $0.key < $1.key }.compactMap { handle, bits in
      device.store.database[handle].map { BondedCentral.Subscription(handle: handle, uuid: $0.type, bits: bits) }
    }
    guard centrals[index].subscriptions != subscriptions else { return }
    centrals[index].subscriptions = subscriptions
    onCentrals?()
  }

  /// Tells a bonded central that the attributes differ from those that it knows (Vol 3 Part G §7.1).
  private func indicateChange(_ server: Server, _ identity: PeerAddress) {
    guard centrals.contains(where: { $0.identity == identity && $0.databaseHash != hash }),
      let attribute = device.store.database.attributes.first(where: { $0.type == .serviceChanged }),
      let confirmation = server.indicateWhenFree(attribute.handle, [0x01, 0x00, 0xFF, 0xFF])
    else { return }
    _ = EventLoop.shared.spawn { [weak self] in
      guard (try? await confirmation.value()) == true, let self, let index = centrals.firstIndex(where: { $0.identity == identity }) else {
        return
      }
      centrals[index].databaseHash = hash
      onCentrals?()
    }
  }
}

extension ServedDevice: DeviceObserver {
  package func happened(_ event: ServedEvent) {
    onEvent?(event)
    guard let peer = event.peer else { return }
    switch event.kind {
    case .subscribed, .unsubscribed: remember(peer)
    case .disconnected:
      // The address may be private. `centrals` has the bond for the next link.
      (known[peer], device.bonds[peer]) = (nil, nil)
    default: break
    }
  }

  package func secured(_ server: Server, _ channel: any DeviceChannel, _ level: SecurityLevel, _ pairing: PairingResult?) {
    let peer = channel.peer
    guard level > .unencrypted, channel.manager == nil || device.description.security?.forgets == false else { return }
    if let bond = pairing?.bond {
      // A device can claim any identity: a weaker bond replaces none.
      if let old = centrals.first(where: { $0.identity == bond.identity })?.bond, bond.isWeaker(than: old) { return }
      // The central has discovered the attributes on this link, or will.
      centrals.removeAll { $0.identity == bond.identity }
      add(BondedCentral(identity: bond.identity, bond: bond, databaseHash: hash))
      known[peer] = (server, bond.identity)
      onCentrals?()
    } else if known[peer] == nil, pairing == nil {
      if channel.manager == nil, !centrals.contains(where: { $0.mayBe(peer) }) {
        add(BondedCentral(identity: peer, bond: nil, databaseHash: hash))
        happened(ServedEvent(.paired(nil), peer))
        onCentrals?()
      }
      guard let central = centrals.first(where: { $0.mayBe(peer) }), channel.manager == nil || channel.manager?.bond != nil else { return }
      known[peer] = (server, central.identity)
      device.restore(central.bits(in: device.store.database), on: server, peer)
      indicateChange(server, central.identity)
    }
    remember(peer)
  }

  package func changed() { refreshes.request() }
}

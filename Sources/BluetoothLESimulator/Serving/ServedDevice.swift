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
@LoopActor
package final class ServedDevice {
  package let device: VirtualPeripheral
  /// The bonded centrals. They are those of `init` until a central pairs or subscribes.
  package let memory: CentralMemory
  package var onEvent: (@LoopActor (ServedEvent) -> Void)?
  /// The handler of a later advertisement that the host refused. The device keeps running.
  package var onFailure: (@LoopActor (any Error) -> Void)?
  /// The handler of a passkey that the device displays.
  package var onPasskey: (@LoopActor (SixDigits) -> Void)?

  private let peripheral: any PeripheralRole
  private let options: ServingOptions
  private var startsAt: LoopClock.Instant?
  /// The last advertisement that the host got. The outer nil means none yet.
  private var applied: Advertising??
  private var applying: Task<Void, Never>?
  private var timer: LoopTimer?
  private lazy var refreshes = DeferredAction { [weak self] in self?.refresh() }
  private static let shortestRefresh = Duration.milliseconds(100)

  /// Creates a device on a host. Writes the Database Hash into the characteristic 2b2a, if the description has it.
  /// - Parameter centrals: the bonded centrals of an earlier device.
  package init(
    _ description: PeripheralDescription, on peripheral: any PeripheralRole, centrals: [BondedCentral] = [],
    options: ServingOptions = ServingOptions()
  ) {
    device = VirtualPeripheral(description)
    device.store.database.updateHash()
    (self.peripheral, self.options) = (peripheral, options)
    memory = CentralMemory(description.faults.contains(.forgetBonds) ? [] : centrals, of: device.store)
    device.observer = self
    memory.onSystemPairing = { [weak self] peer in self?.happened(ServedEvent(.paired(nil), peer)) }
    memory.onRestored = { [weak device] handle, bits, peer in device?.restored(bits, of: handle, peer) }
  }

  /// The keys of the description that the radio cannot follow, in the order of blectl-peripheral(5).
  package var unfollowedKeys: [String] {
    var keys = device.description.simulatorKeys
    if let parameters = device.description.security?.parameters, !peripheral.hasSecurityManager {
      if parameters.requestsMITM != (parameters.ioCapability != .noInputNoOutput) { keys.append("mitm") }
      if parameters.keySizes.upperBound < 16 { keys.append("key_size") }
    }
    return keys
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
    if line == .fault(.forgetBonds) { memory.forgetAll() }
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
    if let bond = memory.bond(of: link.peer) { device.bonds[link.peer] = bond }
    device.connected(channel)
  }
}

extension ServedDevice: DeviceObserver {
  package func happened(_ event: ServedEvent) {
    onEvent?(event)
    guard let peer = event.peer else { return }
    switch event.kind {
    case .subscribed, .unsubscribed: memory.remember(peer)
    case .written where event.uuid == .clientSupportedFeatures: memory.remember(peer)
    case .disconnected:
      // The address may be private. `memory` has the bond for the next link.
      memory.disconnected(peer)
      device.bonds[peer] = nil
    default: break
    }
  }

  package func secured(_ server: Server, _ channel: any DeviceChannel, _ level: SecurityLevel, _ pairing: PairingResult?) {
    guard level > .unencrypted, channel.manager == nil || device.description.security?.forgets == false else { return }
    memory.secured(
      server, channel.peer, channel.manager, pairing, systemPairs: channel.manager == nil && device.description.security == nil)
  }

  package func displayed(_ passkey: SixDigits) { onPasskey?(passkey) }

  package func changed() { refreshes.request() }

  package func restarted() {
    device.store.database.updateHash()
  }
}

// MARK: Pairings of the system

extension ServedDevice {
  /// Whether and how the device pairs now.
  package var acceptance: Pairing.Acceptance { device.acceptance }

  /// The user of the device.
  package var pairingUser: any PairingUser { device.user }

  /// Whether the device keeps its keys when a link ends.
  package var keepsBonds: Bool { device.description.security.map { !$0.forgets && $0.parameters.isBonding } ?? true }

  package func bond(with central: PeerAddress) -> Bond? { memory.centrals.first { $0.identity == central }?.bond }

  /// Takes the result of a pairing on a link without a Security Manager.
  package func paired(_ peer: PeerAddress, _ result: PairingResult) {
    guard let link = device.links.first(where: { $0.channel?.peer == peer }), let channel = link.channel else { return }
    device.secured(link.server, channel, channel.securityLevel, result)
  }

  /// Reports a pairing that the device refused on a link without a Security Manager.
  package func refused(_ peer: PeerAddress, _ reason: PairingFailedReason) { device.refused(reason, peer) }
}

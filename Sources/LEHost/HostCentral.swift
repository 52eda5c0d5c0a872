package import Bluetooth
package import EventLoop
package import GAP
package import HCI
package import HostCommon
import L2CAP

/// Our own LE host, central role, over any HCI transport.
@LoopActor
package final class HostCentral: GAP.Central, LinkController {
  /// As the user knows the controller: `tcp:127.0.0.1:9000`.
  package let name: String
  package var onNote: (@LoopActor (GAPNote) -> Void)? {
    didSet {
      // The start has no observer yet.
      if malformedPackets > 0 { onNote?(.malformedPackets(adapter: name, malformedPackets)) }
    }
  }
  /// What `start` found out.
  package internal(set) var adapterInfo = ControllerInfo()
  package var controllerFacts: ControllerFacts? {
    ControllerFacts(name: name, address: adapterInfo.address, features: adapterInfo.features)
  }
  /// The links that are up.
  package var openLinks: [HostLink] { links.values.sorted { $0.handle < $1.handle } }

  /// Looks up a device that a scan cannot find, such as one without advertisements in a recording. Nil on a radio.
  package var unheardPeer: (@LoopActor (Address) -> PeerAddress?)?

  package func connectedPeer(_ address: Address) -> PeerAddress? {
    links.values.first { $0.peer.address == address }?.peer ?? unheardPeer?(address)
  }
  package var failure: (any Error)? { controller.failure }
  /// Packets from the controller that did not follow their format; they were ignored.
  package var malformedPackets: Int { controller.malformed }

  let controller: Controller
  var sendQueue = SendQueue(length: 27, total: 1)
  /// The last one that was sent, for its memory: a transport that is done with a packet leaves it to the next.
  private var fragment: [UInt8] = []
  var links: [ConnectionHandle: HostLink] = [:]
  /// The connection being made; others wait for their turn.
  var initiation: Initiation?
  let initiators = TurnQueue()
  var scan: Scan?
  /// Devices seen on the coded PHY: they can only be reached there. Bounded.
  var codedPeers: Set<PeerAddress> = []
  var isStarted = false
  private var isClosed = false

  package init(_ transport: any HCI.Transport, name: String, tap: (any HCI.Tap)? = nil) {
    self.name = name
    controller = Controller(tap.map { TappedTransport(transport, tap: $0) } ?? transport, name: name)
    controller.onEvent = { [weak self] event in self?.handle(event) }
    controller.onData = { [weak self] data in self?.links[data.handle]?.receive(data) }
    controller.onLinkEnd = { [weak self] handle, error in
      guard let self, let link = links[handle] else { return }
      drop(link, error)
    }
    controller.onLinkExhaustion = { [weak self] handle, error in self?.links[handle]?.exhaust(error) }
    controller.onFailure = { [weak self] error in self?.fail(error) }
    controller.onMalformed = { [weak self] count in
      // At 1, 10, 100, …: a broken controller sends thousands.
      if Self.isPowerOfTen(count) { self?.onNote?(.malformedPackets(adapter: name, count)) }
    }
  }

  private static func isPowerOfTen(_ count: Int) -> Bool {
    var count = count
    while count > 1, count.isMultiple(of: 10) { count /= 10 }
    return count == 1
  }

  package func close() async {
    guard !isClosed else { return }
    isClosed = true
    await shielded { await self.shutDown(within: .seconds(2)) }
  }

  private func shutDown(within limit: Duration) async {
    let deadline = EventLoop.shared.now.advanced(by: limit)
    let closed = ControllerError(name, .closed)
    if controller.failure == nil, isStarted {
      // All at once: each of them has the whole time.
      let hangUps = openLinks.map { link in EventLoop.shared.spawn { await link.hangUp(within: limit) } }
      var commands: [Wait<Void>] = []
      if let scan { commands.append(submit(scan.commands.disable)) }
      if initiation != nil { commands.append(submit(LECreateConnectionCancel().packet)) }
      for wait in commands { _ = try? await wait.value(until: deadline) }
      for task in hangUps { await task.value }
      // One that came up meanwhile.
      for link in openLinks { await link.hangUp(within: EventLoop.shared.now.duration(to: deadline)) }
    }
    controller.close(closed)
  }

  private func submit(_ command: CommandPacket) -> Wait<Void> {
    let done = Wait<Void>()
    controller.submit(command) { _ in done.resume(returning: ()) }
    return done
  }

  func check() throws {
    if let failure = controller.failure { throw failure }
    guard isStarted, !isClosed else { throw ControllerError(name, .notStarted) }
  }

  // MARK: LinkController

  package func supports<C: Command>(_ command: C.Type) -> Bool { adapterInfo.supported.contains(command) }

  @discardableResult
  package func perform<C: Command>(_ command: C) async throws -> C.Return { try await controller.perform(command) }

  // MARK: Links

  func transmit(_ channel: ChannelIdentifier, _ payload: [UInt8], _ link: HostLink) {
    guard links[link.handle] === link else { return }
    sendQueue.add(channel, payload, to: link.handle)
    pump()
  }

  func add(_ link: HostLink) {
    links[link.handle] = link
    sendQueue.open(link.handle)
  }

  /// The link counts as down from now on.
  func drop(_ link: HostLink, _ error: any Error) {
    if links[link.handle] === link {
      links[link.handle] = nil
      sendQueue.close(link.handle)
    }
    link.end(error)
    // Its buffers are free for the others.
    pump()
  }

  private func pump() { while sendQueue.next(&fragment) { controller.send(data: fragment) } }

  private func fail(_ error: any Error) {
    for link in openLinks { drop(link, error) }
    initiation?.settle(.failure(error))
    scan?.ended.resume(throwing: error)
  }

  // MARK: Events

  private func handle(_ event: Event) {
    switch event {
    case .numberOfCompletedPackets(let entries):
      for entry in entries { sendQueue.completed(entry.handle, Int(entry.count)) }
      pump()
      for entry in entries { links[entry.handle]?.progressed() }
    case .leAdvertisingReports, .leExtendedAdvertisingReports, .leDirectedAdvertisingReports: scan?.reader.receive(event)
    case .leConnectionComplete(let complete): connected(complete)
    case .disconnectionComplete(let status, let handle, let reason):
      guard status == .success, let link = links[handle] else { return }
      drop(link, LinkEnd(link.peer, link.isHangingUp ? .endedHere(reason) : .lost(reason)))
    case .leConnectionUpdateComplete(_, let handle, _, _, _), .leReadRemoteFeaturesComplete(_, let handle, _),
      .lePHYUpdateComplete(_, let handle, _, _), .leDataLengthChange(let handle, _, _, _, _):
      links[handle]?.procedures.receive(event)
    case .leRemoteConnectionParameterRequest(let handle, let intervalMin, let intervalMax, let latency, let supervisionTimeout):
      answer(
        handle,
        ConnectionParameters(intervalMin: intervalMin, intervalMax: intervalMax, latency: latency, supervisionTimeout: supervisionTimeout))
    // Data Buffer Overflow (Vol 4 Part E §7.7.26) of ACL data.
    case .other(code: 0x1A, [0x01]): for link in openLinks { link.loseData(ControllerError(name, .overflow)) }
    case .readRemoteVersionComplete, .leOther, .other, .commandComplete, .commandStatus, .hardwareError: break
    }
  }

  /// A peripheral asks for other parameters through the link layer: it gets what it may have.
  private func answer(_ handle: ConnectionHandle, _ wanted: ConnectionParameters) {
    guard let link = links[handle], controller.backlog < 64 else { return }
    if let granted = link.grant(wanted) {
      controller.submit(LERemoteConnectionParameterRequestReply(handle: handle, granted))
    } else {
      controller.submit(LERemoteConnectionParameterRequestNegativeReply(handle: handle, reason: .unacceptableParameters))
    }
  }
}

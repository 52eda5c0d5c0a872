import Bluetooth
import EventLoop
import GAP
import HCI
import HostCommon
import L2CAP

/// The part of our LE host that all roles share: the controller, its buffers and the links.
@LoopActor
final class Host: LinkController {
  let name: String
  let controller: Controller
  /// The controller's answers to `start`.
  var adapterInfo = ControllerInfo()
  var sendQueue = SendQueue(length: 27, total: 1)
  private(set) var links: [ConnectionHandle: HostLink] = [:]
  var isStarted = false
  /// Receives the events that concern a role: advertising reports and LE Connection Complete.
  var onEvent: (@LoopActor (Event) -> Void)?
  /// Called after a failure of the controller ended all links.
  var onFailure: (@LoopActor (any Error) -> Void)?

  private var isClosed = false
  /// The last fragment. The next one reuses its memory if the transport no longer needs it.
  private var fragment: [UInt8] = []

  init(_ transport: any HCI.Transport, name: String) {
    self.name = name
    controller = Controller(transport, name: name)
    controller.onEvent = { [weak self] event in self?.handle(event) }
    controller.onData = { [weak self] data in self?.links[data.handle]?.receive(data) }
    controller.onLinkEnd = { [weak self] handle, error in
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

  /// Ends a link. It counts as down from now on.
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
    onFailure?(error)
  }

  // MARK: Events

  private func handle(_ event: Event) {
    switch event {
    case .numberOfCompletedPackets(let entries):
      for entry in entries { sendQueue.completed(entry.handle, Int(entry.count)) }
      pump()
      for entry in entries { links[entry.handle]?.progressed() }
    case .leAdvertisingReports, .leExtendedAdvertisingReports, .leDirectedAdvertisingReports, .leConnectionComplete: onEvent?(event)
    case .disconnectionComplete(let status, let handle, let reason):
      guard status == .success, let link = links[handle] else { return }
      drop(link, LinkEnd(link.peer, link.isDisconnecting ? .endedHere(reason) : .lost(reason)))
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

  /// Answers a peripheral's request for other parameters through the link layer.
  private func answer(_ handle: ConnectionHandle, _ wanted: ConnectionParameters) {
    guard let link = links[handle], controller.backlog < 64 else { return }
    if let granted = link.grant(wanted) {
      controller.submit(LERemoteConnectionParameterRequestReply(handle: handle, granted))
    } else {
      controller.submit(LERemoteConnectionParameterRequestNegativeReply(handle: handle, reason: .unacceptableParameters))
    }
  }
}

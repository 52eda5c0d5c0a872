import BluetoothLEDeviceFiles
import CommandLine

/// The connections of one command of a session, and the command's place in the queue of its device.
@LoopActor
final class SessionLinks: CommandLinks {
  let shell: Shell
  /// The place of the command in the queue of its device. Nil for a command that waits for no other command.
  var turn: TurnQueue.Place?
  /// The members to add to each JSON record of the command.
  let members: RecordWriter.Members
  let reporter: any LinkReporter
  let clientObserver: Session.ClientObserver?
  private let named: SessionDevice?

  /// Creates the connections of one command.
  /// - Parameter device: The device of the command. Nil for a command without a device.
  init(
    _ shell: Shell, _ device: SessionDevice?, _ members: RecordWriter.Members, _ reporter: any LinkReporter,
    _ observer: Session.ClientObserver?
  ) {
    self.shell = shell
    named = device
    self.members = members
    self.reporter = reporter
    clientObserver = observer
  }

  var session: Session { shell.process.session }

  var sessionDevice: SessionDevice? { named?.present }

  var currentDevice: PeerSelector? { sessionDevice?.selector }

  var device: DeviceDescription? {
    get { sessionDevice?.description }
    set { sessionDevice?.description = newValue }
  }

  var pairs: Bool { shell.settings.pair }
  var level: SecurityLevel? { shell.settings.level }

  var commandID: String? {
    switch RecordWriter.value({ $0.members(members) })["id"]?.kind {
    case .string(let text)?, .number(let text)?: text
    default: nil
    }
  }

  func showsInBackground(_ event: ValueEvent) -> Bool { sessionDevice?.link?.background?.contains(event.handle) ?? false }

  func keeps(_ connection: Connection) -> Bool { connection === sessionDevice?.connection }

  /// Returns a connection to the device with the requested parameters. Restores a lost connection or connects if the request allows it.
  /// - Throws: Failure if no open connection exists and the request does not permit a new one.
  func connection(for request: LinkRequest) async throws -> Connection {
    if let connection = try await present(request) { return connection }
    if request.restores, let device = sessionDevice, let connection = device.connection, !connection.isBeingRestored {
      let demand = try request.security(connection.peer, connection.name)
      connection.security?.take(demand.wish)
      connection.leastSecurity = max(connection.leastSecurity, demand.level)
      try await shell.restore(connection, of: device)
      try await self.request(request.parameters, of: connection)
      return connection
    }
    guard request.connects, !isBeingRestored else { throw shell.notConnected(sessionDevice) }
    return try await open(request)
  }

  /// Returns the connection that the session keeps to the device. Connects if there is none. `isNew` is true if there was
  /// none, not even a lost one, whose subscriptions the new connection restores.
  func lastingConnection(for request: LinkRequest) async throws -> (connection: Connection, isNew: Bool) {
    if let connection = try await present(request) { return (connection, false) }
    // This command connects instead of a restoration.
    sessionDevice?.giveUp()
    try await sessionDevice?.connection?.untilRestored()
    let begin = EventLoop.shared.now
    // After a timeout of ATT, the session disconnects the link. Until it is down, the device does not advertise.
    await sessionDevice?.connection?.takeDown()
    let connection = try await open(request)
    guard let device = sessionDevice, connection !== device.connection else { return (connection, false) }
    let isNew = device.connection == nil
    device.selector = request.selector
    try await adopt(connection, as: device, since: begin)
    return (connection, isNew)
  }

  /// Keeps a connection to the device, with the subscriptions of the lost one.
  private func adopt(_ connection: Connection, as device: SessionDevice, since begin: LoopClock.Instant) async throws {
    let lost = device.connection
    shell.adopt(connection, as: device)
    guard let lost else { return }
    do {
      if let restoration = try await session.replace(lost, with: connection, since: begin) { shell.tell(restoration, device) }
    } catch { throw reporter.explained(error, on: connection) }
  }

  func abandon(_ connection: Connection) async {
    guard keeps(connection), let device = sessionDevice else { return await session.disconnect(connection) }
    // The command itself connects again, and says so.
    device.reportLoss(byCommand: true)
    device.link?.stopWatching()
    device.fail(connection.client.closed ?? Disconnection(connection.peer, .endedHere(nil)))
    device.giveUp()
    try? await connection.untilRestored()
    await connection.takeDown()
    shell.changed()
  }

  func keep(_ connection: Connection) async throws {
    guard let device = sessionDevice, device.connection !== connection else { return }
    try await adopt(connection, as: device, since: EventLoop.shared.now)
  }

  func setReconnecting(_ isReconnecting: Bool) {
    sessionDevice?.isReconnecting = isReconnecting
    shell.changed()
  }

  /// Runs `body` with a connection to the device. Disconnects a new connection at the end, unless `body` succeeds and `keepsNew` is true.
  func withDevice(
    _ request: LinkRequest, keepsNew: Bool = false, _ body: @LoopActor (Connection, SessionDevice) async throws -> Void
  ) async throws {
    let (connection, isNew) =
      request.connects ? try await lastingConnection(for: request) : (try await self.connection(for: request), false)
    guard let device = sessionDevice else { throw Failure.notConnected(nil) }
    do {
      try await body(connection, device)
      if isNew, !keepsNew { await shell.disconnect(device) }
    } catch {
      let error = reporter.explained(error, on: connection)
      if isNew { await shell.disconnect(device) }
      throw error
    }
  }

  // MARK: The link of the session

  /// Returns the session's open connection with the requested parameters. If the connection is lost, first waits for its restoration.
  /// - Returns: Nil if there is no open connection.
  private func present(_ request: LinkRequest) async throws -> Connection? {
    if sessionDevice?.connection != nil { try await untilRestored(within: request.limits.transaction) }
    guard let connection = sessionDevice?.connection, connection.isOpen else { return nil }
    connection.client.limit = request.limits.transaction
    connection.security?.limit = request.limits.transaction
    let demand = try request.security(connection.peer, connection.name)
    connection.security?.take(demand.wish)
    do { try await connection.secure(to: demand.level) } catch { throw reporter.explained(error, on: connection) }
    try await self.request(request.parameters, of: connection)
    return connection
  }

  /// Whether another task is restoring the connection to the device.
  private var isBeingRestored: Bool { sessionDevice?.connection?.isBeingRestored ?? false }

  /// Waits until the session has restored the connection or has given up, but at most `limit`.
  private func untilRestored(within limit: Duration) async throws {
    guard let device = sessionDevice else { return }
    let end = EventLoop.shared.now.advanced(by: limit)
    while let connection = device.connection, !connection.isOpen, shell.settings.reconnect, device.mayComeBack, EventLoop.shared.now < end {
      if connection.isBeingRestored {
        _ = try await withDeadline(end) { try await connection.untilRestored() }
      } else {
        // The link is lost, but restoring it has not started yet.
        try await EventLoop.shared.sleep(for: .milliseconds(1))
      }
    }
  }

  // MARK: A new link

  func search(for request: LinkRequest, within limit: Duration) async throws -> FoundDevice {
    switch try await found(by: request, within: limit) {
    case .other(let other): return try await join(other, request).map { .connection($0) } ?? .gone
    case .peer(let match):
      // `set reconnect on` may have restored the link during the search.
      if let connection = try await present(request) { return .connection(connection) }
      if isBeingRestored { throw Failure.notConnected(sessionDevice) }
      return .peer(match)
    }
  }

  private enum Found: Sendable {
    case peer(PeerMatch)
    /// Another `SessionDevice` that already has a connection to the same physical device.
    case other(SessionDevice)
  }

  private func found(by request: LinkRequest, within limit: Duration) async throws -> Found {
    let selector = request.selector
    let find: @LoopActor () async throws -> Found = { [session, reporter] in
      .peer(try await session.find(request.search(within: limit), reporter))
    }
    guard let device = sessionDevice, turn != nil else { return try await find() }
    if let other = shell.device(holding: selector, besides: device) { return .other(other) }
    let found = try await race({ [shell] in .other(try await shell.untilHeld(selector, besides: device)) }, find)
    if case .peer(let match) = found, let other = shell.device(of: match.peer, besides: device) { return .other(other) }
    return found
  }

  /// Joins another `SessionDevice` of the same device, which the user named differently, and waits for the earlier commands of `other`.
  /// - Returns: Nil if no connection is open after the earlier commands.
  private func join(_ other: SessionDevice, _ request: LinkRequest) async throws -> Connection? {
    guard let device = sessionDevice, let turn else { return nil }
    reporter.report(.isSame(device.title, as: other.title))
    guard await shell.join(device, to: other) else { return nil }
    try await turn.untilTurn()
    return try await present(request)
  }

  func willConnect(to match: PeerMatch) {
    // The name of a bonded device means that device.
    sessionDevice?.destination = (match.peer, match.namesake == nil ? match.name : nil)
    shell.changed()
  }

  func didNotConnect() { sessionDevice?.destination = nil }

  func didConnect(_ connection: Connection) { sessionDevice?.lastPeer = connection.peer }
}

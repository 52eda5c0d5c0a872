import BluetoothLELinux
import CommandLine

/// Runs the browser on a terminal. Passes keys and received data to `Browser`, draws its frames and performs its actions.
@LoopActor
final class BrowserSession {
  var browser: Browser
  let context: Context
  private var screen: Screen?
  private let ended = Wait<Void>()
  /// The connections by device, open or lost. Disconnecting a device removes its connection.
  var links: [PeerAddress: Connection] = [:]
  /// The subscriptions on the connection of each device.
  var subscriptions: [PeerAddress: SubscribedValues] = [:]
  var observers: [ObjectIdentifier: ValueObserver] = [:]
  /// The task of the latest connection attempt for each device.
  var attempts: [PeerAddress: Task<Void, Never>] = [:]
  private var tasks: [Int: Task<Void, Never>] = [:]
  private var nextTask = 0
  private var drawTimer: LoopTimer?
  private var drawDue: LoopClock.Instant?
  private var drawnAt: LoopClock.Instant?
  private let isUTF8: Bool
  /// The user of the current pairing. Nil without a pairing.
  var pairing: BrowserPairing?

  /// The minimum time between two frames after events other than keys.
  private static let frameInterval = Duration.milliseconds(100)
  /// The minimum time between two frames after a key.
  private static let keyInterval = Duration.milliseconds(20)
  /// The maximum time between two frames. Without events, the browser redraws because the displayed ages grow.
  private static let tick = Duration.milliseconds(500)
  private static let signalInterval = Duration.seconds(2)

  init(_ context: Context) {
    self.context = context
    isUTF8 = context.output.isUTF8 && Screen.canShowUTF8
    browser = Browser(isUTF8: isUTF8, adapter: context.process.options.adapter, zone: LocalTime.offset)
    browser.tracing = context.process.options.trace
  }

  /// Runs the browser until the user quits or the terminal closes.
  /// - Throws: The error that ended the scan while no device was connected; Failure for an unsuitable terminal; CancellationError.
  func run(_ who: PeerOptions?) async throws {
    let output = context.output
    let environment = context.configuration.variable
    guard Screen.isPossible(environment: environment) else {
      throw Failure(
        .usage,
        "browse needs a terminal with a full screen. Elsewhere, use blectl scan and blectl services --values.")
    }
    context.process.tracesLater = true
    context.session.staysOpen = true
    // Errors of the radio and of aliases are reported before the screen opens.
    let radio = try await context.radio()
    let selector = if let who { try await context.configuration.resolve(who.peer) } else { nil as PeerSelector? }
    let usesColor = output.paint("x", .bold) != "x"
    guard
      let screen = Screen(isUTF8: isUTF8, usesColor: usesColor, environment: environment, handler: { [weak self] in self?.take($0) })
    else {
      throw Failure(
        .usage, "Unknown terminal type \(DisplayText.quote(environment("TERM") ?? "")). Set TERM to a known one, such as xterm.")
    }
    self.screen = screen
    let notes = radio.onNote
    radio.onNote = { [weak self] in self?.note($0.text) }
    output.fullScreen = Output.FullScreen(message: { [weak self] in self?.note($0) }, resumed: { [weak self] in self?.screen?.redraw() })
    draw()
    let (before, onClient) = (context.session.connections, context.session.onClient)
    context.session.onClient = { [weak self] client in
      onClient?(client)
      self?.observe(client)
    }
    let onSignal = context.process.onSignal
    context.process.onSignal = { [weak self] in self?.closesOverlay(at: $0) ?? false || onSignal?($0) ?? false }
    defer { context.process.onSignal = onSignal }
    for connection in before where connection.isOpen { adopt(connection) }
    spawn { await $0.listen(radio, selector, who) }
    spawn { await $0.followSignals() }
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await ended.value()) } catch { outcome = .failure(error) }
    output.fullScreen = nil
    screen.end()
    self.screen = nil
    drawTimer?.cancel()
    radio.onNote = notes
    for task in tasks.values { task.cancel() }
    context.process.memory.hear(browser.devices.all)
    context.session.onClient = onClient
    await release(before)
    try outcome.get()
  }

  // MARK: The screen

  private func take(_ event: Screen.Event) {
    switch event {
    case .key(let key):
      for action in browser.handle(key) { perform(action) }
      draw(within: Self.keyInterval)
    case .changed: draw(within: Self.keyInterval)
    case .hangup: ended.resume(returning: ())
    }
  }

  /// Closes the prompt, the form or the help at Ctrl-C. Returns false if none is open, so that the browser ends.
  private func closesOverlay(at signal: Int32) -> Bool {
    guard signal == SignalWatch.interrupt, browser.overlay != nil else { return false }
    take(.key(.escape))
    context.process.signals?.rearm(signal)
    return true
  }

  /// Requests a redraw after a change of the browser's state.
  func changed() { draw(within: Self.frameInterval) }

  private func draw(within interval: Duration) {
    let now = EventLoop.shared.now
    let due = drawnAt.map { $0.advanced(by: interval) } ?? now
    if due <= now { return draw() }
    if drawDue.map({ $0 <= due }) ?? false { return }
    schedule(at: due)
  }

  private func draw() {
    guard let screen else { return }
    drawTimer?.cancel()
    drawnAt = EventLoop.shared.now
    let frame = browser.frame(width: screen.columns, height: screen.rows, at: EventLoop.shared.wallClock)
    let isTaken = screen.draw(frame)
    drawDue = nil
    schedule(at: EventLoop.shared.now.advanced(by: isTaken ? Self.tick : Self.frameInterval))
  }

  private func schedule(at due: LoopClock.Instant) {
    drawTimer?.cancel()
    drawDue = due
    drawTimer = EventLoop.shared.schedule(at: due) { [weak self] in self?.draw() }
  }

  // MARK: What is done

  /// Runs a task in the background. Cancels the task when the browser ends.
  @discardableResult
  func spawn(_ body: @escaping @LoopActor @Sendable (BrowserSession) async -> Void) -> Task<Void, Never> {
    let number = nextTask
    nextTask += 1
    let task = EventLoop.shared.spawn { [weak self] in
      if let self { await body(self) }
      self?.tasks[number] = nil
    }
    tasks[number] = task
    return task
  }

  var now: Int64 { EventLoop.shared.wallClock }

  func note(_ text: String, of peer: PeerAddress? = nil) {
    browser.note(text, of: peer, at: now)
    changed()
  }

  func problem(_ error: any Error, of peer: PeerAddress? = nil) {
    guard !(error is CancellationError) else { return }
    browser.problem(Failure(error).message, of: peer, at: now)
    changed()
  }

  private func perform(_ action: BrowserAction) {
    switch action {
    case .connect(let peer): connect(peer)
    case .disconnect(let peer): spawn { await $0.disconnect(peer) }
    case .read(let peer, let handle): request(peer) { try await $0.read(handle, from: $1) }
    case .readAll(let peer): request(peer) { try await $0.readAll(from: $1) }
    case .write(let peer, let handle, let bytes, let mode): request(peer) { try await $0.write(bytes, to: handle, mode, on: $1) }
    case .subscribe(let peer, let handle): request(peer) { try await $0.subscribe(handle, on: $1) }
    case .unsubscribe(let peer, let handle): request(peer) { try await $0.unsubscribe(handle, on: $1) }
    case .copy(let text):
      let isCopied = screen?.copy(text) == true
      note(isCopied ? "Copied: \(text)" : text)
    case .trace(let path): spawn { await $0.trace(path) }
    case .save(let text, let path, let count): spawn { await $0.save(text, to: path, count) }
    case .pair(let peer): request(peer) { try await $0.pair(on: $1) }
    case .answer(let text): pairing?.answer(text)
    case .redraw: screen?.redraw()
    case .quit: ended.resume(returning: ())
    }
  }

  /// Performs an operation on a device in the background. Shows an error of the operation in the browser.
  func request(_ peer: PeerAddress, _ body: @escaping @LoopActor @Sendable (BrowserSession, Connection) async throws -> Void) {
    guard let connection = links[peer] else {
      browser.devices.peers[peer]?.finishRequest()
      return
    }
    spawn { session in
      do { try await body(session, connection) } catch {
        // The end of the connection is reported once, elsewhere.
        if connection.isOpen { session.problem(error, of: peer) }
      }
      if session.links[peer] === connection { session.browser.devices.peers[peer]?.finishRequest() }
      session.changed()
    }
  }

  private func save(_ text: String, to path: String, _ count: Int) async {
    do {
      try await OutputFile.write(Array(text.utf8), to: path, for: .everybody)
      note("Saved \(count.counted("value")) to \(path)")
    } catch { problem(error) }
  }

  private func trace(_ path: String?) async {
    do {
      try await context.process.trace(to: path)
      note(path.map { "Recording to \($0). T stops." } ?? "Recording stopped: \(browser.tracing ?? "")")
      browser.tracing = path
    } catch { problem(error) }
  }

  // MARK: Scanning

  /// Searches for the device of the command line, if any, and connects. Then scans until the task is canceled.
  private func listen(_ radio: any Central, _ selector: PeerSelector?, _ who: PeerOptions?) async {
    if let selector, let who {
      note("Looking for \(selector) …")
      do {
        let limit = who.link.wait ? context.step.waitLimit : context.step.searchLimit
        var search = PeerSearch(selector, takesFirst: who.choice.first, demandsOne: who.choice.unique, limit: limit)
        search.isUrgent = who.link.wait
        let match = try await context.session.find(search, BrowserLinks(self).reporter)
        browser.devices.connecting(match.peer, name: match.name)
        browser.select(match.peer)
        browser.pane = .tree
        connect(match.peer, as: who)
      } catch { problem(error) }
    }
    while !Task.isCancelled {
      do {
        try await radio.listen(ScanParameters(), for: nil, resolving: try await context.session.resolver()) { [weak self] report, time in
          self?.browser.devices.heard(report, at: time)
          self?.changed()
          return .goOn
        }
      } catch is CancellationError {
        return
      } catch {
        // Keep running while a device is connected.
        guard browser.devices.peers.values.contains(where: { $0.isConnected || $0.state == .connecting }) else {
          return ended.resume(throwing: error)
        }
        problem(error)
        try? await EventLoop.shared.sleep(for: .seconds(5))
      }
    }
  }

  /// Reads the signal strength of all open connections every 2 seconds.
  private func followSignals() async {
    while !Task.isCancelled {
      for (peer, connection) in links where connection.isOpen {
        guard let parameters = try? await connection.link.parameters(), links[peer] === connection else { continue }
        browser.devices.update(parameters, connection.security?.level, of: peer, at: now)
        changed()
      }
      try? await EventLoop.shared.sleep(for: Self.signalInterval)
    }
  }

  // MARK: Attributes

  /// Returns the address under which the browser shows a device. A restored connection may have another address.
  func row(of connection: Connection) -> PeerAddress { links.first { $0.value === connection }?.key ?? connection.peer }

  /// Discovers the services of a device, then reads its descriptors and values.
  func discover(on connection: Connection) async throws {
    let table = try await connection.client.discover()
    browser.devices.peers[row(of: connection)]?.tree.update(table)
    changed()
    try await readAll(from: connection)
  }

  /// Waits until the session has renewed the subscriptions after a change of services, then discovers the services again.
  func rediscover(on connection: Connection) async throws {
    // The renewal of the subscriptions discovers the services, too.
    await subscriptions[row(of: connection)]?.untilRenewed()
    showSubscriptions(of: row(of: connection))
    try await discover(on: connection)
  }

  /// Reads all descriptors and all readable values of a device, one after another.
  func readAll(from connection: Connection) async throws {
    let table = try await connection.client.discover()
    for item in table.characteristics {
      for descriptor in item.descriptors { try await take(descriptor.handle, from: connection) }
      if item.properties.contains(.read) { try await take(item.valueHandle, from: connection) }
    }
  }

  func read(_ handle: AttributeHandle, from connection: Connection) async throws {
    let value = try await take(handle, from: connection)
    guard case .failure(let error) = value else { return }
    var failure = Failure(error)
    if connection.security?.shortage != nil, [0x05, 0x0C, 0x0F].contains(failure.code) { failure.add("Press P to pair.") }
    problem(failure, of: row(of: connection))
  }

  /// Reads a value and stores it in the browser. If the device refuses, stores and returns the error instead.
  @discardableResult
  private func take(_ handle: AttributeHandle, from connection: Connection) async throws -> Result<[UInt8], any Error> {
    let value: Result<[UInt8], any Error>
    do { value = .success(try await connection.client.read(handle)) } catch let error as GATTError {
      guard case .errorResponse = error else { throw error }
      value = .failure(error)
    }
    browser.devices.peers[row(of: connection)]?.receive(value, of: handle, at: now)
    changed()
    return value
  }

  func write(_ bytes: [UInt8], to handle: AttributeHandle, _ mode: WriteMode, on connection: Connection) async throws {
    let client = connection.client
    let attribute = client.table?.attribute(at: handle)
    let plan = try WriteProcedure(value: bytes.count, properties: attribute?.properties, mtu: client.mtu, mode: mode)
    var pacing = WritePacing()
    pacing.provesArrival = true
    try await client.send(bytes, to: handle, plan: plan, pacing: pacing)
    note(
      "Wrote \(Quantity.bytes(bytes.count)) to \(attribute?.uuid?.description ?? handle.description) by \(plan.mode.rawValue), in "
        + Quantity.segments(plan.segments.count), of: row(of: connection))
    // Read the value back, because the device may store something else.
    if attribute?.properties?.contains(.read) ?? true { _ = try await take(handle, from: connection) }
  }

  func subscribe(_ handle: AttributeHandle, on connection: Connection) async throws {
    guard let item = connection.client.table?.characteristics.first(where: { $0.valueHandle == handle }) else { return }
    try await subscriptions[row(of: connection)]?.add(item)
    showSubscriptions(of: row(of: connection))
    note("Subscribed to \(item.uuid)", of: row(of: connection))
    await refresh(item, connection)
  }

  func unsubscribe(_ handle: AttributeHandle, on connection: Connection) async throws {
    guard let values = subscriptions[row(of: connection)],
      let item = values.characteristics.first(where: { $0.valueHandle == handle })
    else { return }
    defer { showSubscriptions(of: row(of: connection)) }
    try await values.remove(item)
    note("Unsubscribed from \(item.uuid)", of: row(of: connection))
    await refresh(item, connection)
  }

  /// Reads the Client Characteristic Configuration (2902) of a characteristic again, if the browser shows its value.
  private func refresh(_ item: Characteristic, _ connection: Connection) async {
    guard let descriptor = item.clientConfiguration, browser.devices.peers[row(of: connection)]?.values[descriptor.handle] != nil else {
      return
    }
    _ = try? await take(descriptor.handle, from: connection)
  }
}

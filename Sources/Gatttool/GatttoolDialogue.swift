import BluetoothLELinux
import CommandLine

/// The interactive mode `gatttool -I`. Each line is a command, which runs in the background while the user types the next line.
@LoopActor
final class GatttoolDialogue {
  enum State {
    case disconnected
    case connecting(Task<Void, Never>)
    case connected(Connection)
  }

  private(set) var state = State.disconnected { didSet { editor?.prompt = prompt } }
  var destination: String?
  var addressType: AddressType
  var securityLevel = "low"
  /// The MTU in bytes that the last `mtu` command requested on this connection. 0 before the first `mtu` command.
  var requestedMTU = 0
  let isOverClassic: Bool
  let context: Context
  private static let text = GatttoolText(isInteractive: true)
  private var editor: ReadlineDialogue?
  /// The number of running procedures. If the number is 0, virtual time stops while blectl waits for input.
  private var running = 0 { didSet { EventLoop.shared.virtualTime.horizon = running == 0 ? EventLoop.shared.now : nil } }
  private var observer: ValueObserver?

  init(_ options: GatttoolOptions, _ context: Context) {
    destination = options.texts[.device]
    addressType = options.addressType
    isOverClassic = options.isOverClassic
    self.context = context
  }

  /// Runs commands until `exit`, the end of the input or SIGTERM.
  func run() async throws {
    guard let editor = ReadlineDialogue(context.output, prompt: prompt, completing: Self.commands.map(\.name)) else { return }
    self.editor = editor
    editor.onLine = { [weak self] in self?.take($0) }
    watchSignals(editor)
    running = 0
    defer {
      EventLoop.shared.virtualTime.horizon = nil
      context.process.onSignal = nil
    }
    try await editor.run()
    disconnect()
  }

  private func watchSignals(_ editor: ReadlineDialogue) {
    let process = context.process
    process.signals?.add(SignalWatch.resized)
    process.onSignal = { [weak process] signal in
      switch signal {
      case SignalWatch.interrupt: editor.interrupt()
      case SignalWatch.resized: editor.resized()
      case SignalWatch.resumed:
        editor.resumed()
        return true
      default: editor.end()
      }
      process?.signals?.rearm(signal)
      return true
    }
  }

  func end() { editor?.end() }

  // MARK: What is shown

  private static let (red, blue, plain) = ("\u{1B}[0;91m", "\u{1B}[0;94m", "\u{1B}[0m")

  private var prompt: String {
    let name = DisplayText.visible(destination ?? "")
    let place = "[\(name.padded(to: 17))]"
    let isConnected = if case .connected = state { true } else { false }
    return (isConnected ? Self.blue + place + Self.plain : place) + (isOverClassic ? "[BR]> " : "[LE]> ")
  }

  func say(_ line: String) { if editor?.say(line + "\n") == false { context.reportDropped(1) } }
  func error(_ line: String) { say("\(Self.red)Error: \(Self.plain)\(DisplayText.visible(line))") }
  func failed(_ line: String) { say("\(Self.red)Command Failed: \(Self.plain)\(DisplayText.visible(line))") }

  private func take(_ line: String?) {
    guard let line else {
      editor?.say("\n")
      return
    }
    let text = line.trimmed
    guard !text.isEmpty else { return }
    editor?.remember(text)
    guard let words = try? ShellWords.words(of: text), let name = words.first else { return }
    guard let command = Self.commands.first(where: { $0.name == name.lowercased() }) else { return error("\(name): command not found") }
    command.run(self, words)
  }

  // MARK: The link

  func connect() {
    guard case .disconnected = state else { return }
    guard let destination else { return error("Remote Bluetooth address required") }
    say("Attempting to connect to \(DisplayText.visible(destination))")
    running += 1
    state = .connecting(
      EventLoop.shared.spawn { [self] in
        defer { running -= 1 }
        do {
          let connection = try await GatttoolLink.connect(
            destination, type: addressType, isOverClassic: isOverClassic, securityLevel: securityLevel, context)
          if Task.isCancelled { return await context.session.disconnect(connection) }
          adopt(connection)
        } catch {
          guard !Task.isCancelled else { return }
          state = .disconnected
          self.error(GatttoolLink.reason(error, destination))
        }
      })
  }

  private func adopt(_ connection: Connection) {
    state = .connected(connection)
    observer = connection.client.observeValues { [weak self] in self?.say(GatttoolText.event($0)) }
    say("Connection successful")
    EventLoop.shared.spawn { [weak self] in
      guard (try? await connection.client.untilClosed()) != nil, let self, client === connection.client else { return }
      disconnect()
    }
  }

  /// Disconnects without printing a message. The next prompt shows the new state.
  func disconnect() {
    switch state {
    case .disconnected: return
    case .connecting(let task): task.cancel()
    case .connected(let connection):
      observer?.cancel()
      running += 1
      EventLoop.shared.spawn { [self] in
        await context.session.disconnect(connection)
        running -= 1
      }
    }
    requestedMTU = 0
    state = .disconnected
  }

  /// The GATT client of the connection. Nil while no device is connected.
  var client: Client? { if case .connected(let connection) = state { connection.client } else { nil } }

  // MARK: Procedures

  /// Runs a procedure in the background and prints its results.
  /// - Parameter none: A function that prints a message if the procedure has no results. Nil to print nothing.
  func perform(_ procedure: GatttoolProcedure, none: (@LoopActor (GatttoolDialogue) -> Void)? = nil) {
    guard let client else { return failed("Disconnected") }
    perform(on: client, procedure.failure) { [self] in
      if try await !procedure.run(client, Self.text, { say($0) }) { none?(self) }
    }
  }

  func perform(on client: Client, _ failure: String, _ body: @escaping @LoopActor () async throws -> Void) {
    running += 1
    EventLoop.shared.spawn { [self] in
      defer { running -= 1 }
      do { try await body() } catch {
        // Report nothing about a link that was closed here.
        if self.client === client { self.error("\(failure): \(GatttoolText.reason(error))") }
      }
    }
  }
}

extension GatttoolDialogue {
  struct Command: Sendable {
    let name: String
    let parameters: String
    let help: String
    /// The function that runs the command. The words start with the command's name.
    let run: @LoopActor @Sendable (GatttoolDialogue, [String]) -> Void
  }

  static let commands: [Command] = [
    Command(name: "help", parameters: "", help: "Show this help") { dialogue, _ in dialogue.showHelp() },
    Command(name: "exit", parameters: "", help: "Exit interactive mode") { dialogue, _ in dialogue.end() },
    Command(name: "quit", parameters: "", help: "Exit interactive mode") { dialogue, _ in dialogue.end() },
    Command(name: "connect", parameters: "[address [address type]]", help: "Connect to a remote device") { $0.connect($1) },
    Command(name: "disconnect", parameters: "", help: "Disconnect from a remote device") { dialogue, _ in dialogue.disconnect() },
    Command(name: "primary", parameters: "[UUID]", help: "Primary Service Discovery") { $0.primary($1) },
    Command(name: "included", parameters: "[start hnd [end hnd]]", help: "Find Included Services") { $0.included($1) },
    Command(name: "characteristics", parameters: "[start hnd [end hnd [UUID]]]", help: "Characteristics Discovery") {
      $0.characteristics($1)
    },
    Command(name: "char-desc", parameters: "[start hnd] [end hnd]", help: "Characteristics Descriptor Discovery") { $0.descriptors($1) },
    Command(name: "char-read-hnd", parameters: "<handle>", help: "Characteristics Value/Descriptor Read by handle") { $0.read($1) },
    Command(name: "char-read-uuid", parameters: "<UUID> [start hnd] [end hnd]", help: "Characteristics Value/Descriptor Read by UUID") {
      $0.readByType($1)
    },
    Command(name: "char-write-req", parameters: "<handle> <new value>", help: "Characteristic Value Write (Write Request)") {
      $0.write($1)
    },
    Command(name: "char-write-cmd", parameters: "<handle> <new value>", help: "Characteristic Value Write (No response)") { $0.write($1) },
    Command(name: "sec-level", parameters: "[low | medium | high]", help: "Set security level. Default: low") { $0.secureLink($1) },
    Command(name: "mtu", parameters: "<value>", help: "Exchange MTU for GATT/ATT") { $0.exchangeMTU($1) },
  ]

  private func showHelp() {
    func fill(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }
    say(Self.commands.map { "\(fill($0.name, 15)) \(fill($0.parameters, 30)) \($0.help)" }.joined(separator: "\n"))
  }

  private func connect(_ words: [String]) {
    guard case .disconnected = state else { return }
    if words.count > 1 {
      destination = words[1]
      addressType = words.count > 2 && words[2] == "random" ? .random : .public
    }
    connect()
  }

  private func primary(_ words: [String]) {
    guard client != nil else { return failed("Disconnected") }
    guard words.count > 1 else { return perform(.primaryServices) { $0.error("No primary service found") } }
    guard let uuid = GatttoolValue.uuid(words[1]) else { return error("Invalid UUID") }
    perform(.primaryService(uuid)) { $0.error("No service UUID found") }
  }

  private func included(_ words: [String]) {
    guard let range = range(words.dropFirst(), endingAtStart: true) else { return }
    perform(.includedServices(range)) { $0.say("No included services found for this range") }
  }

  private func characteristics(_ words: [String]) {
    guard let range = range(words.dropFirst()) else { return }
    guard words.count > 3 else { return perform(.characteristics(range, nil)) }
    guard let uuid = GatttoolValue.uuid(words[3]) else { return error("Invalid UUID") }
    perform(.characteristics(range, uuid))
  }

  private func descriptors(_ words: [String]) { if let range = range(words.dropFirst()) { perform(.attributes(range)) } }

  private func read(_ words: [String]) {
    guard client != nil else { return failed("Disconnected") }
    guard words.count > 1 else { return error("Missing argument: handle") }
    guard let handle = GatttoolValue.handle(words[1]) else { return error("Invalid handle: \(words[1])") }
    perform(.read(AttributeHandle(lower: handle)))
  }

  private func readByType(_ words: [String]) {
    guard client != nil else { return failed("Disconnected") }
    guard words.count > 1 else { return error("Missing argument: UUID") }
    guard let uuid = GatttoolValue.uuid(words[1]) else { return error("Invalid UUID") }
    // For a wrong handle, gatttool names the word before it.
    guard let range = range(words.dropFirst(2), naming: { words[$0 - 1] }) else { return }
    perform(.readByType(uuid, range))
  }

  /// Sends a Write Request if the first word is exactly `char-write-req`, otherwise a Write Command.
  private func write(_ words: [String]) {
    guard client != nil else { return failed("Disconnected") }
    guard words.count > 2 else { return say("Usage: \(words[0]) <handle> <new value>") }
    guard let handle = GatttoolValue.handle(words[1]), handle > 0 else { return error("A valid handle is required") }
    let value = GatttoolValue.bytes(words[2])
    guard !value.isEmpty else { return error("Invalid value") }
    let attribute = AttributeHandle(lower: handle)
    perform(words[0] == "char-write-req" ? .write(attribute, value) : .command(attribute, value))
  }

  private func secureLink(_ words: [String]) {
    guard words.count > 1 else { return say("sec-level: \(securityLevel)") }
    guard ["low", "medium", "high"].contains(words[1].lowercased()) else { return say("Allowed values: low | medium | high") }
    securityLevel = words[1]
    guard case .connected(let connection) = state else { return }
    running += 1
    EventLoop.shared.spawn { [self] in
      defer { running -= 1 }
      do { try await GatttoolLink.secure(connection, securityLevel) } catch { self.error(Failure(error).message) }
    }
  }

  private func exchangeMTU(_ words: [String]) {
    guard let client else { return failed("Disconnected") }
    guard words.count > 1 else { return say("Usage: mtu <value>") }
    guard requestedMTU == 0 else { return failed("MTU exchange can only occur once per connection.") }
    let wanted = CNumber(words[1], base: nil).value
    requestedMTU = wanted.map { Int(Int32(truncatingIfNeeded: $0)) } ?? -1
    guard wanted != nil, requestedMTU >= 23 else { return error("Invalid value. Minimum MTU size is 23") }
    let mtu = requestedMTU
    perform(on: client, "Exchange MTU Request failed") { [self] in
      guard let agreed = try await client.exchangeMTU(offering: mtu) else { return error("Error exchanging MTU") }
      say("MTU was exchanged successfully: \(agreed)")
    }
  }

  /// Parses the start and the end of a range of handles. An omitted word selects the lowest or the highest handle.
  /// - Parameters:
  ///   - endingAtStart: Whether a range without an end contains only the handle at its start.
  ///   - naming: A function that returns the word to show in an error, for the index in `words` of the invalid word. Nil to show that word.
  /// - Returns: Nil after printing an error.
  private func range(_ words: ArraySlice<String>, endingAtStart: Bool = false, naming: ((Int) -> String)? = nil) -> HandleRange? {
    guard client != nil else {
      failed("Disconnected")
      return nil
    }
    var range = HandleRange.all
    for (index, place) in zip(words.indices, ["start", "end"]) {
      guard let handle = GatttoolValue.handle(words[index]) else {
        error("Invalid \(place) handle: \(naming?(index) ?? words[index])")
        return nil
      }
      if place == "start" { range.start = .init(lower: handle) }
      if place == "end" || endingAtStart { range.end = .init(lower: handle) }
    }
    return range
  }
}

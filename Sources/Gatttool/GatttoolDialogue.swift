import ATT
import Bluetooth
import CommandLine
import EventLoop
import GATT
import LinuxIO
import Operations
import Terminal
import Text

/// The interactive mode `gatttool -I`. Lines are commands, and the next line does not wait for their answers.
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
  /// The last MTU that `mtu` requested on this link. 0 if none.
  var requestedMTU = 0
  let isOverClassic: Bool
  let context: Context
  private static let text = GatttoolText(isInteractive: true)
  private var editor: ReadlineDialogue?
  /// The number of running procedures. At 0, virtual time stops while blectl waits for input.
  private var running = 0 { didSet { EventLoop.shared.horizon = running == 0 ? EventLoop.shared.now : nil } }
  private var observer: ValueObserver?

  init(_ options: GatttoolOptions, _ context: Context) {
    destination = options.texts[.device]
    addressType = options.addressType
    isOverClassic = options.isOverClassic
    self.context = context
  }

  /// Runs until `exit`, the end of the input or SIGTERM.
  func run() async throws {
    guard let editor = ReadlineDialogue(context.output, prompt: prompt, completing: Self.commands.map(\.name)) else { return }
    self.editor = editor
    editor.onLine = { [weak self] in self?.take($0) }
    watchSignals(editor)
    running = 0
    defer {
      EventLoop.shared.horizon = nil
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
    let place = "[" + String(repeating: " ", count: max(0, 17 - name.count)) + name + "]"
    let isConnected = if case .connected = state { true } else { false }
    return (isConnected ? Self.blue + place + Self.plain : place) + (isOverClassic ? "[BR]> " : "[LE]> ")
  }

  func say(_ line: String) { if editor?.say(line + "\n") == false { context.tellOfDropped(1) } }
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

  /// Disconnects without a message. The next prompt shows it.
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

  /// The client of the link. Nil without a link.
  var client: Client? { if case .connected(let connection) = state { connection.client } else { nil } }

  // MARK: Procedures

  /// - Parameter none: Prints a message if there are no results.
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

import BluetoothLEDeviceFiles
import BluetoothLELinux
import CommandLine

/// The interactive session on a terminal, with prompt, completion and history.
@LoopActor
final class InteractiveShell {
  let shell: Shell
  let editor: LineEditor
  private let history: LineHistory?
  /// The lines that the user typed in this session and in earlier ones, the latest last.
  private var lines: [String] = []
  /// The task of the command that runs in the foreground. Nil while the user types.
  private var running: Task<OutputFailure?, Never>?

  // State for completion.
  var shapes: [String: CommandShape] = [:]
  var aliases: [String: PeerSelector] = [:]
  let seen = RecentDevices()
  /// The user descriptions (2901) of each connected device by value handle, and its device file. `device` is nil without a device file.
  var descriptions: [(client: Client, texts: [AttributeHandle: String], device: DeviceDescription?)] = []
  var learning: Task<Void, Never>?

  var process: ProcessContext { shell.process }
  private var output: Output { process.output }

  /// Opens the terminal for a session.
  /// - Returns: Nil if standard input is not a terminal, or if blectl has no terminal for output.
  init?(_ shell: Shell) {
    guard let editor = LineEditor(shell.process.output, name: "blectl") else { return nil }
    self.shell = shell
    self.editor = editor
    history = shell.process.configuration.historyPath.map { LineHistory($0, limit: LineEditor.historyLimit) }
  }

  /// Runs lines until the user presses Ctrl-D or the terminal closes.
  /// - Parameter peer: The device to connect first. Nil to connect none.
  func run(connecting peer: PeerArgument?) async throws {
    watchSignals()
    defer {
      // The end of the session may take a while, and signals of the terminal may still arrive.
      process.onSignal = { [process] in Self.ignores($0, process) }
      (shell.onChange, shell.onAliasChange) = (nil, nil)
      process.questions.releaseTerminal = nil
      learning?.cancel()
      editor.close()
    }
    remember()
    process.questions.releaseTerminal = { [editor] in editor.release() }
    shell.pager = { [weak self] in try await self?.page($0) ?? false }
    process.session.onReport = { [seen] in seen.add($0) }
    learnKnownDevices()
    shell.onAliasChange = { [weak self] in self?.learnKnownDevices() }
    editor.complete = { [weak self] in self?.complete($0) }
    shell.onChange = { [weak self] in self?.showState() }
    if let peer { try await runInForeground { try await self.shell.run(["connect", peer.description]) } }
    showState()
    if shell.current == nil, !CommandLine.arguments.contains(Repl.commandName) {
      output.status("To find devices: scan. To connect: connect NAME. All commands: help. To leave: Ctrl-D")
    }
    while let line = try await editor.line() {
      switch line.trimmed {
      case "": continue
      case let text where text == "history" || text.hasPrefix("history "):
        try await runInForeground { try await self.showHistory(String(text.dropFirst(7)).trimmed) }
      case let text:
        try await runInForeground { try await self.execute(text) }
        showState()
        if shell.isOver { return }
      }
    }
  }

  private func learnKnownDevices() {
    // The command that uses an invalid configuration reports it.
    guard let known = try? process.configuration.knownDevices() else { return }
    aliases = known.aliases
    for device in known.devices { seen.add(device.peer, name: device.name, rssi: nil) }
    guard let air = try? process.adapter().air else { return }
    for record in process.configuration.heard(on: air).records.reversed() {
      // Do not use an old signal strength.
      for device in record.devices { seen.add(device.peer, name: device.name, rssi: nil) }
    }
  }

  private func dropAhead() {
    let count = editor.forgetAhead()
    if count > 0 { output.note("Dropped \(count.counted("line")) that were waiting.") }
  }

  /// Runs a command in the foreground. Ctrl-C ends only this command, not the session.
  private func runInForeground(_ body: @escaping @LoopActor () async throws -> Void) async throws {
    let task = EventLoop.shared.spawn { [output] () -> OutputFailure? in
      do { try await body() } catch let error as OutputFailure { return error } catch {
        // Report nothing after Ctrl-C.
        if Failure(error) != .cancelled { _ = Program.report(error, output) }
      }
      output.clearTransient()
      return nil
    }
    running = task
    let broken = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    running = nil
    if let broken { throw broken }
    try Task.checkCancellation()
  }

  private func execute(_ line: String) async throws {
    guard line.hasPrefix("!") else { return try await shell.run(line: line) }
    // The other program gets the terminal and Ctrl-C.
    editor.release()
    do { try await shell.run(line: line) } catch {
      if error is CancellationError { dropAhead() }
      throw error
    }
  }

  /// Shows a text in the user's pager if the text needs more than the screen.
  /// - Returns: False if the caller must write the text.
  private func page(_ text: String) async throws -> Bool {
    let rows = text.split(separator: "\n", omittingEmptySubsequences: false)
      .reduce(1) { $0 + max(1, (DisplayText.width(String($1)) + output.width - 1) / max(1, output.width)) }
    let chosen = process.configuration.variable("PAGER")
    guard rows > output.height, output.canAnimateOut, chosen != "", chosen != "cat" else { return false }
    try await output.flush(until: nil)
    editor.release()
    let pager = chosen ?? "if command -v less > /dev/null; then less; else more; fi"
    // As git does: quit at once if the text fits, show colors, and leave the text on the screen.
    let command = "LESS=\"${LESS-FRX}\"; export LESS; \(pager)"
    // The shell exits with 127 for a missing program.
    return try await ChildProcess.shell(command, input: Array((text + "\n").utf8), signals: process.signals) != 127
  }

  /// Lists the lines with their numbers. `count` is the number of lines to show, or empty for all.
  private func showHistory(_ count: String) async throws {
    guard let count = count.isEmpty ? lines.count : Int(count), count > 0 || lines.isEmpty else {
      return output.failure("history takes the number of lines to show, such as history 20.")
    }
    let text = lines.enumerated().suffix(count).map { number, line in
      "\("\(number + 1)".padded(to: 5))  \(DisplayText.escape(line))"
    }.joined(separator: "\n")
    if !lines.isEmpty, try await !page(text) { try await output.line(text) }
  }

  // MARK: Prompt

  private func showState() {
    guard let device = shell.current else { return editor.prompt = [.init("blectl> ")] }
    // Leave half of the line for typed text.
    let width = max(8, output.width / 2 - 12)
    let name = DisplayText.clip(DisplayText.escape(device.title), to: width)
    let security = device.connection?.security?.level.map { $0.isAuthenticated ? " (authenticated)" : " (encrypted)" }
    let state = device.isConnected ? "" : device.isBeingRestored || device.problem != nil ? " (lost)" : " (not connected)"
    editor.prompt =
      [.init(name, .bold)] + (state.isEmpty ? security.map { [.init($0)] } ?? [] : [.init(state, .red)]) + [.init("> ")]
  }

  // MARK: History

  private func remember() {
    guard let history else { return }
    do throws(FileError) { lines = try history.read() } catch { return output.note(Failure(error).message) }
    editor.remember(lines)
    var isBroken = false
    editor.onRemember = { [weak self] line in
      // A secret must not outlive the session.
      guard SecretOptions.hidden(in: line) == line else { return }
      self?.lines.append(line)
      guard !isBroken else { return }
      // Report only once that the home directory is not writable.
      do throws(FileError) { try history.append(line) } catch {
        isBroken = true
        self?.output.note("\(Failure(error).message.asSentence) The history is not saved.")
      }
    }
  }

  // MARK: Signals

  private func watchSignals() {
    for signal in [SignalWatch.stopping, SignalWatch.resized] { process.signals?.add(signal) }
    process.onSignal = { [weak self] in self?.deal(with: $0) ?? false }
  }

  private static func ignores(_ signal: Int32, _ process: ProcessContext) -> Bool {
    switch signal {
    case SignalWatch.resized: break
    case SignalWatch.stopping: process.signals?.stop()
    default: return false
    }
    process.signals?.rearm(signal)
    return true
  }

  private func deal(with signal: Int32) -> Bool {
    switch signal {
    case SignalWatch.interrupt:
      if let running {
        running.cancel()
        dropAhead()
      } else {
        editor.interrupt()
      }
    case SignalWatch.resized: editor.resized()
    case SignalWatch.stopping:
      editor.release()
      // Without job control, `stop` returns immediately, and no SIGCONT follows.
      process.signals?.stop()
      fallthrough
    case SignalWatch.resumed:
      output.resumed()
      editor.resumed()
      return true
    default: return false
    }
    process.signals?.rearm(signal)
    return true
  }
}

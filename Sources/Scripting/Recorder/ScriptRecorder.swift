package import BluetoothLELinux
package import CommandLine
import Program
import Scripts

/// A recorder that turns commands and their results into a script, for the option `--record`.
@LoopActor
package final class ScriptRecorder: LineRecorder {
  private let path: String
  private let output: Output
  private let known: SessionCommands
  private let start = EventLoop.shared.wallClock
  /// The device of the script. Nil until a command names a device.
  private var device: PeerSelector?
  /// The first session entry of the script's device. The session itself may have removed this entry.
  private var sessionDevice: SessionDevice?
  private var recordings: [CommandRecording] = []
  private var leftOut = 0
  /// The recording of the latest command, even if the script omits the command. Nil before the first command.
  private(set) var last: CommandRecording?

  /// The maximum number of recorded commands.
  private let limit: Int

  /// Creates a recorder for a script file, after checking that the file is writable.
  /// - Throws: FileError if the file is not writable.
  package init(_ path: String, _ output: Output, _ known: SessionCommands, limit: Int = 100_000) throws(FileError) {
    try OutputFile.check(path)
    (self.path, self.output, self.known, self.limit) = (path, output, known, limit)
  }

  /// Whether at least one command ended without a usage error or another refusal by blectl.
  package var hasDone: Bool { commands.contains { $0.duration != nil && !($0.failure?.isRefusal ?? false) } }
  private var commands: [RecordedCommand] { recordings.map(\.command) }

  private func add(_ command: RecordedCommand, parts: RecordedWords? = nil) -> CommandRecording {
    let recording = CommandRecording(command, parts: parts, self)
    if recordings.count < limit { recordings.append(recording) } else { leftOut += 1 }
    last = recording
    return recording
  }

  /// Adds a `connect` line with connection options.
  private func addConnection(_ options: [String] = []) -> CommandRecording {
    var command = RecordedCommand(["connect"] + options)
    command.kind = .connection
    return add(command)
  }

  // MARK: One command

  /// Runs and records the command of the command line.
  /// - Parameter arguments: The words of the command line, starting with the name of the command.
  package func run(_ command: any LoopCommand, _ arguments: [String], in context: Context) async throws {
    if let peer = command.recordedDevice { device = try await context.configuration.resolve(peer) }
    guard command.traits.isSession else {
      let hasPeer = command.peerOptions != nil
      let words = self.words(arguments, of: command, hasPeer: hasPeer)
      if hasPeer { return try await run(command, words, in: context) }
      return try await record(add(RecordedCommand(words.words)), command, context)
    }
    do { try await command.run(in: context) } catch {
      if recordings.isEmpty, device != nil, Failure(error).kind != .usage { addConnection().didEnd(error) }
      throw error
    }
  }

  /// Returns the words that the script repeats. A file that a script takes from its own folder gets its path from there.
  private func words(_ words: [String], of command: any LoopCommand, hasPeer: Bool) -> RecordedWords {
    var (words, command) = (words, command)
    command.placeFile { file, _ in
      if let index = words.lastIndex(where: { $0 == file || $0.hasPrefix("--") && $0.hasSuffix("=\(file)") }) {
        words[index] = words[index].dropLast(file.count) + ScriptLoader.name(file, in: path)
      }
      return file
    }
    return RecordedWords(words, of: type(of: command), hasPeer: hasPeer, known)
  }

  private func run(_ command: any LoopCommand, _ words: RecordedWords, in context: Context) async throws {
    if command.traits.deviceChange == .connects {
      return try await record(add(RecordedCommand([command.commandName] + words.link)), command, context)
    }
    let link = words.link.isEmpty ? nil : addConnection(words.link)
    let recorded = add(Self.recorded(command, words.words), parts: words)
    do { try await record(recorded, command, context) } catch {
      // Without a link, the connection failed, not the command.
      if !recorded.hasLink {
        recorded.command.kind = .comment("not run")
        (link ?? addConnection()).didEnd(error)
      }
      throw error
    }
  }

  private func record(_ recorded: CommandRecording, _ command: any LoopCommand, _ context: Context) async throws {
    watch(recorded, command, context.output)
    do {
      try await command.run(in: Context(context.process, context.step, recorded))
      recorded.didEnd(nil)
    } catch {
      // A command that became a session has ended before.
      recorded.didEnd(last === recorded ? error : nil)
      throw error
    }
  }

  private static func recorded(_ command: any LoopCommand, _ words: [String]) -> RecordedCommand {
    let form = command.recordedForm
    // The option is after the name of the command: `--` may precede the other words.
    var recorded = RecordedCommand(words.prefix(1) + (form.agreement.map { [$0] } ?? []) + words.dropFirst())
    if let reads = form.reads { recorded.kind = .read(reads.attributes, options: reads.options) }
    recorded.userDescriptions = command.attributesInScript.filter { (try? Selector($0)) == nil }
    recorded.isEndless = command.runsUntilStopped
    recorded.isWait = command.awaitedAttribute != nil
    return recorded
  }

  // MARK: A session

  /// Starts the recording of a session's command.
  /// - Parameter device: The device that the command uses. Nil for a command without a device.
  func begin(_ line: ShellLine, _ device: SessionDevice?, _ output: Output) -> any CommandObserver {
    let form = line.command.recordedForm
    let isOther = device.map { !isOfScript($0) } ?? false
    let parts = words(line.words, of: line.command, hasPeer: line.namesPeer)
    var command = Self.recorded(line.command, form.words ?? parts.words + parts.link)
    command.failsAgain = form.failsAgain
    if isOther || form.isLeftOut { command.kind = .comment(isOther ? "for another device" : "not for scripts") }
    let recorded = add(command, parts: parts)
    watch(recorded, line.command, output)
    return recorded
  }

  /// Returns whether a session's entry belongs to the script's device. After a disconnection, the session creates a new entry.
  private func isOfScript(_ other: SessionDevice) -> Bool {
    let selector = device ?? other.selector
    device = selector
    if let sessionDevice {
      if sessionDevice.present === other.present { return true }
      if let peer = sessionDevice.present.lastPeer, let otherPeer = other.connection?.peer ?? other.destination?.peer ?? other.lastPeer {
        return peer == otherPeer
      }
      if let peer = sessionDevice.present.lastPeer, other.selector.means(peer, named: nil) { return true }
      return other.selector.isSame(as: selector) || other.selector.isSame(as: sessionDevice.selector)
    }
    guard other.isMeant(by: selector) else { return false }
    sessionDevice = other
    return true
  }

  private func watch(_ recorded: CommandRecording, _ command: any LoopCommand, _ output: Output) {
    if !command.recordedForm.isExpected, output.onResult == nil {
      output.onResult = { [weak recorded] in recorded?.command.show($0) }
    }
  }

  // MARK: The script

  /// Writes the recorded script to the file of `--record`.
  /// - Throws: FileError; CancellationError.
  package func write() async throws {
    let (text, leftOut) = made()
    try await OutputFile.write(Array(text.utf8), to: path, for: .user)
    if leftOut > 0 { output.note("Omitted \(leftOut.counted("command")) from \(DisplayText.quote(path)): \(Self.reason(limit)).") }
  }

  private static func reason(_ limit: Int) -> String {
    "a recorded script has at most \(limit) commands and \(ScriptLine.maximumLength >> 20) MiB"
  }

  private func made() -> (text: String, leftOut: Int) {
    var text = ""
    var leftOut = leftOut
    var head = RecordedScript()
    head.begin(device?.description, at: Timestamp.text(start))
    // Leave room for the comment about omitted commands.
    var room = ScriptLine.maximumLength - head.text.utf8.count - 1000
    let (volatile, commands) = (volatile, commands)
    for (index, command) in commands.enumerated() {
      var part = RecordedScript(volatile: volatile)
      part.add(command)
      room -= part.text.utf8.count
      guard room >= 0 else {
        leftOut += commands.count - index
        break
      }
      text += part.text
    }
    if leftOut > 0 { text += "  # \(leftOut.counted("more command")) left out: \(Self.reason(limit))\n" }
    return (head.text + text + "end\n", leftOut)
  }

  /// The keys from `RecordedScript.expectations(of:)` whose values changed during the recording.
  private var volatile: Set<String> {
    var first: [String: String] = [:]
    var found: Set<String> = []
    for (key, value) in commands.flatMap(RecordedScript.expectations) {
      if let before = first[key], before != value { found.insert(key) }
      first[key] = value
    }
    return found
  }
}

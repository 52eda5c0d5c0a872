import EventLoop
import LinuxIO
import Operations
import Terminal
import Text

/// `--record`: what is done, as a script that expects what came.
@LoopActor
final class ScriptRecorder {
  private let path: String
  private let start = EventLoop.shared.wallClock
  /// Whom the script is about: the first device that was named.
  private var device: String?
  private weak var lane: Lane?
  private var commands: [RecordedCommand] = []

  /// Commands that are kept.
  private static let limit = 100_000

  /// - Throws: FileError when the file cannot be written.
  init(_ path: String) throws(FileError) {
    try OutputFile.check(path, for: .user)
    self.path = path
  }

  /// The one that was given last.
  var last: RecordedCommand? { commands.last }

  /// At least one was not refused at once.
  var hasDone: Bool { commands.contains { $0.duration != nil && !($0.failure?.isRefusal ?? false) } }

  private func add(_ words: [String], _ kind: RecordedCommand.Kind, isEndless: Bool = false) -> RecordedCommand {
    let command = RecordedCommand(words, kind, isEndless: isEndless, self)
    if commands.count < Self.limit { commands.append(command) }
    return command
  }

  // MARK: One command

  /// Runs a command of the command line. - Parameter arguments: its words, the command's name first.
  func run(_ command: any LoopCommand, _ arguments: [String], in context: Context) async throws {
    switch command {
    case let command as Execute:
      if let peer = command.peer { device = "\(try await context.configuration.resolve(peer))" }
    case is Repl: break
    case let command as any PeerCommand:
      device = "\(try await context.configuration.resolve(command.who.peer))"
      return try await run(command, RecordedWords(arguments, of: type(of: command), hasPeer: true), in: context)
    default: return try await record(add(RecordedWords(arguments, of: type(of: command), hasPeer: false).words, .command), command, context)
    }
    do { try await command.run(in: context) } catch {
      if commands.isEmpty, device != nil, Failure(error).kind != .usage { add(["connect"], .connection).end(error) }
      throw error
    }
  }

  private func run(_ command: any LoopCommand, _ words: RecordedWords, in context: Context) async throws {
    var link: RecordedCommand?
    if !words.link.isEmpty, !(command is Connect) { link = add(["connect"] + words.link, .connection) }
    if command is Connect { return try await record(add(["connect"] + words.link, .command), command, context) }
    let recorded = add(words.words, Self.kind(command, words.words), isEndless: command.runsUntilStopped)
    do { try await record(recorded, command, context) } catch {
      // Where there was no link, the link is what failed.
      if !recorded.hasLink {
        recorded.becomes(.comment("not done"))
        let connection = link ?? add(["connect"], .connection)
        connection.end(error)
      }
      throw error
    }
  }

  private func record(_ recorded: RecordedCommand, _ command: any LoopCommand, _ context: Context) async throws {
    watch(recorded, command, context.output)
    do {
      try await RecordedCommand.$present.withValue(recorded) { try await command.run(in: context) }
      recorded.end(nil)
    } catch {
      // One that became a session has done its own part.
      recorded.end(last === recorded ? error : nil)
      throw error
    }
  }

  private static func kind(_ command: any LoopCommand, _ words: [String]) -> RecordedCommand.Kind {
    guard let read = command as? Read else { return .command }
    return .read(read.attributes, options: read.format == .auto ? [] : ["--as", read.format.name])
  }

  // MARK: A session

  /// - Parameter lane: of the device that it is about; nil: it is about none.
  func begin(_ line: ShellLine, _ words: [String], _ lane: Lane?, _ output: Output) -> RecordedCommand {
    let named = line.command is any PeerCommand && !line.isAboutCurrent
    if let lane, self.lane == nil {
      self.lane = lane
      device = device ?? "\(lane.selector)"
    }
    let isOther = lane != nil && lane !== self.lane
    let parts = RecordedWords(words, of: type(of: line.command), hasPeer: named)
    let kind: RecordedCommand.Kind =
      if isOther { .comment("about another device") } else if Self.outside.contains(line.name) {
        .comment("not in a script")
      } else { Self.kind(line.command, parts.words) }
    let recorded = add(
      line.command is Sleep ? ["sleep", "\((line.command as? Sleep)?.seconds.plainText ?? "0")s"] : parts.words + parts.link, kind,
      isEndless: line.command.runsUntilStopped)
    watch(recorded, line.command, output)
    return recorded
  }

  /// What a script does not have.
  private static let outside: Set<String> = ["exit", "quit", "help", "source", "alias", "use", "set", "peers", "adapters"]

  private func watch(_ recorded: RecordedCommand, _ command: any LoopCommand, _ output: Output) {
    if !(command is Read), !(command is Notify), !(command is Write), output.onResult == nil {
      output.onResult = { [weak recorded] in recorded?.show($0) }
    }
  }

  // MARK: The script

  /// - Throws: FileError; CancellationError.
  func write() async throws { try await OutputFile.write(Array(text.utf8), to: path, for: .user) }

  private var text: String {
    var script = RecordedScript(volatile: volatile)
    if let device { script.line("device \(ShellWords.quote(device))\n") }
    script.line("test \"recorded \(Timestamp.text(start))\"")
    for command in commands { script.add(command) }
    script.line("end")
    return script.text
  }

  /// Attributes that had two values.
  private var volatile: Set<String> {
    var first: [String: [UInt8]] = [:]
    var found: Set<String> = []
    for value in commands.flatMap(\.reads) {
      if let before = first[value.attribute], before != value.octets { found.insert(value.attribute) }
      first[value.attribute] = value.octets
    }
    return found
  }
}

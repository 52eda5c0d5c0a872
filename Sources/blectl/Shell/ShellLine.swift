import ArgumentParser
import EventLoop
import Text

/// A command that is about one device: in a session it may be left out, then it is the current one.
protocol PeerCommand: LoopCommand {
  var who: PeerOptions { get }
}

/// A command that listens to everybody, and is in nobody's way.
protocol ListeningCommand: LoopCommand {}

/// A command whose records name devices of their own. In a session for programs each has its own `peer`.
protocol PeerNamingCommand: LoopCommand {}

/// A command that works on the session itself.
protocol SessionWorker: LoopCommand {
  @LoopActor func run(in context: Context, _ session: SessionLinks) async throws
}

/// A command of sessions only.
protocol SessionCommand: SessionWorker {
  static var turn: ShellTurn { get }
}

extension SessionCommand {
  func run(in context: Context) async throws { throw Failure(.internal, "This command needs a session.") }

  /// Only commands about a device wait for one.
  static var unusedOptions: [String] { self is any PeerCommand.Type ? [] : ["--timeout"] }
}

/// When a command of a session runs.
enum ShellTurn {
  /// Before the next line is looked at.
  case atOnce
  /// As long as it takes: lines behind it are looked at when it is over.
  case beforeOthers
  /// After those before it that are about the current device.
  case ofDevice
}

/// One line of a session, parsed by the same types as the command line.
struct ShellLine {
  /// The command's name.
  let name: String
  let command: any LoopCommand
  /// No device is named: it is about the current one.
  let isAboutCurrent: Bool

  /// - Parameter words: at least one.
  /// - Throws: Failure(.usage); HelpText.
  @LoopActor
  init(_ words: [String], _ settings: ShellSettings) throws {
    let moved = Arguments.commandFirst(words)
    name = moved.first ?? ""
    guard let type = ShellCommands.type(named: name) else { throw ShellCommands.unknown(name) }
    var rest = Array(moved.dropFirst())
    let options = ShellCommands.options(of: type)
    // Where nothing but a PEER can stand, that is what was meant.
    let isPeerOnly = type == Connect.self || options.arguments == 1
    let named = options.firstArgument(in: rest).map { isPeerOnly && rest[$0] != "-" || PeerArgument(form: rest[$0]) != nil } ?? false
    isAboutCurrent = type is any PeerCommand.Type && !named && !rest.contains { ["-h", "--help"].contains($0) }
    if isAboutCurrent {
      // Also before what would be an option, which PEER never is.
      rest.insert(PeerArgument.current.description, at: options.firstArgument(in: rest) ?? options.end(of: rest))
    }
    // Neither has options that begin with a digit.
    if type == Sleep.self || type == SetSetting.self { rest = Arguments.valueLast(rest) }
    let typed = rest
    rest = Self.withDefaults(rest, type, settings, options)
    do {
      try Arguments.refuseRepeated([name] + rest, of: type)
      // What the parser gives for --help is a command of its own.
      guard let command = try type.parseAsRoot(rest) as? any LoopCommand else { throw HelpText(type, rest) }
      self.command = command
    } catch {
      if error is Failure || error is HelpText { throw error }
      if type.exitCode(for: error) == .success {
        throw rest.contains("--version") ? HelpText(text: type.fullMessage(for: error)) : HelpText(type, rest)
      }
      throw Failure(.usage, UsageText(error, [name] + typed, of: type).sentence)
    }
  }

  private static func withDefaults(
    _ words: [String], _ type: any ParsableCommand.Type, _ settings: ShellSettings, _ options: CommandOptions
  )
    -> [String]
  {
    var words = words
    func add(_ option: String, _ value: String) {
      guard options.takesValue(option), !words.contains(where: { $0 == option || $0.hasPrefix(option + "=") }) else { return }
      words.insert(contentsOf: [option, value], at: 0)
    }
    // What write's names is how its VALUE is read.
    if let format = settings.format, type != Write.self, !words.contains("--raw") { add("--as", format.name) }
    // A scan waits for nobody, and says so to whoever gives it one.
    let isUsed = !((type as? any LoopCommand.Type)?.unusedOptions.contains("--timeout") ?? false)
    if let timeout = settings.timeout, isUsed, !words.contains(where: { $0.hasPrefix("-t") }) { add("--timeout", "\(timeout)") }
    return words
  }
}

/// What was asked for is help.
struct HelpText: Error {
  let text: String

  init(text: String) { self.text = text }

  init(_ type: any ParsableCommand.Type, _ words: [String]) {
    text = HelpPage(of: type, isSession: true).text(isShort: words.contains("-h") && !words.contains("--help"))
  }
}

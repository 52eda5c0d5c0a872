import ArgumentParser
import EventLoop
import Text

/// The commands that a session has.
enum ShellCommands {
  /// Those of the command line that make no sense inside of a session.
  private static let outside: [any ParsableCommand.Type] = [Repl.self, Execute.self, Run.self, Sim.self, Browse.self, Gatttool.self]

  static let session: [any LoopCommand.Type] = [
    Rssi.self, Params.self, MTU.self, Alias.self, Disconnect.self, Use.self, Subscribe.self, Unsubscribe.self, WaitForValue.self,
    Sleep.self, SetSetting.self, Help.self, Source.self, Exit.self,
  ]

  static let all: [any ParsableCommand.Type] =
    Blectl.configuration.subcommands.filter { type in !outside.contains { $0 == type } } + session

  private static let byName: [String: any ParsableCommand.Type] = Dictionary(
    all.compactMap { type in type.configuration.commandName.map { ($0, type) } }, uniquingKeysWith: { first, _ in first })

  static var names: [String] { all.compactMap { $0.configuration.commandName } }

  static func type(named name: String) -> (any ParsableCommand.Type)? { byName[name == Exit.otherName ? "exit" : name] }

  /// Whether a line can be read, and begins with a command's name.
  static func isCommand(_ line: String) -> Bool {
    guard let words = try? ShellWords.words(of: line) else { return false }
    return Arguments.commandFirst(words).first.flatMap { type(named: $0) } != nil
  }

  static func unknown(_ name: String) -> Failure {
    if let advice = FamiliarWords.advice[name] { return Failure(.usage, "Unknown command \(DisplayText.quote(name)). \(advice)") }
    let familiar = FamiliarWords.commands[name].flatMap { names.contains($0) ? $0 : nil }
    let meant = (familiar ?? Likeness.nearest(to: name, among: names)).map { "Did you mean \($0)? " } ?? ""
    return Failure(.usage, "Unknown command \(DisplayText.quote(name)). \(meant)List the commands: `help`")
  }

  /// The parser's description of a command takes a millisecond to ask for: kept.
  @LoopActor private static var known: [String: CommandOptions] = [:]

  @LoopActor
  static func options(of type: any ParsableCommand.Type) -> CommandOptions {
    let name = type.configuration.commandName ?? ""
    if let options = known[name] { return options }
    let options = CommandOptions(of: type)
    known[name] = options
    return options
  }
}

/// What the options of a command are called, and which take a value.
struct CommandOptions {
  private let withValue: Set<String>
  /// How many arguments without names it takes; one that repeats counts once.
  let arguments: Int

  init(of type: any ParsableCommand.Type) {
    let description = CommandDescription(of: type)
    withValue = Set(description.options.filter(\.takesValue).flatMap(\.names))
    arguments = description.arguments.count - description.options.count
  }

  func takesValue(_ option: String) -> Bool { withValue.contains(option) }

  /// The index of the first word that is neither an option nor the value of one.
  func firstArgument(in words: [String]) -> Int? {
    var index = 0
    while index < words.count {
      let word = words[index]
      if word == "--" { return index + 1 < words.count ? index + 1 : nil }
      guard word.utf8.first == UInt8(ascii: "-"), word != "-" else { return index }
      index += withValue.contains(word) ? 2 : 1
    }
    return nil
  }

  /// Where a first argument may be put when there is none.
  func end(of words: [String]) -> Int { words.firstIndex(of: "--") ?? words.count }
}

import CommandLine
import EventLoop
import Text

/// The words of a command in a script, without PEER and process options. Connection options move to `connect`.
@LoopActor
struct RecordedWords {
  private enum Part {
    /// The command's name.
    case name(String)
    case argument(String)
    /// An option and its value, if any.
    case option([String])
    /// The word `--`. Only arguments follow.
    case endOfOptions

    var words: [String] {
      switch self {
      case .name(let word), .argument(let word): [word]
      case .option(let words): words
      case .endOfOptions: ["--"]
      }
    }
  }

  private var parts: [Part]
  private(set) var link: [String] = []

  var words: [String] { parts.flatMap(\.words) }

  /// Keeps the words that a script repeats.
  /// - Parameters:
  ///   - words: The words of the command line, perhaps with global options before the name of the command.
  ///   - hasPeer: Whether the first argument is PEER.
  init(_ words: [String], of type: any LoopCommand.Type, hasPeer: Bool, _ commands: SessionCommands) {
    let words = commands.commandFirst(words)
    let options = commands.options(of: type)
    parts = words.prefix(1).map { .name($0) }
    var rest = words.dropFirst()
    var isPeer = hasPeer
    while let word = rest.popFirst() {
      guard word.hasPrefix("-"), word != "-" else {
        if isPeer { isPeer = false } else { parts.append(.argument(word)) }
        continue
      }
      if word == "--" {
        let others = isPeer ? rest.dropFirst() : rest
        if !others.isEmpty { parts += [.endOfOptions] + others.map { .argument($0) } }
        return
      }
      var option = [word]
      if options.takesValue(word), let value = rest.popFirst() { option.append(value) }
      let name = Self.name(word)
      if options.isOfConnection(name), hasPeer {
        link += option
      } else if !options.isOfProcess(name), !Self.isVerbose(word), !(word.hasPrefix("-i") && word.count > 2) {
        parts.append(.option(option))
      }
    }
  }

  private static func name(_ option: String) -> String { String(option.prefix { $0 != "=" }) }

  private static func isVerbose(_ word: String) -> Bool { word.count > 1 && word.dropFirst().allSatisfy { "qv".contains($0) } }

  /// Writes the VALUE of `write` as hex if it comes from standard input or does not fit one line.
  mutating func writes(_ octets: [UInt8]) {
    let arguments = parts.indices.filter { if case .argument = parts[$0] { true } else { false } }
    guard arguments.count == 2, case .argument(let value) = parts[arguments[1]], value == "-" || !RecordedScript.isOneLine(value) else {
      return
    }
    parts[arguments[1]] = .argument(Hex.encode(octets))
    parts.removeAll { if case .option(let words) = $0 { words.first.map(Self.name) == "--as" } else { false } }
  }
}

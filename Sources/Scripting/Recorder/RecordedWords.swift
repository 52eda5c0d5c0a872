import CommandLine

/// The words of a recorded command without PEER and global options. `link` keeps the connection options for a `connect` line.
@LoopActor
struct RecordedWords {
  private enum Part {
    case name(String)
    case argument(String)
    /// An option, followed by its value if the option takes one.
    case option([String])
    /// The word `--`, after which all words are arguments.
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

  /// Splits a command line and keeps the words that a script repeats.
  /// - Parameters:
  ///   - words: The words of the command line. Global options may precede the name of the command.
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
      if options.ofConnection.contains(name), hasPeer {
        link += option
      } else if !options.ofProcess.contains(name), !Self.isVerbose(word), !(word.hasPrefix("-i") && word.count > 2) {
        parts.append(.option(option))
      }
    }
  }

  private static func name(_ option: String) -> String { String(option.prefix { $0 != "=" }) }

  private static func isVerbose(_ word: String) -> Bool { word.count > 1 && word.dropFirst().allSatisfy { "qv".contains($0) } }

  /// Replaces the VALUE of `write` by hex digits if VALUE is `-` (standard input) or contains a line break or NUL.
  mutating func writes(_ bytes: [UInt8]) {
    let arguments = parts.indices.filter { if case .argument = parts[$0] { true } else { false } }
    guard arguments.count == 2, case .argument(let value) = parts[arguments[1]], value == "-" || !RecordedScript.isOneLine(value) else {
      return
    }
    parts[arguments[1]] = .argument(Hex.encode(bytes))
    parts.removeAll { if case .option(let words) = $0 { words.first.map(Self.name) == "--as" } else { false } }
  }
}

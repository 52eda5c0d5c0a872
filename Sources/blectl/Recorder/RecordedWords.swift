import ArgumentParser
import EventLoop
import Text

/// The words of a command as a script has them: without PEER, which the whole script is about, and without what belongs to the process; options of
/// the link go to the command that makes it.
@LoopActor
struct RecordedWords {
  private(set) var words: [String]
  private(set) var link: [String] = []

  private static let linkOptions: Set<String> = ["--mtu", "--phy", "--interval", "--retries", "--wait", "--first", "--unique"]
  private static let processOptions: Set<String> = [
    "-i", "--adapter", "--color", "--trace", "--record", "--json", "-q", "--quiet", "--verbose",
  ]

  /// - Parameters:
  ///   - words: the command's name first, or options of every command before it.
  ///   - hasPeer: whether the first argument is one.
  init(_ words: [String], of type: any ParsableCommand.Type, hasPeer: Bool) {
    let words = Arguments.commandFirst(words)
    let options = ShellCommands.options(of: type)
    self.words = Array(words.prefix(1))
    var rest = words.dropFirst()
    var isPeer = hasPeer
    while let word = rest.popFirst() {
      guard word.hasPrefix("-"), word != "-" else {
        if isPeer { isPeer = false } else { self.words.append(word) }
        continue
      }
      if word == "--" {
        let others = isPeer ? Array(rest.dropFirst()) : Array(rest)
        if !others.isEmpty { self.words += ["--"] + others }
        return
      }
      var option = [word]
      if options.takesValue(word), let value = rest.popFirst() { option.append(value) }
      let name = String(word.prefix { $0 != "=" })
      if Self.linkOptions.contains(name), hasPeer {
        link += option
      } else if !Self.processOptions.contains(name), !Self.isVerbose(word), !(word.hasPrefix("-i") && word.count > 2) {
        self.words += option
      }
    }
  }

  private static func isVerbose(_ word: String) -> Bool { word.count > 1 && word.dropFirst().allSatisfy { "qv".contains($0) } }
}

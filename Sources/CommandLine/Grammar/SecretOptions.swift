/// The options whose values are passkeys or keys. Nothing that outlives a command contains these values.
package enum SecretOptions {
  private static let names = ["--passkey", "--irk", "--key"]

  /// Returns a command line with `…` in place of passkeys and keys, or for the whole line if its quotes do not match. The name of a file
  /// that contains one stays. Nothing stays that follows a word that could be `--passkey` misspelled.
  package static func hidden(in line: String) -> String {
    guard let commands = try? ShellWords.commands(in: line) else {
      let words = line.split { $0.isWhitespace || "\"';=".contains($0) }.map(String.init)
      return words.contains { names.contains($0) || mayNameSecret($0, isFirst: true) } ? "…" : line
    }
    // A passkey, typed where a session takes commands.
    if commands.count == 1, commands[0].count == 1, commands[0][0].utf8.count == 6,
      commands[0][0].utf8.allSatisfy({ (0x30...0x39).contains($0) })
    {
      return "…"
    }
    let shown = commands.map(hidden)
    return shown == commands
      ? line : shown.map { $0.map { $0 == "…" ? $0 : ShellWords.quote($0) }.joined(separator: " ") }.joined(separator: "; ")
  }

  private static func hidden(_ words: [String]) -> [String] {
    var shown: [String] = []
    for word in words {
      let name = String(word.prefix { $0 != "=" })
      if shown.last.map(names.contains) ?? false {
        shown.append(word == "-" || word.hasPrefix("@") ? word : "…")
      } else if names.contains(name) {
        shown.append(name == word ? name : "\(name)=…")
      } else if mayNameSecret(name, isFirst: shown.isEmpty) {
        return shown + (name == word ? [name, "…"] : ["\(name)=…"])
      } else {
        shown.append(word)
      }
    }
    return shown
  }

  /// Returns whether a word could be meant as `--passkey`, `--irk`, `--key`, `BLECTL_PASSKEY` or the command `answer`.
  private static func mayNameSecret(_ name: String, isFirst: Bool) -> Bool {
    let letters = name.lowercased().filter(\.isLetter)
    func resembles(_ names: String...) -> Bool { SpellingSuggestion.nearest(to: letters, among: names) != nil }
    if letters.contains("passkey") || resembles("passkey", "passcode", "password") || isFirst && resembles("answer") { return true }
    // Editors turn hyphens into dashes.
    guard let first = name.first, "-‐‑–—−".contains(first), !letters.isEmpty, name != "--prn" else { return false }
    return "passkey".hasPrefix(letters) || resembles("pin", "irk", "key")
  }
}

import Text

/// The options whose values are passkeys or keys. Nothing that outlives a command contains these values.
package enum SecretOptions {
  private static let names = ["--passkey", "--irk", "--key"]

  /// Returns a command line with `…` in place of passkeys and keys, or for the whole line if its quotes do not match. The name of a file
  /// that contains one stays. Of a word that could be `--passkey` misspelled, nothing stays that follows.
  package static func hidden(in line: String) -> String {
    guard let commands = try? ShellWords.commands(in: line) else {
      let words = line.split { $0.isWhitespace || "\"';".contains($0) }.map { String($0) }
      return words.indices.contains { names.contains(String(words[$0].prefix { $0 != "=" })) || mayNameSecret(words[$0], isFirst: true) } ? "…" : line
    }
    let shown = commands.map(hidden)
    return shown == commands
      ? line : shown.map { $0.map { $0 == "…" ? $0 : ShellWords.quote($0) }.joined(separator: " ") }.joined(separator: "; ")
  }

  private static func hidden(_ words: [String]) -> [String] {
    var shown: [String] = []
    for word in words {
      let isSecret = shown.last.map { names.contains($0) } ?? false
      if isSecret {
        shown.append(word != "-" && !word.hasPrefix("@") ? "…" : word)
      } else if let name = names.first(where: { word.hasPrefix("\($0)=") }) {
        shown.append("\(name)=…")
      } else if !names.contains(word), mayNameSecret(word, isFirst: shown.isEmpty) {
        let (name, rest) = (word.prefix { $0 != "=" }, words.dropFirst(shown.count + 1))
        if name.utf8.count < word.utf8.count { return shown + ["\(name)=…"] }
        return shown + [word] + (rest.isEmpty ? [] : ["…"])
      } else {
        shown.append(word)
      }
    }
    return shown
  }

  /// Returns whether a word could be meant as `--passkey`, `--irk`, `--key`, `BLECTL_PASSKEY=` or the command `answer`.
  private static func mayNameSecret(_ word: String, isFirst: Bool) -> Bool {
    let name = word.prefix { $0 != "=" }.lowercased()
    let letters = name.filter(\.isLetter)
    func resembles(_ names: String...) -> Bool { SpellingSuggestion.nearest(to: letters, among: names) != nil }
    if letters.contains("passkey") || resembles("passkey", "passcode", "password") || isFirst && resembles("answer") { return true }
    // Editors turn hyphens into dashes.
    guard let first = name.first, "-‐‑–—−".contains(first), !letters.isEmpty else { return false }
    return "passkey".hasPrefix(letters) || resembles("pin", "irk", "key")
  }
}

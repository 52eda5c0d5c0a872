import Text

/// The options whose values are passkeys or keys. Nothing that outlives a command contains these values.
package enum SecretOptions {
  private static let names = ["--passkey", "--irk", "--key"]

  /// Returns a command line with `…` in place of passkeys and keys, or for the whole line if its quotes do not match. The name of a file
  /// that contains one stays.
  package static func hidden(in line: String) -> String {
    guard let commands = try? ShellWords.commands(in: line) else { return names.contains(where: line.contains) ? "…" : line }
    let shown = commands.map(hidden)
    return shown == commands
      ? line : shown.map { $0.map { $0 == "…" ? $0 : ShellWords.quote($0) }.joined(separator: " ") }.joined(separator: "; ")
  }

  private static func hidden(_ words: [String]) -> [String] {
    var isSecret = false
    return words.map { word in
      defer { isSecret = names.contains(word) }
      if let name = names.first(where: { word.hasPrefix("\($0)=") }) { return "\(name)=…" }
      return isSecret && word != "-" && !word.hasPrefix("@") ? "…" : word
    }
  }
}

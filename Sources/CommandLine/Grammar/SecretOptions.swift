/// The options whose values are passkeys or keys. Nothing that outlives a command contains these values.
package enum SecretOptions {
  private static let names = ["--passkey", "--irk", "--key"]

  /// Returns a command line with `…` in place of passkeys and keys. The name of a file that contains one stays.
  package static func hidden(in line: String) -> String {
    guard names.contains(where: line.contains) else { return line }
    var isSecret = false
    return line.split(omittingEmptySubsequences: false) { $0 == " " || $0 == "\t" }.map { word in
      let name = names.first { word == $0 || word.hasPrefix("\($0)=") }
      defer { isSecret = name.map { word == $0 } ?? (isSecret && word.isEmpty) }
      if let name, word != name { return "\(name)=…" }
      return isSecret && !word.isEmpty && word != "-" && !word.hasPrefix("@") ? "…" : String(word)
    }.joined(separator: " ")
  }
}

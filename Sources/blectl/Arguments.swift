enum Arguments {
  /// Moves global options that stand before the command's name behind it, where the command's own parser takes them:
  /// `-i sim --json scan --count 1` → `scan -i sim --json --count 1`.
  static func commandFirst(_ arguments: [String]) -> [String] {
    var leading: [String] = []
    var rest = arguments[...]
    while let word = rest.first, word.hasPrefix("-"), word != "-", word != "--" {
      rest = rest.dropFirst()
      leading.append(word)
      if ProcessOptions.namesWithValue.contains(word) || StepOptions.namesWithValue.contains(word), let value = rest.first {
        leading.append(value)
        rest = rest.dropFirst()
      }
    }
    let answered = ["--version", "--help", "-h", "--generate-completion-script"]
    guard let command = rest.first, !leading.contains(where: answered.contains) else { return arguments }
    return [command] + leading + rest.dropFirst()
  }
}

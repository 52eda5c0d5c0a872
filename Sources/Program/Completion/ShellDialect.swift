import BluetoothLELinux

/// A shell for which blectl completes command lines, with its formats of questions and answers.
enum ShellDialect: String, CaseIterable {
  case bash, zsh, fish

  /// The command line up to the cursor, as the shell passes it.
  struct Question: Equatable {
    /// The complete words without the program's name.
    var words: [String] = []
    var last = ""
    /// The parsed command line of bash. Nil for other shells.
    var line: BashLine?
  }

  /// Parses the arguments from the shell. Nil if there is nothing to complete.
  /// - Parameter arguments: For bash, the line up to the cursor and COMP_WORDBREAKS. For other shells, the words up to the cursor.
  func question(_ arguments: [String]) -> Question? {
    guard self == .bash else {
      guard let last = arguments.last else { return nil }
      return Question(words: Array(arguments.dropLast()), last: last)
    }
    guard let text = arguments.first else { return nil }
    let line = BashLine(text, breaks: arguments.dropFirst().first ?? "")
    // Skip variables set for this command.
    let words = line.words.drop { $0.contains("=") }
    return words.isEmpty || line.isRedirected ? nil : Question(words: Array(words.dropFirst()), last: line.last, line: line)
  }

  /// Formats the answer, with instructions on the first line and one candidate on each further line. `nospace` means no space after the
  /// only candidate. `menu` means that no candidate starts with the typed text. `files N ENDING…` adds files, whose path starts after N
  /// characters of the word.
  func text(of answer: Completer.Answer, to question: Question) -> String {
    var entries = answer.entries.map { entry in
      CompletionModel.Entry(
        text: answer.prefix + entry.text, keys: entry.keys.map { answer.prefix.lowercased() + $0 }, hint: Self.shown(entry.hint),
        isOther: entry.isOther, goesOn: entry.goesOn)
    }.filter { DisplayText.isPrintable(Array($0.text.utf8)) }
    let wanted = question.last.lowercased()
    // Candidates that start with the typed text take precedence.
    let literal = entries.filter { $0.text.lowercased().hasPrefix(wanted) }
    var words: [String] = []
    if self != .fish, literal.isEmpty, !entries.isEmpty { words.append("menu") }
    if self != .fish, !literal.isEmpty { entries = literal }
    var lines: [String]
    switch self {
    case .bash: lines = bash(entries, question, &words)
    case .zsh:
      lines = entries.map { ($0.goesOn ? "+" : "=") + Self.coloned($0.text) + ($0.hint.isEmpty ? "" : ":\(Self.coloned($0.hint))") }
    case .fish: lines = entries.map { "\($0.text)\t\($0.hint)" }
    }
    if let endings = answer.files {
      let before = answer.prefix.unicodeScalars.count
      if self == .zsh || before == 0 || question.line.map({ $0.kept.hasSuffix(answer.prefix) }) ?? false {
        words += ["files", "\(before)"] + endings
      } else {
        lines += files(endings, answer.prefix, question, &words)
      }
    }
    return ([words.joined(separator: " ")] + lines).map { $0 + "\n" }.joined()
  }

  private func bash(_ entries: [CompletionModel.Entry], _ question: Question, _ words: inout [String]) -> [String] {
    let texts = entries.compactMap { question.line?.replacement(for: $0.text) }
    if texts.count == 1, entries.contains(where: \.goesOn) { words.append("nospace") }
    // Readline replaces the typed text by the common start, which must then find all candidates.
    if words.contains("menu"), texts.count > 1 {
      let common = Completer.commonBeginning(entries.map(\.text)).lowercased()
      if common.isEmpty || !entries.allSatisfy({ $0.isFound(by: common) }) { return [] }
    }
    return texts
  }

  /// Returns one line for each matching file, with `prefix` before the path, for a shell that cannot complete a path after a prefix.
  private func files(_ endings: [String], _ prefix: String, _ question: Question, _ words: inout [String]) -> [String] {
    let path = question.last.after(prefix) ?? ""
    let completer = Completer(model: CompletionModel(), shape: { _ in nil }, files: { FolderNames.list($0, home: nil) })
    let entries = completer.named(path, endings).entries.filter { DisplayText.isPrintable(Array($0.text.utf8)) }
    guard self == .bash else { return entries.map { "\(prefix)\($0.text)\t" } }
    return bash(entries.map { .init(text: prefix + $0.text, keys: [], hint: "", goesOn: $0.goesOn) }, question, &words)
  }

  /// Escapes unprintable characters in a hint and clips the hint to 100 columns.
  private static func shown(_ hint: String) -> String {
    DisplayText.isPrintable(Array(hint.utf8))
      ? DisplayText.clip(hint, to: 100) : hint.isEmpty ? "" : DisplayText.clip(DisplayText.escape(hint), to: 100)
  }

  /// Escapes colons and backslashes for the zsh function `_describe`, where a colon starts the description.
  private static func coloned(_ text: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar == ":" || scalar == "\\" { escaped.append("\\") }
      escaped.append(scalar)
    }
    return String(escaped)
  }
}

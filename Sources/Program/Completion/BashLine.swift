/// The words of a bash command line up to the cursor, and the replacement for the word at the cursor. Bash itself would split words at
/// colons and drop quotes.
struct BashLine: Equatable {
  /// The complete words without quotes. The first is the program's name.
  private(set) var words: [String] = []
  /// The word at the cursor without quotes. Empty if the cursor follows a space.
  private(set) var last = ""
  /// The prefix of `last` that readline keeps. The prefix ends at the last character of COMP_WORDBREAKS or at an open quote.
  private(set) var kept = ""
  /// The quotation mark that is open at the cursor. Nil if none is open.
  private(set) var quote: Unicode.Scalar?
  /// Whether the word at the cursor is the file name of a redirection.
  private(set) var isRedirected = false

  private var isInWord = false

  /// Splits a command line into words as bash does.
  /// - Parameter breaks: The value of COMP_WORDBREAKS, which is a list of characters.
  init(_ line: String, breaks: String) {
    var isEscaped = false
    var openedAt = ""
    let scalars = Array(line.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      if isEscaped {
        isEscaped = false
        if quote == "\"", !"\"\\$`".unicodeScalars.contains(scalar) { add("\\") }
        add(scalar)
        continue
      }
      switch (quote, scalar) {
      case ("'", "'"), ("\"", "\""): quote = nil
      case (nil, "'"), (nil, "\""):
        (quote, openedAt, isInWord) = (scalar, last, true)
      case (nil, "\\"), ("\"", "\\"): isEscaped = true
      case (nil, " "), (nil, "\t"), (nil, "\n"): endWord()
      case (nil, "&") where isRedirected && !isInWord, (nil, "|") where isRedirected && !isInWord: break  // 2>&1, >|file
      case (nil, "&") where index + 1 < scalars.count && scalars[index + 1] == ">": endWord()  // &>file
      case (nil, ";"), (nil, "|"), (nil, "&"), (nil, "("), (nil, ")"):
        endWord()
        (words, isRedirected) = ([], false)
      case (nil, "<"), (nil, ">"):
        // Digits before the operator are a file descriptor, not a word.
        if last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { forgetWord() }
        endWord()
        isRedirected = true
      default:
        // Readline's word starts at `@` and `$`, but after the other breaks.
        let begins = quote == nil && breaks.unicodeScalars.contains(scalar)
        if begins, scalar == "@" || scalar == "$" { kept = last }
        add(scalar)
        if begins, scalar != "@", scalar != "$" { kept = last }
      }
    }
    if quote != nil { kept = openedAt }
    if isEscaped { add("\\") }
  }

  private mutating func add(_ scalar: Unicode.Scalar) {
    last.unicodeScalars.append(scalar)
    isInWord = true
  }

  private mutating func forgetWord() { (last, kept, isInWord) = ("", "", false) }

  private mutating func endWord() {
    guard isInWord else { return }
    if !isRedirected { words.append(last) }
    isRedirected = false
    forgetWord()
  }

  /// Returns the text to put after `kept` so that the word at the cursor becomes `text`. Nil if no text achieves this.
  func replacement(for text: String) -> String? {
    let scalars = text.unicodeScalars
    let count = kept.unicodeScalars.count
    guard String(String.UnicodeScalarView(scalars.prefix(count))).lowercased() == kept.lowercased() else { return nil }
    let rest = scalars.dropFirst(count)
    // Bash would keep a backslash before the exclamation mark.
    if quote == "\"", rest.contains("!") { return nil }
    var replacement = String.UnicodeScalarView()
    for scalar in rest {
      switch quote {
      case "'":
        replacement.append(contentsOf: scalar == "'" ? Array("'\\''".unicodeScalars) : [scalar])
        continue
      case "\"": if "\"\\$`".unicodeScalars.contains(scalar) { replacement.append("\\") }
      default:
        let isHarmless = Self.harmless.contains(scalar) || !(replacement.isEmpty && kept.isEmpty) && scalar == "#"
        if scalar.isASCII, !isHarmless { replacement.append("\\") }
      }
      replacement.append(scalar)
    }
    return String(replacement)
  }

  private static let harmless = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%".unicodeScalars)
}

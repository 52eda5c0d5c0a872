import BluetoothLEText

/// One result of `doctor`, with the checked subject and advice.
struct Finding: Equatable, Sendable {
  enum State: String, Sendable {
    case ok
    /// A fact that the user should know, although scans work.
    case note
    /// A problem that prevents scans.
    case failure
  }

  let state: State
  let subject: String
  /// The state of the subject, its cause and the advice, as sentences.
  let message: String

  static func ok(_ subject: String, _ message: String) -> Self { Self(state: .ok, subject: subject, message: message) }
  static func note(_ subject: String, _ message: String) -> Self { Self(state: .note, subject: subject, message: message) }
  static func failure(_ subject: String, _ message: String) -> Self { Self(state: .failure, subject: subject, message: message) }

  /// Returns the lines that show the finding. Folds the message between words, but keeps each command on one line.
  /// - Parameters:
  ///   - width: The width of the column of subjects, in characters.
  ///   - columns: The width of the terminal in columns. Nil disables folding.
  func lines(_ width: Int, columns: Int?) -> [String] {
    let mark =
      switch state {
      case .ok: "✓"
      case .note: "!"
      case .failure: "✗"
      }
    let head = "\(mark) \(subject)\(String(repeating: " ", count: max(0, width - subject.count)))  "
    // A long subject leaves too little room.
    guard let columns, columns - head.count >= 20 else { return [head + message] }
    let room = columns - head.count
    var lines: [String] = []
    var text = ""
    func fold() {
      for line in DisplayText.fold(text.trimmed, to: room) where !text.trimmed.isEmpty {
        lines.append((lines.isEmpty ? head : String(repeating: " ", count: head.count)) + Self.exchange(line, Self.blank, " "))
      }
      text = ""
    }
    // People copy commands, so each stays on one line. The terminal wraps long commands.
    for (index, part) in message.split(separator: "`", omittingEmptySubsequences: false).map({ String($0) }).enumerated() {
      if index % 2 == 0 {
        // No line starts with the punctuation after a command.
        text += text.isEmpty && !lines.isEmpty ? String(part.drop { ",;. ".contains($0) }) : part
      } else if part.count + 2 <= room {
        text += "`" + Self.exchange(part, " ", Self.blank) + "`"
      } else {
        fold()
        lines.append(part)
      }
    }
    fold()
    return lines
  }

  private static func exchange(_ text: String, _ old: Character, _ new: Character) -> String { String(text.map { $0 == old ? new : $0 }) }

  /// A non-breaking space, which replaces the spaces in a command while `lines` folds the message.
  private static let blank: Character = "\u{A0}"
}

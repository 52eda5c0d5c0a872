import Text

/// One thing that `doctor` has looked at.
struct Finding: Equatable, Sendable {
  enum State: String, Sendable {
    case ok
    /// Worth knowing; a scan works all the same.
    case note
    /// A scan does not work with this.
    case failure
  }

  let state: State
  let subject: String
  /// What is so, why, and what to do about it.
  let message: String

  /// - Parameters:
  ///   - width: of the column with the subjects.
  ///   - columns: of the terminal, for folding the message between words beside that column; nil: it is one line.
  func lines(_ width: Int, columns: Int?) -> [String] {
    let mark =
      switch state {
      case .ok: "✓"
      case .note: "!"
      case .failure: "✗"
      }
    let head = "\(mark) \(subject)\(String(repeating: " ", count: max(0, width - subject.count)))  "
    // Beside a long name there may be no room to speak of.
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
    // A command is copied from one line: where there is no room for it, from one that the terminal folds.
    for (index, part) in message.split(separator: "`", omittingEmptySubsequences: false).map({ String($0) }).enumerated() {
      if index % 2 == 0 {
        // No line begins with the comma behind the command.
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

  /// What no message has, and no line ends at.
  private static let blank: Character = "\u{A0}"
}

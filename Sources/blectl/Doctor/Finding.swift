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
    return DisplayText.fold(message, to: columns - head.count).enumerated().map { index, line in
      (index == 0 ? head : String(repeating: " ", count: head.count)) + line
    }
  }
}

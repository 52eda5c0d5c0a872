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

  /// - Parameter width: of the column with the subjects.
  func line(_ width: Int) -> String {
    let mark =
      switch state {
      case .ok: "✓"
      case .note: "!"
      case .failure: "✗"
      }
    return "\(mark) \(subject)\(String(repeating: " ", count: max(0, width - subject.count)))  \(message)"
  }
}

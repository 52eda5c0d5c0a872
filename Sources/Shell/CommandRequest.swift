import Presentation
import Text

/// The identifier that a program gives to a command.
enum CommandIdentifier: Equatable {
  /// The line number of a command without an ID.
  case line(Int)
  /// A whole number, with the digits that the program wrote.
  case number(String)
  case string(String)
  /// An ID that could not be read. Not the line number, which may be the ID of another command.
  case unknown(line: Int)

  /// The name of the command for `cancel`.
  var text: String {
    switch self {
    case .line(let number): "\(number)"
    case .number(let text), .string(let text): text
    case .unknown: ""
    }
  }

  /// Whether the program chose the ID. A line number is not its own.
  var isOwn: Bool {
    switch self {
    case .number, .string: true
    case .line, .unknown: false
    }
  }

  func write(_ json: inout RecordWriter) {
    switch self {
    case .line(let number): json.integer("id", number)
    case .number(let digits): json.literal("id", digits)
    case .string(let text): json.string("id", text)
    case .unknown(let line):
      json.string("id", nil)
      json.integer("line", line)
    }
  }

  /// The member that each JSON record of the command gets.
  var member: RecordWriter.Members { RecordWriter.Members { write(&$0) } }
}

/// A line of a session for programs: a typed command, or `{"id":…,"command":"read ffe1"}`.
struct CommandRequest {
  let id: CommandIdentifier
  let command: String

  struct Malformed: Error {
    let id: CommandIdentifier
    let failure: Failure
  }

  /// - Parameter line: The line number, from 1.
  init(_ text: String, line: Int) throws(Malformed) {
    let trimmed = text.trimmed
    guard trimmed.hasPrefix("{") else {
      id = .line(line)
      command = trimmed
      return
    }
    var id = CommandIdentifier.unknown(line: line)
    func malformed(_ why: String) -> Malformed {
      Malformed(id: id, failure: Failure(.usage, "\(why.asSentence) Write a command, or {\"id\":1,\"command\":\"read ffe1\"}"))
    }
    let tree: JSONTree
    do { tree = try JSONTree.parse(Array(trimmed.utf8)) } catch { throw malformed("the line is not JSON: \(error.reason)") }
    switch tree["id"]?.kind {
    case nil, .null?: break
    case .string(let text)?: id = .string(text)
    case .number(let digits)? where Int(digits).map { "\($0)" } == digits: id = .number(digits)
    case .number(let text)?: throw malformed("\"id\" must be a string or a whole number, not \(DisplayText.escape(text))")
    default: throw malformed("\"id\" must be a string or a whole number, not \(tree["id"]?.noun ?? "nothing")")
    }
    guard case .object(let members) = tree.kind else { throw malformed("the line is \(tree.noun)") }
    if let stranger = members.first(where: { !["id", "command"].contains($0.key) }) {
      throw malformed("unknown key \(DisplayText.quote(stranger.key))")
    }
    guard let command = tree["command"]?.string else { throw malformed("\"command\" is missing or not a string") }
    self.id = if case .unknown = id { .line(line) } else { id }
    self.command = command
  }
}

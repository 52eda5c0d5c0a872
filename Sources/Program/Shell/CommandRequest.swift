import BluetoothLEText
import Presentation

/// The identifier of a command in a session for programs.
enum CommandIdentifier: Equatable {
  /// The line number, counted from 1, of a command without an ID.
  case line(Int)
  /// An ID that is a whole number, with the digits that the program wrote.
  case number(String)
  case string(String)
  /// An unreadable ID. `line` is the line number of the command, counted from 1.
  case unknown(line: Int)

  /// The ID as the command `cancel` takes it. Empty for an unreadable ID.
  var text: String {
    switch self {
    case .line(let number): "\(number)"
    case .number(let text), .string(let text): text
    case .unknown: ""
    }
  }

  /// Whether the program chose the ID. False for a line number and for an unreadable ID.
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

  /// The JSON members that identify the command in each of its records.
  var member: RecordWriter.Members { RecordWriter.Members { write(&$0) } }
}

/// A line from a program. It is a command or a JSON object such as `{"id":1,"command":"read ffe1"}`.
struct CommandRequest {
  let id: CommandIdentifier
  /// The line number, counted from 1.
  let number: Int
  let command: String
  /// Whether the program gave its own ID to this line or an earlier one.
  var isAmongIDs = false

  /// The approximate memory that the line uses, in bytes.
  var bytes: Int { command.utf8.count + 128 }

  struct Malformed: Error {
    let id: CommandIdentifier
    let failure: Failure
  }

  /// Parses a line, which is a command or a JSON object.
  /// - Parameter line: The line number, counted from 1.
  init(_ text: String, line: Int) throws(Malformed) {
    number = line
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

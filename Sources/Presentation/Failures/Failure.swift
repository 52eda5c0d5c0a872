package import ATT
package import Bluetooth
import EventLoop
import LinuxIO
package import SystemPackage
package import Text

/// An error for users and scripts: a message, the fields of the JSON error, and a kind, which determines the exit code.
///
/// A message says what failed, why, and what to do. `FailureConvertible` gives the errors of lower rooms their messages.
package struct Failure: Error, Equatable {
  /// The category of a failure, which is the `kind` of the JSON error.
  package enum Kind: String, CaseIterable {
    /// A missing device, service, characteristic or handle, or no MAC in the advertisement.
    case notFound = "not_found"
    /// Several candidates match, but the command accepts only one.
    case ambiguous
    /// blectl cannot use the adapter: none, down, blocked, no permission, taken.
    case adapter
    case timeout
    /// The peer answered with an ATT Error Response. `code` is its error code.
    case att
    /// The peer or the controller sent an invalid answer.
    case protocolViolation = "protocol"
    /// A device answered a device file command with an error. `code` and `name` are the device's.
    case device
    /// A controller refused a command. `code` is the HCI status.
    case hci
    /// The link is lost. `code` is the reason if known.
    case linkLost = "link_lost"
    /// A result does not meet the user's expectation.
    case expectation
    case usage
    case input
    case output
    case interrupted
    /// A bug in blectl.
    case `internal`
  }

  package var kind: Kind
  /// The message on one line, with escaped control characters, because names and selectors may contain any text.
  package var message: String { didSet { message = DisplayText.visible(message) } }
  /// The ATT error code, HCI status or errno. `name` tells which.
  package var code: Int?
  /// The snake case name of `code`: `write_not_permitted`.
  package var name: String?

  /// The byte offset at which a transfer can resume.
  var resumeOffset: Int?
  /// The progress of a write that the loss of the link ended.
  var written: Written?

  /// The numbers of bytes sent and confirmed by the device.
  struct Written: Equatable {
    var sent: Int
    var acknowledged: Int
  }
  /// Whether the command already printed the message.
  package var isTold = false

  package init(_ kind: Kind, _ message: String, code: Int? = nil, name: String? = nil) {
    self.kind = kind
    self.message = DisplayText.visible(message)
    self.code = code
    self.name = name
  }

  /// Creates a failure with the number and the name of a code.
  package init(_ kind: Kind, _ message: String, _ code: (any FailureCode)?) {
    self.init(kind, message, code: code?.number, name: code?.snakeName)
  }

  /// Creates the failure for any error.
  package init(_ error: any Error) {
    switch error {
    case let error as Failure: self = error
    case let error as any FailureConvertible: self = error.failure
    case is CancellationError: self = .cancelled
    default: self = .internal("Unexpected error, a bug in blectl: \(error)")
    }
  }

  /// Whether the input was wrong, so that the command did nothing.
  package var isRefusal: Bool { kind == .usage || kind == .input }

  /// An interruption without more to report.
  package static let cancelled = Failure(.interrupted, "Canceled.")

  /// Appends a sentence to the message.
  package mutating func add(_ sentence: String) { message = "\(message.asSentence) \(sentence)" }

  /// Writes the members of the JSON error object.
  package func write(_ json: inout RecordWriter) {
    json.string("kind", kind.rawValue)
    json.integer("code", code)
    json.string("name", name)
    json.string("message", message)
    if let written {
      json.integer("sent", written.sent)
      json.integer("acknowledged", written.acknowledged)
    }
    if let offset = resumeOffset { json.integer("resume_offset", offset) }
  }

  /// Shortens the user's text, so that the reason after it stays visible.
  package static func head(_ text: String) -> String { DisplayText.clipMiddle(DisplayText.escape(text), to: 60) }

  /// The reason in a few words, for places without room for a message.
  package var word: String {
    guard kind == .att, let code else { return message }
    return switch ErrorCode(rawValue: UInt8(truncatingIfNeeded: code)) {
    case .readNotPermitted: "not permitted"
    case .insufficientAuthentication: "needs pairing"
    case .insufficientAuthorization: "needs authorization"
    case .insufficientEncryption: "needs encryption"
    case .encryptionKeySizeTooShort: "needs a longer key"
    default: (name ?? message).replacing("_", with: " ")
    }
  }
}

/// An error with a message for users. Lower rooms throw facts, and the files in this folder turn these facts into messages.
package protocol FailureConvertible: Error { var failure: Failure { get } }

/// The code of a failure: an ATT error code, an HCI status or an errno.
package protocol FailureCode {
  var number: Int { get }
  /// The name of the code: `write_not_permitted`.
  var snakeName: String { get }
}

extension ErrorCode: FailureCode { package var number: Int { Int(rawValue) } }
extension ControllerErrorCode: FailureCode { package var number: Int { Int(rawValue) } }
extension Errno: FailureCode { package var number: Int { Int(rawValue) } }

extension Failure {
  static func notFound(_ message: String) -> Failure { Failure(.notFound, message) }
  static func ambiguous(_ message: String) -> Failure { Failure(.ambiguous, message) }
  static func adapter(_ message: String, _ errno: Errno? = nil) -> Failure { Failure(.adapter, message, errno) }
  static func timeout(_ message: String) -> Failure { Failure(.timeout, message) }
  static func protocolViolation(_ message: String) -> Failure { Failure(.protocolViolation, message) }
  static func hci(_ message: String, _ code: ControllerErrorCode) -> Failure { Failure(.hci, message, code) }
  static func linkLost(_ message: String, _ code: (any FailureCode)? = nil) -> Failure { Failure(.linkLost, message, code) }
  static func expectation(_ message: String) -> Failure { Failure(.expectation, message) }
  static func usage(_ message: String) -> Failure { Failure(.usage, message) }
  static func input(_ message: String, _ errno: Errno? = nil) -> Failure { Failure(.input, message, errno) }
  static func output(_ message: String, _ errno: Errno? = nil) -> Failure { Failure(.output, message, errno) }
  static func `internal`(_ message: String) -> Failure { Failure(.internal, message) }
}

extension Double {
  /// The number without an empty fraction: `20`, `0.5`.
  package var plainText: String { self == rounded() && abs(self) < 1e15 ? "\(Int(self))" : "\(self)" }
}

extension Duration {
  /// The duration in seconds, rounded to milliseconds, without an empty fraction: `20`, `0.5`.
  package var secondsText: String {
    let whole = components
    if whole.attoseconds == 0 { return "\(whole.seconds)" }
    return ((inSeconds * 1000).rounded() / 1000).plainText
  }

  /// The duration in milliseconds, without an empty fraction: `15`, `7.5`.
  package var millisecondsText: String { inMilliseconds.plainText }
}

extension String {
  /// The text with a full stop, unless it has an end mark.
  package var asSentence: String { last.map { ".?!…".contains($0) } ?? true ? self : self + "." }
}

package import BluetoothLE
package import SystemPackage

/// An error for users and scripts: a message, the fields of the JSON error, and a kind, which determines the exit code.
///
/// The message says what failed, why, and what to do. `FailureConvertible` converts the errors of other modules to failures.
package struct Failure: PassingError, Equatable {
  /// The category of a failure, which is the `kind` of the JSON error.
  package enum Kind: String, CaseIterable {
    /// A device, service, characteristic or handle does not exist, or an advertisement has no MAC.
    case notFound = "not_found"
    /// Several candidates match, but the command accepts only one.
    case ambiguous
    /// blectl cannot use the adapter, for example because it is missing, down, blocked or in use.
    case adapter
    case timeout
    /// The device answered with an ATT Error Response. `code` is its error code.
    case att
    /// The device or the controller sent an invalid answer.
    case protocolViolation = "protocol"
    /// A device answered a command of a device file with an error. `code` and `name` are the device's own.
    case device
    /// A controller refused a command. `code` is the HCI status.
    case hci
    /// Pairing or encryption failed. `code` and `name` are the reason of the Security Manager if one of the devices sent it.
    case pairing
    /// The connection is lost. `code` is the reason if known.
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
  /// The message on one line, with escaped control characters. Names and selectors in a message may contain any character.
  package var message: String { didSet { message = DisplayText.visible(message) } }
  /// The ATT error code, HCI status or errno. Nil for a failure without a code.
  package var code: Int?
  /// The name of `code` in snake case, such as `write_not_permitted`. Nil for a failure without a code.
  package var name: String?

  /// The offset in the file, in bytes, at which a transfer can resume. Nil for other failures.
  var resumeOffset: Int?
  /// The progress of a write that a lost connection ended. Nil for other failures.
  var written: Written?

  /// The numbers of bytes that blectl sent and that the device acknowledged.
  struct Written: Equatable {
    var sent: Int
    var acknowledged: Int
  }
  /// Whether blectl has already printed the message.
  package var isTold = false
  /// The error that this failure tells about. It does not count in comparisons of failures.
  package var origin = Origin()

  package struct Origin: Equatable, Sendable {
    package var error: (any Error)?
    package static func == (_: Self, _: Self) -> Bool { true }
  }

  package init(_ kind: Kind, _ message: String, code: Int? = nil, name: String? = nil) {
    self.kind = kind
    self.message = DisplayText.visible(message)
    self.code = code
    self.name = name
  }

  /// Creates a failure with the number and the name of an error code.
  package init(_ kind: Kind, _ message: String, _ code: (any FailureCode)?) {
    self.init(kind, message, code: code?.number, name: code?.snakeName)
  }

  /// Creates the failure for an error. An error without a known message counts as a bug in blectl.
  package init(_ error: any Error) {
    switch error {
    case let error as Failure: self = error
    case let error as any FailureConvertible:
      self = error.failure
      // A wrapper of another error says the same about it.
      if origin.error == nil { origin.error = error }
    case is CancellationError: self = .cancelled
    default: self = .internal("Unexpected error, a bug in blectl: \(error)")
    }
  }

  /// Whether an attempt on a new connection may succeed.
  package var mayPass: Bool { origin.error.map { ReconnectPolicy.mayPass($0) } ?? false }

  /// Whether blectl refused the command line or an input file before the command did anything.
  package var isRefusal: Bool { kind == .usage || kind == .input }

  /// The failure of a command that the user canceled.
  package static let cancelled = Failure(.interrupted, "Canceled.")

  /// Appends a sentence to the message, after a full stop.
  package mutating func add(_ sentence: String) { message = "\(message.asSentence) \(sentence)" }

  /// Writes the members of the JSON error object.
  package func write(_ json: inout RecordWriter) {
    json.string("kind", kind.rawValue)
    json.integer("code", code)
    json.string("name", name)
    json.string("message", message.asMessage(of: "blectl"))
    if let written {
      json.integer("sent", written.sent)
      json.integer("acknowledged", written.acknowledged)
    }
    if let offset = resumeOffset { json.integer("resume_offset", offset) }
  }

  /// Shortens a text of the user to 60 columns, so that the text after it in a message stays visible.
  package static func head(_ text: String) -> String { DisplayText.clipMiddle(DisplayText.escape(text), to: 60) }

  /// A few words of explanation for an ATT error, such as `needs pairing`. Other failures have their full message.
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

/// An error that can tell users its message. The files in the folder `Failures` add the messages to errors of other modules.
package protocol FailureConvertible: Error { var failure: Failure { get } }

/// The error code of a failure: an ATT error code, an HCI status or an errno.
package protocol FailureCode {
  var number: Int { get }
  /// The name of the code in snake case, such as `write_not_permitted`.
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
  /// The number as text, without `.0` for a whole number, such as `20` or `0.5`.
  package var plainText: String { self == rounded() && abs(self) < 1e15 ? "\(Int(self))" : "\(self)" }
}

extension Duration {
  /// The duration in seconds, rounded to milliseconds. A whole number has no decimal places, such as `20`.
  package var secondsText: String {
    let whole = components
    if whole.attoseconds == 0 { return "\(whole.seconds)" }
    return ((inSeconds * 1000).rounded() / 1000).plainText
  }

  /// The duration in milliseconds, such as `7.5`. A whole number has no decimal places, such as `15`.
  package var millisecondsText: String { inMilliseconds.plainText }
}

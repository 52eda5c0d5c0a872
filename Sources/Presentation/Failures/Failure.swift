import ATT
import Bluetooth
import DeviceFiles
import EventLoop
import Finding
import GAP
import GATT
import HCI
import LEHost
import LinuxBluetooth
import LinuxIO
import Operations
import Replay
import ScriptLanguage
import Simulation
import Terminal
package import Text
import Transfer

/// An error for users and scripts: a message, the fields of the JSON error, and a kind, which determines the exit code.
///
/// A message says what failed, why, and what to do. Lower rooms throw facts. `Failure+ROOM.swift` has their messages.
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

  /// Creates the failure for any error. This is the only place that turns facts into messages.
  package init(_ error: any Error) {
    switch error {
    case let error as Failure: self = error
    case let error as PeerSearchError: self.init(error)
    case let error as RestorationError: self.init(error)
    case let error as MACSearchError: self.init(error)
    case let error as NotACharacteristic: self.init(error)
    case let error as TransferError: self.init(error)
    case let error as IncompleteWrite: self.init(error)
    case let error as FailedRead: self.init(error)
    case let error as SegmentsMissing: self.init(error)
    case let error as InterruptedTransfer:
      self.init(transfer: error.write, isRemembered: error.isRemembered, advises: !error.isResumedHere)
    case let error as ImpossibleVerification: self.init(error)
    case let error as MACRuleError: self.init(error)
    case let error as OfflineAdvertisementError: self.init(error, of: "standard input")
    case let error as ATTError: self.init(error)
    case let error as GATTError: self.init(error)
    case ValueFormatError.notHex(let text):
      self.init(.usage, "\(ValueFormatError.notHex(text))")
      add(text.contains("\\x") ? "Write the bytes without \\x: 1b9901" : "For a value in another format, use --as: utf8, i8, u16le, …")
    case ValueFormatError.outOfRange(let text, let column, let format) where format.name.hasSuffix("8"):
      self.init(.usage, "\(ValueFormatError.outOfRange(text, column: column, format))")
      add("For larger values, use \(format.name.prefix(1))16le or \(format.name.prefix(1))16be.")
    case let error as ValueFormatError: self.init(.usage, "\(error)")
    case let error as GAPError: self.init(error)
    case let error as Disconnection: self.init(error)
    case let error as ControllerError: self.init(error)
    case let error as HostError: self.init(error)
    case let error as AdapterProblem: self.init(error)
    case let error as NoConnection: self.init(error)
    case let error as SocketEnd: self.init(error)
    case let error as FileError: self.init(error)
    case let error as TransportError: self.init(error)
    case let error as ReplayError: self.init(error)
    case is ControllerUnplugged: self.init(.adapter, "The simulated adapter was removed.")
    case let error as FileEntryError: self.init(.input, "\(error)")
    case let error as DeviceCallError: self.init(error)
    case let error as FieldFault: self.init(error)
    case let error as ScriptError: self.init(error)
    case let error as ScriptErrors: self.init(error)
    case let error as ShellWordsError: self.init(error)
    case let error as OutputFailure: self.init(.output, "Cannot write to standard output: \(error.reason)")
    case is CancellationError: self = .cancelled
    case let error as MalformedPacket: self.init(.protocolViolation, "\(error)")
    default: self.init(.internal, "Unexpected error, a bug in blectl: \(error)")
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

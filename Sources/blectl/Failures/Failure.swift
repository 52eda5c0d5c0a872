import ATT
import Bluetooth
import DeviceFiles
import EventLoop
import GAP
import GATT
import HCI
import LEHost
import LinuxBluetooth
import LinuxIO
import Operations
import Replay
import Simulation
import Terminal
import Text

/// What went wrong, as users and scripts are told: the sentence, with what to do next; the fields of the JSON error; and by its kind the exit
/// code. Made here from the facts that the rooms below throw: each room's sentences stand in a file of their own beside this one.
struct Failure: Error, Equatable {
  /// JSON's `kind`.
  enum Kind: String, CaseIterable {
    /// No such device, service, characteristic or handle; no MAC in the advertisement.
    case notFound = "not_found"
    /// More than one candidate where one is needed.
    case ambiguous
    /// The adapter cannot be used: none, down, blocked, no permission, taken.
    case adapter
    case timeout
    /// The peer answered with an ATT Error Response; `code` is its error code.
    case att
    /// The peer (or the controller) answered with something that is not an answer.
    case protocolViolation = "protocol"
    /// A device answered a command of its device file with an error; `code` and `name` are what it said.
    case device
    /// A controller refused a command; `code` is the status.
    case hci
    /// The link was lost; `code` is the reason when known.
    case linkLost = "link_lost"
    /// An expectation of the user's did not hold.
    case expectation
    case usage
    case input
    case output
    case interrupted
    /// A defect of blectl.
    case `internal`
  }

  var kind: Kind
  /// One line, in which control characters are escaped: names of files, selectors and settings are somebody else's text.
  var message: String { didSet { message = DisplayText.visible(message) } }
  /// ATT error code, HCI status or errno, as `name` says.
  var code: Int?
  /// Snake case name of `code`: `write_not_permitted`.
  var name: String?

  /// Where a transfer can go on.
  var resumeOffset: Int?
  /// Of a write that lost its link: how far it came.
  var written: Written?

  /// Octets that were sent, and those that the device has confirmed.
  struct Written: Equatable {
    var sent: Int
    var acknowledged: Int
  }
  /// The user has been told already.
  var isTold = false

  init(_ kind: Kind, _ message: String, code: Int? = nil, name: String? = nil) {
    self.kind = kind
    self.message = DisplayText.visible(message)
    self.code = code
    self.name = name
  }

  /// The one place that turns facts into sentences: each room's error goes to its own file.
  init(_ error: any Error) {
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
    case let error as MACRuleError: self.init(error)
    case let error as OfflineAdvertisementError: self.init(error, of: "standard input")
    case let error as ATTError: self.init(error)
    case let error as GATTError: self.init(error)
    case ValueFormatError.notHex(let text):
      self.init(.usage, "\(ValueFormatError.notHex(text)); another format (utf8, i8, u16le, …) has to be named, by --as for a value")
    case let error as ValueFormatError: self.init(.usage, "\(error)")
    case let error as GAPError: self.init(error)
    case let error as LinkEnd: self.init(error)
    case let error as ControllerError: self.init(error)
    case let error as HostError: self.init(error)
    case let error as AdapterProblem: self.init(error)
    case let error as NoConnection: self.init(error)
    case let error as SocketEnd: self.init(error)
    case let error as FileError: self.init(error)
    case let error as TransportError: self.init(error)
    case let error as ReplayError: self.init(error)
    case is ControllerUnplugged: self.init(.adapter, "the simulated adapter was removed")
    case let error as FileEntryError: self.init(.input, "\(error)")
    case let error as DeviceCallError: self.init(error)
    case let error as FieldFault: self.init(error)
    case let error as ScriptError: self.init(error)
    case let error as ScriptErrors: self.init(error)
    case let error as ShellWordsError: self.init(error)
    case let error as OutputFailure: self.init(.output, "standard output could not be written: \(error.reason)")
    case is CancellationError: self = .cancelled
    case let error as MalformedPacket: self.init(.protocolViolation, "\(error)")
    default: self.init(.internal, "unexpected error, a defect of blectl: \(error)")
    }
  }

  /// The link was lost, or the device is not there yet.
  var isLoss: Bool { [.linkLost, .notFound, .timeout].contains(kind) }

  /// It is about what was given to the program, not about what came of it.
  var isRefusal: Bool { kind == .usage || kind == .input }

  /// It was ended before it was done, and nothing is to be said about how far it came.
  static let cancelled = Failure(.interrupted, "cancelled")

  /// The members of JSON's error object.
  func write(_ json: inout JSONLine) {
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

  /// The user's own words where an error begins with them: what is wrong must not stand behind a thousand digits.
  static func head(_ text: String) -> String { DisplayText.clipMiddle(DisplayText.escape(text), to: 60) }

  /// For a place where a sentence has no room.
  var word: String {
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

  var exitStatus: ExitStatus {
    switch kind {
    // Invalid Handle: the peer says that there is no such attribute.
    case .att where code == 0x01: .notFound
    case .notFound, .ambiguous: .notFound
    case .adapter: .adapter
    case .timeout: .timeout
    case .att, .protocolViolation, .device, .hci: .refused
    case .linkLost: .linkLost
    case .expectation: .expectation
    case .usage: .usage
    case .input: .input
    case .output: .output
    case .interrupted: .interrupted
    case .internal: .internal
    }
  }
}

extension Double {
  /// As people type it, without a fraction when there is none: `20`, `0.5`.
  var plainText: String { self == rounded() && abs(self) < 1e15 ? "\(Int(self))" : "\(self)" }
}

extension Duration {
  /// In seconds, to the millisecond, without a fraction when there is none: `20`, `0.5`.
  var secondsText: String {
    let whole = components
    if whole.attoseconds == 0 { return "\(whole.seconds)" }
    return ((inSeconds * 1000).rounded() / 1000).plainText
  }

  /// In milliseconds, without a fraction when there is none: `15`, `7.5`.
  var millisecondsText: String { inMilliseconds.plainText }
}

import ArgumentParser
import EventLoop
import Text

/// A command of blectl. It runs on the event loop and may be canceled at any wait. It describes itself here: no code asks for its type.
///
/// Each command states its `commandName`: deriving it from the type costs 40 % of the program's start.
protocol LoopCommand: ParsableCommand, Sendable {
  var process: ProcessOptions { get set }
  /// Whether it shows or takes names of UUIDs or companies.
  var usesNames: Bool { get }
  /// Whether it uses real time even on the simulated air.
  var isTimeReal: Bool { get }
  /// Whether it uses the adapter that it has.
  var usesAdapter: Bool { get }
  /// Adds the files that its own options and arguments name.
  @LoopActor func name(_ files: inout CommandFiles)
  @LoopActor func run(in context: Context) async throws

  // MARK: Its end

  /// Whether it runs until the user stops it.
  var runsUntilStopped: Bool { get }
  /// Whether it ends without being stopped. A session stops other commands at the end of its input.
  var hasTimeLimit: Bool { get }
  /// The failure if the end of the input stops it; nil if that is its normal end.
  var failureAtInputEnd: Failure? { get }

  // MARK: Its words

  static var traits: CommandTraits { get }
  /// Whether it has a PEER, which a session replaces by its current device.
  static var takesPeer: Bool { get }
  /// The PEER and its options; nil for a command without them.
  var peerOptions: PeerOptions? { get }
  /// Its words for completion; nil for those that it declares.
  static var ownShape: CommandShape? { get }
  /// Takes the defaults of a session for what its options do not say.
  mutating func take(_ defaults: ShellSettings)
  /// Command lines for the end of its help; a test runs each on the simulator.
  static var examples: [String] { get }
  /// The options of every command that have no effect on this one: its help leaves them out.
  static var unusedOptions: [String] { get }
  /// Checks what depends on other words or commands. - Throws: ValidationError.
  func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws
  /// Returns a better sentence about a mistake in its words; nil if the usual one suffices.
  static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String?
  /// Explains a wrong value of one of its own options or arguments; nil if it cannot.
  static func hint(_ value: String, for place: String) -> String?

  // MARK: Scripts

  /// Checks what a script may not do, or what `run` would only refuse later. - Throws: Failure; SelectorError.
  func checkForScript() throws
  /// How a recorded script contains it.
  var recordedForm: RecordedForm { get }
  /// The device whose commands it runs, if it is a session, or that it is about.
  var recordedDevice: PeerArgument? { get }
  /// The attribute whose next value it waits for; nil if it does not wait.
  var awaitedAttribute: String? { get }
  /// The limit that a script gives it, so that a silent device does not block the run; nil if it has a limit of its own.
  var limitInScript: Duration? { get }
  /// The command of a device file that it runs.
  var deviceCall: DeviceCall? { get }
}

extension LoopCommand {
  var step: StepOptions { process.step }
  var usesNames: Bool { true }
  var isTimeReal: Bool { false }
  var usesAdapter: Bool { true }
  @LoopActor func name(_ files: inout CommandFiles) {}

  var runsUntilStopped: Bool { false }
  var hasTimeLimit: Bool { !runsUntilStopped }
  var failureAtInputEnd: Failure? { nil }

  static var traits: CommandTraits { CommandTraits() }
  static var takesPeer: Bool { false }
  var peerOptions: PeerOptions? { nil }
  mutating func take(_ defaults: ShellSettings) { takeTimeout(defaults) }
  static var ownShape: CommandShape? { nil }
  static var examples: [String] { [] }
  static var unusedOptions: [String] { [] }
  func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws {}
  static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String? { nil }
  static func hint(_ value: String, for place: String) -> String? { nil }

  func checkForScript() throws {}
  var recordedForm: RecordedForm { RecordedForm() }
  var recordedDevice: PeerArgument? { peerOptions?.peer }
  var awaitedAttribute: String? { nil }
  var limitInScript: Duration? { nil }
  var deviceCall: DeviceCall? { nil }

  fileprivate mutating func takeTimeout(_ defaults: ShellSettings) {
    guard let timeout = defaults.timeout, process.timeout == nil, !Self.unusedOptions.contains("--timeout") else { return }
    process.timeout = timeout
  }

  static var commandName: String { configuration.commandName ?? "" }
  var commandName: String { Self.commandName }
  /// Its name and a hint, as completion lists it.
  static var completion: (name: String, hint: String) { (commandName, String(configuration.abstract.prefix { $0 != "." })) }
  var traits: CommandTraits { Self.traits }

  /// Parses the arguments. Nil for a command of the parser, such as help.
  static func command(from arguments: [String]) throws -> (any LoopCommand)? {
    let parsed = try parseAsRoot(arguments)
    // Whether something is of a type is quickly known; whether it conforms to a protocol takes two per cent of a start.
    if let own = parsed as? Self { return own }
    return parsed as? any LoopCommand
  }
}

/// A command that is about one device. In a session, PEER may be left out.
protocol PeerCommand: LoopCommand {
  var who: PeerOptions { get }
}

extension PeerCommand {
  static var takesPeer: Bool { true }
  var peerOptions: PeerOptions? { who }
}

/// A command that shows values in the format of `--as`.
protocol ValueCommand: PeerCommand {
  var chosenFormat: ValueFormat? { get set }
  /// Whether it writes the bytes of the values instead.
  var isRaw: Bool { get }
}

extension ValueCommand {
  /// A default value of the option would cost a search of all that conforms to anything at each start.
  var format: ValueFormat { chosenFormat ?? .auto }
  var isRaw: Bool { false }

  mutating func take(_ defaults: ShellSettings) {
    takeTimeout(defaults)
    if !isRaw { chosenFormat = chosenFormat ?? defaults.format }
  }
}

/// What a command is like, whatever its arguments are.
struct CommandTraits: Sendable {
  // MARK: Its words

  /// Whether its last argument is a value, which may start with a minus sign or look like a PEER.
  var takesValue = false
  /// What is to be done with its attributes.
  var attributeUse = CommandShape.AttributeUse.any
  /// Its arguments for completion, where their declaration does not say enough.
  var completedWords: [CommandShape.Word]?

  // MARK: Sessions

  var runsInSessions = true
  /// Whether it runs the lines of a session. `--record` records these instead of the command.
  var isSession = false
  var turn = SessionTurn.own
  /// Whether it disturbs no other command, so that the next ones do not wait for it.
  var runsBesideOthers = false
  var deviceChange = DeviceChange.none
  /// Whether the beginning of a name that was typed may stand for a device that was heard.
  var completesNames = true
  /// Whether it takes values that arrived before it.
  var takesEarlierValues = false
  /// Whether its records name devices of their own. In a session for programs, each has its own `peer`.
  var recordsNamePeers = false

  // MARK: Scripts

  /// Whether a script can contain it.
  var isRecordable = true
  /// Why scripts cannot use it, or what to use instead; nil if they can.
  var scriptRefusal: String?
  /// Whether it ends subscriptions.
  var endsSubscriptions = false
}

/// When a session runs a command.
enum SessionTurn: Sendable {
  /// After the earlier commands of its device; without a device, after other commands without one.
  case own
  /// After the earlier commands of the current device.
  case ofCurrentDevice
  /// Before the next line is looked at.
  case atOnce
  /// As long as it takes: the next lines are looked at when it ended.
  case beforeOthers
}

/// What a command does to the current device of a session.
enum DeviceChange: Sendable {
  case none, connects, chooses, disconnects
  /// It runs other commands, which may do any of these.
  case unknown
}

/// How a recorded script contains a command.
struct RecordedForm: Sendable {
  /// Whether a script cannot contain it as a line of a session.
  var isLeftOut = false
  /// Its words; nil for those that were typed.
  var words: [String]?
  /// The attributes and options of its single `read`s.
  var reads: (attributes: [String], options: [String])?
  /// Whether it fails again when the script runs.
  var failsAgain = true
  /// Whether the script states expectations for its results. Other results become comments.
  var isExpected = false
}

/// A command of a device file and its parameters.
struct DeviceCall: Sendable {
  /// The value of `--device`.
  let file: String?
  let command: String?
  let parameters: [String]
}

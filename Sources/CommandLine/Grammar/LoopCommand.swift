package import ArgumentParser
package import EventLoop
package import Presentation
package import Text

/// A command of blectl. It runs on the event loop and may be canceled at any wait. It describes itself here: no code asks for its type.
///
/// Each command states its `commandName`: deriving it from the type costs 40 % of the program's start.
package protocol LoopCommand: ParsableCommand, Sendable {
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
  package var step: StepOptions { process.step }
  package var usesNames: Bool { true }
  package var isTimeReal: Bool { false }
  package var usesAdapter: Bool { true }
  @LoopActor package func name(_ files: inout CommandFiles) {}

  package var runsUntilStopped: Bool { false }
  package var hasTimeLimit: Bool { !runsUntilStopped }
  package var failureAtInputEnd: Failure? { nil }

  package static var traits: CommandTraits { CommandTraits() }
  package static var takesPeer: Bool { false }
  package var peerOptions: PeerOptions? { nil }
  package mutating func take(_ defaults: ShellSettings) { takeTimeout(defaults) }
  package static var ownShape: CommandShape? { nil }
  package static var examples: [String] { [] }
  package static var unusedOptions: [String] { [] }
  package func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws {}
  package static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String? { nil }
  package static func hint(_ value: String, for place: String) -> String? { nil }

  package func checkForScript() throws {}
  package var recordedForm: RecordedForm { RecordedForm() }
  package var recordedDevice: PeerArgument? { peerOptions?.peer }
  package var awaitedAttribute: String? { nil }
  package var limitInScript: Duration? { nil }
  package var deviceCall: DeviceCall? { nil }

  fileprivate mutating func takeTimeout(_ defaults: ShellSettings) {
    guard let timeout = defaults.timeout, process.timeout == nil, !Self.unusedOptions.contains("--timeout") else { return }
    process.timeout = timeout
  }

  package static var commandName: String { configuration.commandName ?? "" }
  package var commandName: String { Self.commandName }
  /// Its name and a hint, as completion lists it.
  package static var completion: (name: String, hint: String) { (commandName, String(configuration.abstract.prefix { $0 != "." })) }
  package var traits: CommandTraits { Self.traits }

  /// Parses the arguments. Nil for a command of the parser, such as help.
  package static func command(from arguments: [String]) throws -> (any LoopCommand)? {
    let parsed = try parseAsRoot(arguments)
    // Whether something is of a type is quickly known; whether it conforms to a protocol takes two per cent of a start.
    if let own = parsed as? Self { return own }
    return parsed as? any LoopCommand
  }
}

/// A command that is about one device. In a session, PEER may be left out.
package protocol PeerCommand: LoopCommand {
  var who: PeerOptions { get }
}

extension PeerCommand {
  package static var takesPeer: Bool { true }
  package var peerOptions: PeerOptions? { who }
}

/// A command that shows values in the format of `--as`.
package protocol ValueCommand: PeerCommand {
  var chosenFormat: ValueFormat? { get set }
  /// Whether it writes the bytes of the values instead.
  var isRaw: Bool { get }
}

extension ValueCommand {
  /// A default value of the option would cost a search of all that conforms to anything at each start.
  package var format: ValueFormat { chosenFormat ?? .auto }
  package var isRaw: Bool { false }

  package mutating func take(_ defaults: ShellSettings) {
    takeTimeout(defaults)
    if !isRaw { chosenFormat = chosenFormat ?? defaults.format }
  }
}

/// What a command is like, whatever its arguments are.
package struct CommandTraits: Sendable {
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
  package var isSession = false
  package var turn = SessionTurn.own
  /// Whether it disturbs no other command, so that the next ones do not wait for it.
  package var runsBesideOthers = false
  package var deviceChange = DeviceChange.none
  /// Whether the beginning of a name that was typed may stand for a device that was heard.
  package var completesNames = true
  /// Whether it takes values that arrived before it.
  package var takesEarlierValues = false
  /// Whether its records name devices of their own. In a session for programs, each has its own `peer`.
  package var recordsNamePeers = false

  // MARK: Scripts

  /// Whether a script can contain it.
  var isRecordable = true
  /// Why scripts cannot use it, or what to use instead; nil if they can.
  package var scriptRefusal: String?
  /// Whether it ends subscriptions.
  package var endsSubscriptions = false

  package init(
    takesValue: Bool = false, attributeUse: CommandShape.AttributeUse = CommandShape.AttributeUse.any,
    completedWords: [CommandShape.Word]? = nil, runsInSessions: Bool = true, isSession: Bool = false, turn: SessionTurn = SessionTurn.own,
    runsBesideOthers: Bool = false, deviceChange: DeviceChange = DeviceChange.none, completesNames: Bool = true,
    takesEarlierValues: Bool = false, recordsNamePeers: Bool = false, isRecordable: Bool = true, scriptRefusal: String? = nil,
    endsSubscriptions: Bool = false
  ) {
    self.takesValue = takesValue
    self.attributeUse = attributeUse
    self.completedWords = completedWords
    self.runsInSessions = runsInSessions
    self.isSession = isSession
    self.turn = turn
    self.runsBesideOthers = runsBesideOthers
    self.deviceChange = deviceChange
    self.completesNames = completesNames
    self.takesEarlierValues = takesEarlierValues
    self.recordsNamePeers = recordsNamePeers
    self.isRecordable = isRecordable
    self.scriptRefusal = scriptRefusal
    self.endsSubscriptions = endsSubscriptions
  }
}

/// When a session runs a command.
package enum SessionTurn: Sendable {
  /// After the earlier commands of its device; without a device, after other commands without one.
  case own
  /// After the earlier commands of the current device.
  case ofCurrentDevice
  /// Before the next line is looked at.
  case atOnce
  /// Before all later lines: the session looks at them when it has ended.
  case beforeOthers
}

/// What a command does to the current device of a session.
package enum DeviceChange: Sendable {
  case none, connects, chooses, disconnects
  /// Unknown, because it runs other commands.
  case unknown
}

/// How a recorded script contains a command.
package struct RecordedForm: Sendable {
  /// Whether a script cannot contain it as a line of a session.
  package var isLeftOut = false
  /// Its words; nil for those that were typed.
  package var words: [String]?
  /// The attributes and options of its single `read`s.
  package var reads: (attributes: [String], options: [String])?
  /// Whether it fails again when the script runs.
  package var failsAgain = true
  /// Whether the script states expectations for its results. Other results become comments.
  package var isExpected = false

  package init(
    isLeftOut: Bool = false, words: [String]? = nil, reads: (attributes: [String], options: [String])? = nil, failsAgain: Bool = true,
    isExpected: Bool = false
  ) {
    self.isLeftOut = isLeftOut
    self.words = words
    self.reads = reads
    self.failsAgain = failsAgain
    self.isExpected = isExpected
  }
}

/// A command of a device file and its parameters.
package struct DeviceCall: Sendable {
  /// The value of `--device`.
  package let file: String?
  package let command: String?
  package let parameters: [String]

  package init(file: String?, command: String?, parameters: [String]) {
    self.file = file
    self.command = command
    self.parameters = parameters
  }
}

/// Records the commands of the process as a script, for `--record`.
@LoopActor
package protocol CommandRecorder: AnyObject {
  /// Whether at least one command was run.
  var hasDone: Bool { get }
  /// Runs a command of the command line. - Parameter arguments: its words, starting with the command's name.
  func run(_ command: any LoopCommand, _ arguments: [String], in context: Context) async throws
  /// Writes the script. - Throws: FileError; CancellationError.
  func write() async throws
}

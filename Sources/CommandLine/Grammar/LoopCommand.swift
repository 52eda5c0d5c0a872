package import ArgumentParser
package import EventLoop
package import Presentation
package import Text

/// A command of blectl. It runs on the event loop and can be canceled at any wait. It describes itself, so that no code checks its type.
///
/// Each command states its `commandName`, because deriving it from the type costs 40 % of the startup time.
package protocol LoopCommand: ParsableCommand, Sendable {
  var process: ProcessOptions { get set }
  /// Whether it shows or takes names of UUIDs or companies.
  var usesNames: Bool { get }
  /// Whether it uses real time even on the simulated air.
  var isTimeReal: Bool { get }
  /// Whether it uses its adapter.
  var usesAdapter: Bool { get }
  /// Adds the files named by its own options and arguments.
  @LoopActor func name(_ files: inout CommandFiles)
  @LoopActor func run(in context: Context) async throws

  // MARK: End

  /// Whether it runs until the user stops it.
  var runsUntilStopped: Bool { get }
  /// Whether it ends without being stopped. Other commands are stopped at the end of a session's input.
  var hasTimeLimit: Bool { get }
  /// The failure if the end of the input stops it. Nil if that is its normal end.
  var failureAtInputEnd: Failure? { get }

  // MARK: Words

  static var traits: CommandTraits { get }
  /// Whether it takes a PEER, which defaults to the current device in a session.
  static var takesPeer: Bool { get }
  /// The PEER and its options. Nil for a command without them.
  var peerOptions: PeerOptions? { get }
  /// The shape for completion. Nil to derive it from the declaration.
  static var ownShape: CommandShape? { get }
  /// Applies the defaults of a session to options that were not given.
  mutating func take(_ defaults: ShellSettings)
  /// The examples at the end of the help. A test runs each on the simulator.
  static var examples: [String] { get }
  /// The global options that have no effect on this command. Its help omits them.
  static var unusedOptions: [String] { get }
  /// Checks rules that depend on other words or commands. - Throws: `ValidationError`.
  func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws
  /// Returns a better sentence about a mistake in its words. Nil for the usual sentence.
  static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String?
  /// Explains a wrong value of its own option or argument. Nil if it cannot.
  static func hint(_ value: String, for place: String) -> String?

  // MARK: Scripts

  /// Checks in advance for anything that a script or `run` would refuse. - Throws: `Failure`; `SelectorError`.
  func checkForScript() throws
  /// The form of the command in a recorded script.
  var recordedForm: RecordedForm { get }
  /// The device that the command is about, or whose commands it runs as a session.
  var recordedDevice: PeerArgument? { get }
  /// The attribute whose next value it waits for. Nil if it does not wait.
  var awaitedAttribute: String? { get }
  /// The time limit in a script, so that a silent device cannot block the run. Nil if it has its own limit.
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
  /// The name and hint for completion.
  package static var completion: (name: String, hint: String) { (commandName, String(configuration.abstract.prefix { $0 != "." })) }
  package var traits: CommandTraits { Self.traits }

  /// Parses the arguments. Nil for a command of the parser, such as help.
  package static func command(from arguments: [String]) throws -> (any LoopCommand)? {
    let parsed = try parseAsRoot(arguments)
    // The cast to Self is fast. A check for protocol conformance takes 2 % of the startup time.
    if let own = parsed as? Self { return own }
    return parsed as? any LoopCommand
  }
}

/// A command for one device. In a session, PEER may be omitted.
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
  /// Whether it writes the raw bytes of the values instead.
  var isRaw: Bool { get }
}

extension ValueCommand {
  /// The format of `--as`. An option default would make the parser search all protocol conformances at each start.
  package var format: ValueFormat { chosenFormat ?? .auto }
  package var isRaw: Bool { false }

  package mutating func take(_ defaults: ShellSettings) {
    takeTimeout(defaults)
    if !isRaw { chosenFormat = chosenFormat ?? defaults.format }
  }
}

/// The properties of a command, regardless of its arguments.
package struct CommandTraits: Sendable {
  // MARK: Words

  /// Whether its last argument is a value, which may start with a minus sign or look like a PEER.
  var takesValue = false
  /// The use of its attributes.
  var attributeUse = CommandShape.AttributeUse.any
  /// The arguments for completion. Nil to derive them from the declaration.
  var completedWords: [CommandShape.Word]?

  // MARK: Sessions

  var runsInSessions = true
  /// Whether it runs the lines of a session. `--record` records these instead of the command.
  package var isSession = false
  package var turn = SessionTurn.own
  /// Whether later commands need not wait for it.
  package var runsBesideOthers = false
  package var deviceChange = DeviceChange.none
  /// Whether the start of a name may select a device that was heard.
  package var completesNames = true
  /// Whether it takes values that arrived before it.
  package var takesEarlierValues = false
  /// Whether its records name devices. In a session for programs, each then has its own `peer`.
  package var recordsNamePeers = false

  // MARK: Scripts

  /// Whether a script can contain it.
  var isRecordable = true
  /// The reason why scripts cannot use it, or the alternative. Nil if they can.
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

/// The time at which a session runs a command.
package enum SessionTurn: Sendable {
  /// The command runs after the earlier commands of its device. Without a device, it runs after other commands without one.
  case own
  /// The command runs after the earlier commands of the current device.
  case ofCurrentDevice
  /// The command runs immediately, before the next line is parsed.
  case atOnce
  /// The command runs before all later lines, which are parsed after it ended.
  case beforeOthers
}

/// The effect of a command on the current device of a session.
package enum DeviceChange: Sendable {
  case none, connects, chooses, disconnects
  /// The effect is unknown, because the command runs other commands.
  case unknown
}

/// The form of a command in a recorded script.
package struct RecordedForm: Sendable {
  /// Whether the script omits it, because it cannot be a line of a session.
  package var isLeftOut = false
  /// The words in the script. Nil for the words that the user typed.
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

/// A command of a device file, with its parameters.
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
  /// Runs a command of the command line. `arguments` start with its name.
  func run(_ command: any LoopCommand, _ arguments: [String], in context: Context) async throws
  /// Writes the script. - Throws: `FileError`; `CancellationError`.
  func write() async throws
}

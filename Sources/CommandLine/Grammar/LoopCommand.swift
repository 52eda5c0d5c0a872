package import ArgumentParser
package import EventLoop
package import Presentation
package import Text

/// A command of blectl. Runs on the event loop, which can cancel it at any wait. Describes itself, so that no code checks its type.
///
/// Each command states its `commandName`, because deriving it from the type costs 40 % of the startup time.
package protocol LoopCommand: ParsableCommand, Sendable {
  var process: ProcessOptions { get set }
  /// Whether a command of the command line shows or takes names of UUIDs or companies.
  var usesNames: Bool { get }
  /// Whether the command uses real time even on the simulated air.
  var isTimeReal: Bool { get }
  /// Whether the command uses the adapter.
  var usesAdapter: Bool { get }
  /// Adds the files that the command's own options and arguments name.
  @LoopActor func name(_ files: inout CommandFiles)
  @LoopActor func run(in context: Context) async throws

  // MARK: End

  /// Whether the command runs until the user stops it.
  var runsUntilStopped: Bool { get }
  /// Whether the command ends by itself. A session stops other commands at the end of the input.
  var hasTimeLimit: Bool { get }
  /// The failure if the end of the input stops the command. Nil if the command normally ends this way.
  var failureAtInputEnd: Failure? { get }

  // MARK: Words

  static var traits: CommandTraits { get }
  /// Whether the command takes a PEER, which defaults to the current device in a session.
  static var takesPeer: Bool { get }
  /// The PEER and its options. Nil for a command without them.
  var peerOptions: PeerOptions? { get }
  /// The shape for completion. Nil to derive it from the declaration.
  static var ownShape: CommandShape? { get }
  /// Replaces PEER. Ignored by a command without one.
  mutating func use(_ device: PeerArgument)
  /// Applies the defaults of a session to options that the user did not give.
  mutating func take(_ defaults: ShellSettings)
  /// The examples at the end of the help. A test runs each on the simulator.
  static var examples: [String] { get }
  /// The global options that have no effect on this command. Its help omits them.
  static var unusedOptions: [String] { get }
  /// Checks rules that depend on other words or commands.
  /// - Throws: `ValidationError`.
  func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws
  /// Returns a better sentence about a mistake in the command's words. Nil for the usual sentence.
  static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String?
  /// Explains a wrong value of the command's own option or argument. Nil without an explanation.
  static func hint(_ value: String, for place: String) -> String?

  // MARK: Scripts

  /// Checks the command in advance for anything that a script or `run` would refuse.
  /// - Throws: `Failure`; `SelectorError`.
  func checkForScript() throws
  /// The form of the command in a recorded script.
  var recordedForm: RecordedForm { get }
  /// The device of the command, or the device whose commands it runs as a session.
  var recordedDevice: PeerArgument? { get }
  /// The attribute whose next value the command waits for. Nil if the command does not wait.
  var awaitedAttribute: String? { get }
  /// The time limit of the command in a script, so that a silent device cannot block the run. Nil for a command with its own limit.
  var limitInScript: Duration? { get }
  /// The device file command that this command runs.
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
  package mutating func use(_ device: PeerArgument) {}
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
  /// The command's name and hint for completion.
  package static var completion: (name: String, hint: String) { (commandName, String(configuration.abstract.prefix { $0 != "." })) }
  package var traits: CommandTraits { Self.traits }

  /// Parses the arguments of the command. Nil for a command of the parser, such as help.
  /// - Parameter index: The index of a PEER that the user omitted. The command then uses the current device. Nil on the command line.
  package static func command(from arguments: [String], currentDeviceAt index: Int? = nil) throws -> (any LoopCommand)? {
    var arguments = arguments
    // The parser cannot omit an argument before others.
    if let index { arguments.insert("\(PeerArgument.current)", at: index) }
    let parsed = try parseAsRoot(arguments)
    // The cast to Self is fast. A check for protocol conformance takes 2 % of the startup time.
    if let own = parsed as? Self { return own }
    return parsed as? any LoopCommand
  }
}

/// A command for one device. In a session, the user may omit PEER.
package protocol PeerCommand: LoopCommand {
  var who: PeerOptions { get set }
}

extension PeerCommand {
  package static var takesPeer: Bool { true }
  package var peerOptions: PeerOptions? { who }
  package mutating func use(_ device: PeerArgument) { who.peer = device }
}

/// A command that shows values in the format of `--as`.
package protocol ValueCommand: PeerCommand {
  var chosenFormat: ValueFormat? { get set }
  /// Whether the command writes raw bytes instead of formatted values.
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

  /// Whether the command's last argument is a value, which may start with a minus sign or look like a PEER.
  var takesValue = false
  /// The command's use of its attributes.
  var attributeUse = CommandShape.AttributeUse.any
  /// The arguments for completion. Nil to derive them from the declaration.
  var completedWords: [CommandShape.Word]?

  // MARK: Sessions

  var runsInSessions = true
  /// Whether the command runs the lines of a session. `--record` records these lines instead of the command.
  package var isSession = false
  package var turn = SessionTurn.own
  /// Whether later commands need not wait for this command.
  package var runsBesideOthers = false
  package var deviceChange = DeviceChange.none
  /// Whether a name prefix may select a device that the session heard.
  package var completesNames = true
  /// Whether the command takes values that arrived before its start.
  package var takesEarlierValues = false
  /// Whether the command's records name devices. In a session for programs, each record then has its own `peer`.
  package var recordsNamePeers = false

  // MARK: Scripts

  /// Whether a script can contain the command.
  var isRecordable = true
  /// The reason why scripts cannot use the command, or the alternative. Nil if they can.
  package var scriptRefusal: String?
  /// Whether the command ends subscriptions.
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
  /// The command runs immediately, before the session parses the next line.
  case atOnce
  /// The command runs before all later lines. The session parses them after its end.
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
  /// Whether the script omits the command, which cannot be a line of a session.
  package var isLeftOut = false
  /// The command's words in the script. Nil for the words that the user typed.
  package var words: [String]?
  /// The attributes and options of the `read` lines that the script has instead of the command.
  package var reads: (attributes: [String], options: [String])?
  /// Whether the command fails again when the script runs.
  package var failsAgain = true
  /// Whether the script states expectations for the command's results. Otherwise, results become comments.
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

/// A command of a device file, with its parameters. `file` is the value of `--device`.
package typealias DeviceCall = (file: String?, command: String?, parameters: [String])

/// Records the commands of the process as a script, for `--record`.
@LoopActor
package protocol CommandRecorder: AnyObject {
  /// Whether the recorder has run a command.
  var hasDone: Bool { get }
  /// Runs a command of the command line. `arguments` start with its name.
  func run(_ command: any LoopCommand, _ arguments: [String], in context: Context) async throws
  /// Writes the script.
  /// - Throws: `FileError`; `CancellationError`.
  func write() async throws
}

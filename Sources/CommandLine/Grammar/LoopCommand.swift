// Each command declares options, uses the library, and prints results: CommandLine brings along what it needs for that.
@_exported public import ArgumentParser
@_exported public import BluetoothLE
@_exported public import Presentation
@_exported public import Terminal

/// A command of blectl, which runs on the event loop. Each command must state its `commandName`, because deriving a name slows the start.
package protocol LoopCommand: DescribedCommand, ScriptedCommand, Sendable {
  var process: ProcessOptions { get set }
  /// Whether the results concern others, as those of a script. Such a command ignores the user's personal defaults.
  var isShared: Bool { get }
  /// Whether the command may open the adapter. If false, blectl drops its capabilities before the command runs.
  var usesAdapter: Bool { get }
  /// The fields of the command's records, for `--csv`, `--format`, `--output` and `--time`. Nil if the command takes none of these options.
  var recordFields: RecordFields? { get }
  /// The PEER and the options for the connection. Nil for a command that takes no PEER.
  var peerOptions: PeerOptions? { get }
  /// Whether the command means the current device of a session.
  var isAboutCurrent: Bool { get }
  /// Replaces the PEER of the command. Does nothing in a command that takes no PEER.
  mutating func use(_ device: PeerArgument)
  /// Applies the defaults of a session to the options that the user omitted.
  mutating func take(_ defaults: ShellSettings)
  /// Adds the files that the command's own options and arguments name.
  @LoopActor func name(_ files: inout CommandFiles)
  /// Checks rules that depend on the typed words or on the other commands.
  /// - Throws: `ValidationError` for a violated rule.
  func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws
  @LoopActor func run(in context: Context) async throws
}

/// The description of a command that help, completion and the parser use.
package protocol DescribedCommand: ParsableCommand {
  static var traits: CommandTraits { get }
  /// Whether the command takes a PEER, which defaults to the current device in a session.
  static var takesPeer: Bool { get }
  /// The arguments and options for completion. Nil to derive them from the command's declaration.
  static var ownShape: CommandShape? { get }
  /// The examples at the end of the help. A test runs each on the simulator.
  static var examples: [String] { get }
  /// The global options that have no effect on this command. Its help omits them.
  static var unusedOptions: [String] { get }
  /// Returns a sentence for the user about a mistake in the command's words. Nil to use the general sentence about this kind of mistake.
  static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String?
  /// Explains a wrong value of the command's own option or argument. Nil if the command has no explanation.
  static func hint(_ value: String, for place: String) -> String?
}

/// The properties of a command that scripts, their recorder and the input of a session use.
package protocol ScriptedCommand {
  /// Whether the command runs until the user stops it. If true, a script refuses the command.
  var runsUntilStopped: Bool { get }
  /// Whether the command ends by itself. At the end of its input, a session stops a command without a time limit.
  var hasTimeLimit: Bool { get }
  /// The failure to report if the end of the session's input stops the command. Nil if the end of the input is not an error.
  var failureAtInputEnd: Failure? { get }
  /// Checks the command before a script runs, for errors that would occur when the command runs.
  /// - Throws: `Failure` or `SelectorError` for an invalid argument.
  func checkForScript() throws
  /// The attributes that the arguments of the command name.
  var attributesInScript: [String] { get }
  var recordedForm: RecordedForm { get }
  /// The device of the command. For a session such as `repl`, the device that its commands use. Nil without a device.
  var recordedDevice: PeerArgument? { get }
  /// The attribute whose next value the command waits for. Nil if the command does not wait.
  var awaitedAttribute: String? { get }
  /// The time limit of the command in a script. Nil for a command that ends by itself.
  var limitInScript: Duration? { get }
  /// The command of a device file that this command runs. Nil for every command except `call`.
  var deviceCall: DeviceCall? { get }
  /// Replaces the path of a file of the command, which is relative to the folder of a script. Does nothing in other commands.
  mutating func placeFile(_ path: (_ file: String, ScriptFile) -> String)
}

extension DescribedCommand {
  package static var traits: CommandTraits { CommandTraits() }
  package static var takesPeer: Bool { false }
  package static var ownShape: CommandShape? { nil }
  package static var examples: [String] { [] }
  package static var unusedOptions: [String] { traits.help.unusedOptions }
  package static func advice(on mistake: ParserMistake.Kind, in words: [String]) -> String? { nil }
  package static func hint(_ value: String, for place: String) -> String? { nil }
}

extension ScriptedCommand {
  package var runsUntilStopped: Bool { false }
  package var hasTimeLimit: Bool { !runsUntilStopped }
  package var failureAtInputEnd: Failure? { nil }
  package func checkForScript() throws {}
  package var attributesInScript: [String] { [] }
  package var awaitedAttribute: String? { nil }
  package var limitInScript: Duration? { nil }
  package var deviceCall: DeviceCall? { nil }
  package mutating func placeFile(_ path: (_ file: String, ScriptFile) -> String) {}

  /// Checks the command as `checkForScript` does, and its attributes. They must be complete. Only a text in quotes may be a user
  /// description (2901), which only the device knows, so that the check finds mistakes in other names.
  /// - Parameter quoted: The words of the line that are in quotes.
  package func checkForScript(quoted: [String]) throws {
    for text in attributesInScript {
      _ = quoted.contains { $0.hasPrefix(text) } ? try Selector(typed: text) : try Selector(text, abbreviating: false)
    }
    try checkForScript()
  }
}

extension LoopCommand {
  package var step: StepOptions { process.step }
  /// Whether the command reads the configuration file for the defaults of options.
  package var usesConfiguration: Bool { !Self.unusedOptions.contains("--adapter") }
  package var isShared: Bool { false }
  package var usesAdapter: Bool { true }
  package var recordFields: RecordFields? { nil }
  package var peerOptions: PeerOptions? { nil }
  package var isAboutCurrent: Bool { peerOptions?.peer == .current }
  package mutating func use(_ device: PeerArgument) {}
  package mutating func take(_ defaults: ShellSettings) { takeTimeout(defaults) }
  @LoopActor package func name(_ files: inout CommandFiles) {}
  package func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws {}

  package var recordedForm: RecordedForm { RecordedForm(isLeftOut: traits.script.isLeftOut) }
  package var recordedDevice: PeerArgument? { peerOptions?.peer }

  fileprivate mutating func takeTimeout(_ defaults: ShellSettings) {
    guard let timeout = defaults.timeout, process.timeout == nil, !Self.unusedOptions.contains("--timeout") else { return }
    process.timeout = timeout
  }

  package static var commandName: String { configuration.commandName ?? "" }
  package var commandName: String { Self.commandName }
  /// The command's name and its purpose, without a full stop, as completion shows them.
  package static var completion: (name: String, hint: String) { (commandName, String(configuration.abstract.prefix { $0 != "." })) }
  package var traits: CommandTraits { Self.traits }

  /// Parses the words after the command's name. Nil for a built-in command of the parser, such as help.
  /// - Parameter index: The index in `arguments` at which to insert the session's current device as PEER. Nil to insert none.
  package static func command(from arguments: [String], currentDeviceAt index: Int? = nil) throws -> Self? {
    var arguments = arguments
    // The parser cannot omit an argument before others.
    if let index { arguments.insert("\(PeerArgument.current)", at: index) }
    Arguments.shortenHelp(&arguments)
    try Arguments.refuseRepeated(arguments, of: self)
    // The cast to Self is fast. A check for protocol conformance takes 2 % of the startup time.
    let parsed = try parseAsRoot(arguments) as? Self
    try parsed?.process.checkRecordOptions(printsRecords: traits.printsRecords)
    return parsed
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
  /// The format of `--as`. Automatic if the user gave none.
  package var format: ValueFormat { chosenFormat ?? .auto }
  package var isRaw: Bool { false }

  package mutating func take(_ defaults: ShellSettings) {
    takeTimeout(defaults)
    if !isRaw { chosenFormat = chosenFormat ?? defaults.format }
  }
}

/// The properties of a command, regardless of its arguments.
package struct CommandTraits: Sendable {
  /// Whether the command's last argument is a VALUE, which may start with a minus sign or look like a PEER.
  var takesValue = false
  var attributeUse = CommandShape.AttributeUse.any
  /// Whether the command has `recordFields`, so that it takes `--csv`, `--format`, `--output` and `--time`.
  var printsRecords = false
  /// The positional arguments for completion. Nil to derive them from the command's declaration.
  var completedWords: [CommandShape.Word]?
  /// The global options that have no effect, which the help omits, the options that only `--help` shows, so that `-h` fits on a screen,
  /// and the PEER that a flag gives another meaning, by the flag's name.
  let help: (unusedOptions: [String], rareOptions: [String], flagArguments: [String: String])
  /// Whether the command shows or takes names of UUIDs or companies, uses real time even with the simulator, and runs in spite of a mistake
  /// in the configuration file, which it shows.
  let program: (usesNames: Bool, isTimeReal: Bool, showsProblems: Bool)

  // MARK: Sessions

  var runsInSessions = true
  /// Whether the command runs the lines of a session. `--record` records these lines instead of the command.
  package var isSession = false
  package var turn = SessionTurn.own
  /// Whether later commands of the same device may start before this command ends.
  package var runsBesideOthers = false
  package var deviceChange = DeviceChange.none
  /// Whether the user may abbreviate the name of a device that the session has heard.
  package var completesNames = true
  /// Whether the command takes values that arrived before its start.
  package var takesEarlierValues = false
  /// Whether the command's records name devices. In a session for programs, each record then has its own `peer`.
  package var recordsNamePeers = false

  // MARK: Scripts

  /// Whether `--record` can record the command, whether the recorder omits it, the reason why a script cannot contain it, or an alternative,
  /// and whether a script ends its own subscriptions after it, as it does for `unsubscribe`.
  package let script: (isRecordable: Bool, isLeftOut: Bool, refusal: String?, endsSubscriptions: Bool)

  package init(
    takesValue: Bool = false, attributeUse: CommandShape.AttributeUse = CommandShape.AttributeUse.any, printsRecords: Bool = false,
    completedWords: [CommandShape.Word]? = nil, unusedOptions: [String] = [], rareOptions: [String] = [],
    flagArguments: [String: String] = [:], usesNames: Bool = true, isTimeReal: Bool = false, showsProblems: Bool = false,
    runsInSessions: Bool = true, isSession: Bool = false, turn: SessionTurn = SessionTurn.own,
    runsBesideOthers: Bool = false, deviceChange: DeviceChange = DeviceChange.none, completesNames: Bool = true,
    takesEarlierValues: Bool = false, recordsNamePeers: Bool = false, isRecordable: Bool = true, isLeftOut: Bool = false,
    scriptRefusal: String? = nil, endsSubscriptions: Bool = false
  ) {
    (self.takesValue, self.attributeUse) = (takesValue, attributeUse)
    (self.printsRecords, self.completedWords) = (printsRecords, completedWords)
    (help, program) = ((unusedOptions, rareOptions, flagArguments), (usesNames, isTimeReal, showsProblems))
    (self.runsInSessions, self.isSession, self.turn, self.runsBesideOthers) = (runsInSessions, isSession, turn, runsBesideOthers)
    (self.deviceChange, self.completesNames, self.takesEarlierValues) = (deviceChange, completesNames, takesEarlierValues)
    self.recordsNamePeers = recordsNamePeers
    script = (isRecordable, isLeftOut, scriptRefusal, endsSubscriptions)
  }
}

/// The time at which a session runs a command.
package enum SessionTurn: Sendable {
  /// The command runs after the earlier commands of its device. A command without a device runs after earlier commands without a device.
  case own
  /// The command runs after the earlier commands of the current device.
  case ofCurrentDevice
  /// The command runs immediately, before the session parses the next line.
  case atOnce
  /// The command runs before all later lines. The session parses a later line only after the command has ended.
  case beforeOthers
}

/// The effect of a command on the current device of a session.
package enum DeviceChange: Sendable {
  case none, connects, chooses, disconnects
  /// An unknown effect of a command that runs other commands.
  case unknown
}

/// The form of a command in a recorded script.
package struct RecordedForm: Sendable {
  /// Whether the recorder omits the command from the script.
  package var isLeftOut = false
  /// The command's words in the script. Nil to record the words that the user typed.
  package var words: [String]?
  /// The attributes and options of `read` lines that replace the command in the script. Nil if no `read` replaces the command.
  package var reads: (attributes: [String], options: [String])?
  /// Whether the script expects a failed command to fail again. If false, a comment replaces the failed command.
  package var failsAgain = true
  /// Whether the recorder turns the results of the command into expectations. If false, the recorder writes the results as comments.
  package var isExpected = false
  /// The option that agrees in the script to the question that the user answers. Nil if the command asks nothing.
  package var agreement: String?

  package init(
    isLeftOut: Bool = false, words: [String]? = nil, reads: (attributes: [String], options: [String])? = nil, failsAgain: Bool = true,
    isExpected: Bool = false, agreement: String? = nil
  ) {
    (self.isLeftOut, self.words, self.reads, self.failsAgain, self.isExpected) = (isLeftOut, words, reads, failsAgain, isExpected)
    self.agreement = agreement
  }
}

/// The kind of a file that a command of a script names.
package enum ScriptFile: Sendable { case device, firmware, peripheral }

/// The `--device` file, the command name and the `name=value` words of `call`. The file and the name are nil if the user omitted them.
package typealias DeviceCall = (file: String?, command: String?, parameters: [String])

/// The recorder that writes the commands of the process as a script, for `--record`.
@LoopActor
package protocol CommandRecorder: AnyObject {
  /// Whether the recorder has run any command that blectl did not refuse.
  var hasDone: Bool { get }
  /// Runs and records a command of the command line. `arguments` start with the command's name.
  func run(_ command: any LoopCommand, _ arguments: [String], in context: Context) async throws
  /// Writes the recorded script.
  /// - Throws: `FileError`; `CancellationError`.
  func write() async throws
}

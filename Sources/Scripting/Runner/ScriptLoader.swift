import BluetoothLELinux
import CommandLine
import Program
import Scripts

/// A loader that reads and checks scripts and their included files.
@LoopActor
struct ScriptLoader {
  let variables: [String: String]
  private var total = 0
  /// The names of variables that occur in the file names of `include` lines.
  private var mentioned: Set<String> = []
  private var mistakes: [ScriptError] = []

  /// The ending of script names in a folder. `blectl run FOLDER` skips scripts whose names start with `_` or `.`.
  static let ending = ".blectl"
  /// The maximum number of files that include each other in a chain, counting the script itself.
  private static let depth = 16
  /// The maximum total size of a script and its included files in bytes. A file counts each time a line includes it.
  private static let limit = 16 << 20

  init(variables: [String: String]) { self.variables = variables }

  /// Reads and checks a script and the files that the script includes.
  /// - Parameters:
  ///   - path: The file, or `-` for standard input.
  ///   - hasPeer: Whether the command line names a device.
  ///   - commands: The commands that the script may use.
  /// - Throws: ScriptErrors with all mistakes; FileError.
  static func load(_ path: String, variables: [String: String], hasPeer: Bool, _ commands: SessionCommands) async throws -> Script {
    var loader = ScriptLoader(variables: variables)
    let name = path == "-" ? "standard input" : path
    if path.hasSuffix(".json") {
      let adapter = ShellWords.quoteForShell("sim:\(path)")
      throw Failure(.usage, "\(DisplayText.quote(path)) describes devices, it is not a script. Use it as a simulator: -i \(adapter)")
    }
    if path.contains(" "), !InputFile.exists(path), (try? ShellWords.words(of: path)).flatMap({ commands.type(of: $0) }) != nil {
      throw Failure(.usage, "\(DisplayText.quote(path)) is a command, not a script. Use: blectl -e \(ShellWords.quoteForShell(path)) PEER")
    }
    let statements: [ScriptStatement]
    do { statements = try await loader.statements(path, name, inside: []) } catch let error as ScriptError {
      throw ScriptErrors(loader.mistakes + [error], of: name)
    }
    if loader.mistakes.count > ScriptErrors.limit { throw ScriptErrors(loader.mistakes, of: name) }
    let (script, found) = ScriptCheck.script(statements, file: name, variables: variables, mentioned: loader.mentioned, program(commands))
    let mistakes = loader.mistakes + found
    let isEmpty = mistakes.isEmpty && script.tests.isEmpty && !script.hasOwnSteps
    try ScriptErrors(mistakes + whole(script, hasPeer: hasPeer, isEmpty: isEmpty), of: name).check()
    return script
  }

  /// Returns the mistakes that concern the whole script, such as a missing device.
  private static func whole(_ script: Script, hasPeer: Bool, isEmpty: Bool) -> [ScriptError] {
    var mistakes: [ScriptError] = []
    if let place = script.firstNeed, script.deviceLine == nil, !script.lacksFile, !hasPeer { mistakes.append(ScriptError(place, noDevice)) }
    if let device = script.device, PeerArgument(argument: device) == nil {
      mistakes.append(
        ScriptError(
          ScriptPlace(file: script.file, line: script.deviceLine ?? 1),
          "Unknown device \(DisplayText.quote(device)). Use AA:BB:CC:DD:EE:FF[/random], name:GLOB, mac:MAC, service:UUID, @last or @ALIAS.")
      )
    }
    if isEmpty { mistakes.append(ScriptError(ScriptPlace(file: script.file, line: 1), "The script has no tests and no commands.")) }
    return mistakes
  }

  /// Reads the statements of a file and of its included files.
  /// - Throws: ScriptError for a mistake that ends the loading of the script; FileError.
  private mutating func statements(_ path: String, _ name: String, inside stack: [String]) async throws -> [ScriptStatement] {
    let bytes = try await InputFile.read(path, limit: ScriptLine.maximumLength)
    // Count empty files, too, because they take time.
    total += max(bytes.count, 1024)
    guard total <= Self.limit else {
      throw ScriptError(ScriptPlace(file: name, line: 1), "The script and its included files are too long (maximum \(Self.limit) bytes).")
    }
    let (parsed, found) = try ScriptParser.parse(bytes, file: name, settings: ShellSettings.names)
    mistakes += found
    return try await including(parsed, name, stack + [path])
  }

  /// Replaces `include` lines by the statements of the included files.
  private mutating func including(_ statements: [ScriptStatement], _ file: String, _ stack: [String]) async throws -> [ScriptStatement] {
    var all: [ScriptStatement] = []
    for var statement in statements where mistakes.count <= ScriptErrors.limit {
      switch statement.kind {
      case .include(let word):
        do { all += try await included(word, statement.line, stack) } catch let error as IncludeMistake {
          mistakes.append(error.error)
          all.append(ScriptStatement(line: statement.line, kind: .unreadable([])))
        }
        continue
      case .setup(let body): statement.kind = .setup(try await including(body, file, stack))
      case .teardown(let body): statement.kind = .teardown(try await including(body, file, stack))
      case .test(let name, let tags, let body): statement.kind = .test(name: name, tags: tags, try await including(body, file, stack))
      case .repetition(let repetition, let body): statement.kind = .repetition(repetition, try await including(body, file, stack))
      case .unreadable(let body): statement.kind = .unreadable(try await including(body, file, stack))
      case .device, .set, .command, .capture, .expectResult, .expectValue, .expectSilence, .expectAttribute, .expectSecurity,
        .expectFirmware, .expectDisconnection, .expectPeripheral, .sleep, .skip, .note:
        break
      }
      all.append(statement)
    }
    return all
  }

  /// A mistake that makes the loader skip one included file and continue with the next line.
  private struct IncludeMistake: Error { let error: ScriptError }

  private mutating func included(_ word: ShellWord, _ line: ScriptLine, _ stack: [String]) async throws -> [ScriptStatement] {
    func mistake(_ reason: String) -> IncludeMistake { IncludeMistake(error: line.error(at: word, reason)) }
    let known = ScriptVariables(variables)
    mentioned.formUnion(word.variables)
    guard let name = try? known.text(of: word) else {
      throw mistake("The name of an included file must be known before the script runs. Use only variables from --set.")
    }
    guard !name.isEmpty else { throw mistake("`include` needs the name of a file.") }
    let path = Self.path(name, in: stack.last ?? "")
    guard !stack.contains(path) else {
      throw mistake("\(DisplayText.quote(name)) includes itself" + (stack.last == path ? "." : " through other files."))
    }
    // Stop reading, or many outer files would report the same mistake.
    guard stack.count < Self.depth else { throw line.error(at: word, "Includes are nested deeper than \(Self.depth) levels.") }
    do { return try await statements(path, path, inside: stack) } catch let error as FileError { throw mistake(Failure(error).message) }
  }

  // MARK: Files

  /// Returns the path of a file that a script names. Resolves a relative name against the directory of the script.
  static func path(_ name: String, in script: String) -> String {
    guard !name.isEmpty, !name.hasPrefix("/"), name != "-", let end = script.lastIndex(of: "/") else { return name }
    return script[...end] + name
  }

  /// Returns the name with which a script names a file: relative if the file is in the script's folder or below, otherwise absolute.
  static func name(_ path: String, in script: String) -> String {
    guard !path.hasPrefix("/"), path != "-", let folder = InputFile.folder(of: path), let own = InputFile.folder(of: script) else {
      return path
    }
    let whole = folder + (path.split(separator: "/").last ?? "")
    return whole.hasPrefix(own) ? String(whole.dropFirst(own.count)) : whole
  }

  /// Returns the paths of the scripts in a folder and its subfolders. Returns the path itself for a file or `-`.
  /// - Throws: Failure for a folder without scripts or with more than 10,000 scripts and folders.
  static func files(_ path: String) throws -> [String] {
    let folder = path.hasSuffix("/") && path != "/" ? String(path.dropLast()) : path
    guard FolderNames.isFolder(path) else { return [path] }
    var left = [folder]
    var files: [String] = []
    while let folder = left.popLast() {
      for name in FolderNames.list(folder, home: nil) where !name.hasPrefix(".") && !name.hasPrefix("_") {
        if name.hasSuffix("/") {
          left.append("\(folder)/\(name.dropLast())")
        } else if name.hasSuffix(ending) {
          files.append("\(folder)/\(name)")
        }
      }
      guard files.count + left.count <= 10_000 else {
        throw Failure(.input, "\(DisplayText.quote(path)) has more than 10,000 scripts and folders.")
      }
    }
    guard !files.isEmpty else { throw Failure(.input, "No scripts in \(DisplayText.quote(path)). Their names must end in \(ending).") }
    return files.sorted()
  }

  // MARK: Commands

  /// The message of the mistake that a line needs a device but neither the script nor `--peer` names one.
  static let noDevice = "This line needs a device. Add `device PEER` to the script, or use --peer."

  private static func program(_ commands: SessionCommands) -> ScriptCheck.Program {
    ScriptCheck.Program(
      command: { command throws(ScriptCheck.CommandMistake) in
        let (wanted, call, file) = try need(command.words, command.quoted, commands)
        if let call { try CallCheck.check(call, command) }
        if let file { try CallCheck.check(file, command) }
        return wanted
      }, errors: errors, reasons: reasons)
  }

  private typealias Need = (ScriptCheck.Need, call: DeviceCall?, file: CallCheck.File?)

  /// The results of parsing command lines, by the words of the line and those in quotes. The cache holds up to 1000 lines.
  private static var known: [[[String]]: Need] = [:]

  private static func need(
    _ words: [String], _ quoted: [String], _ commands: SessionCommands
  ) throws(ScriptCheck.CommandMistake) -> Need {
    if let need = known[[words, quoted]] { return need }
    let need: Need
    do { need = try newNeed(words, quoted, commands) } catch is HelpText {
      throw ScriptCheck.CommandMistake(HelpText.refusal)
    } catch { throw ScriptCheck.CommandMistake(Failure(commands.explained(error)).message) }
    if known.count < 1000 { known[[words, quoted]] = need }
    return need
  }

  private static func newNeed(_ words: [String], _ quoted: [String], _ commands: SessionCommands) throws -> Need {
    if let reason = words.first.flatMap({ (commands.type(named: $0) ?? commands.set.type(named: $0))?.traits.script.refusal }) {
      throw Failure(.usage, reason)
    }
    if let word = words.first, Predicate.words.contains(word) {
      throw Failure(.usage, "A condition needs `expect`: expect \(words.map(ShellWords.quote).joined(separator: " "))")
    }
    let names = commands.commandFirst(words)
    if let word = names.first, commands.type(named: word) == nil {
      let foreign = ["//", "/*"].contains { word.hasPrefix($0) } ? "//" : word.lowercased()
      if let advice = ScriptParser.foreign[foreign] { throw Failure(.usage, "\(advice) See blectl-script(5).") }
      let meant = SpellingSuggestion.nearest(to: word, among: ScriptParser.words)
      throw meant.map { Failure(.usage, "Unknown command \(DisplayText.quote(word)). Did you mean \($0)?") }
        ?? commands.unknown([word], help: "See blectl-script(5).")
    }
    let line = try ShellLine(words, ShellSettings(), commands)
    if let reason = line.command.traits.script.refusal { throw Failure(.usage, reason) }
    var (command, file) = (line.command, CallCheck.File?.none)
    command.placeFile {
      if $1 != .device { file = ($0, $1) }
      return $0
    }
    try command.process.refuseSessionOptions()
    if command.runsUntilStopped { throw Failure(.usage, "\(line.name) would never end. Add --count or --duration.") }
    try command.checkForScript(quoted: quoted)
    let need: ScriptCheck.Need =
      switch command.traits.deviceChange {
      case .disconnects: .nothing
      case _ where line.isAboutCurrent: .device
      case .connects, .chooses: .namesDevice
      case .none, .unknown: .nothing
      }
    return (need, command.deviceCall, file)
  }

  /// The kinds and names of all failures, which a `fails` line accepts.
  nonisolated static var errors: [String] {
    Failure.Kind.allCases.map(\.rawValue) + Set((UInt8.min...UInt8.max).map { ErrorCode(rawValue: $0).snakeName }).sorted() + reasons
  }

  private nonisolated static var reasons: [String] {
    Set((UInt8.min...UInt8.max).map { ControllerErrorCode(rawValue: $0).snakeName } + PairingFailedReason.all.map(\.snakeName)).sorted()
  }
}

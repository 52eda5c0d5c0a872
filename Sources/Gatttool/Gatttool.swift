import BluetoothLELinux
package import CommandLine

/// The command `gatttool`, which has the options, results and exit codes of BlueZ's gatttool.
package struct Gatttool: LoopCommand {
  static let name = "gatttool"

  package static let configuration = CommandConfiguration(
    named: name, abstract: "Run scripts that were written for BlueZ's gatttool.",
    discussion: """
      All words after gatttool are its options. They are listed by blectl gatttool --help-all. It has the options, output and exit codes (0 or 1) of gatttool 5.66. A link to blectl with the name gatttool works the same way. -i also takes blectl's other adapters.
      """)
  package static let examples = [
    "blectl gatttool -i sim -b C0:FF:EE:00:00:07 --char-read -a 0x0011",
    "blectl gatttool -i sim -b D1:00:00:00:00:10 -t random --primary",
  ]
  package static let traits = CommandTraits(
    unusedOptions: ["--json", "--quiet", "--verbose", "--color", "--record", "--timeout"], usesNames: false, runsInSessions: false,
    isRecordable: false)

  @Argument(
    parsing: .captureForPassthrough, help: ArgumentHelp("Options of gatttool", valueName: "option"),
    completion: .list(GatttoolOptions.Name.allCases.map { "--\($0.rawValue)" }))
  var words: [String] = []

  @OptionGroup(title: HelpPage.globalTitle) package var process: ProcessOptions

  package init() {}

  package static let ownShape: CommandShape? = CommandShape(
    options: GatttoolOptions.Entry.all.map { entry in
      let value: CommandShape.Word =
        switch entry.name {
        case .adapter: .adapter
        case .device: .address
        case .addressType: .choice(["public", "random"])
        case .securityLevel: .choice(["low", "medium", "high"])
        default: .free
        }
      let names = (entry.letter.map { ["-\($0)"] } ?? []) + ["--\(entry.name.rawValue)"]
      return CommandShape.Option(names: names, hint: entry.help, value: entry.kind == .flag ? nil : value, isRepeating: false)
    }, takesPlainAddresses: true)

  /// Whether the options name a procedure or the interactive mode. If false, gatttool only prints its usage.
  package var usesAdapter: Bool { (try? GatttoolOptions(words)).map { $0.flags.contains(.interactive) || $0.procedure != nil } ?? false }

  /// Returns the command of a program named gatttool, or of `blectl [options] gatttool …`. Nil for another command.
  /// - Parameter arguments: All words, including the program's name.
  /// - Throws: The error of the parser for invalid words before the command.
  package static func command(of arguments: [String], _ commands: CommandSet) throws -> Gatttool? {
    let (leading, rest) = Arguments.leading(Array(arguments.dropFirst()), commands)
    let isLink = arguments.first?.split(separator: "/").last.map(String.init) == name
    guard isLink || rest.first == name else { return nil }
    let words = isLink ? Array(arguments.dropFirst()) : Array(rest.dropFirst())
    var options = isLink ? [] : leading
    if let adapter = try? GatttoolOptions(words).texts[.adapter] { options += ["--adapter", spec(adapter)] }
    guard var command = try parseAsRoot(options + ["--quiet"]) as? Gatttool else { return nil }
    if let stray = command.words.first {
      throw ValidationError(
        "\(DisplayText.quote(stray)) is not a global option. Put it after the command.")
    }
    if command.process.json { throw ValidationError("gatttool prints text only. For JSON, use blectl read, write or services.") }
    command.words = words
    return command
  }

  /// Returns the name of the adapter with an address, such as `hci0`. Returns any other text unchanged.
  private static func spec(_ adapter: String) -> String {
    guard adapter.utf8.count == 17, adapter.split(separator: ":").count == 6 else { return adapter }
    let found = try? AdapterList.adapters().first { $0.address?.description == adapter.uppercased() }
    return found?.name ?? adapter
  }

  package func run(in context: Context) async throws {
    let output = context.output
    let options: GatttoolOptions
    do throws(GatttoolOptions.Stop) { options = try GatttoolOptions(words) } catch {
      switch error {
      case .help(let text): return try await output.write(Array(text.utf8))
      case .wrong(let sentence):
        output.message(sentence)
        return try await refuse(context)
      }
    }
    if options.flags.contains(.interactive) { return try await GatttoolDialogue(options, context).run() }
    guard let procedure = options.procedure else { return try await refuse(context) }
    try await GatttoolRequest(options: options, context: context).run(procedure)
  }

  /// Prints the usage and throws `ExitCode(1)`, for invalid options or options that name no procedure.
  private func refuse(_ context: Context) async throws {
    try await context.output.line(GatttoolHelp.text)
    throw ExitCode(1)
  }
}

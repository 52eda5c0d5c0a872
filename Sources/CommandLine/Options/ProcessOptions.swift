/// The global options, such as the radio, the output and the trace. Every command accepts them before and after its name.
package struct ProcessOptions: OptionSection {
  package static let title = HelpPage.globalTitle

  @Option(
    name: .short("i"),
    help: ArgumentHelp(
      "hci0, user:0, tcp:HOST:PORT, unix:PATH, serial:DEV[@BAUD], sim, sim:FILE or replay:TRACE",
      discussion: "(default: $BLECTL_ADAPTER, else the first hciN that is up)", valueName: "spec"))
  package var adapter: String?

  @Flag(help: "Print one JSON object per line") package var json = false
  @Flag(name: [.short, .long], help: "Print only results and errors") package var quiet = false
  @Flag(name: [.short, .long], help: "Show progress; -vv also shows every ATT PDU") package var verbose: Int

  // No default value, because the parser would search all protocol conformances.
  @Option("auto, always or never (default: auto)", value: "when") package var color: ColorChoice?
  @Option("Capture HCI traffic to FILE (btsnoop); - writes pcapng to stdout", value: "file", completion: .file()) package var trace: String?
  @Flag(help: "Keep the keys of your own connections in the capture") var traceSecrets = false
  @Option("Record this session as a script for blectl run", value: "file", completion: .file()) var record: String?

  // Applies to one command, see `step`. It is here because a separate group costs each start ten times more than the option.
  @Option(
    name: .short("t"), parsing: .unconditional,
    help: ArgumentHelp(
      "Limit for each step that waits for the device (default: 11 s to find it, 20 s to connect, 30 s for an ATT answer)",
      valueName: "seconds"),
    transform: TimeText.seconds)
  var timeout: Double?

  @Flag(help: "Print records as a table of comma-separated values") var csv = false
  @Option("Print a line per record: '{time},{name},{heart_rate}'", value: "template", parsing: .unconditional) var format: String?

  @Option("Write the result to FILE instead of stdout", value: "file", parsing: .unconditional, completion: .file())
  package var output: String?

  @Option("Times as local, utc, relative or none (default: utc)", value: "form") var time: TimeChoice?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Read FILE instead of config.json; scripts then use its mode, as and pair, too", valueName: "file"),
    completion: .file())
  package var config: String?

  @Flag(help: "With -i replay:TRACE, fail on a request that is not in the recording") var strict = false

  package init() {}

  /// The long names of the global options without a value.
  static let flags = ["--json", "--quiet", "--verbose", "--trace-secrets", "--strict", "--csv"]
  static let timeout = ["-t", "--timeout"]
  /// The short and long names of the global options with a value.
  static let namesWithValue = ["-i", "--adapter", "--color", "--trace", "--record", "--config", "--format", "--output", "--time"] + timeout

  package func validate() throws {
    if traceSecrets, trace == nil { throw ValidationError("--trace-secrets needs --trace FILE.") }
    try limit("--timeout", timeout: timeout)
    for (name, value) in [("--format", format), ("--output", output), ("--config", config)] where value?.isEmpty ?? false {
      throw ValidationError("\(name) needs a value.")
    }
    if csv, format != nil { throw ValidationError("--csv and --format exclude each other.") }
  }

  /// The options that a session accepts only at its start. The commands of a session refuse these options.
  static let ofSession = ["--adapter", "--trace", "--record", "--output", "--config", "--strict"]

  /// Refuses the options of `ofSession` in a command of a session.
  /// - Throws: `Failure(.usage)` that names the option.
  package func refuseSessionOptions() throws {
    let given = zip(Self.ofSession, [adapter, trace, record, output, config, strict ? "" : nil])
    guard let (option, _) = given.first(where: { $0.1 != nil }) else { return }
    throw Failure(.usage, "\(option) is an option of the session. Give it when you start blectl.")
  }

  /// Applies the defaults for options that the user omitted. A default of `--color` yields to `NO_COLOR`.
  mutating func take(_ defaults: OptionDefaults.Options, usesColor: Bool, usesTimeout: Bool) {
    if usesTimeout { timeout = timeout ?? defaults.timeout }
    if usesColor { color = color ?? defaults.values["color"].flatMap { ColorChoice(rawValue: $0.text) } }
  }

  var step: StepOptions { StepOptions(timeout: timeout) }
}

extension ColorChoice: ExpressibleByArgument {
  package static var allValueStrings: [String] { allCases.map { $0.rawValue } }
  package static var allValueDescriptions: [String: String] { [:] }
}

/// The value of `--timeout`, which each command of a session may set.
package struct StepOptions {
  /// The time limit in seconds, more than 0 and up to 86400. Nil for the default of each command.
  package let timeout: Double?

  /// The time limit for finding the device. Without `--timeout`, the limit is 11 s.
  package var searchLimit: Duration { timeout.map { .limited(seconds: $0) } ?? PeerSearch.usualLimit }

  /// The time limit of `--wait`, which waits for a device to appear. Without `--timeout`, the limit is one hour.
  package var waitLimit: Duration { .limited(seconds: timeout ?? 3600) }

  /// The time limits for connecting and for each answer of the device.
  package var limits: Session.Limits {
    var limits = Session.Limits()
    guard let timeout else { return limits }
    limits.connecting = .limited(seconds: timeout)
    limits.transaction = .limited(seconds: timeout)
    return limits
  }
}

/// A group of options with its own section in the help.
package protocol OptionSection: ParsableArguments {
  static var title: String { get }
}

extension OptionGroup where Value: OptionSection { package init() { self.init(title: Value.title) } }

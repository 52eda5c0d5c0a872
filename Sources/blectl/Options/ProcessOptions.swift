import ArgumentParser
import Terminal

/// Options that belong to the process: the radio, the output, the trace. Every command takes them, before or after its name; a session that stays
/// open has one of each, whatever its commands are.
struct ProcessOptions: ParsableArguments {
  @Option(
    name: [.customShort("i", allowingJoined: true), .long],
    help: ArgumentHelp(
      "Which radio: hci0, user:0, tcp:HOST:PORT, unix:PATH, serial:DEV[@BAUD], sim, sim:FILE, replay:TRACE.",
      discussion: "Default: $BLECTL_ADAPTER, else the first hciN that is up.", valueName: "spec"))
  var adapter: String?

  @Flag(help: "Print one JSON object per line.")
  var json = false

  @Flag(name: [.short, .long], help: "No notes and no progress, only results and errors.")
  var quiet = false

  @Flag(name: [.short, .long], help: "Say what is done; twice: every ATT PDU.")
  var verbose: Int

  @Option(help: ArgumentHelp("Colour: auto, always or never.", valueName: "when"))
  var color: ColorChoice = .auto

  @Option(
    help: ArgumentHelp("Write everything that crosses HCI to a btsnoop file; - is pcapng on standard output.", valueName: "file"),
    completion: .file())
  var trace: String?

  @Option(
    help: ArgumentHelp("Write what is done and what comes as a script for blectl run.", valueName: "file"), completion: .file())
  var record: String?

  /// Those that take a value, for moving them behind the command's name.
  static let namesWithValue = ["-i", "--adapter", "--color", "--trace", "--record"]

  var outputStyle: Output.Style {
    var style = Output.Style()
    style.program = "blectl"
    style.json = json
    style.quiet = quiet
    style.verbosity = verbose
    style.color = color
    return style
  }
}

extension ColorChoice: ExpressibleByArgument {
  /// As the parser has it by itself, but without a key path, which costs more than the rest of the option.
  static var allValueStrings: [String] { allCases.map { $0.rawValue } }
  /// None beside the words themselves, which the parser would find out case by case.
  static var allValueDescriptions: [String: String] { [:] }
}

import ArgumentParser
import Bluetooth
import Text

/// The command line: `blectl [options] COMMAND [options] …`. The options of every command are parsed by the commands (see `Arguments`); the
/// root only describes them, because each option that it declares itself costs start-up time.
struct Blectl: ParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "blectl",
    abstract: "A Bluetooth LE toolkit: scan, connect, read, write, and push files, from a shell.",
    discussion: """
      PEER is AA:BB:CC:DD:EE:FF[/public|/random], name:GLOB, mac:MAC (the one inside the advertisement), service:UUID, @last or @ALIAS.
      ATTR is a handle (0x0012), a UUID (ffe1), service/characteristic (ffe0/ffe1), ffe1[2], a descriptor (ffe1@2901) or a name (battery_level).

      Options of every command, before or after its name:
        -i, --adapter SPEC  hci0, user:0, tcp:HOST:PORT, unix:PATH,
                            serial:DEV[@BAUD], sim, sim:FILE, replay:TRACE
        -t, --timeout SECONDS
                            limit for each step that waits on the peer
        --json              one JSON object per line
        -q, --quiet         only results and errors
        -v, --verbose       say what is done; twice: every ATT PDU
        --color WHEN        auto, always or never
        --trace FILE        write a btsnoop file; - is pcapng on standard
                            output: blectl scan --trace - | wireshark -k -i -
        --trace-secrets     leave the keys of your own links in the trace
        --record FILE       write a script for blectl run

      Several commands on one link: blectl -e 'read 2a19; write ffe1 01; wait ffe2' PEER

      Without a radio, everything works on the simulated one: blectl scan -i sim

      Exit codes: 0 done, 1 defect, 2 not found, 3 adapter unusable, 4 timed out, 5 peer refused, 6 link lost, 7 expectation failed, \
      64 wrong usage, 66 input file, 74 output, 130 interrupted.
      """,
    version: version,
    // One by one: an array of them would be converted by looking each up.
    subcommands: commands.map { $0 })

  static let commands: [any LoopCommand.Type] = [
    Adapters.self, Scan.self, Connect.self, Services.self, Read.self, Write.self, Notify.self, Call.self, MacFromAdv.self, SendFile.self,
    Tune.self,
    Repl.self, Peers.self, Run.self, Sim.self, Browse.self, Decode.self, Gatttool.self, Doctor.self,
  ]

  /// What the command that the first word names makes of the rest, with a third less work than through the root, which parses it for
  /// completion scripts and for itself before. Nil: help, version, completion and what is wrong are the root's to tell.
  static func namedCommand(from arguments: [String]) -> (any LoopCommand)? {
    guard let name = arguments.first, let named = command(named: name) else { return nil }
    return (try? named.command(from: Array(arguments.dropFirst()))) ?? nil
  }

  /// What the command line asks for.
  static func command(from arguments: [String]) throws -> any ParsableCommand {
    if let command = namedCommand(from: arguments) { return command }
    if arguments.first == Execute.word { return try Execute.parseAsRoot(Array(arguments.dropFirst())) }
    if let wrong = unknownCommand(in: arguments) { throw wrong }
    return try parseAsRoot(arguments)
  }

  static func command(named name: String) -> (any LoopCommand.Type)? {
    name == Execute.word ? Execute.self : commands.first { $0.configuration.commandName == name }
  }

  static var commandNames: [String] { configuration.subcommands.compactMap { $0.configuration.commandName } }

  /// The parser would blame the first option instead of the command's name, because the root declares none.
  private static func unknownCommand(in arguments: [String]) -> ValidationError? {
    guard let first = arguments.first else { return nil }
    if first == "help" {
      guard let name = arguments.dropFirst().first(where: { !$0.hasPrefix("-") }), name != "help", !commandNames.contains(name) else {
        return nil
      }
      return noCommand(name)
    }
    if !first.hasPrefix("-") {
      return commandNames.contains(first) ? nil : misplacedOption(in: arguments.dropFirst()) ?? noCommand(first)
    }
    let standing = ["--version", "-h", "--help", "--experimental-dump-help", "--generate-completion-script"]
    if arguments.contains(where: { word in standing.contains { word == $0 || word.hasPrefix($0 + "=") } }) { return nil }
    return wrongOption(in: arguments) ?? ValidationError("Name a command: \(commandNames.joined(separator: ", ")).")
  }

  private static func noCommand(_ name: String) -> ValidationError {
    let meant = Likeness.nearest(to: name, among: commandNames).map { " Did you mean \($0)?" } ?? ""
    return ValidationError(
      "There is no command \(DisplayText.quote(name)).\(meant) The commands are \(commandNames.joined(separator: ", ")).")
  }

  /// An option before the command that not every command has: what follows it is its value, and no command.
  private static func misplacedOption(in words: ArraySlice<String>) -> ValidationError? {
    guard let word = words.first, word.hasPrefix("-"), word.count > 1, wrongOption(in: [word]) != nil,
      !Arguments.namesWithValue.contains(word)
    else { return nil }
    return ValidationError(
      "\(DisplayText.quote(word)) is no option that every command has, so it stands behind the command, not before it.")
  }

  /// Of a line that is nothing but options.
  private static func wrongOption(in arguments: [String]) -> ValidationError? {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if Arguments.namesWithValue.contains(word) {
        if rest.popFirst() == nil { return ValidationError("\(word) needs a value, and a command has to follow.") }
        continue
      }
      let name = String(word.prefix { $0 != "=" })
      let known = Arguments.namesWithValue + ProcessOptions.flags + ["--version", "--help"]
      if known.contains(name) || word.dropFirst().allSatisfy({ "qv".contains($0) }) { continue }
      let meant = word == "-V" ? "--version" : Likeness.nearest(to: name, among: known)
      return ValidationError(
        "There is no option \(DisplayText.quote(name)) that every command has." + (meant.map { " Did you mean \($0)?" } ?? ""))
    }
    return nil
  }
}

import ArgumentParser
import Text

/// The help of the program itself: `blectl -h` and `blectl --help`.
enum ProgramHelp {
  static func text(isShort: Bool) -> String {
    let all: [any LoopCommand.Type] = Blectl.commands + (isShort ? [] : [Execute.self])
    let commands = ["COMMANDS:"] + rows(all.map { ($0.configuration.commandName ?? "", $0.configuration.abstract) })
    let usage = "USAGE: blectl [<options>] <command> [<arguments>]"
    let more = "More: blectl COMMAND -h, blectl --help, man blectl"
    guard !isShort else { return (["OVERVIEW: \(Blectl.configuration.abstract)", usage] + commands + [more]).joined(separator: "\n") }
    return [
      ["OVERVIEW: \(Blectl.configuration.abstract)"], [usage], commands,
      ["DEVICES (PEER):"] + rows(devices), ["ATTRIBUTES (ATTR):"] + rows(attributes),
      HelpPage(of: Services.self, isSession: false).globalOptions, ["EXIT STATUS:"] + exits, ["EXAMPLES:"] + examples.map { "  \($0)" },
      [more],
    ].map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private static let devices = [
    ("C0:FF:EE:00:00:07", "Address; /public or /random says of which type"), ("Band-7, name:Band-*", "Name, or a pattern for names"),
    ("mac:A4:C1:38:00:11:22", "MAC address inside the advertisement"), ("service:180d", "Advertised service: UUID or name"),
    ("@last, @ALIAS", "The device used last, or one that `alias` named"),
  ]

  private static let attributes = [
    ("battery_level", "Name from the Bluetooth SIG"), ("2a19, 180f/2a19", "UUID, alone or after the UUID of its service"),
    ("ff01[2]", "Second characteristic with this UUID"), ("ff01@2901", "Descriptor of a characteristic"), ("0x0011", "Handle"),
  ]

  private static let exits = [
    "  0 success, 1 bug in blectl, 2 not found, 3 adapter unusable, 4 timeout,",
    "  5 device refused, 6 connection lost, 7 expectation failed, 64 usage,",
    "  66 input file, 74 output, 130 Ctrl-C",
  ]

  static let examples = [
    "blectl -i sim scan -d 3", "blectl -i sim read Band-7 battery_level", "blectl -i sim -e 'read 2a00; read 2a19' Band-7",
  ]

  static func rows(_ rows: [(String, String)]) -> [String] {
    let column = 2 + (rows.map(\.0.count).max() ?? 0)
    return rows.map { "  \($0)\(String(repeating: " ", count: column - $0.count))\($1)" }
  }
}

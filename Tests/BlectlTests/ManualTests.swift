import CommandLine
import Foundation
import TestSupport

/// The man pages, the help and the README match the program.
@Suite(.timeLimit(.minutes(15))) struct ManualTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func commands() throws -> [String: Set<String>] {
    let dump = try JSONSerialization.jsonObject(with: Data(try Blectl.run("--experimental-dump-help").output)) as? [String: Any]
    let root = dump?["command"] as? [String: Any] ?? [:]
    var result: [String: Set<String>] = [:]
    for command in root["subcommands"] as? [[String: Any]] ?? [] {
      guard let name = command["commandName"] as? String, name != "help" else { continue }
      let names = (command["arguments"] as? [[String: Any]] ?? []).flatMap { $0["names"] as? [[String: Any]] ?? [] }
      result[name] = Set(names.filter { $0["kind"] as? String == "long" }.compactMap { $0["name"] as? String })
    }
    return result
  }

  /// The names of the files of all pages, sorted.
  static func pages() throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("man").path)
    return names.filter { $0.hasSuffix(".1") || $0.hasSuffix(".5") }.sorted()
  }

  private static func page(_ name: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent("man/\(name)"), encoding: .utf8)
  }

  @Test func everyCommandAndOptionIsInTheManual() throws {
    let common = try Self.page("blectl.1")
    let commands = try Self.commands()
    #expect(
      Set(commands.keys) == [
        "adapters", "scan", "connect", "services", "read", "write", "notify", "call", "mac-from-adv", "send-file", "tune", "repl", "peers",
        "sim",
        "peripheral", "browse", "run", "decode", "update", "firmware", "gatttool", "doctor", "alias", "config", "pair", "unpair", "bonds",
        "clone", "advertise",
      ])
    #expect(try Self.pages().filter { $0.hasSuffix(".1") } == (["blectl.1"] + commands.keys.map { "blectl-\($0).1" }).sorted())
    for (command, options) in commands {
      // The overview has the options of all commands, and the page of a command has its own.
      let text = common + (try Self.page("blectl-\(command).1"))
      // --stay is accepted but no longer documented.
      for option in options where !["help", "version", "stay"].contains(option) {
        #expect([" ", "\n"].contains { text.contains("-\(option)\($0)") }, "--\(option) is not in the manual of \(command)")
      }
    }
  }

  /// The simulator has every device that a command in the README names, except for placeholders.
  @Test func theREADMENamesDevicesThatExist() throws {
    let text = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    let commands = text.matches(of: /blectl (?:connect|notify|pair|read|write|send-file|mac-from-adv) ([\w:-]+)/).map { String($0.1) }
    let devices = Set(commands + text.matches(of: /device (name:[\w-]+)/).map { String($0.1) }).subtracting(["PEER"])
    #expect(devices.count >= 4, "\(devices)")
    for device in devices {
      let found = try Blectl.run("connect", device)
      #expect(found.status == 0, "\(device): \(found.errors)")
    }
    #expect(text.contains("The times need `BLECTL_CLOCK=virtual`."))
  }

  @Test func everyOptionOfTheManualExists() throws {
    // --keep-going is an option of -e and source, which are not commands of the root. The parser does not know the options for records.
    let others: Set<String> = ["version", "help", "keep-going", "csv", "format", "output", "time", "config", "strict"]
    let commands = try Self.commands()
    let all = commands.values.reduce(into: others) { $0.formUnion($1) }
    for page in try Self.pages() where page.hasSuffix(".1") {
      let known = commands[String(page.dropFirst("blectl-".count).dropLast(".1".count))].map { $0.union(others) } ?? all
      for line in try Self.page(page).split(separator: "\n") where line.hasPrefix(".It Fl") {
        for match in line.matches(of: /Fl -([a-z-]+)/) { #expect(known.contains(String(match.1)), "\(page): --\(match.1) does not exist") }
      }
    }
  }

  @Test func theHelpOfTheProgramNamesTheOptionsOfEveryCommand() throws {
    let help = try Blectl.run("--help").text
    let common = try Self.commands().values.reduce(nil as Set<String>?) { $0?.intersection($1) ?? $1 } ?? []
    #expect(common.isSuperset(of: ["adapter", "timeout", "json", "trace"]))
    for option in common { #expect(help.contains("--\(option)"), "--\(option) is not in blectl --help") }
  }

  @Test func thePagesAreWellFormed() throws {
    for page in try Self.pages() {
      let path = Self.root.appendingPathComponent("man/\(page)").path
      let result = try Shell.run("man --warnings -E UTF-8 -l -Tutf8 -Z '\(path)' >/dev/null")
      #expect(result.status == 0 && result.errors.isEmpty, "\(page): \(result.errors)")
    }
  }

  @Test func helpOfEveryCommand() throws {
    for command in try Self.commands().keys {
      // The other program's help comes after this name.
      let result = try command == "gatttool" ? Blectl.run("help", command) : Blectl.run(command, "--help")
      #expect(result.status == 0)
      #expect(result.text.contains("USAGE: blectl \(command)"))
    }
    #expect(try Blectl.run("--version").text.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
  }

  /// The history and the reports hide what follows a misspelled `--passkey`. No option of blectl looks like one.
  @Test func noOptionIsTakenForASecret() throws {
    let options = try Self.commands().values.reduce(into: Set<String>()) { $0.formUnion($1) }
    for option in options.subtracting(["passkey", "irk", "key"]) {
      let line = "scan --\(option) value"
      #expect(SecretOptions.hidden(in: line) == line)
    }
  }

  /// Commands parse their own arguments, but the program answers global options, also after a command's name.
  @Test func theProgramAnswersForItsCommands() throws {
    #expect(try Blectl.run("read", "--version").text == Blectl.run("--version").text)
    #expect(try Blectl.run("help", "read").text == Blectl.run("read", "--help").text)
    #expect(try Blectl.run("read", "--generate-completion-script", "bash").text == Blectl.run("--generate-completion-script", "bash").text)
    let wrong = try Blectl.run("read", "@last", "2a00", "--bogus")
    #expect(wrong.status == 64 && wrong.errors.contains("Usage: blectl read ["))
  }
}

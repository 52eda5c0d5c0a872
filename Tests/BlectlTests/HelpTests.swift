import Foundation
import TestSupport

/// `-h` shows one screen of help, `--help` everything, and every example runs.
@Suite(.timeLimit(.minutes(15))) struct HelpTests {
  /// Returns the commands and `-e`.
  static func names() throws -> [String] { try ManualTests.commands().keys.sorted() + ["-e"] }

  static func help(_ name: String, _ option: String) throws -> String {
    // The words after this name are gatttool's own.
    try name == "gatttool" ? Blectl.run("help", name, option == "-h" ? option : "--help").text : Blectl.run(name, option).text
  }

  static func examples(_ help: String) -> [String] {
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return lines.drop { $0 != "EXAMPLES:" }.dropFirst().prefix { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
  }

  static let sessionCommands = [
    "rssi", "params", "mtu", "alias", "disconnect", "use", "subscribe", "unsubscribe", "wait", "sleep", "peripheral", "set", "help",
    "source", "exit",
  ]

  @Test func theShortHelpFitsOneScreen() throws {
    for name in try Self.names() {
      let text = try Self.help(name, "-h")
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      #expect(lines.count <= 24, "\(name) -h has \(lines.count) lines")
      #expect(lines.allSatisfy { $0.count <= 80 }, "\(name): \(lines.filter { $0.count > 80 })")
      #expect((2...4).contains(Self.examples(text).count), "\(name) -h has no examples")
      #expect(!text.contains("GLOBAL OPTIONS") && text.contains("--help"))
    }
    #expect(try Blectl.run("-h").text.split(separator: "\n").count <= 24)
  }

  /// Examples stay on one line, so that users can copy them.
  @Test func theHelpFitsANarrowTerminal() throws {
    for words in [["-h"], ["scan", "-h"], ["send-file", "--help"]] {
      let (status, text) = try PseudoTerminal([Blectl.path] + words, columns: 60, rows: 24).finish()
      let lines = text.split(separator: "\r\n").prefix { $0 != "EXAMPLES:" }
      #expect(status == 0 && lines.count > 20 && lines.allSatisfy { $0.count <= 60 || $0.hasPrefix("USAGE") }, "\(lines)")
    }
    let long = try Blectl.run("--help").text
    #expect(long.contains("\n  source <(blectl --generate-completion-script bash)\n"))
  }

  @Test func ownOptionsComeFirst() throws {
    for name in try Self.names() where name != "gatttool" {
      let text = try Self.help(name, "--help")
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      #expect(lines.allSatisfy { $0.count <= 80 }, "\(name): \(lines.filter { $0.count > 80 })")
      let headings = lines.filter { $0.hasSuffix("OPTIONS:") || $0 == "VERIFICATION:" }
      #expect(
        headings == ["OPTIONS:", "VERIFICATION:", "CONNECTION OPTIONS:", "GLOBAL OPTIONS:"].filter(headings.contains),
        "\(name): \(headings)")
      #expect(headings.last == "GLOBAL OPTIONS:")
      let short = try Self.help(name, "-h")
      #expect(Self.examples(text) == Self.examples(short))
    }
  }

  /// `-h` after global options and their values shows the help of the program.
  @Test func theHelpOfTheProgramAfterOptions() throws {
    for words in [["-i", "sim", "-h"], ["--color", "always", "-h"], ["-t", "5", "-h"]] {
      #expect(try Blectl.run(words, adapter: nil).text == Blectl.run("-h").text, "\(words)")
    }
  }

  @Test func everyDefaultIsNamed() throws {
    let dump = try JSONSerialization.jsonObject(with: Data(try Blectl.run("--experimental-dump-help").output)) as? [String: Any]
    for command in (dump?["command"] as? [String: Any])?["subcommands"] as? [[String: Any]] ?? [] {
      for argument in command["arguments"] as? [[String: Any]] ?? [] where argument["defaultValue"] != nil {
        let text = "\(argument["abstract"] ?? "") \(argument["discussion"] ?? "")"
        #expect(text.contains("(default: "), "\(command["commandName"] ?? ""): \(text)")
      }
    }
  }

  @Test func everyExampleRuns() throws {
    let folder = try Self.folder([
      "tests/band.blectl": "device Band-7\ntest battery\n  read battery_level\nend\n",
      "sensor.json": try String(contentsOf: ManualTests.root.appendingPathComponent("man/examples/sensor.json"), encoding: .utf8),
    ])
    try Vectors.own("image.bin").write(to: folder.appendingPathComponent("app.bin"))
    _ = try Blectl.run(["--trace", "capture.btsnoop", "read", "Band-7", "2a19"], folder: folder.path)
    _ = try Blectl.run(["--trace", "phone.btsnoop", "services", "Band-7", "--values"], folder: folder.path)
    let programs = URL(fileURLWithPath: Blectl.path).deletingLastPathComponent().path
    for name in try Self.names() where !["browse", "sim"].contains(name) {
      for example in Self.examples(try Self.help(name, "-h")) {
        let result = try Shell.run(
          "cd '\(folder.path)' && export PATH='\(programs)':\"$PATH\" BLECTL_CLOCK=virtual && set -o pipefail && { \(example); }")
        // This machine may have no adapter.
        if example != "blectl adapters" { #expect(result.status == 0, "\(example): \(result.status) \(result.errors)") }
      }
    }
  }

  /// Creates a folder with these files.
  private static func folder(_ files: [String: String]) throws -> URL {
    let folder = URL(fileURLWithPath: TemporaryFolder.path())
    for (name, text) in files {
      let file = folder.appendingPathComponent(name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    return folder
  }

  @Test func everyExampleOfASessionRuns() throws {
    let folder = try Self.folder([
      "setup.blectl": "read 2a19\n",
      "sensor.json": try String(contentsOf: ManualTests.root.appendingPathComponent("man/examples/sensor.json"), encoding: .utf8),
    ])
    for name in Self.sessionCommands {
      let help = try Blectl.run(["repl"], input: Array("help \(name)\n".utf8)).text
      #expect((2...4).contains(Self.examples(help).count) && help.contains("USAGE: \(name)"), "\(help)")
      for option in ["--adapter", "--trace", "--record", "--version"] { #expect(!help.contains(option), "\(name) takes no \(option)") }
      for example in Self.examples(help) {
        let result = try Blectl.run(
          ["repl", "Band-7"], input: Array("\(example)\n".utf8), environment: ["XDG_STATE_HOME": folder.path], folder: folder.path)
        #expect(result.status == 0, "\(name): \(example): \(result.errors)")
      }
    }
  }

  @Test func aSessionsHelpIsAboutTheSession() throws {
    let help = try Blectl.run(["repl"], input: Array("wait --help\nread -h\n".utf8)).text
    #expect(help.contains("USAGE: wait [<options>] [<peer>] <attr[=hex]>") && help.contains("--timeout"), "\(help)")
    #expect(help.contains("USAGE: read [<options>] [<peer>] [<attribute> ...]\n") && !help.contains("-i, "))
    #expect(help.components(separatedBy: "USAGE: read").last?.contains("GLOBAL OPTIONS") == false)
    #expect(help.contains("\n  read Band-7 battery_level\n") && !help.contains("blectl -i"), "\(help)")
  }

  /// Examples that run until they are stopped.
  @Test func theSharedSimulatorAndTheBrowserRun() throws {
    let folder = try Self.folder(["devices.json": #"[{"address":"C0:FF:EE:00:00:07/random","name":"Made"}]"#])
    for example in Self.examples(try Self.help("sim", "-h")) {
      let words = example.replacingOccurrences(of: "$XDG_RUNTIME_DIR/air", with: folder.appendingPathComponent("air").path)
        .replacingOccurrences(of: "devices.json", with: folder.appendingPathComponent("devices.json").path)
      let simulator = try Blectl.start(words.components(separatedBy: " ").dropFirst().map { $0 }, adapter: nil, virtual: false)
      #expect(simulator.waitForOutput(containing: "Listening on "), "\(example)")
      #expect(simulator.end(by: SIGINT).status == 130)
    }
    for example in Self.examples(try Self.help("browse", "-h")) {
      let browser = try BrowserTerminal(Array(example.components(separatedBy: " ").drop { $0 != "browse" }.dropFirst()))
      try browser.see("Band-7")
      browser.quit()
    }
  }
}

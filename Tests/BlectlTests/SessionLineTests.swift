import Foundation
import Presentation
import TestSupport

@testable import CommandLine
@testable import Program
@testable import blectl

/// Lines of a session: the end, and errors.
@Suite(.timeLimit(.minutes(15))) struct SessionLineTests {
  private func run(_ lines: [String], _ arguments: [String] = ["repl"]) throws -> ProcessResult {
    try Blectl.run(arguments, input: Array(lines.joined(separator: "\n").utf8))
  }

  /// The current device is a value of the parsed command, not one of its words.
  @Test(
    .onLoop,
    arguments: [
      ("read 2a19 2a00", false, "@."), ("read band7 2a19", false, "@."), ("read name:Band-7 2a19", true, "name:Band-7"),
      ("-q read @. 2a19", true, "@."), ("connect Band-7", true, "name:Band-7"), ("connect", false, "@."),
    ]) @LoopActor func theDeviceIsAValue(_ text: String, _ isNamed: Bool, _ peer: String) async throws
  {
    let words = text.split(separator: " ").map(String.init)
    var line = try ShellLine(words, ShellSettings(), SessionCommands(Blectl.commands))
    #expect(line.namesPeer == isNamed && line.isAboutCurrent == (peer == "@.") && line.command.peerOptions?.peer.description == peer)
    #expect(line.words.count == words.count && line.words.first == line.name)
    line.use(.last)
    #expect(line.command.peerOptions?.peer == .last && !line.isAboutCurrent)
  }

  @Test(arguments: [
    ("sub", "Did you mean subscribe?"), ("dis", "Did you mean disconnect?"), ("ser", "Did you mean services?"),
    ("raed", "Did you mean read?"),
    ("history", "history needs a terminal and its own line."),
  ]) func anUnknownCommand(_ word: String, _ advice: String) async throws {
    try await onLoop { #expect(SessionCommands(Blectl.commands).unknown([word]).message.contains(advice)) }
  }

  // MARK: The end

  @Test(arguments: ["exit", "quit"]) func exitEndsIt(_ word: String) throws {
    let text = try run(["set reconnect", word, "set reconnect", "rubbish"])
    #expect(text.status == 0 && text.lines == ["reconnect off"] && text.errors.isEmpty, "\(text.text)\(text.errors)")
    let json = try run(["sleep 1", #"{"id":"end","command":"\#(word)"}"#, "sleep 0", "rubbish", "{"], ["repl", "--json"])
    #expect(try json.statuses == ["1": 0, "end": 0] && json.status == 0, "\(json.text)")
    let steps = try Blectl.run("-e", "sleep 0; \(word); read 2a19")
    #expect(steps.status == 0 && steps.output.isEmpty && steps.errors.isEmpty, "\(steps.errors)")
  }

  /// `exit` stops endless commands like the end of the input, even if the writer keeps the pipe open.
  @Test func itIsAsTheEndOfTheInput() throws {
    let running = try Blectl.start(["repl", "--json"])
    for line in ["connect name:Band-7", "notify 2a37", "exit"] { running.send(line: line) }
    #expect(try running.wait().statuses == ["1": 0, "2": 0, "3": 0])
  }

  @Test func inAFileToo() throws {
    let inner = try TemporaryFolder.file("set format\nexit\nset timeout\n")
    let outer = try TemporaryFolder.file("source '\(inner)'\nset reconnect\n")
    for arguments in [["repl"], ["repl", "--json"]] {
      let result = try run(["source '\(outer)'", "set reconnect"], arguments)
      #expect(result.status == 0 && result.text.contains("format") && !result.text.contains("reconnect"), "\(result.text)")
      #expect(!result.text.contains("timeout"))
    }
  }

  @Test func onATerminal() throws {
    let repl = try ReplTerminal()
    try repl.enter("exit now")
    try repl.says { $0.hasPrefix("blectl: exit takes no argument") }
    repl.type("sleep 1; exit; read 2a19\r")
    let (status, _) = repl.terminal.finish()
    #expect(status == 0 && !repl.screen.lines.joined().contains("no device"), "\(repl.screen.lines)")
  }

  // MARK: What is wrong with a line

  @Test(arguments: [
    ("connect 2a19", "Invalid PEER \"2a19\": it names an attribute. For a device with that name, use name:2a19. A device is an address"),
    ("write ff02 name:Band-7 01", "Put the device first: write name:Band-7 ff02 01"),
    ("connect name:", "Invalid PEER \"name:\": the name is missing. A device is an address"),
    ("disconnect nosuch", "No device is connected"), ("sleep 2x", "2x"),
    ("connect", "There is no current device"), ("read 2a19", "as in `read name:Band-7 2a19`"),
    (#"wait ff01="zz""#, #"Invalid ATTR "ff01=zz". Invalid hex "zz". Put text in quotes: 'ff01="zz"'"#),
    ("sleep -1", "sleep takes seconds from 0 to 31536000, not -1"),
    ("set timeout -1", "Invalid timeout \"-1\". Use seconds, more than 0"),
    ("scan -d 1e9", "--duration takes seconds from 0 to 31536000, not 1000000000"),
    ("write name:x 2a19 00 --gap 70000", "--gap takes milliseconds from 0 to 60000, not 70000"),
    ("read name:x 2a19 -t 0", "--timeout takes seconds, more than 0 and up to 86400, not 0"), ("exit now", "exit takes no argument"),
  ])
  func itIsSaidWell(_ line: String, _ mention: String) throws {
    let result = try run([line])
    #expect(result.errors.contains(mention) && !result.errors.contains(mention + ".0"), "\(result.errors)")
  }

  @Test(arguments: [
    (["repl", "AA:BB:CC"], "six bytes"),
    (["-e", "read 2a19", "-e", "read 2a00", "name:Band-7"], "-e is given twice. Put ; between the commands"),
  ])
  func alsoOnTheCommandLine(_ arguments: [String], _ mention: String) throws {
    let result = try Blectl.run(arguments)
    #expect(result.status == 64 && result.errors.contains(mention), "\(result.errors)")
  }

  @Test func theLimitOfTheSessionIsNotTheScans() throws {
    #expect(try run(["scan -d 1"], ["repl", "-t", "5"]).errors.isEmpty)
    #expect(try run(["scan -d 1 -t 5"]).errors.contains("--timeout has no effect on scan"))
  }

  @Test func aFileThatNamesItselfIsNamedOnce() throws {
    let file = TemporaryFolder.path()
    try Data("source '\(file)'\n".utf8).write(to: URL(fileURLWithPath: file))
    let result = try run(["source '\(file)'"])
    #expect(result.status == 66 && result.errors.components(separatedBy: "\(file):1: ").count == 2, "\(result.errors)")
  }

  @Test func aByteOrderMarkIsNoPartOfTheText() throws {
    let result = try run(["\u{FEFF}set reconnect", "\u{FEFF}set reconnect"])
    #expect(result.lines == ["reconnect off"] && result.errors.contains("line 2: "), "\(result.text)\(result.errors)")
  }

  @Test func anIdIsWhole() throws {
    let done = try run([#"{"id":1.5,"command":"sleep 0"}"#], ["repl", "--json"]).records.first
    #expect(done?["error"]?.string("message")?.hasPrefix("\"id\" must be a string or a whole number, not 1.5. ") == true)
  }

  // MARK: Examples

  /// The commands in the comments of the examples work.
  @Test(arguments: ["challenge-lock.json", "wristband.json"]) func whatExamplesSayWorks(_ name: String) throws {
    let text = try String(contentsOfFile: "\(ExampleTests.folder)/\(name)", encoding: .utf8)
    for line in text.split(separator: "\n") where line.hasPrefix("//   blectl ") {
      let words = String(line.dropFirst("//   ".count)).replacing("man/examples", with: ExampleTests.folder)
      let result = try RunningProcess.run(
        ["bash", "-c", words.replacing(/^blectl/, with: "\"$BLECTL\"")],
        environment: ["PATH": "/usr/bin:/bin", "HOME": "/dev/null", "BLECTL": Blectl.path, "BLECTL_CLOCK": "virtual"])
      #expect(result.status == 0 && !result.output.isEmpty, "\(words): \(result.errors)")
    }
  }
}

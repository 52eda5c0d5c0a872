import Glibc
import Terminal
import TestSupport

@testable import CommandLine
@testable import Program
@testable import blectl

/// Completions at each position, without a terminal.
@Suite(.timeLimit(.minutes(15))) struct CompleterTests {
  private static func model(connected: Bool) -> CompletionModel {
    var model = CompletionModel()
    model.commands = [("read", "Read values"), ("write", ""), ("notify", ""), ("connect", ""), ("send-file", ""), ("subscribe", "")]
    model.devices = [
      .init(address: "C0:FF:EE:00:00:07/public", name: "Band-7", hint: "-61 dBm", isLink: true),
      .init(address: "D1:00:00:00:00:01/random", name: "GateLock"),
      .init(address: "D1:00:00:00:00:02/random", name: "GateLock"), .init(address: "D1:00:00:00:00:03/random", name: "Two Words"),
      .init(address: "D1:00:00:00:00:04/random", name: "\u{1B}[31mEvil"), .init(address: "D1:00:00:00:00:05/random", name: "B*"),
      .init(address: "5C:11:0A:93:77:20/random"),
    ]
    model.aliases = ["lock", "mine"]
    model.isConnected = connected
    if connected {
      model.deviceCommands = [
        .init(name: "battery", hint: ""),
        .init(name: "mode", hint: "", parameters: [("which", "", ["slow", "fast"]), ("days", "1 to 30", [])]),
      ]
    }
    guard connected else { return model }
    model.attributes = [
      .init(service: UUID(0x180F), uuid: UUID(0x2A19), handle: 0x12, properties: [.read, .notify]),
      .init(uuid: UUID(0x2A37), handle: 0x15, properties: .notify),
      .init(uuid: UUID(0xFF01), handle: 0x18, properties: .notify, description: "answers"),
      .init(uuid: UUID(0xFF02), handle: 0x1B, properties: [.writeWithoutResponse], description: "commands"),
      .init(uuid: UUID(0xFF02), handle: 0x1D, properties: [.write, .read]),
    ]
    return model
  }

  private static func complete(_ line: String, connected: Bool = true, model: CompletionModel? = nil) -> LineEditor.Completion? {
    let folders = ["": ["code.bin", "codes/", "two words.bin", ".hidden"], "codes/": ["a.bin"]]
    let model = model ?? Self.model(connected: connected)
    let commands = Blectl.commands.inSessions
    return Completer(
      model: model, shape: { name in commands.first { $0.commandName == name }.map { CommandShape(of: $0) } }, files: { folders[$0] ?? [] }
    ).complete(line)
  }

  /// Returns the completed line.
  private static func line(_ line: String, connected: Bool = true) -> String? {
    guard let completion = complete(line, connected: connected) else { return nil }
    return String(decoding: Array(line.utf8).dropLast(completion.replaced), as: UTF8.self) + completion.text
  }

  @Test(arguments: [
    ("re", "read "),
    ("call b", "call battery "), ("call mode w", "call mode which="), ("call mode which=f", "call mode which=fast "),
    ("call mode which=fast ", "call mode which=fast days="), ("call name:Band-7 mode d", "call name:Band-7 mode days="),
    ("peripheral adv", "peripheral advertise "), ("peripheral advertise of", "peripheral advertise off "),
    ("peripheral fault re", "peripheral fault refuse "), ("peripheral co", "peripheral codes/"),
    ("peripheral a.json ", "peripheral a.json on "),
    ("read 2a1", "read 2a19 "), ("read batt", "read battery_level "), ("read BATT", "read battery_level "),
    ("read 0x0012", "read 0x0012 "),
    // Completion by the firmware's name of the attribute.
    ("subscribe answ", "subscribe ff01 "), ("write comm", "write ff02[1] "),
    // Completion by service, if no other word has this prefix.
    ("read 180f", "read 180f/2a19 "), ("read 180F/2", "read 180f/2a19 "),
    // The second of two.
    ("read ff", "read ff02[2] "), ("write 0x001d", "write 0x001d "),
    // A command's options, and their values.
    ("write --read", "write --read-back "), ("write --as f32l", "write --as f32le "), ("write --as=f32l", "write --as=f32le "),
    ("write --phy 2", "write --phy 2m "), ("write --mode re", "write --mode re"),
    // The expected value follows it.
    ("write --expect hea", "write --expect heart_rate_measurement"), ("notify 2a37 --write comm", "notify 2a37 --write ff02[1]="),
    // Files.
    ("write ff02 @code.", "write ff02 @code.bin "), ("write ff02 @codes", "write ff02 @codes/"),
    ("write ff02 @codes/", "write ff02 @codes/a.bin "),
    ("write ff02 @t", "write ff02 '@two words.bin' "), ("read --trace .h", "read --trace .hidden "),
    // The last of several commands.
    ("read 2a19; re", "read 2a19; read "), ("read 2a19;wri", "read 2a19;write "),
    ("!cat code.", "!cat code.bin "), ("help no", "help notify "), ("set rec", "set reconnect "), ("set reconnect on", "set reconnect on "),
    ("source code.", "source code.bin "), ("connect c0", "connect C0:FF:EE:00:00:07/public "), ("use band", "use name:Band-7 "),
    ("set format u16l", "set format u16le "), ("set reconnect of", "set reconnect off "),
  ])
  func connected(_ typed: String, _ line: String) { #expect(Self.line(typed) == line) }

  @Test(arguments: [
    ("connect band", "connect name:Band-7 "), ("connect name:Ba", "connect name:Band-7 "),
    ("connect c0", "connect C0:FF:EE:00:00:07/public "),
    ("connect c0ffee", "connect C0:FF:EE:00:00:07/public "), ("connect c0-ff-", "connect C0:FF:EE:00:00:07/public "),
    ("connect @mi", "connect @mine "), ("connect @la", "connect @last "),
    ("connect two", "connect 'name:Two Words' "), ("connect 'name:two", "connect 'name:Two Words' "),
    ("connect \"two w", "connect 'name:Two Words' "), ("connect 5c", "connect 5C:11:0A:93:77:20/random "),
    // The address replaces an ambiguous name, a name that cannot be typed, and a pattern.
    ("connect gate", "connect gate"), ("connect \u{1B}[3", "connect D1:00:00:00:00:04/random "),
    ("connect b*", "connect D1:00:00:00:00:05/random "),
    ("read band", "read name:Band-7 "),
  ])
  func notConnected(_ typed: String, _ line: String) { #expect(Self.line(typed, connected: false) == line) }

  @Test func nothingWhereNothingIsKnown() {
    for line in ["xyz ", "read zzz", "write ff02 00", "write ff02 @zzz", "read --timeout ", "!ls -", "!l"] {
      #expect(Self.complete(line) == nil, "\(line)")
    }
    #expect(Self.complete("read ", connected: false)?.candidates.isEmpty == false)
  }

  /// Only possible actions are offered, each once and with a description.
  @Test func ambiguousOnesAreListed() throws {
    let readable = try #require(Self.complete("read "))
    #expect(
      readable.candidates == [
        Candidate("battery_level", hint: "180f/2a19, read notify"), Candidate("ff02[2]", hint: "0x001d, read write"),
      ])
    #expect(readable.text.isEmpty)
    let notifying = try #require(Self.complete("subscribe ")).candidates.map(\.text)
    #expect(notifying == ["battery_level", "heart_rate_measurement", "ff01"])
    #expect(try #require(Self.complete("write ")).candidates.map(\.text) == ["ff02[1]", "ff02[2]"])
    #expect(try #require(Self.complete("write --mode ")).candidates.map(\.text) == ["auto", "request", "command", "long", "reliable"])
    let gates = try #require(Self.complete("connect gate", connected: false)).candidates
    #expect(gates.map(\.text) == ["D1:00:00:00:00:01/random", "D1:00:00:00:00:02/random"] && gates[0].hint.contains("GateLock"))
    // Options with one value are not offered twice.
    let options = try #require(Self.complete("write --as hex --expect 2a19 --")).candidates.map(\.text)
    #expect(!options.contains("--as") && options.contains("--expect") && options.contains("--mode"))
  }

  /// Ten times the input takes about ten times the processor time, not a hundred times.
  @Test func aThousandDevicesAndFiveHundredAttributes() {
    func model(_ scale: Int) -> CompletionModel {
      var model = Self.model(connected: true)
      model.devices = (0..<100 * scale).map { .init(address: "D1:00:00:00:0\($0)/random", name: UntrustedText("Sensor \($0)")) }
      model.attributes = (0..<50 * scale).map {
        .init(uuid: UUID(UInt32(0xF000 + $0)), handle: .init(rawValue: UInt16($0 + 1)), properties: .read)
      }
      return model
    }
    func processorTime() -> Int {
      var time = timespec()
      unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    func time(_ model: CompletionModel) -> Int {
      (0..<5).map { _ in
        let start = processorTime()
        for line in ["read sens", "read f0", "connect d1"] { _ = Self.complete(line, model: model) }
        return processorTime() - start
      }
      .min() ?? 0
    }
    let (small, large) = (time(model(1)), time(model(10)))
    #expect(large < small * 40, "\(small), \(large)")
    #expect(Self.complete("connect sensor\\ 99", model: model(10))?.candidates.count == 11)
  }

  @Test(arguments: [
    ("read 2a19", ["read"], "2a19", 4), ("read ", ["read"], "", 0), ("", [], "", 0), ("a 'b c", ["a"], "b c", 4),
    ("a 'b c' ", ["a", "b c"], "", 0),
    ("a \"b\\\"c", ["a"], "b\"c", 5), ("a b\\ c", ["a"], "b c", 4), ("a; b", [], "b", 1), ("a ';' b", ["a", ";"], "b", 1),
    ("a größe", ["a"], "größe", 7),
    ("a \"b\\$c", ["a"], "b$c", 5), ("a b # c", ["a", "b"], "", 0), ("a ''", ["a"], "", 2), ("a '' ", ["a", ""], "", 0),
  ])
  func wordsOfALine(_ line: String, _ words: [String], _ last: String, _ length: Int) {
    let typed = TypedWords(line)
    #expect(typed.words == words && typed.last == last && typed.lastLength == length)
  }

  /// Any word is quoted so that it stays one word.
  @Test(arguments: ["a", "two words", "it's", "\"", "\\", ";", "größe", "!", "a'b c\"d\\e", "*"]) func quotedWordsAreThemselves(
    _ word: String
  ) {
    for text in [TypedWords.quoted(word), TypedWords.quoted(word, isWhole: false)] {
      #expect(TypedWords("read " + text).last == word, "\(text)")
      #expect(TypedWords("read " + TypedWords.quoted(word) + " ").words == ["read", word])
    }
  }
}

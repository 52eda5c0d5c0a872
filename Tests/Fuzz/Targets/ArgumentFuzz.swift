import BluetoothLE
import BluetoothLEText

@testable import CommandLine
@testable import Gatttool
@testable import Program
@testable import blectl

extension FuzzTarget {
  /// A command line, parsed as by the program, a session, a controlling program, gatttool and shell completion.
  /// No command runs.
  static let arguments = FuzzTarget(
    "arguments",
    seeds: [
      "scan -i sim --json --count 1 -d 2.5 --name 'Band*'", "write AA:BB:CC:DD:EE:FF/random ffe0/ffe1[2] -5 --as i8",
      "read @last 2a19 0x0012 ffe1@2901 --as u16le", "-e 'read 2a19; write ffe1 01; wait ffe2' name:Band-7",
      "send-file mac:AA:BB:CC:DD:EE:FF fff6 a --chunk 20",
      "call @lock unlock pin=1234 --device lock.json", "notify name:X ffe1 --count 3 --expect ffe1:01",
      "gatttool -b AA:BB:CC:DD:EE:FF -t random --char-read -a 0x3 -n 01",
      "mac-from-adv --data 0201060303e1ff --rule mfg:0x0157@18:be", "decode --as att 0a0300", "{\"id\":1,\"command\":\"read ffe1\"}",
      "set format u8; sleep 1",
      "help scan", "scan --help", "--version",
    ].map { Array($0.utf8) },
    words: Blectl.commands.names.map { $0 + " " } + ShellSettings.names + ValueFormat.names + options + [
      "\"id\":", "\"command\":", "-h ", "-V", "--", "=", "@", "'", "\"", ";", "-1", "1e309", "0x", "nan", "sim:", "replay:", "tcp:[::1]:1",
    ]
  ) { bytes in
    await VirtualTime.run { await take(String(decoding: bytes, as: UTF8.self)) }
  }

  private static let options = Blectl.commands.commandLine.flatMap { CommandDescription(of: $0).options.compactMap(\.longName) }.map {
    $0 + " "
  }

  @LoopActor private static let sessionCommands = SessionCommands(Blectl.commands)

  @LoopActor
  private static func take(_ text: String) async {
    _ = (try? CommandRequest(text, line: 1), try? AdapterSpec(text))
    _ = KernelVersion(release: text, version: text, signature: text)
    // The parser takes a hundred times longer than the rest, so only few inputs reach it, whatever the corpus.
    let hash = text.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 } >> 8
    let choice = hash % 32
    if choice == 31 { return await complete(text, ShellDialect.allCases[Int(hash / 32) % ShellDialect.allCases.count]) }
    for words in (try? ShellWords.commands(in: text)) ?? [] {
      switch choice {
      case 0: commandLine(words)
      case 1: _ = try? ShellLine(words, ShellSettings(), sessionCommands)
      default: _ = (try? GatttoolOptions(words), try? Gatttool.command(of: ["blectl"] + words, Blectl.commands))
      }
    }
  }

  private static func commandLine(_ words: [String]) {
    let arguments = Arguments.commandFirst(words, Blectl.commands)
    do {
      _ = try Blectl.commands.command(from: arguments)
    } catch {
      let usage = UsageText(error, arguments, Blectl.commands)
      expect(!usage.sentence.isEmpty && !usage.sentence.contains("\n"), "what is wrong is no sentence: \(usage.sentence)")
    }
  }

  /// Returns the completions at the end of the line, without running a command.
  @LoopActor
  private static func complete(_ text: String, _ shell: ShellDialect) async {
    let typed =
      shell == .bash
      ? ["blectl " + text, " \t\n\"'@><=;|&(:"] : text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard let question = shell.question(typed),
      let answer = CommandLineCompletion(Blectl.commands, [:], now: 0).answer(question.words, question.last)
    else { return }
    let told = shell.text(of: answer, to: question)
    expect(
      told.hasSuffix("\n") && !told.utf8.contains { $0 < 0x20 && $0 != 0x0A && $0 != 0x09 }, "candidates that a terminal obeys: \(told)")
  }
}

import TestSupport

@testable import Program
@testable import blectl

/// Completions from the state of earlier commands, in `CompletionStateTests.folder`.
@Suite(.timeLimit(.minutes(15))) struct CommandLineCompletionTests {
  /// Each position offers the right words. An underscore stands for a blank in a word.
  @Test func whatIsOfferedWhere() async throws {
    let state = try CompletionStateTests.folder()
    let peers = [
      "@last\tthe device connected last", "@words\talias", "name:it's $(touch PWNED)\tD1:00:00:00:00:01/random -50 dBm, 5 min ago",
      "D1:00:00:00:00:02/random\t$(touch PWNED)\\x0a -80 dBm, 5 min ago", "5C:11:0A:93:77:20/random\t-90 dBm, 5 min ago",
      "name:Two Words\tD1:00:00:00:00:09/random -30 dBm, 2 h ago",
    ]
    let table: [(words: String, offers: [String])] = [
      ("read ", peers), ("--json send-file ", peers), ("-e x ", peers), ("run --peer ", peers),
      ("read two", ["name:Two Words\tD1:00:00:00:00:09/random -30 dBm, 2 h ago"]),
      ("read d10000000009", ["D1:00:00:00:00:09/random\tTwo Words -30 dBm, 2 h ago"]),
      // Any name of the device works.
      ("read @words ", ["battery_level\t180f/2a19, read notify"]), ("read @last ", ["battery_level\t180f/2a19, read notify"]),
      ("read d1:00:00:00:00:09 ", ["battery_level\t180f/2a19, read notify"]),
      ("read mac:a4c138001122 ", ["battery_level\t180f/2a19, read notify"]),
      ("read name:Nobody ", []), ("read service:180f ", []), ("read rubbish ", []),
      ("write name:Two_Words ", ["ff02\t0x0016, write_cmd", "ff03\t0x0018, write"]),
      ("notify @words 0x0014 ", ["battery_level\t180f/2a19, read notify", "ff01\t0x0014, notify"]),
      ("send-file @words ", ["ff02\t0x0016, write_cmd"]),
      ("write @words ff02 00 --expect ff", ["ff01\t0x0014, notify"]),
      ("notify @words ff01 --write=ff02", ["--write=ff02=\t0x0016, write_cmd"]),
      ("send-file @words ff02 f --verify ", ["read-back\t", "notify:\t"]),
      ("tune @words ff02 --verify notify:f", ["notify:ff01\t0x0014, notify"]),
      ("scan --address d1:00:00:00:00:09", ["D1:00:00:00:00:09/random\tTwo Words -30 dBm, 2 h ago"]),
      ("gatttool -b d1:00:00:00:00:09", ["D1:00:00:00:00:09\tTwo Words -30 dBm, 2 h ago"]),
      // Another radio offers the devices heard there. A simulated air offers only its own devices.
      ("-i tcp:rig:7000 read name:", ["name:Elsewhere\tD1:00:00:00:00:0A/random -1 dBm, just now"]),
      ("-isim read name:b", ["name:Band-7\tC0:FF:EE:00:00:07/public -64 dBm"]),
      ("read -i sim name:b", ["name:Band-7\tC0:FF:EE:00:00:07/public -64 dBm"]),
      ("read -i sim name:Band-7 b", ["battery_level\t180f/2a19, read notify"]),
      ("-i sim call mac:A4:C1:38:00:11:22 ", ["open\topens the door"]),
      ("-i sim call name:Band-7 h", ["history\tthe steps of the last six days"]),
      ("-i si", ["sim\tsimulator", "sim:\tsimulator from a file"]), ("-i unix", ["unix:\tPATH"]), ("-i rubbish read x", []),
      ("-i sim:/nowhere read name:", []), ("read --as u16", ["u16le\t", "u16be\t"]), ("nothing ", []),
      ("help adap", ["adapters\tList the Bluetooth adapters of this machine"]),
    ]
    // The shell completes files.
    let files = [
      ("run ", "files 0 blectl"), ("call x --device ", "files 0 json jsonc"), ("send-file x ff02 ", "files 0"),
      ("sim ", "files 0 json jsonc"),
    ]
    try await onLoop {
      let completion = CommandLineCompletion(Blectl.commands, ["XDG_STATE_HOME": state], now: Int64(CompletionStateTests.now))
      @LoopActor func ask(_ words: String) -> [String] {
        let words = words.split(separator: " ", omittingEmptySubsequences: false).map { String($0.map { $0 == "_" ? " " : $0 }) }
        guard let question = ShellDialect.fish.question(words) else { return [] }
        let answer = completion.answer(question.words, question.last) ?? .init()
        return ShellDialect.fish.text(of: answer, to: question).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
          String.init)
      }
      for (words, offers) in table {
        let lines = ask(words)
        #expect(lines == [""] + offers, "\(words)")
      }
      for (words, how) in files {
        let lines = ask(words)
        #expect(lines == [how], "\(words)")
      }
    }
  }
}

import Foundation
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct TuneTests {
  private static let slow = "sim:\(ExampleTests.folder)/slow-panel.json"

  /// The report shows the losses, keeps the fastest setting without loss, and the next transfer uses it.
  @Test func findsWhatLosesNothing() throws {
    let state = ["XDG_STATE_HOME": TemporaryFolder.path()]
    let picture = TemporaryFolder.path()
    let result = try Blectl.run(
      [
        "tune", "name:SlowPanel", "fff6", "--verify", "notify:fff7", "--gap", "auto,4,8", "--window", "auto", "--chunk", "182", "--json",
        "--svg", picture,
      ],
      environment: state, adapter: Self.slow)
    #expect(result.status == 0, "\(result.errors)")
    let records = try result.records
    #expect(records.map { $0.string("mode") } == ["command", "command", "command", "request", "command"])
    let lost = records.compactMap { $0.int("lost") }
    #expect(lost[0] == 0 && lost[1] > 4000 && lost[2] == 0 && lost[3] == 0 && lost[4] == 0, "\(lost)")
    let rates = records.compactMap { $0.double("bytes_per_second") }
    #expect(records.last?.string("event") == "tuned" && rates[4] == max(rates[0], rates[2], rates[3]) && rates[3] < rates[2])
    let svg = try String(contentsOfFile: picture, encoding: .utf8)
    #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n") && svg.components(separatedBy: "<rect ").count > 6)
    let sent = try Blectl.run(
      ["send-file", "name:SlowPanel", "fff6", TemporaryFolder.file(SendFileTests.picture), "--verify", "notify:fff7", "--json"],
      environment: state, adapter: Self.slow)
    #expect(sent.status == 0, "\(sent.errors)")
  }

  @Test func theTableFitsATerminal() throws {
    let result = try Blectl.run(
      ["tune", "name:Panel", "fff6", "--verify", "notify:fff7", "--gap", "0,8", "--window", "auto,4", "--size", "2000"])
    #expect(result.status == 0 && result.lines.count == 1 + 8 + 2 + 1, "\(result.text)\(result.errors)")
    #expect(result.lines.allSatisfy { $0.count <= 80 } && result.text.contains("fastest without loss: command"), "\(result.text)")
    let line = "To send a file like this: blectl send-file name:Panel fff6 FILE --mode command --chunk 244 --verify notify:fff7\n"
    #expect(result.errors.contains(line), "\(result.errors)")
  }

  @Test func ctrlCShowsWhatWasMeasured() throws {
    let running = try Blectl.start(
      ["tune", "name:Panel", "fff6", "--verify", "notify:fff7", "--size", "2000", "--gap", "0,8", "--mode", "command", "-v"], virtual: false
    )
    #expect(running.waitForOutput(containing: "2 of "))
    let result = running.end(by: SIGINT)
    #expect(result.status == 130 && result.lines.count > 1 && result.errors.contains("Measured "), "\(result.text)\(result.errors)")
  }

  @Test(arguments: [
    (["--verify", "read-back"], 64), ([], 64), (["--verify", "notify:fff8"], 64), (["--verify", "notify:fff7", "--gap", "x"], 64),
    (["--verify", "notify:fff7", "--window", "0"], 64), (["--verify", "notify:fff7", "--chunk", "600"], 64),
    (["--verify", "notify:fff7", "--chunk", "1,"], 64), (["--verify", "notify:fff7", "--mode", "long"], 64),
    (["--verify", "notify:fff7", "--size", "1"], 64), (["--verify", "notify:fff7", "--chunk", "300"], 64),
    (["--verify", "notify:fff5"], 2), (["--verify", "notify:fff7", "--svg", "/nonexistent/x"], 74),
  ])
  func refuses(_ options: [String], _ status: Int) throws {
    let result = try Blectl.run(["tune", "name:Panel", "fff6"] + options)
    #expect(result.status == Int32(status) && result.output.isEmpty, "\(result.status) \(result.errors)")
  }
}

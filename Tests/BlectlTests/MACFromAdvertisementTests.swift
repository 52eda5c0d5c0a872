import Glibc
import TestSupport
import Testing

/// How long `mac-from-adv` listens, and when it ends.
@Suite(.timeLimit(.minutes(3))) struct MACFromAdvertisementTests {
  @Test func theFirstMACOfAnyoneEndsIt() throws {
    let result = try Blectl.run("mac-from-adv", "--first", "--json", "--duration", "0")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.records.count == 1)
  }

  @Test func theFirstMACOfAnyoneEndsItOnAPipeToo() throws {
    let result = try Shell.run(
      "export BLECTL_CLOCK=virtual; \(Blectl.path) -i sim scan --json | \(Blectl.path) mac-from-adv --first; echo $?")
    #expect(result.output.split(separator: "\n").count == 2 && result.output.hasSuffix("\n0\n"), "\(result.output)")
  }

  /// The search is part of the duration: nobody is looked for longer.
  @Test func theDurationIncludesTheSearch() throws {
    let result = try Blectl.run("mac-from-adv", "name:nobody", "--duration", "2", "--timeout", "60")
    #expect(result.status == 2)
    #expect(result.errors.contains("heard in 2 s"), "\(result.errors)")
    #expect(try Blectl.run("mac-from-adv", "name:nobody", "--duration", "30").errors.contains("heard in 30 s"))
    // Shorter than what the search waits for a stronger match: what it heard counts.
    #expect(try Blectl.run("mac-from-adv", "name:band-7", "--duration", "1").lines.first?.hasPrefix("C0:FF:EE:00:00:07 ") == true)
  }

  @Test func durationZeroIsUntilControlC() throws {
    let running = try Blectl.start(["mac-from-adv", "--duration", "0", "--json"], virtual: false, hasInput: false)
    #expect(running.waitForOutput(containing: "C0:FF:EE:00:00:07"))
    running.signal(SIGINT)
    #expect(running.wait().status == 130)
  }

  @Test(arguments: ["", "mfg:0x0305", "svc:fe9@0:le", "name@4", "\u{1B}[2J@0:le"]) func aWrongRuleIsShownARightOne(_ rule: String) throws {
    let result = try Blectl.run("mac-from-adv", "--rule", rule, "--hex", "020106")
    #expect(result.status == 64)
    #expect(result.errors.contains("mfg:0x0305@-6:le") && !result.errors.contains("\u{1B}"), "\(result.errors)")
  }

  @Test func anyServiceInARule() throws {
    let result = try Blectl.run("mac-from-adv", "--rule", "svc:*@0:be", "--hex", "09160f18010203040506")
    #expect(result.lines.first?.hasPrefix("01:02:03:04:05:06 ") == true, "\(result.errors)")
  }
}

import Foundation
import Glibc
import TestSupport

/// Standard output without a reader affects nothing but the output.
@Suite(.timeLimit(.minutes(15))) struct StuckReaderTests {
  @Test func theFirstControlCTidiesUpAndEnds() throws {
    let controller = try H4Controller()
    let running = try Blectl.start(
      ["scan", "--duration", "0", "--duplicates", "--json"], adapter: controller.adapter, virtual: false, reading: .errorsOnly)
    #expect(controller.command(0x200C)?.first == 1)
    // Ten times as much as the output queue holds.
    #expect(controller.flood(50_000), "the host takes no reports any more")
    running.signal(SIGINT)
    #expect(controller.command(0x200C)?.first == 0, "the scan was not switched off")
    let result = running.wait()
    #expect(result.status == 130 && !result.wasKilled)
    #expect(result.errors.firstMatch(of: /"note":"Dropped \d+ records? so far/) != nil, "\(result.errors)")
    #expect(result.error?.string("kind") == "interrupted")
  }

  /// The session also ends while its answers wait.
  @Test func theFirstControlCEndsASession() throws {
    let controller = try H4Controller()
    let running = try Blectl.start(["repl", "--json"], adapter: controller.adapter, virtual: false, reading: .errorsOnly)
    running.send(line: "scan --duration 0 --duplicates")
    #expect(controller.command(0x200C)?.first == 1)
    for _ in 0..<100 { running.send(line: "help") }
    #expect(controller.flood(50_000), "the host takes no reports any more")
    running.signal(SIGINT)
    #expect(controller.command(0x200C)?.first == 0, "the scan was not switched off")
    let result = running.wait()
    #expect(result.status == 130 && !result.wasKilled, "\(result.status) \(result.errors)")
  }

  /// The same from outside, with the first Ctrl-C as a shell sends it.
  @Test(arguments: [
    (["notify", "name:Band-7", "2a37", "-v"], "Subscribed"), (["send-file", "name:Panel", "fff6", "FILE", "-vv"], "Write Command"),
  ])
  func theFirstControlCEndsWhatIsOnALink(_ arguments: [String], _ sign: String) throws {
    let file = try TemporaryFolder.file(SendFileTests.picture)
    let running = try Blectl.start(arguments.map { $0 == "FILE" ? file : $0 }, virtual: false, reading: .errorsOnly)
    #expect(running.waitForOutput(containing: sign))
    let result = running.end(by: SIGINT)
    #expect(result.status == 130 && !result.wasKilled, "\(result.errors)")
  }

  @Test func thePeerIsAnsweredAndTheLinkIsClosed() throws {
    let controller = try H4Controller()
    let running = try Blectl.start(
      ["connect", "C0:FF:EE:00:00:07/public", "-"], adapter: controller.adapter, virtual: false, reading: .errorsOnly)
    #expect(controller.att([0x02]) != nil, "no Exchange MTU Request")
    for _ in 0..<5 {
      // Read By Group Type: a device that has no services says so.
      controller.send(att: [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28])
      #expect(controller.att([0x01, 0x10]) != nil)
    }
    #expect(running.isRunning)
    running.signal(SIGINT)
    #expect(controller.command(0x0406)?.prefix(2) == H4Controller.handle[...], "the link was not closed")
    #expect(running.wait().status == 130)
  }

  @Test func anHourTakesNoMemoryAndIsToldOf() throws {
    let running = try Blectl.start(["scan", "--duplicates", "--duration", "3600", "--json"], reading: .errorsOnly)
    // Reported at the end.
    #expect(running.waitForOutput(containing: "Dropped "))
    let peak = try #require(running.peakMemory)
    #expect(peak < 80_000, "kB")
    #expect(running.isRunning, "what was accepted is still to be read")
    running.startReading()
    let result = running.wait()
    #expect(result.status == 0, "\(result.errors)")
    let records = try result.records
    #expect(records.count > 1000)
    #expect(records.allSatisfy { $0.string("event") == "advertisement" })
  }

  /// If the work is done and only the reader is missing, blectl says so.
  @Test func whatItWaitsForIsSaid() throws {
    let running = try Blectl.start(["scan", "--duration", "3"], reading: .errorsOnly)
    #expect(running.waitForOutput(containing: "Waiting for the reader of standard output to take "))
    running.startReading()
    let result = running.wait()
    #expect(result.status == 0 && result.lines.contains { $0.hasPrefix("C0:FF:EE:00:00:07/public ") })
  }

  /// A steady reader loses nothing, although virtual time runs a thousand times faster.
  @Test func virtualTimeWaitsForAReader() throws {
    let shell = try Shell.run(
      "export BLECTL_CLOCK=virtual; \(Blectl.path) -i sim scan --duplicates --duration 600 --json | tail -n 1; echo ${PIPESTATUS[0]}")
    #expect(shell.output.hasSuffix("\n0\n"))
    #expect(shell.output.contains(":09:5"), "the last report of ten minutes is there: \(shell.output)")
    // On a slow machine, blectl may report that it waits for the reader.
    #expect(!shell.errors.contains("Dropped"), "\(shell.errors)")
  }

  /// A file accepts everything immediately, so no backlog forms: reports are not read faster than they are handled.
  @Test func aFloodOfReportsLosesNoneWhenNothingMakesUsWait() throws {
    let controller = try H4Controller()
    Thread.detachNewThread {
      if controller.command(0x200C)?.first == 1 { _ = controller.flood(20_000) }
      controller.hangUp()
    }
    let file = TemporaryFolder.path()
    defer { unsafe unlink(file) }
    let shell = try Shell.run(
      "\(Blectl.path) -i \(controller.adapter) scan --duplicates --duration 0 --json >\(file); echo $?; wc -l <\(file)")
    #expect(shell.output == "3\n20000\n")
    #expect(!shell.errors.contains("Dropped"), "\(shell.errors)")
  }

  @Test func aSlowErrorOutputHoldsNothingUp() throws {
    let running = try Blectl.start(["read", "name:Band-7", "2a19", "-vv"], reading: .outputOnly)
    #expect(running.nextLine { !$0.isEmpty } != nil)
    #expect(running.end(by: SIGINT).status == 130)
  }
}

import Foundation
import TestSupport

/// Devices of Bumble's GATT server, cloned and served again on our own host. Bumble's client judges whether they are the same.
@Suite(.timeLimit(.minutes(15))) struct ClonedDevicesTests {
  /// The devices of clone_databases.py, and how many of their values are others at each read.
  static let devices = [
    ("Belt", 1), ("Keyboard", 0), ("Serial", 0), ("Phone", 0), ("HearingAid", 0), ("Automation", 1), ("Clock", 2), ("Glucose", 0),
    ("Gaps", 0),
    ("Values", 0),
  ]
  private static let (device, clone) = ("F0:F1:F2:F3:F4:F5", "00:1B:DC:00:00:01")

  /// Tree, handles, values, errors and advertisements are equal, and a clone of the clone is the same file.
  @Test func bumbleSeesTheSameDevices() throws {
    let judge = try BumbleClient("air:legacy", script: "clone_judge.py")
    let adapters = judge.ports.map { "tcp:127.0.0.1:\($0)" }
    func start(_ words: [String], on number: Int) throws -> RunningProcess {
      try Blectl.start(
        words + ["--json"], environment: ["XDG_STATE_HOME": TemporaryFolder.path()], adapter: adapters[number], virtual: false,
        hasInput: false)
    }
    for (name, changing) in Self.devices {
      let facts = try judge.ask("serve \(name)")
      #expect(facts.int("changing") == changing, "\(name)")
      let options = facts.bool("pairs") == true ? ["--pair"] : []
      let first = try start(["clone", Self.device] + options, on: 0).wait()
      try judge.ask("away")
      let served = try start(["peripheral", try TemporaryFolder.file(first.text), "--interval", "20"], on: 0)
      #expect(served.waitForOutput(containing: "advertising"), "\(name): \(first.errors)\(served.wait().errors)")
      // The device has two centrals.
      let again = try start(["clone", Self.clone] + options, on: 1)
      let verdict = try judge.ask("judge \(Self.clone)/P")
      #expect(verdict.strings("differences") == [], "\(name)")
      #expect(verdict.int("facts") == facts.int("facts") && facts.int("facts") ?? 0 >= 20)
      let second = again.wait()
      #expect(first.status == 0 && second.status == 0, "\(name): \(first.errors)\(second.errors)")
      #expect(Self.file(second, of: "\(Self.clone)/public") == Self.file(first, of: "\(Self.device)/random"), "\(name)")
      if name == "Automation" {
        // The user descriptions are names.
        let value = try start(["read", Self.clone, "channel 3"], on: 1).wait()
        #expect(try value.records.first?.string("value") == "0080", "\(value.errors)")
      }
      #expect(served.end(by: SIGINT).status == 130)
    }
    judge.end()
  }

  /// The text of a file without its comments, which say what changed while it was made.
  private static func file(_ result: ProcessResult, of address: String) -> String {
    result.text.replacing(/, "comment": "[^"]*"/, with: "").replacing(address, with: "ADDRESS")
  }
}

import Foundation
import TestSupport

/// Known results come before the error, for every command with several results. The device closes the link at each request in turn.
@Suite(.timeLimit(.minutes(15))) struct PartialResultTests {
  /// Counts requests, and closes the link instead of answering one of them.
  private final class Counter: @unchecked Sendable {
    private(set) var requests: [[UInt8]] = []
    private let last: Int

    init(_ last: Int) { self.last = last }

    func answer(_ pdu: [UInt8]) -> [H4Controller.Answer]? {
      requests.append(pdu)
      return requests.count == last ? [.disconnect] : nil
    }
  }

  struct Command: Sendable, CustomTestStringConvertible {
    let words: [String]
    /// The requests that each give a separate result.
    let reads: [[UInt8]]
    var testDescription: String { words.joined(separator: " ") }
  }

  private static let commands = [
    Command(words: ["services", "ADDRESS", "--values"], reads: [[0x0A, 0x12, 0], [0x0A, 0x15, 0], [0x0A, 0x18, 0]]),
    Command(words: ["read", "ADDRESS", "0x12", "0x15", "0x18"], reads: [[0x0A, 0x12, 0], [0x0A, 0x15, 0], [0x0A, 0x18, 0]]),
    Command(words: ["-e", "read 0x12; read 0x15; read 0x18", "ADDRESS"], reads: [[0x0A, 0x12, 0], [0x0A, 0x15, 0], [0x0A, 0x18, 0]]),
  ]

  @Test(arguments: commands) func everyStep(_ command: Command) throws {
    var step = 1
    var hasFailedInReads = 0
    while step < 40 {
      let counter = Counter(step)
      let controller = try ScriptedDevice { counter.answer($0) }.controller()
      // A device that closes the link before its first answer is connected again.
      let words = ["--json"] + command.words.map { $0 == "ADDRESS" ? ScriptedDevice.address : $0 } + ["--retries", "0"]
      let result = try Blectl.run(words, adapter: controller.adapter, virtual: false)
      guard counter.requests.count >= step else {
        #expect(result.status == 0, "\(result.errors)")
        break
      }
      let place: Comment = "\(command.testDescription), step \(step): \(result.errors)\(result.text)"
      #expect(result.status == 6, place)
      // All earlier requests were answered.
      let known = command.reads.filter { counter.requests.dropLast().contains($0) }.count
      let failed = command.reads.firstIndex { $0 == counter.requests.last }
      let values = result.text.components(separatedBy: "\"value\":\"").count - 1
      #expect(values == known, place)
      if let failed {
        hasFailedInReads += 1
        if command.words[0] == "services" {
          #expect(try result.records.count == 2 && result.text.contains(#""value":null,"error":{"kind":"link_lost""#), place)
          let handle = String(format: "0x%04x", command.reads[failed][1])
          #expect(result.error?.string("message")?.contains("handle \(handle)") == true, place)
        }
      }
      step += 1
    }
    #expect(hasFailedInReads == command.reads.count)
  }

  /// People see the tree with the reason in place of the value, then the error.
  @Test func theTreeStaysReadable() throws {
    let controller = try ScriptedDevice { $0.starts(with: [0x0A, 0x15, 0]) ? [.disconnect] : nil }.controller()
    let result = try Blectl.run(["services", ScriptedDevice.address, "--values"], adapter: controller.adapter, virtual: false)
    #expect(result.status == 6 && result.text.contains("= 01"), "\(result.text)")
    #expect(result.text.contains("2902 Client Characteristic Configuration  0x0015  (") && result.text.contains("2a19"), "\(result.text)")
    #expect(result.errors.hasPrefix("blectl: Cannot read fff2@2902 (handle 0x0015): "), "\(result.errors)")
  }

  /// If the link stays up, the other values are still read.
  @Test func nonsenseHidesNothing() throws {
    let controller = try ScriptedDevice { $0.starts(with: [0x0A, 0x12, 0]) ? [.pdu([0x01, 0x0A])] : nil }.controller()
    let result = try Blectl.run(["services", ScriptedDevice.address, "--values", "--json"], adapter: controller.adapter, virtual: false)
    #expect(result.status == 5 && result.text.contains(#""value":"3c""#), "\(result.text)\(result.errors)")
    #expect(result.error?.string("message")?.contains("fff1 (handle 0x0012)") == true, "\(result.errors)")
  }

  /// The values that arrived in one piece with the end of the link are shown.
  @Test(arguments: 0..<4) func notify(_ count: Int) throws {
    let controller = try ScriptedDevice { pdu in
      guard pdu.starts(with: [0x12, 0x15, 0, 1]) else { return nil }
      return [.pdu([0x13])] + (0..<count).map { .pdu([0x1B, 0x14, 0, UInt8($0)]) } + [.disconnect]
    }.controller()
    let result = try Blectl.run(
      ["notify", ScriptedDevice.address, "fff2", "-n", "9", "--json"], adapter: controller.adapter, virtual: false)
    #expect(try result.status == 6 && result.records.compactMap { $0.string("value") } == (0..<count).map { "0\($0)" }, "\(result.errors)")
  }

  /// A scan that loses its adapter shows its results.
  @Test func scan() throws {
    let controller = try H4Controller()
    let running = try Blectl.start(["scan", "--duration", "0", "--json"], adapter: controller.adapter, virtual: false)
    #expect(controller.command(0x200C)?.first == 1)
    #expect(controller.flood(250))
    controller.hangUp()
    let result = running.wait()
    #expect(result.status == 3 && result.lines.count == 250, "\(result.status) \(result.lines.count) \(result.errors)")
  }

  @Test func tune() throws {
    let air = try TemporaryFolder.file(
      #"""
      {"name": "Sink", "address": "D1:00:00:00:00:12/random", "mtu": 23, "variables": {"n": 0}, "services": [{"uuid": "fff0", "characteristics": [
        {"uuid": "fff6", "properties": ["write"], "sink": {"report": "fff7"},
          "reactions": [{"if": {"variable": "n", "is": 60}, "then": [{"disconnect": "out_of_range"}]}, {"then": [{"count": "n"}]}]},
        {"uuid": "fff7", "properties": ["read", "notify"]}]}]}
      """#)
    let command = ["tune", "D1:00:00:00:00:12/random", "fff6", "--verify", "notify:fff7", "--mode", "request", "--chunk", "20,10"]
    let result = try Blectl.run(command + ["--size", "1000"], adapter: "sim:\(air)")
    #expect(result.status == 6 && result.lines.count == 2, "\(result.text)\(result.errors)")
  }
}

import Foundation
import TestSupport

/// `read A B C` shows the values, reports refusals, and exits with the status of the first failure.
@Suite(.timeLimit(.minutes(15))) struct ReadSeveralTests {
  private let file = TemporaryPath()
  private var adapter: String { "sim:\(file.path)" }
  private static let meter = "name:meter"

  init() throws { try file.write(Array(DescriptorTests.meter.utf8)) }

  private func blectl(_ arguments: String..., input: String? = nil) throws -> Blectl.Result {
    try Blectl.run(arguments, input: input.map { Array($0.utf8) }, adapter: adapter)
  }

  @Test func theOthersAreRead() throws {
    let result = try blectl("read", Self.meter, "2a19", "fff3", "ffff", "fff4", "--as", "hex")
    #expect(result.status == 5 && result.text == "2a19\t3c\nfff4\t010203\n", "\(result.text)")
    let errors = result.errors.split(separator: "\n")
    #expect(errors.count == 2 && errors[0].contains("fff3") && errors[1].contains("ffff"), "\(result.errors)")
    #expect(try blectl("read", Self.meter, "ffff", "fff3", "2a19").status == 2)
    let last = try blectl("read", Self.meter, "2a19", "fff3")
    #expect(last.status == 5 && last.text == "2a19\t3c  60 %\n" && last.errors.split(separator: "\n").count == 1, "\(last.errors)")
  }

  @Test func recordsAndErrors() throws {
    let result = try blectl("read", Self.meter, "fff3", "2a19", "ffff", "--json")
    #expect(try result.status == 5 && result.records.map { $0.string("uuid") } == ["2a19"])
    let errors = try result.errors.split(separator: "\n").map { try Record(String($0))["error"]?.string("kind") }
    #expect(errors == ["att", "not_found"], "\(result.errors)")
  }

  /// An unsuitable format is not a refusal of the device, and ends the command.
  @Test func aFormatThatDoesNotFit() throws {
    let result = try blectl("read", Self.meter, "fff3", "fff4", "fff1", "--as", "i16le")
    #expect(result.status == 5 && result.output.isEmpty, "\(result.text)")
    #expect(result.errors.split(separator: "\n").last?.contains("The value has 3 bytes (") == true, "\(result.errors)")
    #expect(try blectl("read", Self.meter, "fff1", "fff4", "fff1", "--as", "i16le").text == "fff1\t-253\n")
  }

  @Test func withoutALinkNothingElseIsRead() throws {
    try file.write(
      Array(
        """
        {"name": "Meter", "address": "D1:00:00:00:00:33/random", "advertisement": {"name": "Meter"},
         "services": [{"uuid": "fff0", "characteristics": [
           {"uuid": "fff1", "properties": ["read"], "permissions": [], "value": "01"},
           {"uuid": "fff2", "properties": ["read"], "value": "02", "read_reactions": [{"answer": false, "then": [{"disconnect": true}]}]},
           {"uuid": "fff3", "properties": ["read"], "value": "03"}]}]}
        """.utf8))
    let first = try blectl("read", Self.meter, "fff2", "fff3")
    // The device has not answered anything, so it is connected again.
    #expect(first.status == 6 && first.output.isEmpty, "\(first.text)\(first.errors)")
    #expect(first.errors.split(separator: "\n").map { $0.contains("Trying again.") } == [true, false], "\(first.errors)")
    let second = try blectl("read", Self.meter, "fff1", "fff2", "fff3")
    #expect(second.status == 5 && second.output.isEmpty, "\(second.text)")
    #expect(second.errors.split(separator: "\n").count == 2, "\(second.errors)")
  }

  // MARK: Sessions and scripts

  @Test func inASession() throws {
    let list = try blectl("-e", "read fff3 2a19; read fff4", Self.meter)
    #expect(list.status == 5 && list.text == "2a19\t3c  60 %\n", "\(list.text)")
    #expect(list.errors.split(separator: "\n").count == 1, "\(list.errors)")
    let all = try blectl("-e", "read fff3 2a19; read fff4 --as hex", Self.meter, "-k")
    #expect(all.status == 5 && all.lines.last == "010203" && all.errors.split(separator: "\n").count == 1, "\(all.text)\(all.errors)")
    let piped = try blectl("repl", input: "connect name:meter\nread fff3 2a19\nread 2a19\n")
    #expect(piped.status == 5 && piped.text.hasSuffix("2a19\t3c  60 %\n3c  60 %\n"), "\(piped.text)")
    #expect(piped.errors.ranges(of: "fff3").count == 1, "\(piped.errors)")
  }

  /// A program gets the first failure in the answer, and the others as errors.
  @Test func inASessionForPrograms() throws {
    let result = try blectl("repl", "--json", input: "connect name:meter\nread fff3 2a19 ffff\n")
    let records = try result.records
    #expect(records.map { $0.string("event") } == ["connected", "done", "value", "done"], "\(result.text)")
    #expect(records.last?.int("status") == 5 && records.last?["error"]?.string("name") == "insufficient_encryption")
    #expect(try result.errors.split(separator: "\n").map { try Record(String($0))["error"]?.string("kind") } == ["not_found"])
  }

  @Test func aScriptSeesTheFirstFailure() throws {
    let script = try TemporaryFolder.file(
      """
      device name:meter
      test "refused"
        read fff3 2a19 ffff
        fails insufficient_encryption
      end
      test "wrong"
        read 2a19 fff3
      end
      """)
    let result = try Blectl.run(["run", script, "--tap"], adapter: adapter)
    #expect(result.status == 7 && result.text.contains("ok 1 - refused") && result.text.contains("not ok 2 - wrong"), "\(result.text)")
    #expect(result.text.contains("insufficient_encryption") && result.text.contains("ffff"), "\(result.text)")
  }

  @Test func isRecordedInItsOrder() throws {
    let script = TemporaryPath()
    let done = try blectl("--record", script.path, "read", Self.meter, "2a19", "fff3", "fff4", "--as", "hex")
    #expect(done.status == 5)
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: script.path)), as: UTF8.self)
    let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.hasPrefix("#") }
    #expect(
      lines.dropFirst(2).dropLast() == [
        "read 2a19 --as hex", "expect == 3c", "read fff3 --as hex", "fails insufficient_encryption", "read fff4 --as hex",
        "expect == 010203",
      ], "\(text)")
    #expect(try Blectl.run(["run", script.path], adapter: adapter).status == 0)
  }
}

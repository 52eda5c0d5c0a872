import TestSupport

/// What the refusals of a device mean for the next step.
@Suite(.timeLimit(.minutes(15))) struct RefusedRequestTests {
  private static let device = #"""
    [{"name": "Moody", "address": "D1:00:00:00:00:77/random", "advertisement": {"flags": 6}, "scan_response": {"name": "Moody"},
      "variables": {"n": 0},
      "services": [{"uuid": "ff00", "characteristics": [
        {"uuid": "ff01", "properties": ["read", "write"], "value": "00", "reactions": [
          {"if": {"variable": "n", "is": 0}, "error": "0x12", "then": [{"let": "n", "value": 1}]}]},
        {"uuid": "ff02", "properties": ["read", "write_without_response"], "value": "00", "read_reactions": [{"error": "0x0f"}]}]}]}]
    """#

  private func session(_ lines: String...) throws -> Blectl.Result {
    try Blectl.run(
      ["repl"], input: Array((["connect Moody"] + lines).joined(separator: "\n").utf8),
      adapter: "sim:\(try TemporaryFolder.file(Self.device))")
  }

  /// The first write gets Database Out Of Sync.
  @Test func aWriteByUUIDIsRepeated() throws {
    let named = try session("write ff01 05", "read ff01")
    #expect(named.status == 0 && named.text.contains("05"), "\(named.text)\(named.errors)")
    #expect(named.errors.contains("The services of the device changed. blectl will discover them again."), "\(named.errors)")
    let handle = try #require(
      try Blectl.run(["services", "Moody", "--json"], adapter: "sim:\(try TemporaryFolder.file(Self.device))").records.last)
    let value = try #require(handle.records("characteristics").first?.int("value_handle"))
    let typed = try session("write 0x00\(String(value, radix: 16).count == 1 ? "0" : "")\(String(value, radix: 16)) 05", "read ff01")
    #expect(typed.status == 5 && typed.errors.contains("(ATT 0x12). Try again. Name the attribute by UUID"), "\(typed.errors)")
  }

  @Test func aCommandMayBeDropped() throws {
    let after = try session("read ff02", "write ff02 01")
    #expect(
      after.errors.contains("refused a read on this connection (ATT 0x0f). The device may drop these commands silently. Try --pair."),
      "\(after.errors)")
    #expect(try !session("write ff02 01").errors.contains("refused a read"))
  }
}

import BluetoothLESimulator
import TestSupport

/// Every accepted entry of a peripheral file has an effect.
@Suite(.timeLimit(.minutes(15))) struct PeripheralAccessTests {
  private static func peripheral(_ inside: String) throws -> PeripheralDescription {
    try PeripheralFile.parse(
      Array(#"{"name": "T", "address": "D1:00:00:00:00:09/random", \#(inside)}"#.utf8), name: "x.json")[0]
  }

  private static func service(_ characteristics: String) -> String {
    #""services": [{"uuid": "aa00", "characteristics": [\#(characteristics)]}]"#
  }

  /// Permissions decide how a 2902 may be written. Many scripts subscribe with a Write Command.
  @Test(
    .onLoop,
    arguments: [
      ("", true, false), (#", "permissions": ["read", "write", "write_without_response"]"#, true, true),
      (#", "permissions": ["write_without_response"]"#, false, true), (#", "permissions": ["read"]"#, false, false),
      (#", "permissions": ["read", "write_encrypted"]"#, false, false),
    ]) @LoopActor func permissionsOfAConfiguration(_ permissions: String, _ byRequest: Bool, _ byCommand: Bool) async throws
  {
    let description = try Self.peripheral(
      Self.service(
        #"{"uuid": "aa01", "properties": ["notify"], "periodic": {"every_ms": 200, "values": ["01"]}, "#
          + #""descriptors": [{"uuid": "2902"\#(permissions)}]}"#))
    for (opcode, isTaken) in [("12", byRequest), ("52", byCommand)] {
      let client = PeripheralTestClient(VirtualPeripheral(description))
      client.write(opcode + description.configuration("aa01") + "0100")
      _ = client.take()
      try await EventLoop.shared.sleep(for: .milliseconds(300))
      #expect(client.take() == (isTaken ? ["1b" + description.hex("aa01") + "01"] : []), "\(opcode)")
      client.drop()
    }
  }

  /// A device may notify without a subscription, with a 2902 or without one.
  @Test(.onLoop, arguments: [("", false), (#", "descriptors": [{"uuid": "2902"}]"#, true)])
  @LoopActor func valuesThatNobodyAskedFor(_ descriptors: String, _ hasConfiguration: Bool) async throws {
    let description = try Self.peripheral(
      Self.service(
        #"{"uuid": "1524", "properties": ["write_without_response"], "#
          + #""reactions": [{"when": "50", "then": [{"notify": "1525", "value": "5010"}, {"indicate": "1526", "value": "07"}]}]}, "#
          + #"{"uuid": "1525", "properties": ["notify"], "unasked": true\#(descriptors)}, {"uuid": "1526", "properties": ["indicate"], "unasked": true}, "#
          + #"{"uuid": "1527", "properties": ["notify"], "unasked": true, "periodic": {"every_ms": 1000, "values": ["09"]}}"#))
    #expect(description.database.attributes.contains { $0.handle > 9 && $0.type == UUID(0x2902) } == hasConfiguration)
    let client = PeripheralTestClient(VirtualPeripheral(description))
    client.write("52" + description.hex("1524") + "50")
    #expect(client.take() == ["1b" + description.hex("1525") + "5010", "1d" + description.hex("1526") + "07"])
    try await EventLoop.shared.sleep(for: .milliseconds(1100))
    #expect(client.take() == ["1b" + description.hex("1527") + "09"])
    client.drop()
  }

  /// The first handle of a file may leave no room for the services 1800 and 1801.
  @Test(arguments: [(1, "aa00"), (5, "1801 aa00"), (6, "1800 aa00"), (9, "1800 aa00"), (10, "1800 1801 aa00")])
  func aFirstHandleThatLeavesNoRoom(_ handle: Int, _ services: String) throws {
    let one = try Self.peripheral(#""services": [{"uuid": "aa00", "handle": \#(handle)}]"#)
    let found = one.database.attributes.filter { $0.type == UUID(0x2800) }.map { UUID(littleEndian: $0.value)?.description }
    #expect(found == services.split(separator: " ").map(String.init))
    #expect(one.database.attributes.last?.handle.number == handle)
  }

  @Test func aDeviceWithout1801() throws {
    let one = try Self.peripheral(
      #""services": [{"uuid": "1800", "handle": 1, "characteristics": [{"uuid": "2a00", "handle": 2, "properties": ["read"], "value": "58"}]}]"#
    )
    #expect(one.database.attributes.map(\.handle.number) == [1, 2, 3])
  }

  /// Entries without an effect are refused.
  @Test(arguments: [
    (
      service(#"{"uuid": "aa01", "properties": ["read"], "handle": 3}"#),
      "Handle 0x0003 is taken or out of order: the last one is 0x000a. The simulator added service 1800 and service 1801 at the start"
    ),
    (
      #""services": [{"uuid": "1800", "characteristics": [{"uuid": "2a00", "properties": ["read"], "handle": 2}]}]"#,
      "The simulator added service 1801 at the start: the file does not describe it"
    ),
    (#""appearance": 64, "services": [{"uuid": "1800"}]"#, "appearance: No effect: the file describes service 1800"),
    (
      #""appearance": 64, "services": [{"uuid": "1800", "characteristics": [{"uuid": "2a01", "properties": ["read"], "value": "4100"}]}]"#,
      "appearance: No effect: the file describes service 1800"
    ),
    (
      service(#"{"uuid": "aa01", "properties": ["notify"], "descriptors": [{"uuid": "2902", "value": "0100"}]}"#),
      "descriptors[0].value: Not allowed for 2902: each client has its own"
    ),
    (
      service(#"{"uuid": "aa01", "properties": ["notify"], "descriptors": [{"uuid": "2902", "max_length": 2}]}"#),
      "descriptors[0].max_length: Not allowed for 2902: each client has its own"
    ),
    (
      service(#"{"uuid": "aa01", "properties": ["notify"], "unasked": true, "on_subscribe": [{"disconnect": true}]}"#),
      "on_subscribe: Clients cannot subscribe: with \"unasked\", there is no descriptor 2902"
    ),
    (
      service(#"{"uuid": "aa01", "properties": ["read"], "unasked": true}"#),
      "unasked: Clients cannot subscribe: the characteristic has no notify"
    ),
    (
      service(#"{"uuid": "aa01", "properties": ["write"], "permissions": ["read"], "reactions": [{"then": [{"disconnect": true}]}]}"#),
      "reactions: The characteristic cannot be written: its permissions forbid it."
    ),
    (
      service(#"{"uuid": "aa01", "properties": ["read"], "permissions": ["write"], "read_reactions": [{"then": [{"disconnect": true}]}]}"#),
      "read_reactions: The characteristic cannot be read: its permissions forbid it."
    ),
    (
      service(
        #"{"uuid": "aa01", "properties": ["write"], "sink": {"report": "aa02"}}, {"uuid": "aa02", "properties": ["read"], "value": "00"}"#),
      "characteristics[1].value: No effect: the characteristic holds the count of a sink."
    ),
    (
      service(#"{"uuid": "aa01", "properties": ["read"]}"#) + #", "on_connect": [{"set": "aa01"}]"#,
      "on_connect[0].set: \"set\" needs the key \"value\"."
    ),
    (#""link": {"seed": 3}"#, "link.seed: No effect without \"packet_error_rate\" or \"firmware\""),
    (#""link": {"coded": "s2"}"#, "link.coded: No effect without coded in the device's \"phys\"."),
  ]) func whatHasNoEffectIsRefused(_ inside: String, _ message: String) {
    #expect { try Self.peripheral(inside) } throws: { "\($0)".contains(message) }
  }

  /// Permissions may exceed the properties, as for a hidden write.
  @Test(.onLoop) @LoopActor func reactionsFollowThePermissions() async throws {
    let description = try Self.peripheral(
      Self.service(
        #"{"uuid": "aa01", "properties": ["read"], "permissions": ["read", "write"], "reactions": [{"then": [{"set": "aa02", "value": "07"}]}]}, "#
          + #"{"uuid": "aa02", "properties": ["read"]}"#))
    let client = PeripheralTestClient(VirtualPeripheral(description))
    #expect(client.ask("12" + description.hex("aa01") + "01") == "13")
    #expect(client.ask("0a" + description.hex("aa02")) == "0b07")
  }
}

import Glibc
import TestSupport

/// PDUs that arrive in one piece are shown in the order of arrival, whichever task waits for them.
@Suite(.timeLimit(.minutes(15))) struct ArrivalOrderTests {
  private static let value: [UInt8] = [0x1B, 0x14, 0, 2, 1]

  /// Returns a device that answers a Write Request with the response and a value in one connection event.
  private static func device(valueFirst: Bool) throws -> H4Controller {
    try ScriptedDevice { pdu in
      guard pdu.starts(with: [0x12, 0x14, 0]) else { return nil }
      return valueFirst ? [.pdu(value), .pdu([0x13])] : [.pdu([0x13]), .pdu(value)]
    }.controller()
  }

  /// eQ-3's script waits for the line about the write, and drops everything before it.
  @Test(arguments: [false, true]) func gatttool(_ valueFirst: Bool) throws {
    let controller = try Self.device(valueFirst: valueFirst)
    let running = try Blectl.start(
      ["gatttool", "-b", "C0:FF:EE:00:00:07", "--char-write-req", "-a", "0x14", "-n", "50", "--listen"], adapter: controller.adapter,
      virtual: false)
    let lines = try #require([running.nextLine { _ in true }, running.nextLine { _ in true }] as? [String])
    running.signal(SIGINT)
    let (written, value) = ("Characteristic value was written successfully", "Notification handle = 0x0014 value: 02 01 ")
    #expect(lines == (valueFirst ? [value, written] : [written, value]))
    _ = running.wait()
  }

  @Test(arguments: [false, true]) func session(_ valueFirst: Bool) throws {
    let controller = try Self.device(valueFirst: valueFirst)
    let result = try Blectl.run(
      ["--json", "-e", "subscribe fff2; write fff2 50; read 0x12", ScriptedDevice.address], adapter: controller.adapter, virtual: false)
    let events = try result.records.compactMap { $0.string("event") }
    #expect(events == (valueFirst ? ["notification", "written", "value"] : ["written", "notification", "value"]), "\(result.errors)")
  }

  /// The record of the write names the last packet that it needed.
  @Test(arguments: [false, true]) func writeThatExpects(_ valueFirst: Bool) throws {
    let controller = try Self.device(valueFirst: valueFirst)
    let result = try Blectl.run(
      ["--json", "write", ScriptedDevice.address, "fff2", "50", "--expect", "fff2"], adapter: controller.adapter, virtual: false)
    let events = try result.records.compactMap { $0.string("event") }
    #expect(events == (valueFirst ? ["notification", "written"] : ["written", "notification"]), "\(result.errors)")
  }

  /// Values for a command and for the session appear in their order of arrival.
  @Test func twoTakers() throws {
    var items = ScriptedDevice.items
    items[1].value[0] = 0x12
    items.insert(.init(handle: 0x13, type: UUID(0x2902), value: [0, 0]), at: 3)
    for index in items.indices where index > 3 { items[index].handle = AttributeHandle(rawValue: items[index].handle.rawValue + 1) }
    items[4].value[1] = 0x15
    items[8].value[1] = 0x19
    let controller = try ScriptedDevice(items) { pdu in
      guard pdu.starts(with: [0x12, 0x16, 0, 1]) else { return nil }
      return [.pdu([0x13])] + (0..<8).map { .pdu([0x1B, $0 % 2 == 0 ? 0x12 : 0x15, 0, $0]) }
    }.controller()
    let result = try Blectl.run(
      ["--json", "-e", "subscribe fff1; notify fff2 -n 4", ScriptedDevice.address], adapter: controller.adapter, virtual: false)
    #expect(try result.records.compactMap { $0.string("value") } == (0..<8).map { "0\($0)" }, "\(result.errors)")
  }
}

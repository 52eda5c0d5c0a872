import TestSupport

/// A scripted device behind an `H4Controller`. Without a scripted answer, a plain server answers. Its ATT_MTU stays 23.
///
/// fff0 at 0010: fff1 at 0012 (read), fff2 at 0014 (write, write_without_response, notify), its 2902 at 0015; 180f at 0016: 2a19 at 0018 (read).
final class ScriptedDevice: @unchecked Sendable {
  static let address = "C0:FF:EE:00:00:07/public"

  private static func declaration(_ handle: AttributeHandle, _ properties: UInt8, _ uuid: UInt32) -> PlainServer.Item {
    let value: [UInt8] = [properties, UInt8(handle.number + 1), 0] + UUID(uuid).attBytes
    return .init(handle: handle, type: UUID(0x2803), value: value)
  }

  static let items: [PlainServer.Item] = [
    .init(handle: 0x10, type: UUID(0x2800), value: [0xF0, 0xFF]), declaration(0x11, 0x02, 0xFFF1),
    .init(handle: 0x12, type: UUID(0xFFF1), value: [1]), declaration(0x13, 0x1C, 0xFFF2),
    .init(handle: 0x14, type: UUID(0xFFF2), value: [], isReadable: false), .init(handle: 0x15, type: UUID(0x2902), value: [0, 0]),
    .init(handle: 0x16, type: UUID(0x2800), value: [0x0F, 0x18]), declaration(0x17, 0x02, 0x2A19),
    .init(handle: 0x18, type: UUID(0x2A19), value: [60]),
  ]

  // Only the controller's thread uses these.
  private var server: PlainServer
  private let script: @Sendable ([UInt8]) -> [H4Controller.Answer]?

  /// - Parameter script: Reacts to a PDU. Nil: the plain server answers.
  init(_ items: [PlainServer.Item] = items, mtu: Int = 23, script: @escaping @Sendable ([UInt8]) -> [H4Controller.Answer]?) {
    server = PlainServer(items)
    server.largestMTU = mtu
    self.script = script
  }

  /// Creates a controller with this device.
  func controller() throws -> H4Controller {
    try H4Controller { [self] pdu in script(pdu) ?? server.answer(pdu).map { [.pdu($0)] } ?? [] }
  }
}

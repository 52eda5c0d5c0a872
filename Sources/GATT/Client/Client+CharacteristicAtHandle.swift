package import ATT
import Bluetooth

extension Client {
  /// Reads the characteristic whose value is at `handle`, for devices that do not survive full discovery.
  /// Reads the declaration right before the value, and descriptors up to the Client Characteristic Configuration (Vol 3 Part G §3.3).
  /// - Returns: nil if the answers do not show a characteristic there. Discovery reports the cause.
  /// - Throws: ATTError, the error that closed the channel, CancellationError.
  package func characteristic(at handle: AttributeHandle) async throws -> Characteristic? {
    guard handle > 1 else { return nil }
    var found: [HandleType] = []
    var asked = ProcedureRange(HandleRange(handle.previous, 0xFFFF))
    search: while let range = asked.range {
      let response = try await bearer.request(.findInformation(range))
      guard case .findInformation(let items) = response else { break }
      for item in items {
        // Discovery reports broken rules.
        if asked.take(item.handle) != nil { return nil }
        // The next service, include or characteristic.
        if item.handle > handle, (0x2800...0x2803).contains(item.type.short ?? 0) { break search }
        found.append(item)
        if item.handle > handle, item.type == .clientCharacteristicConfiguration { break search }
      }
      if asked.advance() != nil { return nil }
    }
    guard found.count > 1, found[0] == HandleType(handle.previous, .characteristic), found[1].handle == handle,
      case .read(let declaration) = try await bearer.request(.read(handle.previous)), declaration.count >= 3,
      UInt16(declaration[1]) | UInt16(declaration[2]) << 8 == handle.rawValue
    else { return nil }
    var item = Characteristic(
      uuid: found[1].type, handle: handle.previous, valueHandle: handle, endHandle: found[found.count - 1].handle,
      properties: Properties(rawValue: declaration[0]))
    item.descriptors = found.dropFirst(2).map { Descriptor(uuid: $0.type, handle: $0.handle) }
    return item
  }
}

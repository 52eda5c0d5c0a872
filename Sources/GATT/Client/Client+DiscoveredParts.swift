import ATT
import Bluetooth

/// Discovers included services, and reads Characteristic Extended Properties.
extension Client {
  /// Finds included services (§4.5.1). Reads a 128-bit UUID from the included service, because the declaration does not contain it.
  /// - Parameter known: services whose UUIDs the client does not read again.
  func findIncludedServices(_ range: HandleRange, known: [Service] = [], onFound: Found<Include>) async throws {
    var found: Set<Include> = []
    var current = ProcedureRange(range)
    while let asked = current.range, let items = try await declarations(asked, of: .include) {
      for item in items {
        let declared = Include(declaration: item)
        let isKnown = declared.map { !found.insert($0).inserted } ?? false
        guard admit(.include, item.handle, declared?.uuid, current.take(item.handle), unless: isKnown) else { continue }
        guard var include = declared, found.count <= 0xFFFF else {
          note(.include, item.handle, declared?.uuid, declared == nil ? .malformed(item.value) : .tooMany)
          continue
        }
        // Only 16-bit UUIDs are part of the declaration (§3.2).
        if ![4, 6].contains(item.value.count) { note(.include, item.handle, include.uuid, .uuidLength(item.value.count - 4)) }
        if !HandleRange(include.startHandle, include.endHandle).isValid {
          note(.include, item.handle, include.uuid, .endsBefore(include.endHandle))
        }
        if include.uuid == nil { include.uuid = try await uuid(of: include, known) }
        try await onFound(include)
      }
      note(.include, items.first?.handle ?? 0, nil, current.advance())
    }
  }

  /// Finds the UUID of an included service. Nil if the peer does not provide it.
  private func uuid(of include: Include, _ known: [Service]) async throws -> UUID? {
    if let service = known.first(where: { $0.handle == include.startHandle }) { return service.uuid }
    guard include.startHandle.isValid, let value = try await valueUnlessRefused(include.startHandle) else { return nil }
    let uuid = value.count == 4 ? nil : UUID(littleEndian: value)
    if uuid == nil { note(.service, include.startHandle, nil, .malformed(value)) }
    if value.count == 2, let uuid { onNote?(.includeWithoutUUID(include.handle, uuid)) }
    return uuid
  }

  private func valueUnlessRefused(_ handle: AttributeHandle) async throws -> [UInt8]? {
    do {
      if case .read(let value)? = try await answer(.read(handle)) { return value }
    } catch GATTError.errorResponse(let code, to: _, on: _) where code != .databaseOutOfSync {}
    return nil
  }

  func readExtendedProperties(_ services: inout [Service]) async throws {
    for service in services.indices {
      for index in services[service].characteristics.indices {
        let item = services[service].characteristics[index]
        guard item.properties.contains(.extendedProperties),
          let descriptor = item.descriptors.first(where: { $0.uuid == .characteristicExtendedProperties })
        else { continue }
        // If the peer refuses to read the bits, assume none.
        guard let value = try await valueUnlessRefused(descriptor.handle) else { continue }
        guard value.count == 2 else {
          note(.attribute, descriptor.handle, descriptor.uuid, .malformed(value))
          continue
        }
        services[service].characteristics[index].extendedProperties = UInt16(value[0]) | UInt16(value[1]) << 8
      }
    }
  }
}

extension Include {
  /// Parses an include declaration, with a nil `uuid` if the declaration contains none. Nil if the declaration is too short.
  fileprivate init?(declaration item: HandleValue) {
    guard item.value.count >= 4 else { return nil }
    func word(_ index: Int) -> AttributeHandle { AttributeHandle(rawValue: UInt16(item.value[index]) | UInt16(item.value[index + 1]) << 8) }
    self.init(handle: item.handle, startHandle: word(0), endHandle: word(2), uuid: UUID(littleEndian: item.value.dropFirst(4)))
  }
}

@testable import BluetoothLE

/// The single discovery procedures of Vol 3 Part G §4.4 to §4.7, limited to a range, as in the conformance suite.
extension Client {
  /// Discovers all primary services (§4.4.1).
  func discoverPrimaryServices(_ range: HandleRange = .all) async throws -> [Service] {
    try await primaryServices(range).map {
      var service = $0
      service.endHandle = min(service.endHandle, range.end)
      return service
    }
  }

  /// Discovers the services with this UUID (§4.4.2).
  func discoverPrimaryServices(_ uuid: UUID, _ range: HandleRange = .all, inFull: Bool = false) async throws -> [Service] {
    try await primaryServices(uuid, range, inFull: inFull).map {
      Service(uuid: uuid, handle: $0.start, endHandle: min($0.end, range.end), isPrimary: true)
    }
  }

  /// Finds included services (§4.5.1).
  func discoverIncludedServices(_ range: HandleRange = .all) async throws -> [Include] { try await includedServices(range) }

  /// Discovers declarations only (§4.6.1). `endHandle` is the last before the next one, or the end of the range.
  func discoverCharacteristics(_ range: HandleRange = .all) async throws -> [Characteristic] {
    let found = try await characteristics(range)
    return found.map { item in
      var item = item
      let next = found.first { $0.handle > item.handle }
      item.endHandle = next?.handle.previous ?? max(range.end, item.valueHandle)
      return item
    }
  }

  /// Discovers every attribute of the range (§4.7.1).
  func discoverDescriptors(_ range: HandleRange) async throws -> [Descriptor] {
    try await attributeTypes(range).map { Descriptor(uuid: $0.type, handle: $0.handle) }
  }
}

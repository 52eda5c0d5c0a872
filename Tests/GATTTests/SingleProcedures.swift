import ATT
import Bluetooth

@testable import GATT

/// The single discovery procedures of Vol 3 Part G §4.4 to §4.7, made of the steps that the product's discovery is made of: its requests, its
/// judgement of the answers. Only the order is the specification's own, one procedure after the other.
extension Client {
  /// §4.4.1
  func discoverPrimaryServices(_ range: HandleRange = .all) async throws -> [Service] {
    var discovery = DatabaseDiscovery(range)
    var asked = ProcedureRange(range)
    while let next = asked.nextRange() {
      let before = discovery.services.count
      try await ask(.services(.primaryService, next), &discovery)
      if discovery.services.count == before { break }
      for service in discovery.services.dropFirst(before) { try asked.take(service.handle, through: service.endHandle) }
    }
    return discovery.services.map {
      var service = $0
      service.endHandle = min(service.endHandle, range.end)
      return service
    }
  }

  /// §4.4.2: the services with this UUID, which the product has no use for.
  func discoverPrimaryServices(_ uuid: UUID, _ range: HandleRange = .all, inFull: Bool = false) async throws -> [Service] {
    var services: [Service] = []
    var asked = ProcedureRange(range)
    while let next = asked.nextRange() {
      let request = Request.findByTypeValue(next, type: 0x2800, value: inFull ? uuid.littleEndianBytes : uuid.attBytes)
      guard let response = try await answer(request, tolerating: [.attributeNotFound]), case .findByTypeValue(let ranges) = response else {
        break
      }
      try judge(response) { () throws(MalformedPacket) in
        for found in ranges {
          try asked.take(found.start, through: found.end)
          services.append(Service(uuid: uuid, handle: found.start, endHandle: min(found.end, range.end), isPrimary: true))
        }
      }
    }
    return services
  }

  /// §4.5.1
  func discoverIncludedServices(_ range: HandleRange = .all) async throws -> [Include] { try await findIncludedServices(range) }

  /// §4.6.1, the declarations only; `endHandle` is the last before the next one, or the end of the range.
  func discoverCharacteristics(_ range: HandleRange = .all) async throws -> [Characteristic] {
    var discovery = DatabaseDiscovery(range)
    var asked = ProcedureRange(range)
    while let next = asked.nextRange() {
      let before = discovery.characteristics.count
      try await ask(.characteristics(next), &discovery)
      if discovery.characteristics.count == before { break }
      for item in discovery.characteristics.dropFirst(before) { try asked.take(item.handle, through: item.handle) }
    }
    return discovery.characteristics.map {
      var item = $0
      item.endHandle = min(item.endHandle, max(range.end, item.valueHandle))
      return item
    }
  }

  /// §4.7.1: every attribute of the range.
  func discoverDescriptors(_ range: HandleRange) async throws -> [Descriptor] {
    var discovery = DatabaseDiscovery(range)
    var asked = ProcedureRange(range)
    var found: [Descriptor] = []
    while let next = asked.nextRange() {
      guard let response = try await answer(.findInformation(next), tolerating: [.attributeNotFound]),
        case .findInformation(let items) = response
      else { break }
      try judge(response) { () throws(MalformedPacket) in try discovery.take(items, in: next) }
      for item in items {
        try asked.take(item.handle, through: item.handle)
        found.append(Descriptor(uuid: item.type, handle: item.handle))
      }
    }
    return found
  }
}

package import ATT
package import Bluetooth

/// Procedures of Vol 3 Part G §4.3 to §4.8 one by one, as who asks for just one of them wants it: `discover` knows how to spare most of this.
/// All throw GATTError.errorResponse, ATTError, CancellationError; never a part of what there is.
extension Client {
  /// Discover All Primary Services (§4.4.1), without what is in them.
  package func primaryServices(_ range: HandleRange = .all) async throws -> [Service] {
    var discovery = DatabaseDiscovery(range)
    var asked = ProcedureRange(range)
    while let next = asked.nextRange() {
      let before = discovery.services.count
      try await ask(.services(.primaryService, next), &discovery)
      if discovery.services.count == before { break }
      for service in discovery.services.dropFirst(before) { try asked.take(service.handle, through: service.endHandle) }
    }
    return discovery.services
  }

  /// Discover Primary Service by Service UUID (§4.4.2).
  /// - Parameter inFull: asks with 16 octets also for a UUID that has a 16-bit form.
  package func primaryServices(_ uuid: UUID, _ range: HandleRange = .all, inFull: Bool = false) async throws -> [HandleRange] {
    var found: [HandleRange] = []
    var asked = ProcedureRange(range)
    while let next = asked.nextRange() {
      let request = Request.findByTypeValue(next, type: 0x2800, value: inFull ? uuid.littleEndianBytes : uuid.attBytes)
      guard let response = try await answer(request, tolerating: [.attributeNotFound]), case .findByTypeValue(let ranges) = response
      else { break }
      for item in ranges { try judge(response) { () throws(MalformedPacket) in try asked.take(item.start, through: item.end) } }
      found += ranges
    }
    return found
  }

  /// Find Included Services (§4.5.1).
  package func includedServices(_ range: HandleRange = .all) async throws -> [Include] { try await findIncludedServices(range) }

  /// Discover All Characteristics of a Service (§4.6.1): their declarations.
  package func characteristics(_ range: HandleRange = .all) async throws -> [Characteristic] {
    var discovery = DatabaseDiscovery(range)
    var asked = ProcedureRange(range)
    while let next = asked.nextRange() {
      let before = discovery.characteristics.count
      try await ask(.characteristics(next), &discovery)
      if discovery.characteristics.count == before { break }
      for item in discovery.characteristics.dropFirst(before) { try asked.take(item.handle, through: item.handle) }
    }
    return discovery.characteristics
  }

  /// Discover All Characteristic Descriptors (§4.7.1): every attribute of the range.
  package func attributeTypes(_ range: HandleRange = .all) async throws -> [HandleType] {
    var found: [HandleType] = []
    var asked = ProcedureRange(range)
    while let next = asked.nextRange() {
      guard let response = try await answer(.findInformation(next), tolerating: [.attributeNotFound]),
        case .findInformation(let items) = response
      else { break }
      for item in items { try judge(response) { () throws(MalformedPacket) in try asked.take(item.handle, through: item.handle) } }
      found += items
    }
    return found
  }

  /// Read Using Characteristic UUID (§4.8.2), one request: the values that its answer has room for, cut at ATT_MTU − 4 octets.
  /// - Throws: Attribute Not Found when there are none.
  package func valuesOfOneAnswer(_ uuid: UUID, _ range: HandleRange = .all) async throws -> [HandleValue] {
    try await answer(.readByType(range, type: uuid)) { if case .readByType(let items) = $0 { items } else { nil } }
  }

  /// Read Characteristic Value and Read Long Characteristic Values (§4.8.1, §4.8.3), where any error behind the first part ends the value.
  /// - Returns: at most 65 535 octets and a part.
  package func valueUpToError(_ handle: AttributeHandle) async throws -> [UInt8] {
    var value: [UInt8] = try await answer(.read(handle)) { if case .read(let value) = $0 { value } else { nil } }
    var isFull = value.count >= mtu - 1
    while isFull, let offset = UInt16(exactly: value.count) {
      guard case .readBlob(let part) = try await bearer.request(.readBlob(handle, offset: offset)) else { break }
      value += part
      isFull = part.count >= mtu - 1
    }
    return value
  }

  /// Exchange MTU (§4.3.1). - Returns: what was agreed; nil when the peer offers less than the least.
  package func exchangeMTU(offering wanted: Int) async throws -> Int? {
    bearer.offer(rxMTU: wanted)
    let request = Request.exchangeMTU(clientRxMTU: UInt16(clamping: bearer.rxMTU))
    let offered: UInt16 = try await answer(request) { if case .exchangeMTU(let octets) = $0 { octets } else { nil } }
    return Int(offered) < BearerState.defaultMTU ? nil : mtu
  }
}

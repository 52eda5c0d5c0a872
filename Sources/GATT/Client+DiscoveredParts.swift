import ATT
import Bluetooth

/// What discovery asks for besides, and where everything belongs.
extension Client {
  /// §4.5.1. A declaration with a 128-bit UUID does not carry it: it is read from the included service.
  /// - Parameter known: services whose UUIDs need not be read.
  func findIncludedServices(_ range: HandleRange = .all, known: [Service] = []) async throws -> [Include] {
    var includes: [Include] = []
    var current = ProcedureRange(range)
    while let asked = current.nextRange() {
      guard let response = try await answer(.readByType(asked, type: .include), tolerating: [.attributeNotFound]) else { break }
      guard case .readByType(let items) = response else { break }
      let first = includes.count
      try judge(response) { () throws(MalformedPacket) in
        for item in items {
          try current.take(item.handle, through: item.handle)
          var reader = ByteReader(item.value)
          let start = AttributeHandle(rawValue: try reader.uint16("Included Service Attribute Handle"))
          let end = AttributeHandle(rawValue: try reader.uint16("End Group Handle"))
          guard HandleRange(start, end).isValid else {
            throw MalformedPacket("an included service from \(start) to \(end)", at: 4)
          }
          var uuid: UUID?
          if !reader.isAtEnd { uuid = UUID(littleEndian: try reader.bytes(2, "Service UUID")) }
          try reader.finish("Include declaration")
          includes.append(Include(handle: item.handle, startHandle: start, endHandle: end, uuid: uuid))
        }
      }
      for index in includes.indices.dropFirst(first) where includes[index].uuid == nil {
        let start = includes[index].startHandle
        if let service = known.first(where: { $0.handle == start }) {
          includes[index].uuid = service.uuid
        } else {
          let response = try await answer(.read(start), tolerating: [.invalidHandle, .readNotPermitted])
          guard case .read(let value)? = response else { continue }
          guard value.count != 4, let uuid = UUID(littleEndian: value) else {
            throw ATTError.violation(
              .response(.read), Response.read(value).bytes, "a service declaration holds a UUID of 2 or 16 octets")
          }
          if value.count == 2 { onNote?(.includeWithoutUUID(includes[index].handle, uuid)) }
          includes[index].uuid = uuid
        }
      }
    }
    return includes
  }

  func readExtendedProperties(_ services: inout [Service]) async throws {
    for service in services.indices {
      for index in services[service].characteristics.indices {
        let item = services[service].characteristics[index]
        guard item.properties.contains(.extendedProperties),
          let descriptor = item.descriptors.first(where: { $0.uuid == .characteristicExtendedProperties })
        else { continue }
        // A peer that hides the bits has none for us.
        let response = try await answer(
          .read(descriptor.handle),
          tolerating: [.readNotPermitted, .insufficientAuthentication, .insufficientEncryption, .insufficientAuthorization])
        guard case .read(let value)? = response else { continue }
        guard value.count == 2 else {
          throw ATTError.violation(
            .response(.read), Response.read(value).bytes, "Characteristic Extended Properties have 2 octets, not \(value.count)")
        }
        services[service].characteristics[index].extendedProperties = UInt16(value[0]) | UInt16(value[1]) << 8
      }
    }
  }

  func place(_ types: [AttributeHandle: UUID], in services: inout [Service]) {
    let all = types.map { Descriptor(uuid: $0.value, handle: $0.key) }.sorted { $0.handle < $1.handle }
    for service in services.indices {
      for index in services[service].characteristics.indices {
        let item = services[service].characteristics[index]
        services[service].characteristics[index].descriptors = all.within(item.valueHandle, item.endHandle) { $0.handle }
      }
    }
  }

  func place(_ includes: [Include], in services: inout [Service]) {
    for include in includes {
      guard let index = services.lastIndex(where: { ($0.handle...$0.endHandle).contains(include.handle) }) else {
        note(.strayInclude, .strayInclude(include.handle))
        continue
      }
      services[index].includes.append(include)
    }
  }

  func place(_ characteristics: [Characteristic], in services: inout [Service]) {
    var index = services.startIndex
    for item in characteristics {
      while index < services.endIndex, services[index].endHandle < item.handle { index += 1 }
      guard index < services.endIndex, services[index].handle < item.handle, item.valueHandle <= services[index].endHandle else {
        note(.strayCharacteristic, .strayCharacteristic(item))
        continue
      }
      var item = item
      item.endHandle = min(item.endHandle, services[index].endHandle)
      services[index].characteristics.append(item)
    }
  }
}

extension Array {
  /// The elements with handles after `lower`, up to and with `upper`; the array is in the order of handles.
  fileprivate func within(_ lower: AttributeHandle, _ upper: AttributeHandle, _ handle: (Element) -> AttributeHandle) -> [Element] {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if handle(self[middle]) <= lower { low = middle + 1 } else { high = middle }
    }
    return Array(self[low...].prefix { handle($0) <= upper })
  }
}

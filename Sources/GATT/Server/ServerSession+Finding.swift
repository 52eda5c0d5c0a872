import ATT
import Bluetooth

/// Requests for attributes by range and type (Vol 3 Part F §3.4.3, §3.4.4.1, §3.4.4.9).
extension ServerSession {
  private func matches(_ range: HandleRange, _ database: AttributeDatabase) throws(Refusal) -> ArraySlice<AttributeDatabase.Attribute> {
    guard range.isValid else { throw Refusal(code: .invalidHandle, handle: range.start) }
    return database.attributes(in: range.start...range.end)
  }

  func findInformation(_ range: HandleRange, _ mtu: Int, _ database: AttributeDatabase) throws(Refusal) -> Response {
    var items: [HandleType] = []
    for attribute in try matches(range, database) {
      let size = 2 + attribute.type.attBytes.count
      if let first = items.first, first.type.attBytes.count + 2 != size { break }
      guard 2 + (items.count + 1) * size <= mtu else { break }
      items.append(HandleType(attribute.handle, attribute.type))
    }
    guard !items.isEmpty else { throw Refusal(code: .attributeNotFound, handle: range.start) }
    return .findInformation(items)
  }

  func findByTypeValue(
    _ range: HandleRange, _ type: UInt16, _ value: [UInt8], _ mtu: Int, _ database: AttributeDatabase
  ) throws(Refusal) -> Response {
    let type = UUID(UInt32(type))
    var ranges: [HandleRange] = []
    for attribute in try matches(range, database) where attribute.type == type {
      // A client must not be able to guess the value of an attribute that it may not read (§3.4.3.3).
      guard refusalToRead(attribute) == nil, self.value(of: attribute) == value else { continue }
      guard 1 + (ranges.count + 1) * 4 <= mtu else { break }
      ranges.append(HandleRange(attribute.handle, database.groupEnd(of: attribute)))
    }
    guard !ranges.isEmpty else { throw Refusal(code: .attributeNotFound, handle: range.start) }
    return .findByTypeValue(ranges)
  }

  func readByType(_ range: HandleRange, _ type: UUID, _ mtu: Int, _ database: AttributeDatabase) throws(Refusal) -> Response {
    var items: [HandleValue] = []
    for attribute in try matches(range, database) where attribute.type == type {
      if let code = refusalToRead(attribute) {
        guard items.isEmpty else { break }
        throw Refusal(code: code, handle: attribute.handle)
      }
      let value = self.value(of: attribute).prefix(min(mtu - 4, 253))
      if let first = items.first, first.value.count != value.count { break }
      guard 2 + (items.count + 1) * (2 + value.count) <= mtu else { break }
      items.append(HandleValue(attribute.handle, Array(value)))
    }
    guard !items.isEmpty else { throw Refusal(code: .attributeNotFound, handle: range.start) }
    return .readByType(items)
  }

  func readByGroupType(_ range: HandleRange, _ type: UUID, _ mtu: Int, _ database: AttributeDatabase) throws(Refusal) -> Response {
    let attributes = try matches(range, database)
    guard type == AttributeDatabase.AttributeType.primaryService || type == AttributeDatabase.AttributeType.secondaryService else {
      throw Refusal(code: .unsupportedGroupType, handle: range.start)
    }
    var groups: [HandleGroup] = []
    for attribute in attributes where attribute.type == type {
      if let code = refusalToRead(attribute) {
        guard groups.isEmpty else { break }
        throw Refusal(code: code, handle: attribute.handle)
      }
      let value = attribute.value.prefix(min(mtu - 6, 251))
      if let first = groups.first, first.value.count != value.count { break }
      guard 2 + (groups.count + 1) * (4 + value.count) <= mtu else { break }
      groups.append(HandleGroup(attribute.handle, database.groupEnd(of: attribute), Array(value)))
    }
    guard !groups.isEmpty else { throw Refusal(code: .attributeNotFound, handle: range.start) }
    return .readByGroupType(groups)
  }
}

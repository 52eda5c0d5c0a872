// SPDX-License-Identifier: Apache-2.0
/// The error for a selected attribute that the peer cannot notify, because it is not the value of a characteristic.
package struct NotACharacteristic: Error, Sendable, Equatable {
  package let selector: Selector
  package let handle: AttributeHandle
}

/// The error of a read that failed for another reason than a refusal by the peer.
package struct FailedRead: Error {
  package let attribute: Attribute
  package let cause: any Error
}

extension FailedRead: PassingError { package var mayPass: Bool { ReconnectPolicy.mayPass(cause) } }

extension Client {
  /// Resolves a selector on this peer. A plain handle needs no discovery.
  /// - Parameter discovering: Whether to discover services even for a plain handle, to learn its properties or descriptors.
  /// - Throws: The errors of `discover` and `AttributeTable.resolve`.
  package func attribute(_ selector: Selector, discovering: Bool) async throws -> Attribute {
    if !discovering, let handle = selector.plainHandle, table == nil { return .handle(handle) }
    return try await resolve(selector)
  }

  /// Finds the characteristic to subscribe to. A CCCD (2902) selects its characteristic. An ambiguous selector selects its only match
  /// that sends values.
  /// - Throws: `NotACharacteristic`; the errors of `discover` and `AttributeTable.resolve`.
  package func characteristic(_ selector: Selector) async throws -> Characteristic {
    let attribute: Attribute
    do { attribute = try await self.attribute(selector, discovering: true) } catch let error as GATTError {
      guard case .ambiguous(_, let found) = error, let only = onlySender(selector, found) else { throw error }
      return only
    }
    switch attribute {
    case .characteristic(let item, _): return item
    case .descriptor(let descriptor, of: let item, _) where descriptor.uuid == .clientCharacteristicConfiguration: return item
    default: throw NotACharacteristic(selector: selector, handle: attribute.handle)
    }
  }

  /// Finds several characteristics. Skips discovery if all selectors are plain handles and `discovering` is false.
  package func characteristics(_ selectors: [Selector], discovering: Bool) async throws -> [Characteristic] {
    let handles = selectors.compactMap(\.plainHandle)
    let isDirect = !discovering && table == nil && handles.count == selectors.count
    var found: [Characteristic] = []
    for selector in selectors {
      if isDirect, let handle = selector.plainHandle, let item = try await characteristic(at: handle) {
        found.append(item)
      } else {
        found.append(try await characteristic(selector))
      }
    }
    // Only the table numbers characteristics of one UUID.
    if isDirect, Set(found.map(\.uuid)).count < Set(found.map(\.valueHandle)).count { _ = try await discover() }
    return found
  }

  /// Reads all readable characteristics and all descriptors of a table. A failed read does not stop the following reads.
  /// - Returns: The results by handle, until the link ended. `failure` is the first failure other than a refusal by the peer.
  /// - Throws: `CancellationError`.
  package func readableValues(_ table: AttributeTable) async throws -> (
    values: [AttributeHandle: Result<[UInt8], any Error>], failure: FailedRead?
  ) {
    var (values, failure): ([AttributeHandle: Result<[UInt8], any Error>], FailedRead?) = ([:], nil)
    func read(_ handle: AttributeHandle) async throws {
      let (value, error) = try await self.values(of: [handle], in: table)
      values[handle] = value[handle]
      failure = failure ?? error
    }
    for item in table.characteristics {
      let extended = item.extendedProperties
      if item.properties.contains(.read) { try await read(item.valueHandle) }
      for descriptor in item.descriptors {
        // Discovery has read the extended properties.
        if descriptor.uuid == UUID(0x2900), let extended {
          values[descriptor.handle] = .success([UInt8(truncatingIfNeeded: extended), UInt8(extended >> 8)])
        } else {
          try await read(descriptor.handle)
        }
      }
    }
    return (values, failure)
  }

  /// Reads the attributes with these handles, in order. A failed read does not stop the following reads.
  /// - Returns: as `readableValues`.
  /// - Throws: `CancellationError`.
  package func values(
    of handles: [AttributeHandle], in table: AttributeTable
  ) async throws -> (values: [AttributeHandle: Result<[UInt8], any Error>], failure: FailedRead?) {
    var values: [AttributeHandle: Result<[UInt8], any Error>] = [:]
    var failure: FailedRead?
    for handle in handles where closed == nil {
      do { values[handle] = .success(try await read(handle)) } catch {
        if error is CancellationError { throw error }
        values[handle] = .failure(error)
        if case GATTError.errorResponse = error { continue }
        failure = failure ?? FailedRead(attribute: table.attribute(at: handle), cause: error)
      }
    }
    return (values, failure)
  }
}

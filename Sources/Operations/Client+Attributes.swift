package import ATT
import Bluetooth
package import GATT

/// The selected attribute is not the value of a characteristic, so it cannot notify.
package struct NotACharacteristic: Error, Sendable, Equatable {
  package let selector: Selector
  package let handle: AttributeHandle
}

/// One of several reads failed, for a reason other than a refusal by the peer.
package struct FailedRead: Error {
  package let attribute: Attribute
  package let cause: any Error
}

extension Client {
  /// Resolves a selector on this peer. A plain handle needs no discovery.
  /// - Parameter discovering: with discovery in any case, for whoever needs properties or descriptors.
  /// - Throws: as `discover` and `AttributeTable.resolve`.
  package func attribute(_ selector: Selector, discovering: Bool) async throws -> Attribute {
    if !discovering, let handle = selector.plainHandle, table == nil { return .handle(handle) }
    return try await resolve(selector)
  }

  /// - Throws: NotACharacteristic; as `discover`, `AttributeTable.resolve` and `subscribe`.
  package func subscribe(to selector: Selector) async throws -> Subscription { try await subscribe(characteristic(selector), kind: .auto) }

  /// The characteristic to subscribe to. A Client Characteristic Configuration (2902) stands for the characteristic that it belongs to; of
  /// several candidates the only one that sends values is taken.
  /// - Throws: NotACharacteristic; as `discover` and `AttributeTable.resolve`.
  package func characteristic(_ selector: Selector) async throws -> Characteristic {
    let attribute: Attribute
    do { attribute = try await self.attribute(selector, discovering: true) } catch let error as GATTError {
      guard case .ambiguous(_, let found) = error, let only = onlySender(selector, found) else { throw error }
      return only
    }
    switch attribute {
    case .characteristic(let item, _): return item
    case .descriptor(let descriptor, of: let item, _) where descriptor.uuid == UUID(0x2902): return item
    default: throw NotACharacteristic(selector: selector, handle: attribute.handle)
    }
  }

  /// Finds several characteristics. Plain handles alone need no discovery, unless the caller wants more than handles.
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
    return found
  }

  /// The values of all characteristics that can be read, and of their descriptors, each by one request where it fits. One that the peer refuses
  /// (security, authorization) does not hide the rest, nor does one that fails in another way.
  /// - Returns: what was read until the link ended, and the first failure that was no refusal.
  /// - Throws: CancellationError.
  package func readableValues(_ table: AttributeTable) async throws -> (
    values: [AttributeHandle: Result<[UInt8], any Error>], failure: FailedRead?
  ) {
    var values: [AttributeHandle: Result<[UInt8], any Error>] = [:]
    var failure: FailedRead?
    func read(_ handle: AttributeHandle) async throws {
      guard closed == nil else { return }
      do { values[handle] = .success(try await self.read(handle)) } catch {
        if error is CancellationError { throw error }
        values[handle] = .failure(error)
        if case GATTError.errorResponse = error { return }
        failure = failure ?? FailedRead(attribute: table.attribute(at: handle), cause: error)
      }
    }
    for item in table.characteristics {
      let extended = item.extendedProperties
      if item.properties.contains(.read) { try await read(item.valueHandle) }
      for descriptor in item.descriptors {
        // Discovery has read this one, for what may be written.
        if descriptor.uuid == UUID(0x2900), let extended {
          values[descriptor.handle] = .success([UInt8(truncatingIfNeeded: extended), UInt8(extended >> 8)])
        } else {
          try await read(descriptor.handle)
        }
      }
    }
    return (values, failure)
  }
}

package import ATT
package import Bluetooth
import EventLoop

/// The value that the client read for a selector, and its attribute.
package struct SelectedValue: Hashable, Sendable {
  package let handle: AttributeHandle
  /// The type of the attribute. Nil if the selector was a handle and no discovery took place.
  package let uuid: UUID?
  /// The complete value.
  package let value: [UInt8]
}

extension Client {
  /// Reads the selected attributes in order, with few round trips on a new connection without an MTU exchange.
  ///
  /// Reads a handle at once. Reads a UUID with Read By Type, then asks again after the found handle, to prove that no other attribute has
  /// the UUID.
  /// Exchanges the MTU if a value does not fit. Falls back to discovery in all other cases, because its errors say more.
  /// - Parameters:
  ///   - onFailure: receives each selector's index, counted from 0, and its error. Returns to continue. Nil throws the first error.
  ///   - take: receives each selector's index, counted from 0, and its value before the next read.
  /// - Throws: the errors of `discover`, `AttributeTable.resolve`, `read`, `onFailure` and `take`.
  package func read(
    _ selectors: [Selector], onFailure: (@LoopActor (Int, any Error) async throws -> Void)? = nil,
    _ take: @LoopActor (Int, SelectedValue) async throws -> Void
  ) async throws {
    let isDirect = Self.isFasterWithoutDiscovery(selectors)
    for (index, selector) in selectors.enumerated() {
      let found: SelectedValue
      do { found = try await read(selector, isDirect) } catch {
        guard let onFailure, !(error is CancellationError) else { throw error }
        try await onFailure(index, error)
        continue
      }
      try await take(index, found)
    }
  }

  /// Returns whether to skip discovery. A UUID takes two round trips, discovery five or more. A handle after a UUID needs its own UUID.
  private static func isFasterWithoutDiscovery(_ selectors: [Selector]) -> Bool {
    let others = selectors.drop { $0.plainHandle != nil }
    return others.count <= 4 && others.allSatisfy { $0.plainUUID != nil }
  }

  private func read(_ selector: Selector, _ isDirect: Bool) async throws -> SelectedValue {
    if table == nil || readsDirectly {
      if table == nil, let handle = selector.plainHandle {
        return SelectedValue(handle: handle, uuid: nil, value: try await readNow(handle))
      }
      if isDirect, let uuid = selector.plainUUID, let found = try await readOnly(uuid) { return found }
    }
    try await exchangeMTUOnce()
    let attribute = try await resolve(selector)
    return SelectedValue(handle: attribute.handle, uuid: attribute.uuid, value: try await read(attribute.handle))
  }

  /// Reads a value like `read`, but exchanges the MTU only if the value does not fit.
  private func readNow(_ handle: AttributeHandle) async throws -> [UInt8] {
    let full = mtu - 1
    let value: [UInt8] = try await answer(.read(handle)) { if case .read(let value) = $0 { value } else { nil } }
    return value.count < full && !isPerhapsCut(value.count) ? value : try await complete(value, of: handle)
  }

  /// Reads the value of the only attribute of a type.
  /// - Returns: nil if discovery is necessary.
  private func readOnly(_ uuid: UUID) async throws -> SelectedValue? {
    do {
      // Use the MTU from before the request: the peer may exchange the MTU before the next part.
      let full = min(mtu - 4, 253)
      guard case .readByType(let items) = try await bearer.request(.readByType(.all, type: uuid)), let item = items.first, items.count == 1,
        item.handle.isValid
      else { return nil }
      if item.handle < 0xFFFF {
        let rest = HandleRange(item.handle.next, 0xFFFF)
        guard case .error(_, _, .attributeNotFound) = try await bearer.request(.readByType(rest, type: uuid)) else { return nil }
      }
      // 19 bytes fit the minimum MTU. NimBLE, a widespread server, cuts to 19 at any MTU.
      let isWhole = item.value.count < full && item.value.count != BearerState.defaultMTU - 4
      let value = isWhole ? item.value : try await complete(item.value, of: item.handle, as: uuid)
      return SelectedValue(handle: item.handle, uuid: uuid, value: value)
    } catch GATTError.errorResponse where closed == nil { return nil } catch ATTError.violation where closed == nil { return nil }
  }

  /// Completes a value that the server may have cut. Reads it again after a larger MTU, so that it arrives in one piece if possible.
  private func complete(_ first: [UInt8], of handle: AttributeHandle, as uuid: UUID? = nil) async throws -> [UInt8] {
    let before = mtu
    try await exchangeMTUOnce()
    return mtu > before ? try await read(handle, as: uuid) : try await readRest(of: handle, after: first, full: first.count, as: uuid)
  }
}

package import ATT
package import Bluetooth
import EventLoop

/// A value, and of what.
package struct SelectedValue: Hashable, Sendable {
  package let handle: AttributeHandle
  /// The type of the attribute; nil when it was named by its handle and nothing was discovered.
  package let uuid: UUID?
  /// Whole.
  package let value: [UInt8]
}

extension Client {
  /// Reads what the selectors name, in their order, in as few round trips as can be on a new connection, where the MTU need not have been exchanged.
  ///
  /// A handle is read at once. A UUID is asked for with Read By Type, and once more after the handle found, to be sure that it is the only one.
  /// The MTU is exchanged when a value does not fit. Whatever does not go smoothly is done the long way, with discovery, whose errors tell more.
  /// - Parameters:
  ///   - onFailure: gets the error of each selector that fails, with its number; returns to go on with the next. Nil: the first error is thrown.
  ///   - take: gets each value, with the number of its selector, before the next is read.
  /// - Throws: as `discover`, `AttributeTable.resolve` and `read`, and what `onFailure` and `take` throw.
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

  /// Two round trips for each UUID, against five or more for discovery and one for each. A handle after a UUID is shown with its UUID.
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

  /// As `read`, with the MTU exchanged only when the value does not fit.
  private func readNow(_ handle: AttributeHandle) async throws -> [UInt8] {
    let full = mtu - 1
    let value: [UInt8] = try await answer(.read(handle)) { if case .read(let value) = $0 { value } else { nil } }
    return value.count < full && !isPerhapsCut(value.count) ? value : try await complete(value, of: handle)
  }

  /// The value of the only attribute of a type. - Returns: nil when it has to be looked for the long way.
  private func readOnly(_ uuid: UUID) async throws -> SelectedValue? {
    do {
      // As it was when the value was cut: the peer may exchange the MTU by itself in between.
      let full = min(mtu - 4, 253)
      guard case .readByType(let items) = try await bearer.request(.readByType(.all, type: uuid)), let item = items.first, items.count == 1,
        item.handle.isValid
      else { return nil }
      if item.handle < 0xFFFF {
        let rest = HandleRange(item.handle.next, 0xFFFF)
        guard case .error(_, _, .attributeNotFound) = try await bearer.request(.readByType(rest, type: uuid)) else { return nil }
      }
      // 19 octets are what fits at the least MTU, and what a widespread server (NimBLE) cuts to at any.
      let isWhole = item.value.count < full && item.value.count != BearerState.defaultMTU - 4
      let value = isWhole ? item.value : try await complete(item.value, of: item.handle, as: uuid)
      return SelectedValue(handle: item.handle, uuid: uuid, value: value)
    } catch GATTError.errorResponse where closed == nil { return nil } catch ATTError.violation where closed == nil { return nil }
  }

  /// The whole of a value that may have been cut. With more room it is read anew, so that it comes in one piece where it can.
  private func complete(_ first: [UInt8], of handle: AttributeHandle, as uuid: UUID? = nil) async throws -> [UInt8] {
    let before = mtu
    try await exchangeMTUOnce()
    return mtu > before ? try await read(handle, as: uuid) : try await readRest(of: handle, after: first, full: first.count, as: uuid)
  }
}

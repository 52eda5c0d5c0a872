// SPDX-License-Identifier: Apache-2.0
extension Client {
  /// Reads the whole value of a characteristic or descriptor with Read and Read Blob Requests (Vol 3 Part G §4.8.1, §4.8.3).
  /// A long read is not atomic: the peer may change the value between parts.
  /// - Parameter uuid: the attribute's type for notes, if discovery has not found the attribute. Nil otherwise.
  /// - Returns: at most 512 bytes, the largest attribute value. A note reports that the peer sent more bytes.
  /// - Throws: GATTError.errorResponse, ATTError, CancellationError. Never returns part of a value.
  package func read(_ handle: AttributeHandle, as uuid: UUID? = nil) async throws -> [UInt8] {
    // Use the MTU from before the request: the peer may exchange the MTU before the next part.
    let full = mtu - 1
    let first: [UInt8] = try await answer(.read(handle)) { if case .read(let value) = $0 { value } else { nil } }
    let value = try await readRest(of: handle, after: first, full: full, as: uuid)
    keep(value, of: handle)
    return value
  }

  /// Reads every attribute of a type, with its whole value (Vol 3 Part G §4.8.2).
  /// - Throws: the errors of `read`, and Attribute Not Found if the range has no attribute of this type.
  package func read(uuid: UUID, _ range: HandleRange = .all) async throws -> [(handle: AttributeHandle, value: [UInt8])] {
    var found: [(handle: AttributeHandle, value: [UInt8])] = []
    var current = ProcedureRange(range)
    while let asked = current.range {
      let response = try await answer(.readByType(asked, type: uuid), tolerating: found.isEmpty ? [] : [.attributeNotFound])
      guard case .readByType(let items)? = response else { break }
      // The response may cut a value, to at most 253 bytes. Read the rest by its handle.
      let full = min(mtu - 4, 253)
      for item in items
      where admit(.attribute, item.handle, uuid, current.take(item.handle), unless: found.contains { $0.handle == item.handle }) {
        found.append((item.handle, try await readRest(of: item.handle, after: item.value, full: full)))
      }
      note(.attribute, items.first?.handle ?? 0, uuid, current.advance())
    }
    return found
  }

  /// Reads two or more values with one request (Vol 3 Part G §4.8.4).
  /// - Returns: the joined values. The response does not mark their boundaries.
  package func readMultiple(_ handles: [AttributeHandle]) async throws -> [UInt8] {
    try await answer(.readMultiple(handles)) { if case .readMultiple(let value) = $0 { value } else { nil } }
  }

  /// Returns whether the server may have cut a value of `count` bytes. Servers exist that cut to 22 bytes despite a larger ATT_MTU.
  func isPerhapsCut(_ count: Int) -> Bool { count == BearerState.defaultMTU - 1 && mtu > BearerState.defaultMTU }

  /// Reads the bytes after `first` with Read Blob Requests, and returns the whole value.
  /// - Parameter full: the size in bytes at which the server may have cut the first part.
  func readRest(of handle: AttributeHandle, after first: [UInt8], full: Int, as uuid: UUID? = nil) async throws -> [UInt8] {
    // Ignore bytes beyond ATT_MTU, and ask for them again in parts that fit.
    var value = Array(first.prefix(full))
    var isFull = first.count >= full
    var last = first.count
    while isFull || isPerhapsCut(last), value.count < WriteProcedure.largestValue {
      let request = Request.readBlob(handle, offset: UInt16(clamping: value.count))
      // Attribute Not Long: a fixed-length value ended here. Invalid Offset: some peers reject an offset equal to the length.
      // If the value is probably complete, accept any error as its end.
      let response =
        isPerhapsCut(last)
        ? try await bearer.request(request) : try await answer(request, tolerating: [.attributeNotLong, .invalidOffset])
      guard case .readBlob(let part)? = response else { break }
      value += part
      last = part.count
      isFull = last >= mtu - 1
    }
    guard value.count > WriteProcedure.largestValue else { return value }
    onNote?(.longValue(handle, table?.attribute(at: handle), type: uuid))
    return Array(value.prefix(WriteProcedure.largestValue))
  }

  /// Reads the attributes that selectors match, in order, with few round trips on a new connection without an MTU exchange.
  ///
  /// Reads a handle without discovery. Reads a UUID with Read By Type, then repeats the request for the handles after the found attribute.
  /// The second request proves that no other attribute has the UUID.
  /// Exchanges the MTU if a value does not fit in one response. Discovers the database in all other cases.
  /// - Parameters:
  ///   - onFailure: receives the index of a failed selector, counted from 0, and the error. Nil makes `read` throw the first error.
  ///   - take: receives the index of a selector, counted from 0, and its value, before `read` continues.
  /// - Throws: the errors of `discover`, `AttributeTable.resolve`, `read`, `onFailure` and `take`.
  package func read(
    _ selectors: [Selector], onFailure: (@LoopActor (Int, any Error) async throws -> Void)? = nil,
    _ take: @LoopActor (Int, SelectedValue) async throws -> Void
  ) async throws {
    let isDirect = Self.isFasterWithoutDiscovery(selectors)
    for (index, selector) in selectors.enumerated() {
      let found: SelectedValue
      do { found = try await followingChanges(of: [selector]) { try await read(selector, isDirect) } } catch {
        guard let onFailure, !(error is CancellationError) else { throw error }
        try await onFailure(index, error)
        continue
      }
      try await take(index, found)
    }
  }

  /// Returns whether `read` needs fewer round trips without discovery: for any number of handles, followed by at most 4 UUIDs.
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

  /// Reads a whole value. Exchanges the MTU only if the value does not fit in one response.
  private func readNow(_ handle: AttributeHandle) async throws -> [UInt8] {
    let full = mtu - 1
    let value: [UInt8] = try await answer(.read(handle)) { if case .read(let value) = $0 { value } else { nil } }
    return value.count < full && !isPerhapsCut(value.count) ? value : try await complete(value, of: handle)
  }

  /// Reads the whole value of the only attribute of a type.
  /// - Returns: nil if the peer does not have exactly one such attribute or its answer is unusable, so that discovery is necessary.
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

  /// Completes a value that the server may have cut. Reads the whole value again if an MTU exchange increases ATT_MTU.
  private func complete(_ first: [UInt8], of handle: AttributeHandle, as uuid: UUID? = nil) async throws -> [UInt8] {
    let before = mtu
    try await exchangeMTUOnce()
    return mtu > before ? try await read(handle, as: uuid) : try await readRest(of: handle, after: first, full: first.count, as: uuid)
  }

  // MARK: Descriptions

  /// Returns the description of a characteristic's value. Returns nil if the client has read none of the characteristic's descriptors.
  package func description(of item: Characteristic) -> ValueDescription? {
    guard item.descriptors.contains(where: { descriptorValues[$0.handle] != nil }) else { return nil }
    return ValueDescription(of: item) { descriptorValues[$0] }
  }

  /// Reads the descriptors that describe a characteristic's value, each once per link. Ignores descriptors that the peer refuses to read.
  /// - Throws: ATTError, the error that closed the channel, CancellationError.
  package func readDescription(of item: Characteristic) async throws {
    for descriptor in item.descriptors where descriptor.uuid.describesValue { try await readOnce(descriptor.handle) }
    guard let aggregate = item.descriptors.first(where: { $0.uuid == .aggregateFormat }) else { return }
    for handle in PresentationFormat.handles(inAggregate: descriptorValues[aggregate.handle] ?? []) {
      // The peer may list any handle: read presentation formats only.
      if table?.attribute(at: handle).uuid == .presentationFormat { try await readOnce(handle) }
    }
  }

  /// Reads the user descriptions of all characteristics, each once per link. Returns them by the handle of the characteristic's value.
  /// Never starts a pairing for a description.
  func userDescriptions(in table: AttributeTable) async throws -> [AttributeHandle: String] {
    let secure = onSecurityNeeded
    onSecurityNeeded = nil
    defer { onSecurityNeeded = secure }
    var texts: [AttributeHandle: String] = [:]
    for item in table.characteristics {
      for descriptor in item.descriptors where descriptor.uuid == .userDescription { try await readOnce(descriptor.handle) }
      texts[item.valueHandle] = description(of: item)?.userDescription
    }
    return texts
  }

  private func readOnce(_ handle: AttributeHandle) async throws {
    guard descriptorValues[handle] == nil else { return }
    do { _ = try await read(handle) } catch GATTError.errorResponse where closed == nil { descriptorValues[handle] = [] }
  }

  /// Stores a value that the client has read, if the attribute is a descriptor that describes a value.
  func keep(_ value: [UInt8], of handle: AttributeHandle) {
    if table?.attribute(at: handle).uuid?.describesValue ?? false { descriptorValues[handle] = value }
  }
}

/// The value that the client read for a selector, and its attribute.
package struct SelectedValue: Hashable, Sendable {
  package let handle: AttributeHandle
  /// The type of the attribute. Nil if the selector is a handle and the client has not discovered the peer's attributes.
  package let uuid: UUID?
  /// The whole value, even if it took several requests.
  package let value: [UInt8]
}

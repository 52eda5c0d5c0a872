package import ATT
package import Bluetooth

extension Client {
  /// Reads the whole value of a characteristic or descriptor: Read, then Read Blob while parts are full (Vol 3 Part G §4.8.1, §4.8.3).
  /// A long read is not atomic: the peer may change the value between parts.
  /// - Returns: at most 512 bytes, the largest attribute value. A note reports that the peer sent more.
  /// - Throws: GATTError.errorResponse, ATTError, CancellationError. Never returns part of a value.
  package func read(_ handle: AttributeHandle) async throws -> [UInt8] { try await read(handle, as: nil) }

  /// Reads a whole value.
  /// - Parameter uuid: the type of the attribute, if discovery has not found it.
  func read(_ handle: AttributeHandle, as uuid: UUID?) async throws -> [UInt8] {
    // Use the MTU from before the request: the peer may exchange the MTU before the next part.
    let full = mtu - 1
    let first: [UInt8] = try await answer(.read(handle)) { if case .read(let value) = $0 { value } else { nil } }
    let value = try await readRest(of: handle, after: first, full: full, as: uuid)
    keep(value, of: handle)
    return value
  }

  /// Reads every attribute of a type, with its whole value (§4.8.2).
  /// - Throws: the errors of `read`, and Attribute Not Found if there is none.
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

  /// Reads two or more values with one request (§4.8.4).
  /// - Returns: the joined values. The response does not mark their boundaries.
  package func readMultiple(_ handles: [AttributeHandle]) async throws -> [UInt8] {
    try await answer(.readMultiple(handles)) { if case .readMultiple(let value) = $0 { value } else { nil } }
  }

  /// Returns whether the server may have cut a value. Some agree to a larger ATT_MTU but still cut to 22 bytes, which fits the minimum MTU.
  func isPerhapsCut(_ count: Int) -> Bool { count == BearerState.defaultMTU - 1 && mtu > BearerState.defaultMTU }

  /// Reads the rest of a value with Read Blob.
  /// - Parameter full: the size in bytes at which the server may have cut the first part.
  func readRest(of handle: AttributeHandle, after first: [UInt8], full: Int, as uuid: UUID? = nil) async throws -> [UInt8] {
    // Ignore bytes beyond ATT_MTU, and ask for them again in parts that fit.
    var value = Array(first.prefix(full))
    var isFull = first.count >= full
    var last = first.count
    while isFull || isPerhapsCut(last), value.count < WritePlan.largestValue {
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
    guard value.count > WritePlan.largestValue else { return value }
    onNote?(.longValue(handle, table?.attribute(at: handle), type: uuid))
    return Array(value.prefix(WritePlan.largestValue))
  }
}

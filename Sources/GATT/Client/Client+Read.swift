package import ATT
package import Bluetooth

extension Client {
  /// The whole value of a characteristic or descriptor: Read, then Read Blob as long as parts come full (Vol 3 Part G §4.8.1, §4.8.3).
  /// A long value is not read atomically: the peer may change it in between.
  /// - Returns: at most 512 octets, what an attribute can hold; when a peer sends more, a note says so.
  /// - Throws: GATTError.errorResponse, ATTError, CancellationError. Never a part of the value.
  package func read(_ handle: AttributeHandle) async throws -> [UInt8] { try await read(handle, as: nil) }

  /// - Parameter uuid: of the attribute, where discovery has not seen it.
  func read(_ handle: AttributeHandle, as uuid: UUID?) async throws -> [UInt8] {
    // As it was when the value was cut: the peer may exchange the MTU by itself in between.
    let full = mtu - 1
    let first: [UInt8] = try await answer(.read(handle)) { if case .read(let value) = $0 { value } else { nil } }
    let value = try await readRest(of: handle, after: first, full: full, as: uuid)
    keep(value, of: handle)
    return value
  }

  /// Every attribute of one type, with its whole value (§4.8.2). - Throws: as `read`; Attribute Not Found when there is none.
  package func read(uuid: UUID, _ range: HandleRange = .all) async throws -> [(handle: AttributeHandle, value: [UInt8])] {
    var found: [(handle: AttributeHandle, value: [UInt8])] = []
    var current = ProcedureRange(range)
    while let asked = current.range {
      let response = try await answer(.readByType(asked, type: uuid), tolerating: found.isEmpty ? [] : [.attributeNotFound])
      guard case .readByType(let items)? = response else { break }
      // A value may have been cut to what fits: at most 253 octets, of which the rest is read by its handle.
      let full = min(mtu - 4, 253)
      for item in items
      where admit(.attribute, item.handle, uuid, current.take(item.handle), unless: found.contains { $0.handle == item.handle }) {
        found.append((item.handle, try await readRest(of: item.handle, after: item.value, full: full)))
      }
      note(.attribute, items.first?.handle ?? 0, uuid, current.advance())
    }
    return found
  }

  /// Two values or more in one request (§4.8.4). - Returns: the values one after the other; the response does not say where one ends.
  package func readMultiple(_ handles: [AttributeHandle]) async throws -> [UInt8] {
    try await answer(.readMultiple(handles)) { if case .readMultiple(let value) = $0 { value } else { nil } }
  }

  /// Servers exist that agree to a larger ATT_MTU and go on cutting to what fits the least.
  func isPerhapsCut(_ count: Int) -> Bool { count == BearerState.defaultMTU - 1 && mtu > BearerState.defaultMTU }

  /// - Parameter full: octets of a first part that may have been cut.
  func readRest(of handle: AttributeHandle, after first: [UInt8], full: Int, as uuid: UUID? = nil) async throws -> [UInt8] {
    // What a peer sends beyond ATT_MTU is asked for again, in parts that fit.
    var value = Array(first.prefix(full))
    var isFull = first.count >= full
    var last = first.count
    while isFull || isPerhapsCut(last), value.count < WritePlan.largestValue {
      let request = Request.readBlob(handle, offset: UInt16(clamping: value.count))
      // Attribute Not Long: a value of fixed length that ended here. Invalid Offset: so do peers for which the offset may not be the length.
      // Where the value is most likely whole, any refusal says so.
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

import ATT
package import Values

/// Descriptions of values, from the descriptors read on this link.
extension Client {
  /// Returns the description of a characteristic's value. Nil if the client has read none of its descriptors on this link.
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

  private func readOnce(_ handle: AttributeHandle) async throws {
    guard descriptorValues[handle] == nil else { return }
    do { _ = try await read(handle) } catch GATTError.errorResponse where closed == nil { descriptorValues[handle] = [] }
  }

  /// Stores the value that the client has read from a descriptor.
  func keep(_ value: [UInt8], of handle: AttributeHandle) {
    if table?.attribute(at: handle).uuid?.describesValue ?? false { descriptorValues[handle] = value }
  }
}

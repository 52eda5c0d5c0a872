import ATT
package import Values

/// What descriptors say about values: kept for the link from whatever reads them.
extension Client {
  /// - Returns: nil where none of the descriptors was read on this link.
  package func description(of item: Characteristic) -> ValueDescription? {
    guard item.descriptors.contains(where: { descriptorValues[$0.handle] != nil }) else { return nil }
    return ValueDescription(of: item) { descriptorValues[$0] }
  }

  /// Reads what describes the value of a characteristic, each descriptor once per link. One that the peer refuses says nothing.
  /// - Throws: ATTError, what the channel ended with, CancellationError.
  package func readDescription(of item: Characteristic) async throws {
    for descriptor in item.descriptors where descriptor.uuid.describesValue { try await readOnce(descriptor.handle) }
    guard let aggregate = item.descriptors.first(where: { $0.uuid == .aggregateFormat }) else { return }
    for handle in PresentationFormat.handles(inAggregate: descriptorValues[aggregate.handle] ?? []) {
      // Only what is one: the peer may name any handle.
      if table?.attribute(at: handle).uuid == .presentationFormat { try await readOnce(handle) }
    }
  }

  private func readOnce(_ handle: AttributeHandle) async throws {
    guard descriptorValues[handle] == nil else { return }
    do { _ = try await read(handle) } catch GATTError.errorResponse where closed == nil { descriptorValues[handle] = [] }
  }

  /// Keeps the value of a descriptor that was read.
  func keep(_ value: [UInt8], of handle: AttributeHandle) {
    if table?.attribute(at: handle).uuid?.describesValue ?? false { descriptorValues[handle] = value }
  }
}

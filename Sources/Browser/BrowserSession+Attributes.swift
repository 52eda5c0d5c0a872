import ATT
import Bluetooth
import GATT
import Operations
import Presentation

/// Reads, writes and subscribes to a device's attributes.
extension BrowserSession {
  /// Discovers the services, then reads their descriptors and values.
  func look(into connection: Connection) async throws {
    browser.discovered(try await connection.client.discover(), of: connection.peer)
    changed()
    try await readAll(from: connection)
  }

  /// Discovers the services again after they changed.
  func lookAgain(into connection: Connection) async throws {
    // The renewal of the subscriptions discovers the services, too.
    await subscriptions[connection.peer]?.untilRenewed()
    showSubscriptions(of: connection.peer)
    try await look(into: connection)
  }

  /// Reads all readable values in turn, so that the browser shows each when it arrives.
  func readAll(from connection: Connection) async throws {
    let table = try await connection.client.discover()
    for item in table.characteristics {
      for descriptor in item.descriptors { try await take(descriptor.handle, from: connection) }
      if item.properties.contains(.read) { try await take(item.valueHandle, from: connection) }
    }
  }

  func read(_ handle: AttributeHandle, from connection: Connection) async throws {
    let value = try await take(handle, from: connection)
    if case .failure(let error) = value { problem(error, of: connection.peer) }
  }

  /// Reads a value. If the device refuses, the browser shows the error in its place.
  @discardableResult
  private func take(_ handle: AttributeHandle, from connection: Connection) async throws -> Result<[UInt8], any Error> {
    let value: Result<[UInt8], any Error>
    do { value = .success(try await connection.client.read(handle)) } catch let error as GATTError {
      guard case .errorResponse = error else { throw error }
      value = .failure(error)
    }
    browser.value(value, of: handle, from: connection.peer, at: now)
    changed()
    return value
  }

  func write(_ octets: [UInt8], to handle: AttributeHandle, _ mode: WriteMode, on connection: Connection) async throws {
    let client = connection.client
    let attribute = client.table?.attribute(at: handle)
    let plan = try WritePlan(value: octets.count, properties: attribute?.properties, mtu: client.mtu, mode: mode)
    var pacing = WritePacing()
    pacing.provesArrival = true
    try await client.send(octets, to: handle, plan: plan, pacing: pacing)
    note(
      "Wrote \(Quantity.octets(octets.count)) to \(attribute?.uuid?.description ?? handle.description) by \(plan.mode.rawValue), in "
        + Quantity.segments(plan.segments.count), of: connection.peer)
    // Read the value back, because the device may store something else.
    if attribute?.properties?.contains(.read) ?? true { _ = try await take(handle, from: connection) }
  }

  func subscribe(_ handle: AttributeHandle, on connection: Connection) async throws {
    guard let item = connection.client.table?.characteristics.first(where: { $0.valueHandle == handle }) else { return }
    try await subscriptions[connection.peer]?.add(item)
    showSubscriptions(of: connection.peer)
    note("Subscribed to \(item.uuid)", of: connection.peer)
    await refresh(item, connection)
  }

  func unsubscribe(_ handle: AttributeHandle, on connection: Connection) async throws {
    guard let values = subscriptions[connection.peer], let item = values.characteristics.first(where: { $0.valueHandle == handle }) else {
      return
    }
    defer { showSubscriptions(of: connection.peer) }
    try await values.remove(item)
    note("Unsubscribed from \(item.uuid)", of: connection.peer)
    await refresh(item, connection)
  }

  /// Reads the Client Characteristic Configuration again, which a subscription changes.
  private func refresh(_ item: Characteristic, _ connection: Connection) async {
    guard let descriptor = item.clientConfiguration, browser.peers[connection.peer]?.values[descriptor.handle] != nil else { return }
    _ = try? await take(descriptor.handle, from: connection)
  }
}

import ATT
import Bluetooth
import EventLoop
import GATT
import Operations

/// What the browser asks of a device's attributes.
extension BrowserSession {
  /// Its services, what their descriptors say, and their values; what was subscribed to before the link was lost is subscribed to again.
  func look(into connection: Connection) async throws {
    let peer = connection.peer
    let table = try await connection.client.discover()
    browser.discovered(table, of: peer)
    changed()
    let wanted = browser.peers[peer]?.subscribed ?? []
    browser.peers[peer]?.subscribed = []
    subscriptions[peer] = [:]
    for handle in wanted.sorted() { try await refusable(peer) { try await $0.subscribe(handle, on: connection) } }
    try await readAll(from: connection)
  }

  /// One value after the other, so that they are seen as they come.
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

  /// A value that the peer refuses is shown as that.
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
      "wrote \(Quantity.octets(octets.count)) to \(attribute?.uuid?.description ?? handle.description) by \(plan.mode.rawValue), in "
        + Quantity.segments(plan.segments.count), of: connection.peer)
    // What it is now is what the device says, not what was sent.
    if attribute?.properties?.contains(.read) ?? true { _ = try await take(handle, from: connection) }
  }

  func subscribe(_ handle: AttributeHandle, on connection: Connection) async throws {
    guard let item = connection.client.table?.characteristics.first(where: { $0.valueHandle == handle }) else { return }
    guard subscriptions[connection.peer]?[handle] == nil else { return }
    let subscription = try await connection.client.subscribe(item, keepingValues: false)
    subscriptions[connection.peer, default: [:]][handle] = subscription
    browser.peers[connection.peer]?.subscribed.insert(handle)
    note("subscribed to \(item.uuid)", of: connection.peer)
    await refresh(item, connection)
  }

  func unsubscribe(_ handle: AttributeHandle, on connection: Connection) async throws {
    browser.peers[connection.peer]?.subscribed.remove(handle)
    guard let subscription = subscriptions[connection.peer]?.removeValue(forKey: handle) else { return }
    try await subscription.cancel()
    note("no longer subscribed to \(subscription.characteristic.uuid)", of: connection.peer)
    await refresh(subscription.characteristic, connection)
  }

  /// The Client Characteristic Configuration has changed with it.
  private func refresh(_ item: Characteristic, _ connection: Connection) async {
    guard let descriptor = item.clientConfiguration, browser.peers[connection.peer]?.values[descriptor.handle] != nil else { return }
    _ = try? await take(descriptor.handle, from: connection)
  }

  private func refusable(_ peer: PeerAddress, _ body: @LoopActor (BrowserSession) async throws -> Void) async throws {
    do { try await body(self) } catch let error as GATTError { problem(error, of: peer) }
  }
}

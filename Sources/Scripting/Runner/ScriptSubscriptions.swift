import BluetoothLE

/// The subscriptions that a script made for `expect`. A disconnection or `unsubscribe` ends them.
@LoopActor
final class ScriptSubscriptions {
  private weak var client: Client?
  private var handles: [AttributeHandle: Subscription] = [:]

  /// Subscribes to a characteristic, unless the client already has a subscription.
  /// - Returns: Whether the subscription is new.
  /// - Throws: The errors of `Client.subscribe`.
  func add(_ characteristic: Characteristic, _ client: Client) async throws -> Bool {
    if self.client !== client { (self.client, handles) = (client, [:]) }
    // `expect` may use a field of the decoded value.
    try? await client.readDescription(of: characteristic)
    if client.isSubscribed(to: characteristic) { return false }
    handles[characteristic.valueHandle] = try await client.subscribe(characteristic, keepingValues: false)
    return true
  }

  /// Cancels the subscriptions that the script made.
  /// - Throws: The errors of `Subscription.cancel`.
  func end() async throws {
    let ending = handles.values
    handles = [:]
    for subscription in ending { try await subscription.cancel() }
  }
}

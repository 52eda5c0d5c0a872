import ATT
import Bluetooth
import EventLoop
import GATT

/// What a script has subscribed to because it expects something of it: as long as the link.
@LoopActor
final class ScriptSubscriptions {
  private weak var client: Client?
  private var handles: [AttributeHandle: Subscription] = [:]

  /// - Returns: whether it is subscribed to only now.
  /// - Throws: as `Client.subscribe`.
  func add(_ characteristic: Characteristic, _ client: Client) async throws -> Bool {
    if self.client !== client { (self.client, handles) = (client, [:]) }
    if let subscription = handles[characteristic.valueHandle], !subscription.isGone { return false }
    let isLate = !client.isSubscribed(to: characteristic)
    handles[characteristic.valueHandle] = try await client.subscribe(characteristic, keepingValues: false)
    return isLate
  }
}

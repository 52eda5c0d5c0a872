import ATT
import Bluetooth
import EventLoop
import GATT

/// What an ATTR of the command line stands for on the connected peer.
@LoopActor
struct Target {
  let handle: AttributeHandle
  let uuid: UUID?
  /// Nil when the handle was named and nothing was discovered, or for descriptors.
  let characteristic: Characteristic?

  /// A plain handle needs no discovery: the user knows.
  static func find(_ selector: Selector, _ client: Client) async throws -> Target {
    if let handle = selector.plainHandle, client.table == nil { return Target(handle: handle, uuid: nil, characteristic: nil) }
    return try await discovered(selector, client)
  }

  /// With the characteristic, for whoever needs its properties or descriptors.
  static func discovered(_ selector: Selector, _ client: Client) async throws -> Target {
    let attribute = try await client.discover().resolve(selector)
    return Target(handle: attribute.handle, uuid: attribute.uuid, characteristic: attribute.characteristic)
  }
}

// SPDX-License-Identifier: Apache-2.0
extension Adapter {
  /// Serves a device to centrals while `body` runs. Then it stops advertising, and disconnects the centrals, on every path.
  ///
  /// The device answers centrals by itself: any number at the same time, as far as the controller can. `body` sees what they do, and sends
  /// and changes values. An adapter serves one device at a time, and may also scan and connect. Bonds of centrals are in ``keys``. Their
  /// subscriptions last as long as the adapter.
  ///
  /// In virtual time, the clock stands still while `body` does something else than waiting for the library: see <doc:VirtualTime>.
  /// - Parameters:
  ///   - device: The device.
  ///   - body: The work as this device. It runs on the actor of the caller.
  /// - Returns: The result of `body`.
  /// - Throws: ``BluetoothError/Reason/invalidArgument`` if the device cannot be as it is described, ``BluetoothError/Reason/unsupported`` if
  ///   the adapter cannot advertise so, ``BluetoothError/Reason/adapter`` if it serves a device already, other reasons of
  ///   ``BluetoothError``; CancellationError; the error of `body`.
  public func serve<Value>(_ device: LocalDevice, _ body: (LocalDevice.Server) async throws -> Value) async throws -> Value {
    try await EventLoop.shared.call(
      for: self, opening: { try await BluetoothError.wrapping { try await LocalDevice.Server(device, on: self) } },
      closing: { await $0.end() }, body: body)
  }

  /// Returns the centrals with bonds, and those that the system has paired.
  @LoopActor func bondedCentrals(of identity: PeerAddress?) -> [BondedCentral] {
    centrals.filter { $0.bond == nil }
      + (identity.map { bonds.bonds(of: $0) } ?? []).map { stored in
        var central =
          centrals.first { $0.identity == stored.bond.identity }
          ?? BondedCentral(identity: stored.bond.identity, bond: nil, databaseHash: [])
        central.bond = stored.bond
        return central
      }
  }

  /// Keeps bonded centrals, and their new bonds in the key ring.
  @LoopActor func keep(_ centrals: [BondedCentral], of identity: PeerAddress?) {
    self.centrals = centrals
    guard let identity else { return }
    let old = bonds.bonds(of: identity).map(\.bond)
    bonds.add(
      centrals.compactMap(\.bond).filter { !old.contains($0) }.map {
        StoredBond($0, of: identity, created: EventLoop.shared.wallClock, name: nil)
      })
  }
}

// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The keys of bonded devices. Keep its text in a file that only its owner can read: the keys decrypt the links.
///
/// A bond belongs to the address of the adapter that paired. Several adapters may share one key ring.
public final class KeyRing: Sendable {
  private let bonds = Guarded<[StoredBond]>([])
  private let changed: @Sendable (String) -> Void

  /// Creates a key ring.
  /// - Parameters:
  ///   - text: The ``text`` of an earlier key ring. An empty text means no bonds.
  ///   - onChange: Receives the new text after each change, on any thread.
  /// - Throws: ``BluetoothError/Reason/invalidArgument`` if the text is not that of a key ring.
  public init(_ text: String = "", onChange: @escaping @Sendable (String) -> Void = { _ in }) throws {
    changed = onChange
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
    do {
      let found = try lines.map { try StoredBond(JSONTree.parse(Array($0))) }
      bonds.withLock { $0 = found }
    } catch { throw BluetoothError(.invalidArgument, "The text is not that of a key ring: \(error).", error) }
  }

  /// Creates an empty key ring, which keeps bonds only in memory.
  public init() { changed = { _ in } }

  /// The bonds as text, one line of JSON each, for ``init(_:onChange:)``. It contains the secret keys.
  public var text: String { Self.text(of: bonds.withLock { $0 }) }

  /// The identity addresses of the bonded devices.
  public var peripherals: [Peripheral] { bonds.withLock { $0.map { Peripheral($0.bond.identity) } } }

  /// Removes the bond with a device, by its identity address. Open links keep their encryption.
  /// - Returns: False if there was none.
  @discardableResult
  public func remove(_ peripheral: Peripheral) -> Bool {
    let (isRemoved, text) = bonds.withLock {
      let count = $0.count
      $0.removeAll { $0.bond.identity == peripheral.peer }
      return ($0.count < count, Self.text(of: $0))
    }
    if isRemoved { changed(text) }
    return isRemoved
  }

  fileprivate func all(of adapter: PeerAddress) -> [StoredBond] { bonds.withLock { $0.filter { $0.adapter == adapter } } }

  fileprivate func add(_ new: [StoredBond]) {
    let text = bonds.withLock { bonds in
      for bond in new {
        bonds.removeAll { bond.replaces($0) }
        bonds.append(bond)
      }
      return Self.text(of: bonds)
    }
    changed(text)
  }

  private static func text(of bonds: [StoredBond]) -> String {
    bonds.map {
      var json = RecordWriter()
      $0.write(&json)
      return String(decoding: json.finished(), as: UTF8.self)
    }.joined()
  }
}

/// A key ring as sessions use it.
@LoopActor
final class KeyRingBonds: BondKeeper {
  private let ring: KeyRing

  nonisolated init(_ ring: KeyRing) { self.ring = ring }

  func bond(of adapter: PeerAddress, with peer: PeerAddress) throws -> StoredBond? {
    let all = ring.all(of: adapter)
    return all.first { $0.bond.identity == peer }
      ?? IdentityResolver(all.identityKeys).identity(of: peer).flatMap { identity in
        all.first { $0.bond.identity == identity.address }
      }
  }

  func bonds(of adapter: PeerAddress) throws -> [StoredBond] { ring.all(of: adapter) }

  func add(_ bonds: [StoredBond]) throws { ring.add(bonds) }
}

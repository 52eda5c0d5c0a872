// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The keys of bonded devices. Keep its text in a file that only its owner can read: the keys decrypt the links.
///
/// A bond belongs to the address of the adapter that paired. Several adapters may share one key ring.
public final class KeyRing: Sendable {
  private struct State {
    var bonds: [StoredBond] = []
    /// The texts after the changes that `changed` has not received yet, and whether a thread is delivering them.
    var texts: [String] = []
    var isDelivering = false

    /// Returns the next text, or nil if there is none. The caller must be the thread that delivers.
    mutating func nextText() -> String? {
      isDelivering = !texts.isEmpty
      return isDelivering ? texts.removeFirst() : nil
    }
  }

  private let state = Guarded(State())
  private let changed: @Sendable (String) -> Void

  /// Creates a key ring.
  /// - Parameters:
  ///   - text: The ``text`` of an earlier key ring. An empty text means no bonds.
  ///   - onChange: Receives the new text after each change: one text at a time, in the order of the changes. The key ring already has
  ///     the bond, so `onChange` cannot refuse it. It runs on any thread, and during a pairing on that of the library, which stands still
  ///     meanwhile. So it must return quickly, and must not wait for a call of an adapter or a connection. It may use the key ring: the
  ///     texts of its own changes follow after it has returned.
  /// - Throws: ``BluetoothError/Reason/invalidArgument`` if the text is not that of a key ring.
  public init(_ text: String = "", onChange: @escaping @Sendable (String) -> Void = { _ in }) throws {
    changed = onChange
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
    do {
      let found = try lines.map { try StoredBond(JSONTree.parse(Array($0))) }
      state.withLock { $0.bonds = found }
    } catch { throw BluetoothError(.invalidArgument, "The text is not that of a key ring: \(error).", error) }
  }

  /// Creates an empty key ring, which keeps bonds only in memory.
  public init() { changed = { _ in } }

  /// The bonds as text, one line of JSON each, for ``init(_:onChange:)``. It contains the secret keys.
  public var text: String { Self.text(of: state.withLock { $0.bonds }) }

  /// The identity addresses of the bonded devices, each once.
  public var peripherals: [Peripheral] {
    state.withLock { $0.bonds }.reduce(into: []) { found, bond in
      let peripheral = Peripheral(bond.bond.identity)
      if !found.contains(peripheral) { found.append(peripheral) }
    }
  }

  /// Removes the bond with a device, by its identity address. Open links keep their encryption.
  /// - Returns: False if there was none.
  @discardableResult
  public func remove(_ peripheral: Peripheral) -> Bool {
    change { bonds in
      let count = bonds.count
      bonds.removeAll { $0.bond.identity == peripheral.peer }
      return bonds.count < count
    }
  }

  fileprivate func all(of adapter: PeerAddress) -> [StoredBond] { state.withLock { $0.bonds.filter { $0.adapter == adapter } } }

  fileprivate func add(_ new: [StoredBond]) {
    _ = change { bonds in
      for bond in new {
        bonds.removeAll { bond.replaces($0) }
        bonds.append(bond)
      }
      return true
    }
  }

  /// Changes the bonds, and delivers the text if `body` returns that they differ. A thread that already delivers takes over the text,
  /// so that the last call of `changed` has the last text.
  /// - Returns: The result of `body`.
  private func change(_ body: (inout [StoredBond]) -> Bool) -> Bool {
    let (isChanged, delivers) = state.withLock { state in
      let isChanged = body(&state.bonds)
      if isChanged { state.texts.append(Self.text(of: state.bonds)) }
      let delivers = isChanged && !state.isDelivering
      if delivers { state.isDelivering = true }
      return (isChanged, delivers)
    }
    // Outside of the lock, because the callee may use the key ring.
    if delivers { while let text = state.withLock({ $0.nextText() }) { changed(text) } }
    return isChanged
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

  func bond(of adapter: PeerAddress, with peer: PeerAddress) -> StoredBond? {
    let all = ring.all(of: adapter)
    return all.first { $0.bond.identity == peer }
      ?? IdentityResolver(all.identityKeys).identity(of: peer).flatMap { identity in
        all.first { $0.bond.identity == identity.address }
      }
  }

  func bonds(of adapter: PeerAddress) -> [StoredBond] { ring.all(of: adapter) }

  func add(_ bonds: [StoredBond]) { ring.add(bonds) }
}

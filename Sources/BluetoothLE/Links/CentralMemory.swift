// SPDX-License-Identifier: Apache-2.0
/// The memory of a device on a radio about its bonded centrals: their keys, their subscriptions, and the attributes that they know.
@LoopActor
package final class CentralMemory {
  /// The bonded centrals, the oldest first.
  package private(set) var centrals: [BondedCentral]
  /// The handler that runs after each change of `centrals`.
  package var onChange: (@LoopActor () -> Void)?
  /// The handler of a central that the system has paired, because it has no Security Manager.
  package var onSystemPairing: (@LoopActor (PeerAddress) -> Void)?
  /// The handler of each restored subscription, with the value handle and the bits: bit 0 notifications, bit 1 indications.
  package var onRestored: (@LoopActor (AttributeHandle, UInt16, PeerAddress) -> Void)?

  private let store: AttributeStore
  /// The bonded centrals on encrypted links, by address on the link.
  private var known: [PeerAddress: (server: Server, identity: PeerAddress)] = [:]
  private static let mostCentrals = 256

  /// - Parameter store: The attributes of the device.
  package init(_ centrals: [BondedCentral], of store: AttributeStore) { (self.centrals, self.store) = (centrals, store) }

  /// Returns the keys of a central that may have this address on its link. Nil without a bond.
  package func bond(of peer: PeerAddress) -> Bond? { centrals.first { $0.mayBe(peer) }?.bond }

  package func forgetAll() {
    (centrals, known) = ([], [:])
    onChange?()
  }

  /// Ends the link of a central. Its next link may have another address.
  package func disconnected(_ peer: PeerAddress) { known[peer] = nil }

  /// Stores the subscriptions and the features of a bonded central.
  package func remember(_ peer: PeerAddress) {
    guard let (server, identity) = known[peer], let index = centrals.firstIndex(where: { $0.identity == identity }) else { return }
    let subscriptions = server.configurations.filter { $0.value != 0 }.sorted { $0.key < $1.key }.compactMap { handle, bits in
      store.database[handle].map { BondedCentral.Subscription(handle: handle, uuid: $0.type, bits: bits) }
    }
    var central = centrals[index]
    (central.subscriptions, central.features) = (subscriptions, server.clientFeatures)
    guard central != centrals[index] else { return }
    centrals[index] = central
    onChange?()
  }

  /// Recognizes the central of a link that is encrypted now, and restores its subscriptions.
  /// - Parameters:
  ///   - manager: The Security Manager of the link. Nil if the system has it.
  ///   - pairing: The pairing that has just ended. Nil without one.
  ///   - systemPairs: Whether the system pairs without a result. An unknown central then counts as bonded.
  package func secured(
    _ server: Server, _ peer: PeerAddress, _ manager: SecurityManager?, _ pairing: PairingResult?, systemPairs: Bool
  ) {
    if let bond = pairing?.bond {
      // A device can claim any identity: a weaker bond replaces none.
      if let old = centrals.first(where: { $0.identity == bond.identity })?.bond, bond.isWeaker(than: old) { return }
      // The central has discovered the attributes on this link, or will.
      centrals.removeAll { $0.identity == bond.identity }
      add(BondedCentral(identity: bond.identity, bond: bond, databaseHash: store.database.databaseHash))
      known[peer] = (server, bond.identity)
      onChange?()
    } else if known[peer] == nil, pairing == nil {
      if systemPairs, !centrals.contains(where: { $0.mayBe(peer) }) {
        add(BondedCentral(identity: peer, bond: nil, databaseHash: store.database.databaseHash))
        onSystemPairing?(peer)
        onChange?()
      }
      guard let central = centrals.first(where: { $0.mayBe(peer) }), manager == nil || manager?.bond != nil else { return }
      known[peer] = (server, central.identity)
      // Not those that the central has written on this link.
      for (handle, bits) in central.bits(in: store.database).sorted(by: { $0.key < $1.key }) where server.configurations[handle] == nil {
        server.configurations[handle] = bits
        onRestored?(handle, bits, peer)
      }
      server.clientFeatures = server.clientFeatures ?? central.features
      if central.databaseHash != store.database.databaseHash { indicateChange(to: server, peer) }
    }
    remember(peer)
  }

  /// Adds a bonded central, in place of the oldest one if there are too many.
  private func add(_ central: BondedCentral) {
    if centrals.count >= Self.mostCentrals { centrals.removeFirst() }
    centrals.append(central)
  }

  /// Tells a central that the attributes differ from those that it knows (Vol 3 Part G §7.1). Until it has learned of the change, the
  /// server refuses requests with old handles, if the central announced robust caching.
  package func indicateChange(to server: Server, _ peer: PeerAddress) {
    let (hash, identity) = (store.database.databaseHash, known[peer]?.identity)
    server.isAware = false
    server.onAware = { [weak self, weak server] in self?.learned(hash, identity, server) }
    guard let attribute = store.database.attributes.first(where: { $0.type == .serviceChanged }),
      let confirmation = server.indicateWhenFree(attribute.handle, [0x01, 0x00, 0xFF, 0xFF])
    else { return }
    EventLoop.shared.spawn { [weak self, weak server] in
      if (try? await confirmation.value()) == true { self?.learned(hash, identity, server) }
    }
  }

  /// Notes that a central knows the attributes with this hash, which may have changed again.
  private func learned(_ hash: [UInt8], _ identity: PeerAddress?, _ server: Server?) {
    if hash == store.database.databaseHash { server?.isAware = true }
    guard let index = centrals.firstIndex(where: { $0.identity == identity }) else { return }
    centrals[index].databaseHash = hash
    onChange?()
  }
}

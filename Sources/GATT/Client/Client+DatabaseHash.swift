import ATT

/// A database that was discovered, with the peer's hash over it: on another link to the same peer the hash says whether it is still true.
package struct KnownDatabase: Hashable, Sendable {
  package let table: AttributeTable
  /// 16 octets.
  package let hash: [UInt8]
}

/// The Database Hash characteristic (Vol 3 Part G §7.3).
extension Client {
  enum DatabaseHash: Equatable {
    case notRead
    /// The peer has none, or does not give it.
    case none
    case known([UInt8])
  }

  /// What can be taken over on the next link; nil when nothing was discovered, some of it has changed, or the peer has no hash.
  package var knownDatabase: KnownDatabase? {
    guard case .known(let hash) = databaseHash, let table, stale.isEmpty else { return nil }
    return KnownDatabase(table: table, hash: hash)
  }

  /// Uses a database of an earlier link instead of discovery, if the peer's hash is the same.
  /// - Returns: false: it has to be discovered.
  /// - Throws: what ends the link or the task.
  package func takeOver(_ known: KnownDatabase) async throws -> Bool {
    guard try await readDatabaseHash() == .known(known.hash) else { return false }
    table = known.table
    stale = []
    databaseHash = .known(known.hash)
    if followsServiceChanges { try await subscribeToServiceChanged() }
    return true
  }

  /// What a session that stays open asks for once after discovery: a single step has no use for it, and would pay for the round trips.
  func follow(_ table: AttributeTable) async throws {
    guard followsServiceChanges else { return }
    try await subscribeToServiceChanged()
    guard databaseHash == .notRead else { return }
    // After the subscription: a change from here on is indicated.
    let hash = table.characteristics.contains { $0.uuid == .databaseHash } ? try await readDatabaseHash() : .none
    if self.table != nil, stale.isEmpty { databaseHash = hash }
  }

  /// Read Using Characteristic UUID, because its handle may be another one when the database is (§7.3). A peer that answers with nonsense has none.
  private func readDatabaseHash() async throws -> DatabaseHash {
    do {
      guard case .readByType(let items) = try await bearer.request(.readByType(.all, type: .databaseHash)), items.count == 1,
        let value = items.first?.value, value.count == 16
      else { return .none }
      return .known(value)
    } catch ATTError.violation where closed == nil {
      return .none
    }
  }
}

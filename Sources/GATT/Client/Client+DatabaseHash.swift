import ATT

/// A discovered database and its Database Hash. On a later link to the same peer, an equal hash proves that the database is unchanged.
package struct KnownDatabase: Hashable, Sendable {
  package let table: AttributeTable
  /// The 16-byte Database Hash.
  package let hash: [UInt8]
}

/// The Database Hash characteristic (Vol 3 Part G §7.3).
extension Client {
  enum DatabaseHash: Equatable {
    case notRead
    /// The peer has no Database Hash, or refuses to read it.
    case none
    case known([UInt8])
  }

  /// The database to reuse on the next link. Nil before discovery, after a change, or if the peer has no hash.
  package var knownDatabase: KnownDatabase? {
    guard case .known(let hash) = databaseHash, let table, stale.isEmpty else { return nil }
    return KnownDatabase(table: table, hash: hash)
  }

  /// Uses the database of an earlier link instead of discovery, if the peer still has the same hash.
  /// - Returns: false if discovery is necessary.
  /// - Throws: the error that closed the link, CancellationError.
  package func takeOver(_ known: KnownDatabase) async throws -> Bool {
    guard try await readDatabaseHash() == .known(known.hash) else { return false }
    table = known.table
    stale = []
    databaseHash = .known(known.hash)
    if followsServiceChanges { try await subscribeToServiceChanged() }
    return true
  }

  /// Subscribes to Service Changed and reads the hash after discovery, in sessions that stay open. A single step skips these round trips.
  func follow(_ table: AttributeTable) async throws {
    guard followsServiceChanges else { return }
    try await subscribeToServiceChanged()
    guard databaseHash == .notRead else { return }
    // Read the hash after the subscription: from here on, the peer indicates a change.
    let hash = table.characteristics.contains { $0.uuid == .databaseHash } ? try await readDatabaseHash() : .none
    if self.table != nil, stale.isEmpty { databaseHash = hash }
  }

  /// Reads by characteristic UUID, because a changed database may have moved the handle (§7.3). Treats an invalid answer as no hash.
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

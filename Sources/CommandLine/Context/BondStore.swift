import BluetoothLELinux

/// The key store: one file per identity address of an adapter, which only the user can read, in `$XDG_STATE_HOME/blectl/bonds`.
@LoopActor
package final class BondStore: BondKeeper {
  /// The largest file that blectl reads: about 4,000 bonds.
  private static let limit = 1 << 20

  private let folder: String?

  /// - Parameter folder: An absolute path. Nil if the environment names no folder for state.
  package nonisolated init(folder: String?) { self.folder = folder }

  // MARK: BondKeeper

  package func bond(of adapter: PeerAddress, with peer: PeerAddress) throws -> StoredBond? {
    let stored = try bonds(of: adapter)
    return stored.first { $0.bond.identity == peer } ?? stored.first { $0.bond.isOf(peer) }
  }

  package func bonds(of adapter: PeerAddress) throws -> [StoredBond] { try path(adapter).map(read) ?? [] }

  package func add(_ bonds: [StoredBond]) throws {
    for (adapter, new) in Dictionary(grouping: bonds, by: \.adapter).sorted(by: { "\($0.key)" < "\($1.key)" }) {
      try update(adapter) { bonds in
        for bond in new {
          bonds.removeAll { bond.replaces($0) }
          bonds.append(bond)
        }
      }
    }
  }

  // MARK: All adapters

  /// Returns the bonds of all adapters, sorted by time.
  package func all() throws -> [StoredBond] {
    guard let folder else { return [] }
    let files = FolderNames.list(folder, home: nil).filter { name in
      ["-public.json", "-random.json"].contains { name.hasSuffix($0) && Address(name.dropLast($0.count)) != nil }
    }
    return try files.sorted().flatMap { try read("\(folder)/\($0)") }.sorted { $0.created < $1.created }
  }

  package func remove(_ entries: [StoredBond]) throws {
    for adapter in Set(entries.map(\.adapter)) {
      try update(adapter) { $0.removeAll { bond in entries.contains { $0.replaces(bond) } } }
    }
  }

  /// Returns the static random address of our adapter in the oldest bond that has one. A controller without a public address takes it:
  /// bonds belong to an address, and a new one in each process would lose them. Nil if all our bonds have public addresses.
  func staticAddress() throws -> Address? { try all().first { $0.adapter.type == .random }?.adapter.address }

  // MARK: Files

  private func path(_ adapter: PeerAddress) -> String? { folder.map { "\($0)/\(adapter.address)-\(adapter.type.rawValue).json" } }

  private func read(_ path: String) throws -> [StoredBond] {
    try InputFile.readIfThere(path, limit: Self.limit, isOwn: true).map { try Self.parse($0, path, isStore: true) } ?? []
  }

  private func update(_ adapter: PeerAddress, _ change: (inout [StoredBond]) -> Void) throws {
    guard let path = path(adapter) else {
      throw Failure(.output, "Cannot store the bond: neither XDG_STATE_HOME nor HOME is set.")
    }
    try StateFile.update(path, limit: Self.limit) { contents in
      let old = contents.isEmpty ? [] : try Self.parse(contents, path, isStore: true)
      var new = old
      change(&new)
      return new == old ? nil : Self.file(new)
    }
  }

  /// Returns the contents of a file of the store, or of an exported file.
  package static func file(_ bonds: [StoredBond]) -> [UInt8] {
    var json = RecordWriter()
    json.objects("bonds", bonds) { $1.write(&$0) }
    return json.finished()
  }

  /// - Throws: `Failure(.input)` for the first mistake. A file with one invalid bond is not rewritten, so that no key gets lost.
  /// - Parameter isStore: Whether the file belongs to the store, so that only the user can repair it.
  package static func parse(_ contents: [UInt8], _ path: String, isStore: Bool = false) throws(Failure) -> [StoredBond] {
    do throws(JSONTree.Failure) {
      let tree = try JSONTree.parse(contents)
      guard case .array(let items)? = tree["bonds"]?.kind else { throw tree.failure("bonds: Expected a list") }
      return try items.map { item throws(JSONTree.Failure) in try StoredBond(item) }
    } catch {
      var failure = Failure(.input, "\(path):\(error.line): \(error.reason)")
      if isStore {
        failure.add("Restore the file from a copy. Or remove it and pair with its devices again: rm \(ShellWords.quoteForShell(path))")
      }
      throw failure
    }
  }
}

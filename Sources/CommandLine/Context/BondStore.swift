package import Bluetooth
package import EventLoop
import LinuxIO
import Operations
package import Presentation
package import SMP
import Text

/// The key store: one file per identity address of an adapter, which only the user can read, in `$XDG_STATE_HOME/blectl/bonds`.
@LoopActor
package final class BondStore: BondKeeper {
  /// A bond with the identity address of the adapter that it belongs to.
  package struct Entry: Sendable {
    package let adapter: PeerAddress
    package let stored: StoredBond

    package init(adapter: PeerAddress, stored: StoredBond) { (self.adapter, self.stored) = (adapter, stored) }
  }

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

  package func keep(_ bond: StoredBond, of adapter: PeerAddress) throws {
    try add([Entry(adapter: adapter, stored: bond)])
  }

  // MARK: All adapters

  /// Returns the bonds of all adapters, sorted by time.
  package func all() throws -> [Entry] {
    guard let folder else { return [] }
    return try FolderNames.list(folder, home: nil).compactMap(Self.adapter).sorted { $0.description < $1.description }
      .flatMap { adapter in try bonds(of: adapter).map { Entry(adapter: adapter, stored: $0) } }.sorted {
        $0.stored.created < $1.stored.created
      }
  }

  package func bonds(of adapter: PeerAddress) throws -> [StoredBond] {
    guard let path = path(adapter), let contents = try InputFile.readIfThere(path, limit: Self.limit) else { return [] }
    return try Self.parse(contents, path)
  }

  /// Stores bonds, and replaces those with the same identity on the same adapter.
  package func add(_ entries: [Entry]) throws {
    for (adapter, entries) in Dictionary(grouping: entries, by: \.adapter).sorted(by: { "\($0.key)" < "\($1.key)" }) {
      try update(adapter) { bonds in
        for entry in entries {
          bonds.removeAll { entry.stored.replaces($0) }
          bonds.append(entry.stored)
        }
      }
    }
  }

  package func remove(_ entries: [Entry]) throws {
    for adapter in Set(entries.map(\.adapter)) {
      try update(adapter) { bonds in
        bonds.removeAll { bond in entries.contains { $0.adapter == adapter && $0.stored.replaces(bond) } }
      }
    }
  }

  /// Returns the static random address of our adapter in the oldest bond that has one. A controller without a public address takes it:
  /// bonds belong to an address, and a new one in each process would lose them. Nil if all our bonds have public addresses.
  func staticAddress() throws -> Address? { try all().first { $0.adapter.type == .random }?.adapter.address }

  // MARK: Files

  private func update(_ adapter: PeerAddress, _ change: (inout [StoredBond]) -> Void) throws {
    guard let path = path(adapter) else {
      throw Failure(.output, "Cannot store the bond: neither XDG_STATE_HOME nor HOME is set.")
    }
    try StateFile.update(path, limit: Self.limit) { contents in
      let old = contents.isEmpty ? [] : try Self.parse(contents, path)
      var new = old
      change(&new)
      return new == old ? nil : Self.file(new)
    }
  }

  static func file(_ bonds: [StoredBond]) -> [UInt8] {
    var json = RecordWriter()
    json.objects("bonds", bonds) { $1.write(&$0) }
    return json.finished()
  }

  /// - Throws: `Failure(.input)`. A file with one invalid bond is not rewritten, so that no key gets lost.
  static func parse(_ contents: [UInt8], _ path: String) throws(Failure) -> [StoredBond] {
    do throws(Failure) { return try parse(contents, path) { item throws(StoredBond.Fault) in try StoredBond(item) } } catch {
      var failure = error
      failure.add("Restore the file from a copy. Or remove it and pair with its devices again: rm \(ShellWords.quoteForShell(path))")
      throw failure
    }
  }

  private static func parse<T>(
    _ contents: [UInt8], _ path: String, _ entry: (JSONTree) throws(StoredBond.Fault) -> T
  ) throws(Failure) -> [T] {
    do {
      let tree = try JSONTree.parse(contents)
      guard case .array(let items)? = tree["bonds"]?.kind else { throw StoredBond.Fault(line: 1, reason: "bonds: Expected a list") }
      return try items.map { item throws(StoredBond.Fault) in try entry(item) }
    } catch let error as JSONTree.Failure {
      throw Failure(.input, "\(path):\(error.line): \(error.reason)")
    } catch let fault as StoredBond.Fault { throw Failure(.input, "\(path):\(fault.line): \(fault.reason)") } catch {
      throw Failure(error)
    }
  }

  // MARK: Export

  /// Returns the contents of an exported file: bonds with their keys and adapters.
  package static func export(_ entries: [Entry]) -> [UInt8] {
    var json = RecordWriter()
    json.objects("bonds", entries) {
      $0.address("adapter", $1.adapter.address)
      $0.string("adapter_type", $1.adapter.type.rawValue)
      $1.stored.write(&$0)
    }
    return json.finished()
  }

  /// Parses an exported file.
  /// - Throws: `Failure(.input)` for the first mistake.
  package static func entries(_ contents: [UInt8], _ path: String) throws(Failure) -> [Entry] {
    try parse(contents, path) { item throws(StoredBond.Fault) in
      guard let address = item["adapter"]?.string.flatMap({ Address($0) }),
        let type = item["adapter_type"]?.string.flatMap(AddressType.init(rawValue:))
      else { throw StoredBond.Fault(line: item.line, reason: "adapter: Expected adapter and adapter_type") }
      return Entry(adapter: PeerAddress(address, type), stored: try StoredBond(item))
    }
  }

  private func path(_ adapter: PeerAddress) -> String? { folder.map { "\($0)/\(adapter.address)-\(adapter.type.rawValue).json" } }

  private static func adapter(_ file: String) -> PeerAddress? {
    guard file.hasSuffix(".json") else { return nil }
    let parts = file.dropLast(5).split(separator: "-")
    guard parts.count == 2, let address = Address(parts[0]), let type = AddressType(rawValue: String(parts[1])) else { return nil }
    return PeerAddress(address, type)
  }
}

import BluetoothLELinux
import BluetoothLESimulator
import CommandLine

/// The memory of served devices about bonded centrals: the keys are in the key store, the rest in `$XDG_STATE_HOME/blectl/centrals`.
@LoopActor
struct CentralStore {
  private let path: String?
  private let adapter: PeerAddress?
  /// The largest file that blectl reads.
  private static let limit = 1 << 20

  init(_ configuration: Configuration, adapter: PeerAddress?) { (path, self.adapter) = (configuration.centralsPath, adapter) }

  /// Returns the bonded centrals of the adapter.
  /// - Throws: `Failure` for a file that is not as `keep` writes it; FileError.
  func centrals(_ bonds: BondStore) throws -> [BondedCentral] {
    guard let adapter else { return [] }
    let keys = try bonds.bonds(of: adapter)
    return try entries().compactMap { entry in
      guard entry.adapter == adapter else { return nil }
      if entry.isSystems { return entry.central }
      guard let bond = keys.first(where: { $0.bond.identity == entry.central.identity })?.bond else { return nil }
      var central = entry.central
      central.bond = bond
      return central
    }
  }

  /// Stores the bonded centrals of the adapter in place of the earlier ones. Removes the keys of those that are no longer among them: the
  /// kernel would get them again.
  func keep(_ centrals: [BondedCentral], _ bonds: BondStore) throws {
    guard let adapter, let path else { return }
    let old = try bonds.bonds(of: adapter)
    try bonds.add(
      centrals.compactMap(\.bond).filter { bond in !old.contains { $0.bond == bond } }.map {
        StoredBond($0, of: adapter, created: EventLoop.shared.wallClock, name: nil)
      })
    let left = centrals.map(\.identity)
    let forgotten = try entries().filter { $0.adapter == adapter && !left.contains($0.central.identity) }.map(\.central.identity)
    try bonds.remove(old.filter { forgotten.contains($0.bond.identity) })
    try StateFile.update(path, limit: Self.limit) { bytes in
      let others = entries(bytes).filter { $0.adapter != adapter }
      let all = others + centrals.map { (adapter, $0, $0.bond == nil) }
      return all.flatMap { entry in
        var json = RecordWriter()
        Self.write(&json, entry)
        return json.finished()
      }
    }
  }

  /// A central without its keys, which the key store has, or the system.
  private typealias Entry = (adapter: PeerAddress, central: BondedCentral, isSystems: Bool)

  private func entries() throws -> [Entry] {
    guard let path else { return [] }
    return try entries(InputFile.readIfThere(path, limit: Self.limit, isOwn: true) ?? [])
  }

  private static func write(_ json: inout RecordWriter, _ entry: Entry) {
    let central = entry.central
    json.peer("adapter", "adapter_type", entry.adapter)
    json.peer("identity", "identity_type", central.identity)
    if entry.isSystems { json.bool("system_keys", true) }
    json.hex("database_hash", central.databaseHash)
    if let features = central.features { json.hex("features", features) }
    json.objects("subscriptions", central.subscriptions) { json, item in
      json.integer("handle", item.handle.number)
      json.uuid("uuid", item.uuid)
      json.integer("bits", Int(item.bits))
    }
  }

  /// Reads the lines of the file. Skips a line that is not as `write` writes it: its central subscribes again.
  private func entries(_ bytes: [UInt8]) -> [Entry] {
    bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      guard let tree = try? JSONTree.parse(Array(line)), let adapter = Self.peer("adapter", tree),
        let identity = Self.peer("identity", tree),
        let hash = tree["database_hash"]?.string.flatMap({ Hex.decode($0) }), hash.count == 16
      else { return nil }
      var central = BondedCentral(identity: identity, bond: nil, databaseHash: hash)
      central.features = tree["features"]?.string.flatMap { Hex.decode($0) }
      if case .array(let items)? = tree["subscriptions"]?.kind {
        central.subscriptions = items.compactMap { item in
          guard let handle = item["handle"]?.integer.flatMap(UInt16.init(exactly:)), let uuid = item["uuid"]?.string.flatMap({ UUID($0) }),
            let bits = item["bits"]?.integer.flatMap(UInt16.init(exactly:))
          else { return nil }
          return .init(handle: AttributeHandle(rawValue: handle), uuid: uuid, bits: bits)
        }
      }
      return (adapter, central, tree["system_keys"] != nil)
    }
  }

  private static func peer(_ key: String, _ tree: JSONTree) -> PeerAddress? {
    guard let address = tree[key]?.string.flatMap({ Address($0) }),
      let type = tree["\(key)_type"]?.string.flatMap(AddressType.init(rawValue:))
    else { return nil }
    return PeerAddress(address, type)
  }
}

// SPDX-License-Identifier: Apache-2.0
/// A bond as the key store keeps it, with the facts that people recognize it by.
package struct StoredBond: Equatable, Sendable {
  package let bond: Bond
  /// The identity address of the adapter that the bond belongs to.
  package let adapter: PeerAddress
  /// The time of the pairing, in nanoseconds since 1970-01-01T00:00:00Z.
  package let created: Int64
  /// The name of the device at the time of the pairing. Nil if it was unknown.
  package let name: String?

  package init(_ bond: Bond, of adapter: PeerAddress, created: Int64, name: String?) {
    (self.bond, self.adapter, self.created, self.name) = (bond, adapter, created, name)
  }

  /// Whether two bonds belong to the same peer and adapter.
  package func replaces(_ other: StoredBond) -> Bool { bond.identity == other.bond.identity && adapter == other.adapter }

  // MARK: JSON

  /// Writes the members of the bond without its keys.
  package func describe(in json: inout RecordWriter) {
    json.peer("identity", "identity_type", bond.identity)
    json.string("name", name)
    json.time("created", created)
    json.string("method", bond.method.snakeName)
    json.bool("authenticated", bond.security?.isAuthenticated)
    json.bool("secure_connections", bond.security?.isSecureConnections)
    json.integer("key_size", bond.security.map { Int($0.keySize) })
    json.peer("adapter", "adapter_type", adapter)
  }

  /// Writes the members of the bond with its keys, for the file of the key store only.
  package func write(_ json: inout RecordWriter) {
    describe(in: &json)
    if case .passkeyEntry(let role) = bond.method { json.string("displayed_by", role.map(\.name)) }
    json.string("irk", bond.irk.map { Hex.encode($0.bytes) })
    json.objects("keys", bond.keys) { json, key in
      json.hex("key", key.key.bytes)
      json.integer("ediv", Int(key.ediv))
      json.hex("rand", key.rand, bytes: 8)
      json.string("role", key.role?.name)
    }
  }

  /// Reads an entry that `write` has written.
  package init(_ tree: JSONTree) throws(JSONTree.Failure) {
    func fault(_ key: String, _ wanted: String) -> JSONTree.Failure {
      (tree[key] ?? tree).failure("\(key): Expected \(wanted)\(tree[key].map { ", found \($0.noun)" } ?? "")")
    }
    func peer(_ key: String) throws(JSONTree.Failure) -> PeerAddress {
      guard let address = tree[key]?.string.flatMap({ Address($0) }),
        let type = tree["\(key)_type"]?.string.flatMap(AddressType.init(rawValue:))
      else { throw tree.failure("\(key): Expected \(key) and \(key)_type") }
      return PeerAddress(address, type)
    }
    let (adapter, identity) = (try peer("adapter"), try peer("identity"))
    guard let created = tree["created"]?.string.flatMap(Timestamp.nanoseconds) else { throw fault("created", "a time") }
    guard let method = Self.method(tree) else { throw fault("method", "just_works, numeric_comparison or passkey") }
    guard let size = tree["key_size"]?.integer.flatMap(UInt8.init(exactly:)), 7...16 ~= size else { throw fault("key_size", "7 to 16") }
    guard case .bool(let isSecureConnections)? = tree["secure_connections"]?.kind else {
      throw fault("secure_connections", "true or false")
    }
    let security = LinkSecurity(keySize: size, isAuthenticated: method.isAuthenticated, isSecureConnections: isSecureConnections)
    guard case .array(let items)? = tree["keys"]?.kind, !items.isEmpty, items.count <= 2 else { throw fault("keys", "one or two keys") }
    var keys: [LongTermKey] = []
    for item in items {
      guard let key = item["key"]?.string.flatMap(Self.number), let ediv = item["ediv"]?.integer.flatMap(UInt16.init(exactly:)),
        let rand = item["rand"]?.string, rand.utf8.count == 16, let number = Hex.number(rand)
      else { throw item.failure("keys: Expected key, ediv and rand") }
      let role = item["role"]?.string
      guard role == nil || LinkRole(name: role) != nil else { throw item.failure("role: Expected central or peripheral") }
      keys.append(LongTermKey(key: key, ediv: ediv, rand: number, role: LinkRole(name: role), security: security))
    }
    let irk: UInt128?
    switch tree["irk"]?.kind {
    case nil, .null?: irk = nil
    case .string(let digits)? where Self.number(digits) != nil: irk = Self.number(digits)
    default: throw fault("irk", "32 hex digits")
    }
    self.init(
      Bond(identity: identity, irk: irk, keys: keys, method: method), of: adapter, created: created, name: tree["name"]?.string)
  }

  private static func method(_ tree: JSONTree) -> PairingMethod? {
    switch tree["method"]?.string {
    case "just_works": .justWorks
    case "numeric_comparison": .numericComparison
    case "passkey": .passkeyEntry(displayedBy: LinkRole(name: tree["displayed_by"]?.string))
    default: nil
    }
  }

  /// Parses a key of 32 hex digits, the most significant first.
  package static func number(_ digits: String) -> UInt128? {
    guard digits.utf8.count == 32, let high = Hex.number(digits.prefix(16)), let low = Hex.number(digits.suffix(16)) else { return nil }
    return UInt128(high) << 64 | UInt128(low)
  }
}

extension LinkRole {
  fileprivate var name: String { self == .central ? "central" : "peripheral" }

  fileprivate init?(name: String?) {
    guard let role = LinkRole.allCases.first(where: { $0.name == name }) else { return nil }
    self = role
  }
}

extension Bond {
  /// Returns whether an IRK resolves a resolvable private address.
  package static func resolves(_ address: Address, irk: UInt128) -> Bool {
    Toolbox.ah(irk: irk, prand: UInt32(address.rawValue >> 24)) == UInt32(address.rawValue & 0xFF_FFFF)
  }

  /// Returns this bond from the peer's side.
  /// - Parameter own: Our identity address.
  package func seenByPeer(of own: PeerAddress) -> Bond {
    let keys = keys.map { LongTermKey(key: $0.key, ediv: $0.ediv, rand: $0.rand, role: $0.role?.other, security: $0.security) }
    return Bond(identity: own, irk: nil, keys: keys, method: method)
  }

  /// Whether an address is this peer's identity, or a resolvable private address that the IRK resolves (Vol 6 Part B §1.3.2.3).
  package func isOf(_ peer: PeerAddress) -> Bool {
    if peer == identity { return true }
    guard let irk, peer.randomKind == .resolvablePrivate else { return false }
    return Self.resolves(peer.address, irk: irk)
  }
}

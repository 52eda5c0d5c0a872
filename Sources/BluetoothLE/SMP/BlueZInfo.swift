// SPDX-License-Identifier: Apache-2.0
/// A device's file `info` in `/var/lib/bluetooth/ADAPTER/DEVICE`, where bluetoothd keeps the keys of its bonds.
package enum BlueZInfo {
  /// The reason why a file holds no bond that blectl can use.
  package struct Fault: Error, Equatable {
    /// The line of the mistake, from 1. Nil if something is missing.
    package let line: Int?
    package let reason: String

    /// The device has no key for LE.
    package static let withoutKey = Fault(line: nil, reason: "no LE key")
  }

  private typealias Group = [Substring: (value: Substring, line: Int)]

  /// Returns the bond in a file. Keys are in hex there, the least significant byte first; EDIV and Rand are decimal.
  ///
  /// bluetoothd stores no method, so an authenticated bond counts as one with a passkey. It stores no time, either.
  /// - Parameters:
  ///   - identity: The address of the device: the name of the folder that contains the file.
  ///   - adapter: The address of the adapter: the name of the folder above.
  ///   - created: The time of the bond, in nanoseconds since 1970-01-01T00:00:00Z.
  package static func bond(in text: String, of identity: Address, _ adapter: Address, created: Int64) throws(Fault) -> StoredBond {
    let groups = parse(text)
    let isStatic = groups["General"]?["AddressType"]?.value == "static"
    var keys: [LongTermKey] = []
    // The second has had two names.
    for (name, role) in [("LongTermKey", LinkRole.central), ("PeripheralLongTermKey", .peripheral), ("SlaveLongTermKey", .peripheral)] {
      guard let group = groups[Substring(name)] else { continue }
      if let key = try longTermKey(group, role), !keys.contains(key) { keys.append(key) }
    }
    guard let first = keys.first else { throw .withoutKey }
    let method: PairingMethod = first.security.isAuthenticated ? .passkeyEntry(displayedBy: nil) : .justWorks
    let irk = try groups["IdentityResolvingKey"].map { group throws(Fault) in try key(group) }
    let bond = Bond(identity: PeerAddress(identity, isStatic ? .random : .public), irk: irk, keys: Array(keys.prefix(2)), method: method)
    return StoredBond(
      bond, of: PeerAddress(adapter, .public), created: created, name: groups["General"]?["Name"].map { String($0.value) })
  }

  private static func parse(_ text: String) -> [Substring: Group] {
    var groups: [Substring: Group] = [:]
    var name: Substring = ""
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
        name = line[..<end].dropFirst()
      } else if !line.hasPrefix("#"), let sign = line.firstIndex(of: "=") {
        groups[name, default: [:]][line[..<sign]] = (line[sign...].dropFirst(), index + 1)
      }
    }
    return groups
  }

  private static func key(_ group: Group) throws(Fault) -> UInt128 {
    guard let key = group["Key"] else { throw Fault(line: nil, reason: "Key: missing") }
    guard let bytes = Hex.decode(String(key.value)), bytes.count == 16 else {
      throw Fault(line: key.line, reason: "Key: Expected 32 hex digits")
    }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt128($1) }
  }

  /// Returns nil for a key of the debug key pair, which everybody knows.
  private static func longTermKey(_ group: Group, _ role: LinkRole) throws(Fault) -> LongTermKey? {
    func number<T: FixedWidthInteger>(_ name: Substring, _ range: ClosedRange<T>) throws(Fault) -> T {
      guard let found = group[name] else {
        if range.contains(0) { return 0 }
        throw Fault(line: nil, reason: "\(name): missing")
      }
      guard let number = T(found.value), range.contains(number) else {
        throw Fault(line: found.line, reason: "\(name): Expected \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
    // The key types of Load Long Term Keys (0x0013): bit 0 is authenticated, bit 1 is LE Secure Connections, 4 is a debug key.
    let type = try number("Authenticated", UInt8(0)...4)
    let security = LinkSecurity(
      keySize: try number("EncSize", UInt8(7)...16), isAuthenticated: type & 1 != 0, isSecureConnections: type & 2 != 0)
    let key = LongTermKey(
      key: try key(group), ediv: try number("EDiv", 0 ... .max), rand: try number("Rand", 0 ... .max),
      role: security.isSecureConnections ? nil : role, security: security)
    return type == 4 ? nil : key
  }
}

// SPDX-License-Identifier: Apache-2.0
package import BluetoothLEText

/// The previously connected devices and the user's aliases for devices, from a log. A later record overrides an earlier one.
/// The parser ignores invalid lines, which a full disk or another version may leave.
package struct KnownDevices: Sendable, Equatable {
  package struct Device: Sendable, Equatable {
    package var peer: PeerAddress
    /// The device's name. Nil if no search heard a name.
    package var name: UntrustedText?
    /// The selector that found the device. Nil if that selector was an address.
    package var selector: PeerSelector?
    /// The time of the last connection in RFC 3339 format.
    package let time: String
    /// The simulator or recording that contains the device, as an `--adapter` value. Nil means a real radio.
    package let air: String?

    package init(_ peer: PeerAddress, name: UntrustedText?, selector: PeerSelector? = nil, time: String, air: String? = nil) {
      self.peer = peer
      self.name = name
      if case .address? = selector { self.selector = nil } else { self.selector = selector }
      self.time = time
      self.air = air
    }
  }

  /// A user's name for a device in one air.
  private struct Alias: Hashable {
    let name: String
    /// The simulator or recording in which the alias applies. Nil for an alias of real radios, which applies everywhere.
    let air: String?
  }

  private struct Key: Hashable {
    let peer: PeerAddress
    let air: String?
  }

  package enum Record: Sendable, Equatable {
    case connected(Device)
    /// An alias with its name, device and air. A nil device removes the alias.
    case alias(String, PeerSelector?, air: String? = nil)
  }

  /// The devices of all airs, least recently connected first. Beyond `capacity`, the parser drops the least recently connected device.
  package private(set) var devices: [Device] = []
  private var names: [Alias: PeerSelector] = [:]

  /// The maximum number of devices and of aliases. Real radios and all other airs have separate limits.
  package static let capacity = 256

  /// - Parameter identity: Returns the identity address behind a private address. Nil for an unknown device.
  package init(parsing log: [UInt8], identity: (PeerAddress) -> PeerAddress? = { _ in nil }) {
    var (seen, named): (Set<Key>, Set<Alias>) = ([], [])
    // From the end, because later records win.
    for line in log.split(separator: 0x0A).reversed() {
      switch Record(parsing: line) {
      case .connected(var device):
        device.peer = identity(device.peer) ?? device.peer
        if seen.insert(Key(peer: device.peer, air: device.air)).inserted {
          // Simulated devices must not displace real ones.
          if devices.count(where: { ($0.air == nil) == (device.air == nil) }) < Self.capacity { devices.append(device) }
        } else if device.name != nil || device.selector != nil,
          let index = devices.firstIndex(where: { $0.peer == device.peer && $0.air == device.air })
        {
          devices[index].name = devices[index].name ?? device.name
          devices[index].selector = devices[index].selector ?? device.selector
        }
      case .alias(let name, let peer, let air):
        let alias = Alias(name: name, air: air)
        if named.insert(alias).inserted, names.count(where: { ($0.key.air == nil) == (air == nil) }) < Self.capacity {
          names[alias] = peer?.identified(by: identity)
        }
      case nil: break
      }
    }
    devices.reverse()
  }

  /// Returns the devices of one air, least recently connected first. A nil air means real radios.
  package func devices(on air: String?) -> [Device] { devices.filter { $0.air == air } }

  /// Returns the aliases that apply in an air. An alias of the air itself overrides an alias of real radios, which applies everywhere.
  package func aliases(on air: String? = nil) -> [String: PeerSelector] {
    var aliases: [String: PeerSelector] = [:]
    for (alias, peer) in names where alias.air == air || alias.air == nil && names[Alias(name: alias.name, air: air)] == nil {
      aliases[alias.name] = peer
    }
    return aliases
  }

  /// Returns whether the user defined the alias on this air.
  package func hasAlias(_ name: String, on air: String?) -> Bool { names[Alias(name: name, air: air)] != nil }

  /// The shortest log that parses to an equal value.
  package var log: [UInt8] {
    names.map { Record.alias($0.key.name, $0.value, air: $0.key.air).line }.sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self)
      + devices.flatMap { Record.connected($0).line }
  }

  /// Returns the last connected device of an air, without parsing the whole log. Returns nil if the log has no device of that air.
  package static func last(in log: [UInt8], on air: String? = nil) -> Device? { last(in: log, on: air) { _ in true } }

  /// Returns the aliases that apply on an air, without parsing the devices.
  package static func aliases(in log: [UInt8], on air: String?) -> [String: PeerSelector] {
    let lines = log.split(separator: 0x0A).filter { $0.starts(with: Record.aliasStart) }
    return Self(parsing: Array(lines.joined(separator: [0x0A]))).aliases(on: air)
  }

  /// Returns the last heard name of a device, without parsing the whole log. Returns nil if the log has no name.
  package static func name(of peer: PeerAddress, in log: [UInt8], on air: String?) -> UntrustedText? {
    last(in: log, on: air) { $0.peer == peer && $0.name != nil }?.name
  }

  private static func last(in log: [UInt8], on air: String?, where isMeant: (Device) -> Bool) -> Device? {
    for line in log.split(separator: 0x0A).reversed() {
      if case .connected(let device)? = Record(parsing: line), device.air == air, isMeant(device) { return device }
    }
    return nil
  }

  /// Returns whether a name can be an alias: 1–64 visible characters without whitespace and `@;,"'\#{}`. Excludes `last` and `.`.
  package static func isAlias(_ name: String) -> Bool {
    (1...64).contains(name.count) && name != "last" && name != "." && DisplayText.escape(name) == name
      && !name.contains { $0.isWhitespace || "@;,\"'\\#{}".contains($0) }
  }
}

extension KnownDevices.Record {
  /// The first bytes of every log line that defines an alias.
  fileprivate static let aliasStart = Array("{\"alias\":".utf8)

  /// Parses a log line. Nil if the line is not a record.
  init?(parsing line: some Collection<UInt8>) {
    guard let tree = try? JSONTree.parse(Array(line)) else { return nil }
    let selector = tree["peer"]?.string.flatMap { PeerSelector($0) }
    if let air = tree["air"], air.string == nil { return nil }
    let air = tree["air"]?.string
    if let name = tree["alias"]?.string {
      guard KnownDevices.isAlias(name), let peer = tree["peer"] else { return nil }
      if case .null = peer.kind {
        self = .alias(name, nil, air: air)
      } else if let selector {
        self = .alias(name, selector, air: air)
      } else {
        return nil
      }
      return
    }
    guard let time = tree["connected"]?.string, Self.isTime(time), case .address(let address, let type?)? = selector else { return nil }
    self = .connected(
      KnownDevices.Device(
        PeerAddress(address, type), name: tree["name"]?.string.map { UntrustedText($0) },
        selector: tree["found_by"]?.string.flatMap { PeerSelector($0) }, time: time, air: air))
  }

  private static func isTime(_ text: String) -> Bool {
    (20...30).contains(text.utf8.count) && text.utf8.allSatisfy { "0123456789-:.TZ".utf8.contains($0) }
  }

  /// The record as a line of the log.
  package var line: [UInt8] {
    var json = RecordWriter()
    switch self {
    case .connected(let device):
      json.string("connected", device.time)
      json.string("peer", device.peer.description)
      if let name = device.name { json.string("name", name.raw) }
      if let selector = device.selector { json.string("found_by", selector.description) }
      if let air = device.air { json.string("air", air) }
    case .alias(let name, let peer, let air):
      json.string("alias", name)
      json.string("peer", peer?.description)
      if let air { json.string("air", air) }
    }
    return json.finished()
  }
}

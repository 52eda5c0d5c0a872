package import Bluetooth
import Text

/// Devices that were connected before, and names that users gave to peers. Kept as a log: records are added at its end, and the later one is
/// right. Lines that are no records, as a full disk or another version may leave, are passed over.
package struct KnownDevices: Sendable, Equatable {
  package struct Device: Sendable, Equatable {
    package let peer: PeerAddress
    /// Nil when it was never heard.
    package var name: String?
    /// By which it was found, where that is not its address.
    package var selector: PeerSelector?
    /// When it was connected last, RFC 3339.
    package let time: String

    package init(_ peer: PeerAddress, name: String?, selector: PeerSelector? = nil, time: String) {
      self.peer = peer
      self.name = name
      if case .address? = selector { self.selector = nil } else { self.selector = selector }
      self.time = time
    }
  }

  package enum Record: Sendable, Equatable {
    case connected(Device)
    /// Nil: the name means nothing any more.
    case alias(String, PeerSelector?)
  }

  /// Who was connected longest ago is forgotten first, and stands first.
  package private(set) var devices: [Device] = []
  package private(set) var aliases: [String: PeerSelector] = [:]

  /// How many devices, and how many aliases, are remembered.
  package static let capacity = 256

  package init() {}

  package init(parsing log: [UInt8]) {
    var (seen, named): (Set<PeerAddress>, Set<String>) = ([], [])
    // From the end, because what stands there is right.
    for line in log.split(separator: 0x0A).reversed() {
      switch Record(parsing: line) {
      case .connected(let device):
        if seen.insert(device.peer).inserted {
          if devices.count < Self.capacity { devices.append(device) }
        } else if device.name != nil || device.selector != nil, let index = devices.firstIndex(where: { $0.peer == device.peer }) {
          devices[index].name = devices[index].name ?? device.name
          devices[index].selector = devices[index].selector ?? device.selector
        }
      case .alias(let name, let peer):
        if named.insert(name).inserted, aliases.count < Self.capacity { aliases[name] = peer }
      case nil: break
      }
    }
    devices.reverse()
  }

  /// The shortest log that says the same.
  package var log: [UInt8] {
    aliases.sorted { $0.key < $1.key }.flatMap { Record.alias($0.key, $0.value).line } + devices.flatMap { Record.connected($0).line }
  }

  /// The device that was connected last, without reading the whole log.
  package static func last(in log: [UInt8]) -> Device? {
    for line in log.split(separator: 0x0A).reversed() { if case .connected(let device)? = Record(parsing: line) { return device } }
    return nil
  }

  /// What names mean, without reading what is said of devices.
  package static func aliases(in log: [UInt8]) -> [String: PeerSelector] {
    let lines = log.split(separator: 0x0A).filter { $0.starts(with: Record.aliasStart) }
    return Self(parsing: Array(lines.joined(separator: [0x0A]))).aliases
  }

  /// The name that a device was heard by last, without reading the whole log. - Returns: nil when it never was.
  package static func name(of peer: PeerAddress, in log: [UInt8]) -> String? {
    for line in log.split(separator: 0x0A).reversed() {
      if case .connected(let device)? = Record(parsing: line), device.peer == peer, let name = device.name { return name }
    }
    return nil
  }

  /// What can be an alias: 1 to 64 characters without blanks, separators and what a terminal would not show, and not `last`, which has a meaning of its own.
  package static func isAlias(_ name: String) -> Bool {
    (1...64).contains(name.count) && name != "last" && name != "." && DisplayText.escape(name) == name
      && !name.contains { $0.isWhitespace || "@;,\"'\\#{}".contains($0) }
  }
}

extension KnownDevices.Record {
  /// Of the line of an alias.
  fileprivate static let aliasStart = Array("{\"alias\":".utf8)

  /// Nil for what is no record.
  init?(parsing line: some Collection<UInt8>) {
    guard let tree = try? JSONTree.parse(Array(line)) else { return nil }
    let selector = tree["peer"]?.string.flatMap { PeerSelector($0) }
    if let name = tree["alias"]?.string {
      guard KnownDevices.isAlias(name), let peer = tree["peer"] else { return nil }
      if case .null = peer.kind {
        self = .alias(name, nil)
      } else if let selector {
        self = .alias(name, selector)
      } else {
        return nil
      }
      return
    }
    guard let time = tree["connected"]?.string, Self.isTime(time), case .address(let address, let type?)? = selector else { return nil }
    self = .connected(
      KnownDevices.Device(
        PeerAddress(address, type), name: tree["name"]?.string, selector: tree["found_by"]?.string.flatMap { PeerSelector($0) }, time: time)
    )
  }

  private static func isTime(_ text: String) -> Bool {
    (20...30).contains(text.utf8.count) && text.utf8.allSatisfy { "0123456789-:.TZ".utf8.contains($0) }
  }

  /// One line of the log.
  package var line: [UInt8] {
    var json = JSONLine()
    switch self {
    case .connected(let device):
      json.string("connected", device.time)
      json.string("peer", device.peer.description)
      if let name = device.name { json.string("name", name) }
      if let selector = device.selector { json.string("found_by", selector.description) }
    case .alias(let name, let peer):
      json.string("alias", name)
      json.string("peer", peer?.description)
    }
    return json.finished()
  }
}

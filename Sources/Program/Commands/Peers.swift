import BluetoothLELinux
import CommandLine

package struct Peers: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "peers", abstract: "List connections, and devices that were connected before.",
    discussion: """
      With a kernel adapter, lists the connections of all programs. With any other adapter, lists only the connections of this session. blectl does not scan, so a listed device may be out of range.
      """)
  static let examples = ["blectl -i sim peers", "blectl -i sim peers --json"]
  static let traits = CommandTraits(
    printsRecords: true, unusedOptions: ["--timeout"], usesNames: false, recordsNamePeers: true, isLeftOut: true)

  @OptionGroup var process: ProcessOptions

  var recordFields: RecordFields? {
    RecordFields(RecordFields.device + ["connected", "ours", "last_connected", "aliases", "found_by"], others: ["peer"])
  }

  func run(in context: Context) async throws {
    let output = context.output
    let peers = try await PeerList.read(context)
    if output.style.json {
      for peer in peers {
        try await output.record {
          $0.string("event", "peer")
          $0.address("address", peer.address)
          $0.string("address_type", peer.type?.rawValue)
          $0.string("name", peer.name?.raw)
          $0.bool("connected", peer.isConnected)
          $0.bool("ours", peer.isOurs)
          if let time = peer.lastConnected.flatMap(Timestamp.nanoseconds) {
            $0.time("last_connected", time)
          } else {
            $0.string("last_connected", peer.lastConnected)
          }
          $0.strings("aliases", peer.aliases)
          $0.string("found_by", peer.selector?.description)
          if output.resultsNamePeer { $0.string("peer", peer.address == nil ? nil : peer.text) }
        }
      }
      return
    }
    guard !peers.isEmpty else { return output.note("No connections. No earlier connections are known.") }
    let isFormed = output.style.times != nil
    var table = Table(["PEER", "NAME", "ALIASES", "STATE", isFormed ? "LAST CONNECTED" : "LAST CONNECTED (UTC)"])
    for peer in peers {
      table.add([
        peer.text, peer.name.map { output.displayText("\($0)") } ?? "-",
        peer.aliases.isEmpty ? "-" : peer.aliases.map { "@\(DisplayText.escape($0))" }.joined(separator: " "),
        peer.isOurs ? "connected here" : peer.isConnected == true ? "connected" : "-",
        // Show minutes, not seconds, unless the user asks for a form of times.
        isFormed
          ? peer.lastConnected.flatMap(Timestamp.nanoseconds).flatMap { output.timeText($0) } ?? "-"
          : peer.lastConnected.map { String($0.prefix(16)).replacing("T", with: " ") } ?? "-",
      ])
    }
    try await output.show(table)
  }
}

/// The list of the devices that blectl knows without a scan.
struct PeerList {
  struct Peer: Equatable {
    /// The address of the device. Nil for an alias that selects a name, a MAC or a service.
    var address: Address?
    /// The type of the address. Nil if the kernel does not report it.
    var type: AddressType?
    var name: UntrustedText?
    /// Whether any program is connected to the device. Nil if the kernel does not report connections.
    var isConnected: Bool?
    /// Whether the connection belongs to this session.
    var isOurs = false
    /// The time of the last connection (RFC 3339). Nil if blectl has stored no connection.
    var lastConnected: String?
    var aliases: [String] = []
    /// The selector with which the user found the device, or the selector of an alias. Nil for a device known only by its address.
    var selector: PeerSelector?

    var text: String {
      address.map { "\($0)" + (type.map { "/\($0.rawValue)" } ?? "") } ?? selector.map { DisplayText.escape("\($0)") } ?? "-"
    }
  }

  private(set) var peers: [Peer] = []

  /// Returns connected devices first, then devices by the time of their last connection, then the remaining aliases.
  @LoopActor static func read(_ context: Context) async throws -> [Peer] {
    let (devices, aliases) = try context.configuration.knownDevices()
    var links: [AdapterLink]? = []
    do { links = try Self.links(context) } catch let error as AdapterProblem {
      links = nil
      context.output.note("\(Failure(error).message.asSentence) Listing only earlier connections.")
    }
    let own = context.session.connections.filter(\.isOpen).map {
      Peer(address: $0.identityAddress.address, type: $0.identityAddress.type, name: $0.name, selector: $0.selector)
    }
    return PeerList(own: own, links: links, devices: devices, aliases: aliases).peers
  }

  /// Returns all programs' connections on the adapter. Empty without a kernel adapter. Nil if the kernel does not report them.
  @LoopActor private static func links(_ context: Context) throws -> [AdapterLink]? {
    guard case .kernel(let index) = try context.process.adapter() else { return [] }
    return try AdapterList.choose(index).links()
  }

  /// Creates the list from connections, known devices and aliases.
  /// - Parameters:
  ///   - own: The connections of this session.
  ///   - links: The connections of the adapter. Nil if the kernel does not report them.
  ///   - devices: The known devices, the least recently connected first.
  init(own: [Peer], links: [AdapterLink]?, devices: [KnownDevices.Device], aliases: [String: PeerSelector]) {
    for var peer in own {
      (peer.isConnected, peer.isOurs) = (true, true)
      if case .address? = peer.selector { peer.selector = nil }
      peers.append(peer)
    }
    for link in links ?? [] where index(of: link.address, link.type) == nil {
      peers.append(Peer(address: link.address, type: link.type, isConnected: true))
    }
    for device in devices.reversed() {
      // An address is enough for a device that the kernel lists without its type.
      if let index = index(of: device.peer.address, device.peer.type) {
        peers[index].type = device.peer.type
        peers[index].name = peers[index].name ?? device.name
        peers[index].lastConnected = device.time
        peers[index].selector = peers[index].selector ?? device.selector
      } else {
        peers.append(
          Peer(
            address: device.peer.address, type: device.peer.type, name: device.name, isConnected: links == nil ? nil : false,
            lastConnected: device.time, selector: device.selector))
      }
    }
    for (name, selector) in aliases.sorted(by: { $0.key < $1.key }) { add(name, selector, isKnown: links != nil) }
  }

  private func index(of address: Address, _ type: AddressType?) -> Int? {
    peers.firstIndex { $0.address == address && ($0.type == nil || type == nil || $0.type == type) }
  }

  private mutating func add(_ alias: String, _ selector: PeerSelector, isKnown: Bool) {
    if case .address(let address, let type) = selector {
      if let index = index(of: address, type) { return peers[index].aliases.append(alias) }
      peers.append(Peer(address: address, type: type, isConnected: isKnown ? false : nil, aliases: [alias]))
    } else if let index = peers.firstIndex(where: { $0.selector == selector }) {
      peers[index].aliases.append(alias)
    } else {
      peers.append(Peer(aliases: [alias], selector: selector))
    }
  }
}

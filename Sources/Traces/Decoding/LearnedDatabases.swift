package import BluetoothLE

/// The attributes of all devices in a trace, as its requests and responses show them.
/// Pass the whole trace to `learn` before decoding, so that the first packets of a link have names too.
package struct LearnedDatabases: Sendable {
  /// The device or adapter that has the attributes of a GATT database.
  package struct Server: Hashable, Sendable {
    /// The number of the adapter in the trace.
    package let adapter: UInt16
    /// The peer that has the attributes. Nil if the adapter has them, or if only `link` identifies the peer.
    package let peer: PeerAddress?
    /// The identifier of an owner without a known address, from the zero-based index of the link's first packet. In a sniffer's trace, the
    /// identifier is twice the index, plus 1 for the central. Nil for the adapter and for a peer with a known address.
    package let link: Int?
  }

  private var links = TraceLinks()
  private(set) var vendorHandles = VendorHandles()
  private(set) var parts = AdvertisingParts()
  private var asked: [Asker: Request] = [:]
  private var databases: [Server: RecordedDatabase] = [:]

  private struct Asker: Hashable {
    let link: Int
    let isHost: Bool
  }

  package init() {}

  package mutating func learn(_ record: Snoop.Record) {
    vendorHandles.note(record)
    parts.learn(record)
    guard let frame = links.add(record).frame, frame.frame.channel == .att, let first = frame.frame.payload.first else { return }
    // The request of the next response is unknown, or its response.
    guard frame.missing == 0 else { return asked = asked.filter { $0.key.link != frame.link } }
    switch ATTOpcode(rawValue: first) {
    case .request: asked[Asker(link: frame.link, isHost: frame.isFromHost)] = try? Request(parsing: frame.frame.payload)
    case .response, .error:
      guard let request = asked.removeValue(forKey: Asker(link: frame.link, isHost: !frame.isFromHost)),
        let response = try? Response(parsing: frame.frame.payload)
      else { return }
      databases[Self.server(links.links[frame.link], isHost: frame.isFromHost), default: RecordedDatabase()]
        .learn(request, response)
    case .command, .unsolicited, .confirmation, .unknown: break
    }
  }

  /// Ends the learning and prepares the databases for queries.
  /// - Parameter drops: The number of packets that the trace lacks.
  package mutating func finish(drops: Int = 0) {
    vendorHandles.isWhole = drops == 0
    parts.finish()
    for server in databases.keys { databases[server]?.finish() }
    (links, asked) = (TraceLinks(), [:])
  }

  package static func server(_ link: TraceLinks.Link, isHost: Bool) -> Server {
    if link.isOfAir {
      let party = isHost ? link.central : link.peer
      return Server(adapter: link.adapter, peer: party, link: party == nil ? 2 * link.firstPacket + (isHost ? 1 : 0) : nil)
    }
    if isHost { return Server(adapter: link.adapter, peer: nil, link: nil) }
    return Server(adapter: link.adapter, peer: link.peer, link: link.peer == nil ? link.firstPacket : nil)
  }

  package func name(_ handle: UInt16, of server: Server) -> LearnedAttribute? { databases[server]?.attribute(Int(handle)) }
}

/// The type of an attribute that the trace shows, and for a descriptor its characteristic.
package typealias LearnedAttribute = ReplayError.Attribute

extension LearnedAttribute {
  /// A function that returns the name of an attribute of a server.
  package typealias Source = (AttributeHandle) -> LearnedAttribute?
}

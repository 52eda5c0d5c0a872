import ATT
import HCI
import L2CAP

/// Joins the data of one link to ATT PDUs, and finds the response to each request.
struct LinkStream {
  private var outgoing = Recombination()
  private var incoming = Recombination()
  /// The index in `following` of the last request at which the incoming frame starts.
  private var frameStart = 0
  private var frameRequests = 0
  /// The index of the request that waits for its response.
  private var asked: Int?
  private var mtu = BearerState.defaultMTU

  mutating func sent(_ data: ACLData, at time: Int64, number: Int, _ link: inout Recording.Link) {
    guard let frame = outgoing.add(data), frame.channel == .att, let first = frame.payload.first else { return }
    link.requests.append(Recording.Request(pdu: frame.payload, time: time, mtu: mtu, packet: number))
    if case .request = ATT.Opcode(rawValue: first) { asked = link.requests.count - 1 }
  }

  /// Adds received data.
  /// - Parameter isLate: Whether the data follows the end of the link in the recording: a recorder reads its sockets in any order.
  mutating func received(_ data: ACLData, _ octets: [UInt8], at time: Int64, isLate: Bool, _ link: inout Recording.Link) {
    if data.boundary != .continuing {
      frameStart = link.requests.last?.following.count ?? 0
      frameRequests = link.requests.count
    }
    var happening = Recording.Happening(time: time, kind: .packet(octets, isResponse: false))
    if isLate, let end = Self.takeEnd(&link) {
      happening.time = end.time
      link.add(happening)
      link.add(end)
      frameStart = min(frameStart, max(0, (link.requests.last?.following.count ?? 0) - 2))
    } else {
      link.add(happening)
    }
    guard let frame = incoming.add(data), frame.channel == .att, let first = frame.payload.first else { return }
    switch ATT.Opcode(rawValue: first) {
    case .response, .error: responded(frame.payload, &link)
    case .unsolicited: if let last = link.requests.indices.last { link.requests[last].bringsValue = true }
    case .request, .command, .confirmation, .unknown: break
    }
  }

  /// Removes and returns the Disconnection Complete event if nothing happened after it.
  private static func takeEnd(_ link: inout Recording.Link) -> Recording.Happening? {
    func isEnd(_ happening: Recording.Happening?) -> Bool {
      guard case .packet(let octets, _)? = happening?.kind else { return false }
      return RecordedEvent.kind(octets) == .disconnectionComplete
    }
    if let last = link.requests.indices.last {
      return isEnd(link.requests[last].following.last) ? link.requests[last].following.removeLast() : nil
    }
    return isEnd(link.opening.last) ? link.opening.removeLast() : nil
  }

  private mutating func responded(_ pdu: [UInt8], _ link: inout Recording.Link) {
    guard let index = asked else { return }
    asked = nil
    link.requests[index].response = pdu
    if case .exchangeMTU(let client)? = try? ATT.Request(parsing: link.requests[index].pdu),
      case .exchangeMTU(let server)? = try? ATT.Response(parsing: pdu)
    {
      mtu = Recording.mtu(client, server)
    }
    // The host may send commands between a request and its response. The fragments then follow the last command.
    guard frameRequests == link.requests.count, let last = link.requests.indices.last else { return }
    for position in link.requests[last].following.indices.dropFirst(frameStart) {
      if case .packet(let octets, _) = link.requests[last].following[position].kind, octets.first == HCI.Packet.aclIndicator {
        link.requests[last].following[position].kind = .packet(octets, isResponse: true)
      }
    }
  }
}

extension Recording {
  /// Returns the lesser of the client's and the server's MTU in bytes, at least 23 (Vol 3 Part F §3.4.2.2).
  static func mtu(_ client: UInt16, _ server: UInt16) -> Int {
    min(max(Int(min(client, server)), BearerState.defaultMTU), BearerState.largestMTU)
  }
}

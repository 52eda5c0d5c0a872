/// How long LE data PDUs occupy the air, in microseconds (Vol 6 Part B §2.1, §2.2, §2.4), and what follows for throughput.
package enum AirTime {
  /// The physical layer of one direction; the coded PHY has two rates.
  package enum Coding: Sendable, Hashable, CaseIterable {
    case le1M, le2M, codedS2, codedS8

    /// The coded PHY sends with S=8 unless the host prefers otherwise.
    package init(_ phy: PHY) {
      self =
        switch phy {
        case .le1M: .le1M
        case .le2M: .le2M
        case .coded: .codedS8
        }
    }

    package var phy: PHY {
      switch self {
      case .le1M: .le1M
      case .le2M: .le2M
      case .codedS2, .codedS8: .coded
      }
    }
  }

  /// T_IFS between two packets of a connection event (Vol 6 Part B §4.1.1).
  package static let interFrameSpace = 150

  /// One data PDU: preamble, access address, header, payload, MIC, CRC.
  /// - Parameter octets: LL payload, 0…251; 0 is an empty PDU, which never has a MIC.
  package static func pdu(octets: Int, _ coding: Coding, encrypted: Bool = false) -> Int {
    let payload = octets + (encrypted && octets > 0 ? 4 : 0)
    return switch coding {
    case .le1M: 80 + 8 * payload
    case .le2M: 44 + 4 * payload
    case .codedS2: 462 + 16 * payload
    case .codedS8: 720 + 64 * payload
    }
  }

  /// A PDU of the central, a PDU of the peripheral, and the space after each.
  package static func exchange(
    central: Int, _ centralCoding: Coding, peripheral: Int, _ peripheralCoding: Coding, encrypted: Bool = false
  ) -> Int {
    pdu(octets: central, centralCoding, encrypted: encrypted) + interFrameSpace
      + pdu(octets: peripheral, peripheralCoding, encrypted: encrypted) + interFrameSpace
  }

  /// A PDU with data one way and an empty one back.
  package static func exchange(octets: Int, _ coding: Coding, encrypted: Bool = false) -> Int {
    exchange(central: octets, coding, peripheral: 0, coding, encrypted: encrypted)
  }

  /// LL payloads that carry one ATT PDU: the L2CAP header is added, the frame is cut into HCI packets, and each of these into LL PDUs.
  /// Neither L2CAP frames nor HCI packets share an LL PDU.
  /// - Parameters: hciOctets and linkOctets are at least 1.
  package static func fragments(attOctets: Int, linkOctets: Int, hciOctets: Int = 251) -> [Int] {
    var fragments: [Int] = []
    var frame = attOctets + 4
    while frame > 0 {
      var packet = min(frame, max(1, hciOctets))
      frame -= packet
      while packet > 0 {
        let fragment = min(packet, max(1, linkOctets))
        fragments.append(fragment)
        packet -= fragment
      }
    }
    return fragments
  }

  /// Exchanges of this size that fit one connection event.
  /// - Parameters: interval and guardTime (unused at the end of each event) in microseconds.
  package static func packetsPerEvent(octets: Int, _ coding: Coding, interval: Int, guardTime: Int = 0, encrypted: Bool = false) -> Int {
    max(0, interval - guardTime) / exchange(octets: octets, coding, encrypted: encrypted)
  }

  /// Value octets per second of back-to-back Write Commands or Handle Value Notifications.
  /// - Parameters: value in octets; interval in microseconds, nil for an event without end.
  package static func throughput(
    value: Int, linkOctets: Int, _ coding: Coding, interval: Int? = nil, hciOctets: Int = 251, encrypted: Bool = false
  ) -> Double {
    let exchanges = fragments(attOctets: value + 3, linkOctets: linkOctets, hciOctets: hciOctets).map {
      exchange(octets: $0, coding, encrypted: encrypted)
    }
    guard let interval else { return Double(value) / Double(exchanges.reduce(0, +)) * 1e6 }
    guard interval > 0, exchanges.allSatisfy({ $0 <= interval }) else { return 0 }
    // Events are filled in order; what does not fit opens the next one.
    let events = 400
    var (next, done) = (0, 0)
    for _ in 0..<events {
      var left = interval
      while exchanges[next] <= left {
        left -= exchanges[next]
        next += 1
        if next == exchanges.count { (next, done) = (0, done + 1) }
      }
    }
    return Double(done * value) / Double(events * interval) * 1e6
  }
}

// SPDX-License-Identifier: Apache-2.0
/// The time that LE data PDUs occupy the air, in microseconds (Vol 6 Part B §2.1, §2.2, §2.4), and the resulting throughput.
package enum AirTime {
  /// The PHY of one direction of a connection and, for the coded PHY, the coding S=2 or S=8.
  package enum Coding: Sendable, Hashable, CaseIterable {
    case le1M, le2M, codedS2, codedS8

    /// Selects the coding of a PHY. The coded PHY sends with S=8 unless the host prefers otherwise.
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

  /// The space T_IFS between two packets of a connection event, in microseconds (Vol 6 Part B §4.1.1).
  package static let interFrameSpace = 150

  /// Returns the duration of a data PDU in microseconds: preamble, access address, header, payload, MIC, CRC.
  /// - Parameter bytes: The LL payload in bytes, 0–251. 0 is an empty PDU, which never has a MIC.
  package static func pdu(bytes: Int, _ coding: Coding, encrypted: Bool = false) -> Int {
    let payload = bytes + (encrypted && bytes > 0 ? 4 : 0)
    return switch coding {
    case .le1M: 80 + 8 * payload
    case .le2M: 44 + 4 * payload
    case .codedS2: 462 + 16 * payload
    case .codedS8: 720 + 64 * payload
    }
  }

  /// Returns the duration in microseconds of a central PDU and a peripheral PDU, with the space after each. Payload lengths are in bytes.
  package static func exchange(
    central: Int, _ centralCoding: Coding, peripheral: Int, _ peripheralCoding: Coding, encrypted: Bool = false
  ) -> Int {
    pdu(bytes: central, centralCoding, encrypted: encrypted) + interFrameSpace
      + pdu(bytes: peripheral, peripheralCoding, encrypted: encrypted) + interFrameSpace
  }

  /// Returns the duration of a PDU, its empty answer, and the space after both, in microseconds.
  /// - Parameter bytes: The length of the payload in bytes.
  package static func exchange(bytes: Int, _ coding: Coding, encrypted: Bool = false) -> Int {
    exchange(central: bytes, coding, peripheral: 0, coding, encrypted: encrypted)
  }

  /// Returns the lengths in bytes of the LL payloads that carry an ATT PDU. L2CAP adds its header, the host splits the frame into HCI
  /// packets, and the controller splits HCI packets into LL PDUs. Neither L2CAP frames nor HCI packets share an LL PDU.
  /// - Parameters: `linkBytes` and `hciBytes` are the maximum payloads of LL PDUs and HCI packets in bytes, at least 1.
  package static func fragments(attBytes: Int, linkBytes: Int, hciBytes: Int = 251) -> [Int] {
    var fragments: [Int] = []
    var frame = attBytes + 4
    while frame > 0 {
      var packet = min(frame, max(1, hciBytes))
      frame -= packet
      while packet > 0 {
        let fragment = min(packet, max(1, linkBytes))
        fragments.append(fragment)
        packet -= fragment
      }
    }
    return fragments
  }

  /// Returns the throughput of back-to-back Write Commands or Handle Value Notifications, in value bytes per second.
  /// - Parameters:
  ///   - value: The length of a value in bytes.
  ///   - interval, guardTime: Times in microseconds. Packets fill an event until `guardTime` before its end. Nil means an endless event.
  ///     The sender always sends the first packet of an event, and skips later events that this packet overlaps.
  package static func throughput(
    value: Int, linkBytes: Int, _ coding: Coding, interval: Int? = nil, guardTime: Int = 0, hciBytes: Int = 251, encrypted: Bool = false
  ) -> Double {
    let exchanges = fragments(attBytes: value + 3, linkBytes: linkBytes, hciBytes: hciBytes).map {
      exchange(bytes: $0, coding, encrypted: encrypted)
    }
    let whole = exchanges.reduce(0, +)
    guard let interval else { return Double(value) / Double(whole) * 1e6 }
    guard interval > 0, !exchanges.isEmpty else { return 0 }
    // Each event starts with a packet of a value. The pattern of starts repeats, and the rate is that of one repetition.
    var seen = [(events: Int, values: Int)?](repeating: nil, count: exchanges.count)
    var (next, events, values) = (0, 0, 0)
    while seen[next] == nil {
      seen[next] = (events, values)
      let filled = fill(max(0, interval - guardTime), with: exchanges, from: &next, whole)
      values += filled.values
      events += max(1, (filled.time + interval - 1) / interval)
    }
    let before = seen[next] ?? (0, 0)
    return Double((values - before.values) * value) / Double((events - before.events) * interval) * 1e6
  }

  /// Fills a connection event of `room` µs. Returns the number of values that end in the event, and the duration of its packets in µs.
  private static func fill(_ room: Int, with exchanges: [Int], from next: inout Int, _ whole: Int) -> (values: Int, time: Int) {
    var (values, time) = (0, 0)
    while time == 0 || exchanges[next] <= room - time {
      if next == 0, whole <= room - time {
        let count = (room - time) / whole
        values += count
        time += count * whole
      } else {
        time += exchanges[next]
        next += 1
        if next == exchanges.count { (next, values) = (0, values + 1) }
      }
    }
    return (values, time)
  }
}

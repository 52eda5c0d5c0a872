package import Bluetooth

/// What keeps a central from scanning, connecting or changing a link, whatever host it is.
package enum GAPError: Error, Sendable, Equatable {
  // What may not be asked for.
  /// Outside of 7.5 ms to 4 s.
  case intervalOutOfRange(Duration)
  /// Outside of 27 to 251 octets.
  case dataLengthOutOfRange(Int)
  /// A scan on none of the PHYs that devices advertise on.
  case noPrimaryPHY

  // What this controller cannot do.
  /// - Parameter hasExtended: whether it has extended advertising, without which there is only the 1M PHY.
  case cannotScan(adapter: String, on: PHY, hasExtended: Bool)
  case unsupported(adapter: String, LinkProcedure)

  // What did not come about.
  /// A scan is on already.
  case isScanning(adapter: String)
  /// The scan had to end so that this peer could be connected.
  case scanEnded(adapter: String, connecting: PeerAddress)
  /// The peer did not answer, or it was not its turn, within the limit.
  case noConnection(PeerAddress, within: Duration)
  /// The controller's status, from LE Connection Complete.
  case connectionFailed(PeerAddress, ControllerErrorCode)
  /// The peer did not follow the procedure within the limit.
  case noAnswer(PeerAddress, LinkProcedure)
  /// The procedure ended with this status.
  case notAgreed(PeerAddress, LinkProcedure, ControllerErrorCode)
}

/// What changes a link.
package enum LinkProcedure: Sendable, Equatable {
  /// Connection Update Procedure (Vol 6 Part B §5.1.1).
  case connectionInterval(Duration)
  /// PHY Update Procedure (§5.1.10).
  case phy(PHY)
  /// Data Length Update Procedure (§5.1.9).
  case dataLength(Int)
}

/// What a central does on the user's behalf without being asked, and should be known.
package enum GAPNote: Sendable, Equatable {
  /// The connection failed, or the device closed it before it answered; it is tried again.
  case tryingAgain(PeerAddress, RetryReason)
  /// The peer has asked for another interval and got it.
  /// - Parameter askingFor: what it is asked for once more; nil: it gets its way.
  case intervalChanged(PeerAddress, to: Duration, askingFor: Duration?)
  case scan(adapter: String, ScanNote)
  /// At the end of a scan: so many reports or events could not be read, and were dropped.
  case unreadableReports(adapter: String, Int)
  /// At the end of a scan: the number of packets that the kernel dropped, because the host was too slow.
  case droppedPackets(adapter: String, Int)
  /// The number of unknown or malformed packets so far. The host ignored them.
  case malformedPackets(adapter: String, Int)
}

extension GAPNote {
  /// The note about packets that were dropped during a scan. Nil if none were, or if that is unknown.
  package static func droppedPackets(adapter: String, before: Int?, now: Int?) -> GAPNote? {
    guard let before, let now, now > before else { return nil }
    return .droppedPackets(adapter: adapter, now - before)
  }
}

/// What is not as it should be with a scan that other programs take part in.
package enum ScanNote: Sendable, Hashable {
  /// Someone else scans, nobody knows how.
  case piggyBack
  case noRepeats
  case noScanResponses
  /// Someone stops the scan all the time.
  case interrupted
}

package import Bluetooth

/// An error of a scan, a connection attempt or a change of a link, on any host.
package enum GAPError: Error, Sendable, Equatable {
  // Invalid parameters.
  /// The interval is not 7.5 ms to 4 s.
  case intervalOutOfRange(Duration)
  /// The data length is not 27 to 251 bytes.
  case dataLengthOutOfRange(Int)
  /// The scan has no primary advertising PHY.
  case noPrimaryPHY

  // Missing abilities of the controller.
  /// The controller cannot scan on this PHY. `hasExtended`: whether it has extended advertising. Without it, there is only 1M.
  case cannotScan(adapter: String, on: PHY, hasExtended: Bool)
  case unsupported(adapter: String, LinkProcedure)

  // Failed operations.
  /// A scan is already active.
  case isScanning(adapter: String)
  /// The scan ended so that the host could connect to this peer.
  case scanEnded(adapter: String, connecting: PeerAddress)
  /// The peer did not answer within the limit, or the attempt had to wait too long for its turn.
  case noConnection(PeerAddress, within: Duration)
  /// LE Connection Complete reported this status, not Success.
  case connectionFailed(PeerAddress, ControllerErrorCode)
  /// The peer did not follow the procedure within the limit.
  case noAnswer(PeerAddress, LinkProcedure)
  /// The link layer procedure ended with this status.
  case notAgreed(PeerAddress, LinkProcedure, ControllerErrorCode)
}

/// A procedure that changes a link.
package enum LinkProcedure: Sendable, Equatable {
  /// Connection Update Procedure (Vol 6 Part B §5.1.1).
  case connectionInterval(Duration)
  /// PHY Update Procedure (§5.1.10).
  case phy(PHY)
  /// Data Length Update Procedure (§5.1.9).
  case dataLength(Int)
}

/// An action of a central on the user's behalf, which the user should know.
package enum GAPNote: Sendable, Equatable {
  /// The connection failed, or the device closed it before an answer. A retry follows.
  case tryingAgain(PeerAddress, RetryReason)
  /// The peer requested another interval, and the link has it now.
  /// - Parameter askingFor: the interval that we request again. Nil if the peer's interval stays.
  case intervalChanged(PeerAddress, to: Duration, askingFor: Duration?)
  case scan(adapter: String, ScanNote)
  /// The number of reports and events in a scan that were unreadable, so that the host dropped them. Sent at the end.
  case unreadableReports(adapter: String, Int)
  /// The number of packets in a scan that the kernel dropped, because the host was too slow. Sent at the end.
  case droppedPackets(adapter: String, Int)
  /// The number of unknown or malformed packets so far. The host ignored them.
  case malformedPackets(adapter: String, Int)
}

extension GAPNote {
  /// Returns the note about packets dropped during a scan. Nil if there are none, or their number is unknown.
  package static func droppedPackets(adapter: String, before: Int?, now: Int?) -> GAPNote? {
    guard let before, let now, now > before else { return nil }
    return .droppedPackets(adapter: adapter, now - before)
  }
}

/// A problem of a scan that other programs share.
package enum ScanNote: Sendable, Hashable {
  /// Another program scans, with unknown parameters.
  case piggyBack
  case noRepeats
  case noScanResponses
  /// Another program keeps stopping the scan.
  case interrupted
}

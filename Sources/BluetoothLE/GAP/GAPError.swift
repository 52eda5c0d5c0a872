// SPDX-License-Identifier: Apache-2.0
/// An error of a scan, a connection attempt or a change of a link, on any host.
package enum GAPError: Error, Sendable, Equatable {
  // Invalid parameters.
  /// The requested connection interval is not 7.5 ms to 4 s.
  case intervalOutOfRange(Duration)
  /// The requested data length is not 27 to 251 bytes.
  case dataLengthOutOfRange(Int)
  /// The scan parameters contain neither 1M nor Coded, the only primary advertising PHYs.
  case noPrimaryPHY
  /// The requested advertising interval is not 20 ms to 10.24 s.
  case advertisingIntervalOutOfRange(Duration)
  /// The advertisement has more bytes in one part than the adapter can send. Limit 0 means that this advertisement cannot have the part.
  case advertisingTooLong(adapter: String, AdvertisingPart, Int, limit: Int)

  // Missing abilities of the controller.
  /// The controller cannot scan on this PHY. `hasExtended` is true if the controller has extended advertising, which Coded needs.
  case cannotScan(adapter: String, on: PHY, hasExtended: Bool)
  case unsupported(adapter: String, LinkProcedure)
  /// The controller has no extended advertising.
  case cannotAdvertiseExtended(adapter: String)

  // Failed operations.
  /// The caller requested a scan while another scan is active.
  case isScanning(adapter: String)
  /// The host ended the scan to connect to this peer.
  case scanEnded(adapter: String, connecting: PeerAddress)
  /// The peer did not answer within the time limit, or the attempt had to wait too long for its turn.
  case noConnection(PeerAddress, within: Duration)
  /// LE Connection Complete reported this error code instead of Success.
  case connectionFailed(PeerAddress, ControllerErrorCode)
  /// The peer did not answer the link layer procedure within the time limit.
  case noAnswer(PeerAddress, LinkProcedure)
  /// The link layer procedure ended with this error code.
  case notAgreed(PeerAddress, LinkProcedure, ControllerErrorCode)
}

/// A part of an advertisement with its own limit.
package enum AdvertisingPart: Sendable, Equatable { case data, scanResponse }

/// A link layer procedure that changes the parameters of a link, with the requested value.
package enum LinkProcedure: Sendable, Equatable {
  /// The Connection Update Procedure (Vol 6 Part B §5.1.1), with the requested connection interval.
  case connectionInterval(Duration)
  /// The PHY Update Procedure (Vol 6 Part B §5.1.10), with the requested PHY.
  case phy(PHY)
  /// The Data Length Update Procedure (Vol 6 Part B §5.1.9), with the requested length in bytes.
  case dataLength(Int)
}

/// A note for the user about an action or an observation of a host.
package enum GAPNote: Sendable, Equatable {
  /// The connection failed, or the device closed it before its first answer. The host retries.
  case tryingAgain(PeerAddress, RetryReason)
  /// The peer requested another connection interval, and the link uses the new interval now.
  /// - Parameter askingFor: the interval that the host requests again. Nil if the peer's interval remains.
  case intervalChanged(PeerAddress, to: Duration, askingFor: Duration?)
  case scan(adapter: String, ScanNote)
  /// The host dropped this number of unreadable reports and events of a scan. The note follows the end of the scan.
  case unreadableReports(adapter: String, Int)
  /// The kernel dropped this number of packets of a scan, because the host was too slow. The note follows the end of the scan.
  case droppedPackets(adapter: String, Int)
  /// A central connected, but another program took the link.
  case centralTaken(adapter: String, PeerAddress)
  /// The host has ignored this number of unknown or malformed packets so far.
  case malformedPackets(adapter: String, Int)
}

extension GAPNote {
  /// Returns the note about packets that the kernel dropped during a scan. Returns nil if it dropped none, or their number is unknown.
  package static func droppedPackets(adapter: String, before: Int?, now: Int?) -> GAPNote? {
    guard let before, let now, now > before else { return nil }
    return .droppedPackets(adapter: adapter, now - before)
  }
}

/// A problem of a scan that blectl shares with other programs.
package enum ScanNote: Sendable, Hashable {
  /// Another program scans, and blectl receives reports from that scan, whose parameters are unknown.
  case piggyBack
  case noRepeats
  case noScanResponses
  /// Another program stops the scan repeatedly.
  case interrupted
}

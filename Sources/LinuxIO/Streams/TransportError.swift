package import Bluetooth
package import SystemPackage

/// Why a controller behind a byte stream cannot be reached, or is not reached any more.
package enum TransportError: Error, Equatable, Sendable {
  /// What stands in place of an address, and what was wanted.
  case notAnAddress(String, Wanted)
  /// A UNIX socket's path that does not fit its address.
  case pathTooLong(String)
  case unknownBaudRate(Int)
  /// `reason`: the resolver's.
  case unknownHost(String, reason: String)
  /// The name server did not answer in time.
  case unresolvedHost(String)
  case notConnected(TransportAddress, Errno)
  case connectTimeout(TransportAddress)
  case serialLine(TransportAddress, Errno)

  /// At which hosts should have been waited for: in use, not ours, not allowed.
  case cannotListen(TransportAddress, Errno)

  // How it ended: `transport` is its address, as the user knows it.
  /// The other side closed the stream.
  case closedByOtherSide(transport: String)
  /// What arrives is not H4 (Vol 4 Part A).
  case notH4(transport: String, MalformedPacket)
  case lost(transport: String, Errno)

  package enum Wanted: Equatable, Sendable {
    case anyTransport
    case port
    case host
    case path
    case device
    case baudRate
    /// An address to listen at.
    case listener
  }
}

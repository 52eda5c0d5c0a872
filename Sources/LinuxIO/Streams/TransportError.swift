package import Bluetooth
package import SystemPackage

/// An error that prevents or ends the connection to a controller over a byte stream.
package enum TransportError: Error, Equatable, Sendable {
  /// The text is not an address. `Wanted` is the expected form.
  case notAnAddress(String, Wanted)
  /// The path is too long for a UNIX socket's address.
  case pathTooLong(String)
  case unknownBaudRate(Int)
  /// The resolver does not know the host. `reason` is its message.
  case unknownHost(String, reason: String)
  /// The name server did not answer in time.
  case unresolvedHost(String)
  case notConnected(TransportAddress, Errno)
  case connectTimeout(TransportAddress)
  case serialLine(TransportAddress, Errno)

  /// The listener cannot use the address. Another program uses it, or the machine does not have it, or the user may not.
  case cannotListen(TransportAddress, Errno)

  // How the connection ended. `transport` is its address as the user knows it.
  /// The other side closed the stream.
  case closedByOtherSide(transport: String)
  /// The received data is not H4 (Vol 4 Part A).
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

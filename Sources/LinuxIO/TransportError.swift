package import SystemPackage

/// Why a controller behind a byte stream cannot be reached.
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

  package enum Wanted: Equatable, Sendable {
    case anyTransport
    case port
    case host
    case path
    case device
    case baudRate
  }
}

/// The address of a controller that speaks H4: `tcp:HOST:PORT`, `unix:PATH`, `serial:PATH[@BAUD]`.
package enum TransportAddress: Equatable, Sendable, CustomStringConvertible {
  /// A TCP port of a host: a name or a numeric address without brackets.
  case tcp(host: String, port: UInt16)
  case unix(path: String)
  /// A serial line. The baud rate is in bits per second. See `SerialPort`.
  case serial(path: String, baud: Int)

  /// Parses an address to listen at, which excludes serial lines. Port 0 is any free port.
  /// - Throws: TransportError.notAnAddress.
  package init(listening text: String) throws(TransportError) {
    try self.init(text, portsFrom: 0)
    if case .serial = self { throw .notAnAddress(text, .listener) }
  }

  /// Parses an address.
  /// - Throws: TransportError.notAnAddress with the expected form.
  package init(_ text: String) throws(TransportError) { try self.init(text, portsFrom: 1) }

  private init(_ text: String, portsFrom least: UInt16) throws(TransportError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = parts.count == 2 ? parts[1] : ""
    switch parts.first {
    case "tcp":
      guard let colon = rest.lastIndex(of: ":"), let port = Self.decimal(rest[rest.index(after: colon)...]).flatMap(UInt16.init(exactly:)),
        port >= least
      else { throw TransportError.notAnAddress(text, .port) }
      var host = rest[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      guard !host.isEmpty else { throw TransportError.notAnAddress(text, .host) }
      self = .tcp(host: String(host), port: port)
    case "unix":
      guard SocketAddress.unix(String(rest)) != nil else { throw TransportError.notAnAddress(text, .path) }
      self = .unix(path: String(rest))
    case "serial":
      let words = rest.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      guard let path = words.first, !path.isEmpty else { throw TransportError.notAnAddress(text, .device) }
      guard words.count == 2 else {
        self = .serial(path: String(path), baud: SerialPort.defaultBaud)
        return
      }
      guard let baud = Self.decimal(words[1]), SerialPort.speeds[baud] != nil else { throw TransportError.notAnAddress(text, .baudRate) }
      self = .serial(path: String(path), baud: baud)
    default: throw TransportError.notAnAddress(text, .anyTransport)
    }
  }

  /// Parses one to nine ASCII digits.
  private static func decimal(_ text: Substring) -> Int? {
    guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    case .serial(let path, let baud): baud == SerialPort.defaultBaud ? "serial:\(path)" : "serial:\(path)@\(baud)"
    }
  }
}

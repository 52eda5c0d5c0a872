package import Bluetooth

/// Where a controller that speaks H4 is reached: `tcp:HOST:PORT`, `unix:PATH`, `serial:PATH[@BAUD]`.
package enum TransportAddress: Equatable, Sendable, CustomStringConvertible {
  /// - Parameter host: a name or a numeric address, without brackets.
  case tcp(host: String, port: UInt16)
  case unix(path: String)
  /// - Parameter baud: bits a second; see `SerialPort`.
  case serial(path: String, baud: Int)

  /// - Throws: BluetoothError(.usage) that says which form is wanted.
  package init(_ text: String) throws(BluetoothError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = parts.count == 2 ? parts[1] : ""
    switch parts.first {
    case "tcp":
      guard let colon = rest.lastIndex(of: ":"), let port = Self.decimal(rest[rest.index(after: colon)...]).flatMap(UInt16.init(exactly:)),
        port > 0
      else { throw Self.wrong(text, "tcp:HOST:PORT, with a port from 1 to 65535") }
      var host = rest[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      guard !host.isEmpty else { throw Self.wrong(text, "tcp:HOST:PORT, for example tcp:localhost:9000") }
      self = .tcp(host: String(host), port: port)
    case "unix":
      guard SocketAddress.unix(String(rest)) != nil else { throw Self.wrong(text, "unix:PATH, with a path of 1 to 107 octets") }
      self = .unix(path: String(rest))
    case "serial":
      let words = rest.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      guard let path = words.first, !path.isEmpty else { throw Self.wrong(text, "serial:DEVICE[@BAUD], for example serial:/dev/ttyACM0") }
      guard words.count == 2 else {
        self = .serial(path: String(path), baud: SerialPort.defaultBaud)
        return
      }
      guard let baud = Self.decimal(words[1]), SerialPort.speeds[baud] != nil else {
        throw Self.wrong(text, "a baud rate of \(SerialPort.speeds.keys.sorted().map(String.init).joined(separator: ", "))")
      }
      self = .serial(path: String(path), baud: baud)
    default: throw Self.wrong(text, "tcp:HOST:PORT, unix:PATH or serial:DEVICE[@BAUD]")
    }
  }

  /// ASCII digits only, at most nine.
  private static func decimal(_ text: Substring) -> Int? {
    guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  private static func wrong(_ text: String, _ wanted: String) -> BluetoothError {
    BluetoothError(.usage, "“\(text)” is not the address of a controller: \(wanted) is needed")
  }

  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    case .serial(let path, let baud): baud == SerialPort.defaultBaud ? "serial:\(path)" : "serial:\(path)@\(baud)"
    }
  }
}

import BluetoothLELinux
import Foundation
import Glibc
import TestSupport

/// A program or device that users may mistake for a controller, behind a socket or on a serial line. It answers the first bytes with text,
/// or hangs up.
final class NotAController: @unchecked Sendable {
  enum Kind: CaseIterable { case tcp, unix, serial }

  /// The adapter for `-i`.
  let adapter: String
  private let path = TemporaryPath()
  /// The descriptors that keep the other side of the line open.
  private let ends: [Int32]

  /// - Parameter words: The answer. Nil hangs up.
  init(_ kind: Kind, says words: String?) throws {
    switch kind {
    case .tcp:
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let listener = try Self.listener(AF_INET, SocketAddress(address))
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      try SystemCall.call {
        unsafe withUnsafeMutablePointer(to: &address) {
          unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(listener, $0, &length) }
        }
      }
      adapter = "tcp:127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
      ends = [listener]
    case .unix:
      adapter = "unix:\(path.path)"
      ends = [try Self.listener(AF_UNIX, SocketAddress.unix(path.path) ?? SocketAddress(bytes: []))]
    case .serial:
      var (near, far): (Int32, Int32) = (-1, -1)
      var name = [UInt8](repeating: 0, count: 64)
      try SystemCall.call {
        unsafe name.withUnsafeMutableBytes { unsafe openpty(&near, &far, $0.baseAddress?.assumingMemoryBound(to: CChar.self), nil, nil) }
      }
      adapter = "serial:\(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))@9600"
      ends = [near, far]
    }
    let end = ends[0]
    Thread.detachNewThread { Self.serve(end, isListener: kind != .serial, words) }
  }

  deinit { for end in ends { close(end) } }

  private static func listener(_ family: Int32, _ address: SocketAddress) throws -> Int32 {
    let listener = try SystemCall.call { socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
    try SystemCall.bind(listener, address)
    try SystemCall.call { listen(listener, 1) }
    return listener
  }

  private static func serve(_ end: Int32, isListener: Bool, _ words: String?) {
    let link = isListener ? accept(end, nil, nil) : end
    var buffer = [UInt8](repeating: 0, count: 256)
    guard unsafe read(link, &buffer, buffer.count) > 0 else { return }
    if let words {
      let bytes = Array(words.utf8)
      _ = unsafe write(link, bytes, bytes.count)
      while unsafe read(link, &buffer, buffer.count) > 0 {}
    }
    if isListener { close(link) }
  }
}

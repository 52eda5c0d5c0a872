import BluetoothLELinux
import Foundation
import Glibc
import TestSupport

/// A scripted controller behind a UNIX socket that records its input. Unlike the simulated controller, it can flood and fall silent. It has
/// at most one link, to any requested device.
final class H4Controller: @unchecked Sendable {
  /// The adapter for `-i`.
  let adapter: String
  private let path = TemporaryPath()
  private let listener: Int32
  private let condition = NSCondition()
  private var link: Int32 = -1
  private var received: [[UInt8]] = []
  private var isSilent = false
  private var advertisement: [UInt8]?
  private var greeting: [UInt8] = []
  private var server: PlainServer?
  private let device: (@Sendable ([UInt8]) -> [Answer]?)?
  private let pairing: (@Sendable ([UInt8]) -> [[UInt8]])?

  /// A device's reaction to an ATT PDU.
  enum Answer: Sendable {
    case pdu([UInt8])
    /// The device closes the link, as when it reboots.
    case disconnect
    /// The device goes out of range.
    case loss
  }

  static let handle: [UInt8] = [0x40, 0x00]

  /// - Parameters:
  ///   - device: Answers each ATT PDU with packets that the host reads in one piece. Nil: the test sends answers with `send(att:)`.
  ///   - pairing: Answers each Security Manager PDU. Nil: nothing does.
  init(_ device: (@Sendable ([UInt8]) -> [Answer]?)? = nil, pairing: (@Sendable ([UInt8]) -> [[UInt8]])? = nil) throws {
    (self.device, self.pairing) = (device, pairing)
    adapter = "unix:\(path.path)"
    guard let address = SocketAddress.unix(path.path) else { throw POSIXError(.ENAMETOOLONG) }
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try SystemCall.bind(listener, address)
    guard listen(listener, 1) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
    Thread.detachNewThread { [self] in serve() }
  }

  deinit { close(listener) }

  /// Answers ATT requests from the attributes of this server.
  func serve(_ server: PlainServer) { locked { self.server = server } }

  /// Sends an SMP PDU of the device together with each new connection.
  func greet(smp pdu: [UInt8]) {
    let count = UInt8(pdu.count)
    locked { greeting = [2] + Self.handle + [count + 4, 0, count, 0, 6, 0] + pdu }
  }

  /// Stops answering anything.
  func fallSilent() { locked { isSilent = true } }

  /// Closes the connection, after sending pending data.
  func hangUp() { _ = shutdown(locked { self.link }, Int32(SHUT_WR)) }

  /// Advertises a public device while the host scans. The address has its least significant byte first.
  func advertise(_ address: [UInt8], _ data: [UInt8]) {
    let count = UInt8(data.count)
    locked { advertisement = [4, 0x3E, 12 + count, 2, 1, 0, 0] + address + [count] + data + [0xC4] }
  }

  /// Sends H4 packets to the host. - Returns: False when the host is gone.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    let link = locked { self.link }
    return unsafe Glibc.send(link, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  /// Sends an ATT PDU of the device.
  func send(att pdu: [UInt8]) { send(Self.packet(pdu)) }

  private static func packet(_ pdu: [UInt8], _ channel: UInt8 = 4) -> [UInt8] {
    let count = UInt8(pdu.count)
    return [2] + handle + [count + 4, 0, count, 0, channel, 0] + pdu
  }

  /// Sends `count` batches of advertising reports of 250 devices. - Returns: False if the host takes none of them until the time limit.
  func flood(_ count: Int) -> Bool {
    var batch: [UInt8] = []
    for number in UInt8(0)..<250 {
      batch += [4, 0x3E, 15, 2, 1, 0, 1, number, 0, 0, 0, 0, 0xC0, 3, 2, 1, 6, 0xC4]
    }
    var limit = timeval(tv_sec: Int(HangGuard.seconds), tv_usec: 0)
    unsafe setsockopt(locked { self.link }, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    return (0..<count / 250).allSatisfy { _ in send(batch) }
  }

  /// Waits for a matching packet from the host, after the last match. - Returns: Nil if none arrives until the time limit.
  func next(where fits: @escaping ([UInt8]) -> Bool) -> [UInt8]? {
    condition.lock()
    defer { condition.unlock() }
    let deadline = Date(timeIntervalSinceNow: HangGuard.seconds)
    while true {
      if let index = received.firstIndex(where: fits) {
        defer { received.removeFirst(index + 1) }
        return received[index]
      }
      if !condition.wait(until: deadline) { return nil }
    }
  }

  /// Returns the parameters of the next command with this opcode.
  func command(_ opcode: UInt16) -> [UInt8]? {
    next { $0.first == 1 && $0.count >= 4 && UInt16($0[1]) | UInt16($0[2]) << 8 == opcode }.map { Array($0.dropFirst(4)) }
  }

  /// Returns the next ATT PDU to the device that starts with this prefix.
  func att(_ prefix: [UInt8]) -> [UInt8]? { next { $0.first == 2 && $0.count >= 9 && $0.dropFirst(9).starts(with: prefix) } }

  // MARK: The thread

  private func locked<T>(_ body: () -> T) -> T {
    condition.lock()
    defer { condition.unlock() }
    return body()
  }

  private func serve() {
    let link = accept(listener, nil, nil)
    guard link >= 0 else { return }
    locked { self.link = link }
    var data: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = unsafe read(link, &buffer, buffer.count), count > 0 {
      data += buffer[..<count]
      while let length = Self.length(data), data.count >= length {
        let packet = Array(data.prefix(length))
        data.removeFirst(length)
        if !locked({ isSilent }) {
          if let bytes = scripted(packet) {
            send(bytes)
          } else {
            let isConnection = packet.starts(with: [1, 0x0D, 0x20])
            send(Self.answers(packet).flatMap { $0 } + (isConnection ? locked { greeting } : []))
          }
          if packet.starts(with: [1, 0x0C, 0x20, 2, 1]), let report = locked({ advertisement }) { send(report) }
          if packet[0] == 2, packet.count > 9, packet[9] != 2, let pdu = locked({ server?.answer(Array(packet[9...])) }) { send(att: pdu) }
        }
        locked {
          received.append(packet)
          condition.broadcast()
        }
      }
    }
    locked { self.link = -1 }
    close(link)
  }

  /// Returns the device's answers in H4, or nil if it has none.
  private func scripted(_ packet: [UInt8]) -> [UInt8]? {
    if packet[0] == 2, packet.count > 9, packet[7...8] == [6, 0], let pairing {
      return pairing(Array(packet[9...])).reduce([4, 0x13, 5, 1] + Self.handle + [1, 0]) { $0 + Self.packet($1, 6) }
    }
    guard packet[0] == 2, packet.count > 9, packet[7...8] == [4, 0], let answers = device?(Array(packet[9...])) else { return nil }
    return answers.reduce([4, 0x13, 5, 1] + Self.handle + [1, 0]) { bytes, answer in
      switch answer {
      case .pdu(let pdu): bytes + Self.packet(pdu)
      case .disconnect: bytes + [4, 5, 4, 0] + Self.handle + [0x13]
      case .loss: bytes + [4, 5, 4, 0] + Self.handle + [0x08]
      }
    }
  }

  private static func length(_ data: [UInt8]) -> Int? {
    guard data.count >= 5 else { return data.count == 4 && data[0] == 1 ? 4 + Int(data[3]) : nil }
    return data[0] == 1 ? 4 + Int(data[3]) : 5 + Int(data[3]) + Int(data[4]) << 8
  }

  private static func answers(_ packet: [UInt8]) -> [[UInt8]] {
    if packet[0] == 2 {
      let completed: [UInt8] = [4, 0x13, 5, 1] + handle + [1, 0]
      // Exchange MTU: the minimum.
      return packet.count >= 10 && packet[9] == 2 ? [completed, [2] + handle + [7, 0, 3, 0, 4, 0, 3, 23, 0]] : [completed]
    }
    let opcode = Array(packet[1...2])
    let parameters = Array(packet.dropFirst(4))
    let accepted: [UInt8] = [4, 0x0F, 4, 0, 1] + opcode
    switch UInt16(opcode[0]) | UInt16(opcode[1]) << 8 {
    case 0x200D:
      let peer = Array(parameters[5..<12])
      return [accepted, [4, 0x3E, 19, 1, 0] + handle + [0] + peer + [24, 0, 0, 0, 0x90, 1, 0]]
    case 0x2016: return [accepted, [4, 0x3E, 12, 4, 0] + handle + [UInt8](repeating: 0, count: 8)]
    // LE Enable Encryption: any key is right.
    case 0x2019: return [accepted, [4, 8, 4, 0] + handle + [1]]
    case 0x0406: return [accepted, [4, 5, 4, 0] + handle + [0x16]]
    default:
      let body = [1] + opcode + [0] + (values[UInt16(opcode[0]) | UInt16(opcode[1]) << 8] ?? [])
      return [[4, 0x0E, UInt8(body.count)] + body]
    }
  }

  /// The return parameters after the status, by opcode.
  private static let values: [UInt16: [UInt8]] = [
    0x1001: [UInt8](repeating: 0, count: 8), 0x1002: [UInt8](repeating: 0, count: 64), 0x1003: [0, 0, 0, 0, 0x60, 0, 0, 0],
    0x1005: [251, 0, 0, 8, 0, 0, 0], 0x1009: [1, 0, 0, 0xDB, 0x1B, 0], 0x1405: handle + [0xC4], 0x2002: [251, 0, 8],
    0x2003: [UInt8](repeating: 0, count: 8), 0x2030: handle + [1, 1],
  ]
}

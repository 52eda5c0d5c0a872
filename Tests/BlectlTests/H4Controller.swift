import Foundation
import Glibc
import LinuxIO
import TestSupport

/// A controller behind a UNIX socket that does as it is told and remembers what it was told: for what the simulated one does not do, to flood
/// and to fall silent. It has at most one link, to whatever device it is asked for.
final class H4Controller: @unchecked Sendable {
  /// For `-i`.
  let adapter: String
  private let path = TemporaryPath()
  private let listener: Int32
  private let condition = NSCondition()
  private var link: Int32 = -1
  private var received: [[UInt8]] = []
  private var isSilent = false
  private var advertisement: [UInt8]?
  private var server: PlainServer?
  private let device: (@Sendable ([UInt8]) -> [Answer]?)?

  /// What a device does about an ATT PDU.
  enum Answer: Sendable {
    case pdu([UInt8])
    /// It closes the link, as when it reboots.
    case disconnect
    /// It goes out of range.
    case loss
  }

  static let handle: [UInt8] = [0x40, 0x00]

  /// - Parameter device: answers each ATT PDU, in one piece, which the host reads at once; nil: the device says what `send(att:)` does.
  init(_ device: (@Sendable ([UInt8]) -> [Answer]?)? = nil) throws {
    self.device = device
    adapter = "unix:\(path.path)"
    guard let address = SocketAddress.unix(path.path) else { throw POSIXError(.ENAMETOOLONG) }
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try SystemCall.bind(listener, address)
    guard listen(listener, 1) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
    Thread.detachNewThread { [self] in serve() }
  }

  deinit { close(listener) }

  /// The device answers ATT requests from these attributes.
  func serve(_ server: PlainServer) { locked { self.server = server } }

  /// From now on nothing is answered.
  func fallSilent() { locked { isSilent = true } }

  /// Closes the connection, after what was sent.
  func hangUp() { _ = shutdown(locked { self.link }, Int32(SHUT_WR)) }

  /// A public device advertises when the host scans: its address, least significant octet first, and its data.
  func advertise(_ address: [UInt8], _ data: [UInt8]) {
    let count = UInt8(data.count)
    locked { advertisement = [4, 0x3E, 12 + count, 2, 1, 0, 0] + address + [count] + data + [0xC4] }
  }

  /// H4 packets to the host. - Returns: false when it is gone.
  @discardableResult
  func send(_ octets: [UInt8]) -> Bool {
    let link = locked { self.link }
    return unsafe Glibc.send(link, octets, octets.count, Int32(MSG_NOSIGNAL)) == octets.count
  }

  /// An ATT PDU of the device.
  func send(att pdu: [UInt8]) { send(Self.packet(pdu)) }

  private static func packet(_ pdu: [UInt8]) -> [UInt8] {
    let count = UInt8(pdu.count)
    return [2] + handle + [count + 4, 0, count, 0, 4, 0] + pdu
  }

  /// Sends so many advertising reports of 250 devices. - Returns: false when the host does not take them within a minute.
  func flood(_ count: Int) -> Bool {
    var batch: [UInt8] = []
    for number in UInt8(0)..<250 {
      batch += [4, 0x3E, 15, 2, 1, 0, 1, number, 0, 0, 0, 0, 0xC0, 3, 2, 1, 6, 0xC4]
    }
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    unsafe setsockopt(locked { self.link }, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    return (0..<count / 250).allSatisfy { _ in send(batch) }
  }

  /// Waits until a packet from the host fits, of those that came since the last one that did. - Returns: nil after a minute without one.
  func next(where fits: @escaping ([UInt8]) -> Bool) -> [UInt8]? {
    condition.lock()
    defer { condition.unlock() }
    let deadline = Date(timeIntervalSinceNow: 60)
    while true {
      if let index = received.firstIndex(where: fits) {
        defer { received.removeFirst(index + 1) }
        return received[index]
      }
      if !condition.wait(until: deadline) { return nil }
    }
  }

  /// The parameters of the next command with this opcode.
  func command(_ opcode: UInt16) -> [UInt8]? {
    next { $0.first == 1 && $0.count >= 4 && UInt16($0[1]) | UInt16($0[2]) << 8 == opcode }.map { Array($0.dropFirst(4)) }
  }

  /// The next ATT PDU for the device that begins like this.
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
          if let octets = scripted(packet) { send(octets) } else { for answer in Self.answers(packet) { send(answer) } }
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

  /// What the device's answers are in H4; nil when it has none.
  private func scripted(_ packet: [UInt8]) -> [UInt8]? {
    guard packet[0] == 2, packet.count > 9, packet[7...8] == [4, 0], let answers = device?(Array(packet[9...])) else { return nil }
    return answers.reduce([4, 0x13, 5, 1] + Self.handle + [1, 0]) { octets, answer in
      switch answer {
      case .pdu(let pdu): octets + Self.packet(pdu)
      case .disconnect: octets + [4, 5, 4, 0] + Self.handle + [0x13]
      case .loss: octets + [4, 5, 4, 0] + Self.handle + [0x08]
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
      // Exchange MTU: the least.
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
    case 0x0406: return [accepted, [4, 5, 4, 0] + handle + [0x16]]
    default:
      let body = [1] + opcode + [0] + (values[UInt16(opcode[0]) | UInt16(opcode[1]) << 8] ?? [])
      return [[4, 0x0E, UInt8(body.count)] + body]
    }
  }

  /// Return parameters after the status, of the commands that have some.
  private static let values: [UInt16: [UInt8]] = [
    0x1001: [UInt8](repeating: 0, count: 8), 0x1002: [UInt8](repeating: 0, count: 64), 0x1003: [0, 0, 0, 0, 0x60, 0, 0, 0],
    0x1005: [251, 0, 0, 8, 0, 0, 0], 0x1009: [1, 0, 0, 0xDB, 0x1B, 0], 0x1405: handle + [0xC4], 0x2002: [251, 0, 8],
    0x2003: [UInt8](repeating: 0, count: 8), 0x2030: handle + [1, 1],
  ]
}

import ATT
import EventLoop
import Operations

/// The ATT PDUs of a test.
@LoopActor
final class PacketLog {
  /// Whose links a task makes.
  @TaskLocal static var present: PacketLog?
  /// What a test keeps: the last ones.
  static let limit = 20_000
  /// What a problem shows.
  static let shown = 20

  private var packets: [TestPacket] = []
  private var omitted = 0
  private var start: LoopClock.Instant

  init() { start = EventLoop.shared.now }

  /// A test begins.
  func begin() {
    (packets, omitted) = ([], 0)
    start = EventLoop.shared.now
  }

  func add(_ direction: ATT.Direction, _ pdu: [UInt8]) {
    if packets.count >= 2 * Self.limit {
      packets.removeFirst(Self.limit)
      omitted += Self.limit
    }
    packets.append(
      TestPacket(at: start.duration(to: EventLoop.shared.now), direction: direction, octets: pdu, text: PDUText.name(pdu)))
  }

  var last: [TestPacket] { packets.suffix(Self.shown) }

  /// - Returns: the last ones, and how many came before.
  func taken() -> (packets: [TestPacket], omitted: Int) {
    let kept = Array(packets.suffix(Self.limit))
    return (kept, omitted + packets.count - kept.count)
  }
}

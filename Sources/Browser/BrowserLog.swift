import ATT
import Bluetooth
import GATT
import Text

/// The log: every PDU, and the actions of the browser.
struct BrowserLog {
  struct Entry {
    enum Content {
      /// - Parameters:
      ///   - handle: of what the PDU is about: of an answer, what was asked for.
      ///   - elapsed: nanoseconds since what it answers.
      case pdu(Direction, [UInt8], AttributeHandle?, elapsed: Int64?)
      case note(String)
      case problem(String)
    }

    /// Nanoseconds since 1970-01-01T00:00:00Z.
    let time: Int64
    let peer: PeerAddress?
    let content: Content
  }

  private(set) var entries: [Entry] = []
  /// How many are below what is seen.
  private(set) var below = 0
  private var asked: [PeerAddress: (time: Int64, handle: AttributeHandle?)] = [:]

  static let capacity = 2000

  mutating func add(_ content: Entry.Content, of peer: PeerAddress?, at time: Int64) {
    if entries.count >= 2 * Self.capacity { entries.removeFirst(entries.count - Self.capacity) }
    entries.append(Entry(time: time, peer: peer, content: content))
    // What is read stays where it is.
    if below > 0 { below = min(below + 1, entries.count) }
  }

  mutating func add(_ direction: Direction, _ pdu: [UInt8], of peer: PeerAddress, at time: Int64) {
    guard let first = pdu.first else { return add(.pdu(direction, pdu, nil, elapsed: nil), of: peer, at: time) }
    let handle = pdu.count >= 3 ? AttributeHandle(rawValue: UInt16(pdu[1]) | UInt16(pdu[2]) << 8) : nil
    switch ATT.Opcode(rawValue: first) {
    case .request(let request):
      let named: [RequestOpcode] = [.read, .readBlob, .write, .prepareWrite]
      let about = named.contains(request) ? handle : nil
      if direction == .sent { asked[peer] = (time, about) }
      add(.pdu(direction, pdu, about, elapsed: nil), of: peer, at: time)
    case .response, .error:
      let question = direction == .received ? asked.removeValue(forKey: peer) : nil
      add(.pdu(direction, pdu, question?.handle, elapsed: question.map { time - $0.time }), of: peer, at: time)
    case .command, .unsolicited: add(.pdu(direction, pdu, handle, elapsed: nil), of: peer, at: time)
    case .confirmation, .unknown: add(.pdu(direction, pdu, nil, elapsed: nil), of: peer, at: time)
    }
  }

  mutating func scroll(by lines: Int, seen: Int) { below = max(0, min(entries.count - seen, below - lines)) }

  /// The entries that `count` lines show.
  func seen(_ count: Int) -> ArraySlice<Entry> {
    let end = max(0, entries.count - below)
    return entries[max(0, end - max(0, count))..<end]
  }
}

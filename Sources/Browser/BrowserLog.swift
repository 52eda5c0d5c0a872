import ATT
import Bluetooth
import GATT
import Text

/// The log of the browser, with every PDU and the actions of the browser.
struct BrowserLog {
  struct Entry {
    enum Content {
      /// A PDU on a link.
      /// - Parameters:
      ///   - handle: The handle of the PDU's attribute. For a response, the handle in the request.
      ///   - elapsed: The time since the request, in nanoseconds.
      case pdu(Direction, [UInt8], AttributeHandle?, elapsed: Int64?)
      case note(String)
      case problem(String)
    }

    /// The time of the entry, in nanoseconds since 1970-01-01T00:00:00Z.
    let time: Int64
    let peer: PeerAddress?
    let content: Content
  }

  private(set) var entries: [Entry] = []
  /// The number of entries below the visible ones.
  private(set) var below = 0
  private var asked: [PeerAddress: (time: Int64, handle: AttributeHandle?)] = [:]

  static let capacity = 2000

  mutating func add(_ content: Entry.Content, of peer: PeerAddress?, at time: Int64) {
    if entries.count >= 2 * Self.capacity { entries.removeFirst(entries.count - Self.capacity) }
    entries.append(Entry(time: time, peer: peer, content: content))
    // Keep the visible entries in place.
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

  /// Returns the entries that `count` lines show.
  func seen(_ count: Int) -> ArraySlice<Entry> {
    let end = max(0, entries.count - below)
    return entries[max(0, end - max(0, count))..<end]
  }
}

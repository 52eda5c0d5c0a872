import BluetoothLE
import Presentation
import Terminal

/// The log pane of the browser, with all PDUs and messages.
struct BrowserLog {
  struct Entry {
    enum Content {
      /// A PDU of a connection.
      /// - Parameters:
      ///   - handle: The handle of the PDU's attribute. For a response, the handle in its request. Nil if the PDU names none.
      ///   - elapsed: The time from the request to this response, in nanoseconds. Nil unless the PDU is a received response.
      case pdu(PDUDirection, [UInt8], AttributeHandle?, elapsed: Int64?)
      case note(String)
      case problem(String)
    }

    /// The time of the entry, in nanoseconds since 1970-01-01T00:00:00Z.
    let time: Int64
    let peer: PeerAddress?
    let content: Content
  }

  private(set) var entries: [Entry] = []
  /// The number of entries below the last visible entry. 0 if the log shows the latest entry.
  private(set) var below = 0
  private var asked: [PeerAddress: (time: Int64, handle: AttributeHandle?)] = [:]

  static let capacity = 2000

  mutating func add(_ content: Entry.Content, of peer: PeerAddress?, at time: Int64) {
    if entries.count >= 2 * Self.capacity { entries.removeFirst(entries.count - Self.capacity) }
    entries.append(Entry(time: time, peer: peer, content: content))
    // Keep the visible entries in place.
    if below > 0 { below = min(below + 1, entries.count) }
  }

  mutating func add(_ direction: PDUDirection, _ pdu: [UInt8], of peer: PeerAddress, at time: Int64) {
    guard let first = pdu.first else { return add(.pdu(direction, pdu, nil, elapsed: nil), of: peer, at: time) }
    let handle = pdu.count >= 3 ? AttributeHandle(rawValue: pdu.uint16(at: 1)) : nil
    switch ATTOpcode(rawValue: first) {
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

  func draw(_ devices: DeviceList, _ renderer: LineRenderer, in box: BrowserLayout.Box, isFocused: Bool) -> [Frame.Line] {
    let lines = entries.dropLast(below).suffix(box.inside).map { entry -> Frame.Line in
      var spans = [Span(renderer.time(entry.time) + " ", .dim)]
      if let peer = entry.peer, devices.peers.count > 1 { spans.append(Span("\(renderer.safe(devices.name(of: peer))) ", .cyan)) }
      switch entry.content {
      case .note(let text): spans.append(Span(renderer.message(text)))
      case .problem(let text): spans.append(Span(renderer.message(text), .red))
      case .pdu(let direction, let bytes, let handle, let elapsed):
        spans.append(direction == .sent ? Span("→ ", .cyan) : Span("← ", .green))
        spans.append(Span(renderer.message(Self.text(bytes, handle, of: entry.peer.flatMap { devices.peers[$0] }))))
        if let elapsed { spans.append(Span("  (\(elapsed / 1_000_000) ms)", .dim)) }
      }
      return renderer.line(spans, width: box.width - 2)
    }
    let right = below > 0 ? [Span("\(below) below", .dim)] : []
    return renderer.box([Span("Log", .bold)], right: right, lines, in: box, isFocused: isFocused)
  }

  /// Returns a line of text with the name, the attribute and the value of a PDU.
  /// - Parameter handle: The handle of the PDU's attribute. Nil if unknown.
  private static func text(_ pdu: [UInt8], _ handle: AttributeHandle?, of peer: BrowserPeer?) -> String {
    guard let parsed = try? PDU(parsing: pdu) else { return "malformed \(Hex.encode(pdu))" }
    let attribute = handle.flatMap { peer?.tree.table?.attribute(at: $0) }
    func value(_ bytes: [UInt8]) -> String {
      if bytes.isEmpty { return "(empty)" }
      if case .characteristic(let item, _)? = attribute, let facts = peer?.facts(item) {
        return ValueText.displayText(bytes, of: facts.characteristic.uuid, formats: facts.formats)
      }
      return ValueText.displayText(bytes, of: attribute?.uuid)
    }
    func named(_ handle: AttributeHandle) -> String { "\(handle)" + (attribute?.uuid.map { " \($0)" } ?? "") }
    let name = (pdu.first.map { ATTOpcode(rawValue: $0).description } ?? "").lowercased().replacing("handle value ", with: "")
    switch parsed {
    case .request(.read(let handle)): return "\(name) \(named(handle))"
    case .request(.readBlob(let handle, let offset)): return "\(name) \(named(handle)) from \(offset)"
    case .request(.write(let handle, let bytes)), .command(.write(let handle, let bytes)):
      return "\(name) \(named(handle))  \(value(bytes))"
    case .request(.prepareWrite(let handle, let offset, let bytes)), .response(.prepareWrite(let handle, let offset, let bytes)):
      return "\(name) \(named(handle)) at \(offset)  \(Hex.encode(bytes))"
    case .response(.read(let bytes)): return "\(name)  \(value(bytes))"
    case .response(.readBlob(let bytes)): return "\(name)  \(Hex.encode(bytes))"
    case .response(.error(let request, let handle, let code)):
      return "\(name) to \(request.description.lowercased()) \(handle): \(code)"
    case .unsolicited(.notification(let item)), .unsolicited(.indication(let item)):
      return "\(name) \(named(item.handle))  \(value(item.value))"
    case .request, .response, .command, .unsolicited, .confirmation, .unknown:
      let rest = Hex.encode(pdu.dropFirst())
      return rest.isEmpty ? name : "\(name)  \(rest)"
    }
  }
}

import Bluetooth
import GATT
import Presentation
import Terminal
import Text

/// Renders the rows of a device's tree as lines.
struct TreeText {
  typealias Span = Frame.Span

  let pen: Pen
  let width: Int

  /// Returns the texts that a search compares.
  static func words(_ row: TreeRow, _ peer: BrowserPeer) -> [String] {
    func named(_ uuid: UUID) -> [String] { [uuid.description] + (AssignedNumbers.name(of: uuid).map { [$0] } ?? []) }
    return switch row {
    case .service(let service, _): named(service.uuid) + ["\(service.handle)"]
    case .include(let include): (include.uuid.map(named) ?? []) + ["\(include.handle)"]
    case .characteristic(let item, _, _):
      named(item.uuid) + ["\(item.valueHandle)"] + (peer.facts(item).userDescription.map { [$0] } ?? [])
    case .descriptor(let item, _, _): named(item.uuid) + ["\(item.handle)"]
    }
  }

  /// Renders a row as a line.
  /// - Parameter highlight: The style of the row under the cursor.
  func line(_ row: TreeRow, _ peer: BrowserPeer, highlight: Frame.Style?) -> Frame.Line {
    switch row {
    case .service(let service, let isFolded):
      let handles = "\(service.handle)–\(service.endHandle)" + (service.isPrimary ? "" : " secondary")
      return pen.line(
        [Span(isFolded ? "▸ " : "▾ ", .dim), Span(name(service.uuid), .bold), Span(suffix(service.uuid), .dim)],
        right: width >= 50 ? [Span(handles, .dim)] : [], width: width, highlight: highlight)
    case .include(let include):
      return pen.line(
        [Span("    includes ", .dim), Span(include.uuid.map(name) ?? "?"), Span("  \(include.startHandle)–\(include.endHandle)", .dim)],
        width: width, highlight: highlight)
    case .characteristic(let item, _, let isFolded): return characteristic(item, isFolded, peer, highlight)
    case .descriptor(let item, let owner, _):
      let text = peer.facts(owner).text(item)
      return pen.line(
        [Span("      "), Span(columns(name(item.uuid), nameWidth - 4), .dim), Span(" "), Span(pen.said(text ?? ""))],
        right: width >= 50 ? [Span("\(item.handle)", .dim)] : [], width: width, highlight: highlight)
    }
  }

  private var nameWidth: Int { max(14, min(34, width * 2 / 5)) }

  private func characteristic(_ item: Characteristic, _ isFolded: Bool, _ peer: BrowserPeer, _ highlight: Frame.Style?) -> Frame.Line {
    let facts = peer.facts(item)
    let isOn = peer.isConnected && peer.subscribed.contains(item.valueHandle)
    let canSend = !item.properties.isDisjoint(with: [.notify, .indicate])
    let fold = item.descriptors.isEmpty ? " " : isFolded ? "▸" : "▾"
    var title = name(item.uuid)
    if let own = facts.userDescription {
      title = "\(pen.safe(own)) \(AssignedNumbers.name(of: item.uuid) == nil ? "\(item.uuid)" : "")".trimmed
    }
    var spans = [
      Span("  \(fold)", .dim), Span(isOn ? "◉ " : canSend ? "○ " : "  ", isOn ? Frame.Style(.green, bold: true) : .dim),
      Span(columns(title, nameWidth)), Span(" "),
    ]
    var right: [Span] = []
    if width >= 64, let history = peer.histories[item.valueHandle], history.count > 1 {
      right.append(Span(pen.spark(history.tail(10)), Frame.Style(.cyan)))
    }
    if width >= 52, let time = peer.times[item.valueHandle] { right.append(Span(" " + pen.time(time, milliseconds: false), .dim)) }
    spans += Self.value(peer.values[item.valueHandle], facts, pen)
    if peer.values[item.valueHandle] == nil { spans.append(Span(Self.properties(item.properties), .dim)) }
    return pen.line(spans, right: right, width: width, highlight: highlight)
  }

  /// Renders the meaning of a value, then its bytes. Puts text in quotes.
  static func value(_ value: Result<[UInt8], any Error>?, _ facts: CharacteristicFacts, _ pen: Pen) -> [Span] {
    switch value {
    case .success(let octets)?:
      if octets.isEmpty { return [Span("(empty)", .dim)] }
      let hex = Hex.encode(octets)
      let meaning =
        DecodedText.text(octets, of: facts.characteristic.uuid, formats: facts.formats)
        ?? ValueText.text(octets).flatMap { octets.count > 1 ? "\"\(pen.safe($0))\"" : nil }
      guard let meaning else { return [Span(hex)] }
      return [Span(pen.said(meaning), .bold), Span("  " + hex, .dim)]
    case .failure(let error)?: return [Span(pen.said("(\(Failure(error).word))"), Frame.Style(.yellow))]
    case nil: return []
    }
  }

  /// Returns the names of the properties, such as `read, notify`.
  static func properties(_ properties: Properties) -> String {
    properties.names.map { $0.replacing("_", with: " ") }.joined(separator: ", ")
  }

  /// Renders all facts about the attribute under the cursor, in up to three lines.
  func details(_ row: TreeRow, _ peer: BrowserPeer) -> [Frame.Line] {
    switch row {
    case .service(let service, _):
      return [
        pen.line([Span(name(service.uuid), .bold), Span(suffix(service.uuid))], width: width),
        pen.line(
          [
            Span("\(service.isPrimary ? "primary" : "secondary") service, handles \(service.handle)–\(service.endHandle)", .dim)
          ], width: width),
      ]
    case .include(let include):
      return [pen.line([Span("included service, declared at \(include.handle)", .dim)], width: width)]
    case .characteristic(let item, _, _):
      let facts = peer.facts(item)
      let own = facts.userDescription.map { " \"\(pen.safe($0))\"" } ?? ""
      return [
        pen.line(
          [
            Span(name(item.uuid) + own, .bold), Span("\(suffix(item.uuid))  \(item.valueHandle)  "),
            Span(Self.properties(item.properties), .dim),
          ], width: width)
      ] + octets(peer.values[item.valueHandle]) { DecodedText.text($0, of: item.uuid, formats: facts.formats) }
    case .descriptor(let item, let owner, _):
      let facts = peer.facts(owner)
      return [
        pen.line([Span(name(item.uuid), .bold), Span("\(suffix(item.uuid))  \(item.handle)")], width: width)
      ] + octets(peer.values[item.handle]) { _ in facts.text(item) }
    }
  }

  private func octets(_ value: Result<[UInt8], any Error>?, _ meaning: ([UInt8]) -> String?) -> [Frame.Line] {
    switch value {
    case .success(let octets)?:
      let text = meaning(octets) ?? ValueText.text(octets).map { "\"\(pen.safe($0))\"" } ?? ""
      let hex =
        octets.isEmpty ? "(empty)" : stride(from: 0, to: octets.count, by: 1).map { Hex.encode([octets[$0]]) }.joined(separator: " ")
      return [
        pen.line([Span(pen.said(text))], width: width),
        pen.line([Span(hex, .dim)], right: octets.count > 8 ? [Span("\(octets.count) bytes", .dim)] : [], width: width),
      ]
    case .failure(let error)?: return [pen.line([Span(pen.said(Failure(error).message), Frame.Style(.yellow))], width: width)]
    case nil: return []
    }
  }

  private func name(_ uuid: UUID) -> String { AssignedNumbers.name(of: uuid).map(pen.safe) ?? uuid.description }

  /// Returns the UUID to show after a name.
  private func suffix(_ uuid: UUID) -> String { AssignedNumbers.name(of: uuid) == nil ? "" : " \(uuid)" }

  private func columns(_ text: String, _ width: Int) -> String { pen.pad(pen.clipMiddle(text, to: width), to: width) }
}

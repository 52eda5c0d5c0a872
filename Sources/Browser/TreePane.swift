import BluetoothLE
import Presentation
import Terminal

import struct BluetoothLEDeviceFiles.AdvertisingFormats

/// Draws the attribute tree of a device, or its advertisement if blectl has not discovered its services.
struct TreePane {
  let renderer: LineRenderer
  let layout: BrowserLayout
  let isFocused: Bool
  /// The time of the frame, in nanoseconds since 1970-01-01T00:00:00Z.
  let time: Int64

  private var width: Int { layout.tree.width - 2 }

  func draw(_ devices: inout DeviceList) -> [Frame.Line] {
    guard let address = devices.shown else { return renderer.box([], [], in: layout.tree, isFocused: isFocused) }
    let (title, right) = title(address, devices)
    let lines: [Frame.Line]
    if var peer = devices.peers[address], peer.tree.table != nil {
      lines = draw(&peer)
      devices.peers[address]?.tree = peer.tree
    } else {
      switch devices.peers[address]?.state {
      case .connecting?: lines = [line([Span("connecting …", .dim)])]
      case .connected?: lines = [line([Span("discovering services …", .dim)])]
      case .closed?, nil: lines = advertisement(address, &devices)
      }
    }
    return renderer.box(title, right: right, lines, in: layout.tree, isFocused: isFocused)
  }

  private func title(_ address: PeerAddress, _ devices: DeviceList) -> ([Span], [Span]) {
    let name = Span(renderer.safe(devices.name(of: address)), .bold)
    guard let peer = devices.peers[address] else { return ([name], []) }
    var right: [Span] = []
    var state = " · "
    switch peer.state {
    case .connecting: state += "connecting …"
    case .connected(let since):
      state += peer.security.map { $0.isAuthenticated ? "authenticated" : "encrypted" } ?? "connected"
      state += " \(Self.clock((time - since) / 1_000_000_000))"
      if let signal = devices.signals[address], let last = signal.last {
        right = [Span("\(Int(last.value)) dBm \(Plot.spark(signal.tail(8)))")]
      }
      // Show the facts that fit beside the name.
      let facts = [
        peer.mtu.map { "MTU \($0)" }, peer.link.interval.map { "\($0.millisecondsText) ms" },
        peer.link.phy.map { $0.name.uppercased() },
      ]
      for fact in facts.compactMap({ $0 }).map({ " · \($0)" }) {
        guard renderer.columns([name] + right) + DisplayText.width(state + fact) + 7 <= layout.tree.width else { break }
        right.append(Span(fact, .dim))
      }
    case .closed(let reason): state += reason == nil ? "not connected" : "connection lost"
    }
    let color: Frame.Color? = if case .closed(.some) = peer.state { .red } else { nil }
    let waits = peer.pending > 0 ? [Span(" …", .yellow)] : []
    return ([name, Span(state, Frame.Style(color))] + waits, right)
  }

  /// Formats a number of seconds as hours, minutes and seconds, such as `00:01:12`.
  private static func clock(_ seconds: Int64) -> String {
    let seconds = max(0, seconds)
    return [seconds / 3600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  private func advertisement(_ address: PeerAddress, _ devices: inout DeviceList) -> [Frame.Line] {
    guard let device = devices.device(address), device.reports > 0 else { return [line([Span("not heard yet", .dim)])] }
    let details = AdvertisingDetail.lines(device, AdvertisingFormats()) { $0 }.map { Span(renderer.message($0)) }
    let hint = [Span(""), Span(device.isConnectable ? "Enter connects" : "not connectable", .dim)]
    devices.detailTop = max(0, min(devices.detailTop, details.count + 2 - layout.tree.inside))
    return (details + hint).dropFirst(devices.detailTop).map { line([$0]) }
  }

  /// Returns the lines of the visible rows, followed by the details of the row under the cursor if they fit.
  private func draw(_ peer: inout BrowserPeer) -> [Frame.Line] {
    let rows = peer.tree.rows
    guard !rows.isEmpty else { return [line([Span("no services", .dim)])] }
    let (index, room) = (peer.tree.index(in: rows), layout.treeRows)
    peer.tree.scroll(rows: room, of: rows)
    var lines = rows.enumerated().dropFirst(peer.tree.top).prefix(room).map { number, row in
      line(row, peer, highlight: number == index ? renderer.cursorStyle(isFocused: isFocused) : nil)
    }
    if layout.showsDetails {
      lines += Array(repeating: line([]), count: room - lines.count)
      lines.append(renderer.line([], width: width, fill: "─", fillStyle: .dim))
      lines += details(rows[index], peer)
    }
    return lines
  }

  private func line(_ left: [Span], right: [Span] = [], highlight: Frame.Style? = nil) -> Frame.Line {
    renderer.line(left, right: right, width: width, highlight: highlight)
  }

  /// Returns the line that shows a row of the tree.
  /// - Parameter highlight: The style of the whole line if the row is under the cursor. Nil for other rows.
  func line(_ row: TreeRow, _ peer: BrowserPeer, highlight: Frame.Style?) -> Frame.Line {
    switch row {
    case .service(let service, let isFolded):
      let handles = "\(service.handle)–\(service.endHandle)" + (service.isPrimary ? "" : " secondary")
      return line(
        [Span(isFolded ? "▸ " : "▾ ", .dim), Span(name(service.uuid), .bold), Span(suffix(service.uuid), .dim)],
        right: width >= 50 ? [Span(handles, .dim)] : [], highlight: highlight)
    case .include(let include):
      return line(
        [Span("    includes ", .dim), Span(include.uuid.map(name) ?? "?"), Span("  \(include.startHandle)–\(include.endHandle)", .dim)],
        highlight: highlight)
    case .characteristic(let item, _, let isFolded): return characteristic(item, isFolded, peer, highlight)
    case .descriptor(let item, let owner, _):
      let text = peer.facts(owner).text(item)
      return line(
        [Span("      "), Span(columns(name(item.uuid), nameWidth - 4), .dim), Span(" "), Span(renderer.message(text ?? ""))],
        right: width >= 50 ? [Span("\(item.handle)", .dim)] : [], highlight: highlight)
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
      title = "\(renderer.safe(own)) \(AssignedNumbers.name(of: item.uuid) == nil ? "\(item.uuid)" : "")".trimmed
    }
    var spans = [
      Span("  \(fold)", .dim), Span(isOn ? "◉ " : canSend ? "○ " : "  ", isOn ? Frame.Style(.green, bold: true) : .dim),
      Span(columns(title, nameWidth)), Span(" "),
    ]
    var right: [Span] = []
    if width >= 64, let history = peer.histories[item.valueHandle], history.count > 1 {
      right.append(Span(Plot.spark(history.tail(10)), .cyan))
    }
    if width >= 52, let time = peer.times[item.valueHandle] { right.append(Span(" " + renderer.time(time, milliseconds: false), .dim)) }
    spans += Self.value(peer.values[item.valueHandle], facts, renderer)
    if peer.values[item.valueHandle] == nil { spans.append(Span(Self.properties(item.properties), .dim)) }
    return line(spans, right: right, highlight: highlight)
  }

  /// Returns the meaning of a value followed by its bytes in hex, or the error of the read. Returns no spans for an unread value.
  static func value(_ value: Result<[UInt8], any Error>?, _ facts: CharacteristicFacts, _ renderer: LineRenderer) -> [Span] {
    switch value {
    case .success(let bytes)?:
      if bytes.isEmpty { return [Span("(empty)", .dim)] }
      let hex = Hex.encode(bytes)
      let meaning =
        DecodedText.text(bytes, of: facts.characteristic.uuid, formats: facts.formats)
        ?? DecodedText.plain(bytes).flatMap { bytes.count > 1 ? "\"\(renderer.safe($0))\"" : nil }
      guard let meaning else { return [Span(hex)] }
      return [Span(renderer.message(meaning), .bold), Span("  " + hex, .dim)]
    case .failure(let error)?: return [Span(renderer.message("(\(Failure(error).word))"), .yellow)]
    case nil: return []
    }
  }

  /// Returns the names of the properties, separated by commas, such as `read, notify`.
  static func properties(_ properties: Properties) -> String {
    properties.names.map { $0.replacing("_", with: " ") }.joined(separator: ", ")
  }

  /// Returns up to three lines with the facts about the attribute under the cursor.
  private func details(_ row: TreeRow, _ peer: BrowserPeer) -> [Frame.Line] {
    switch row {
    case .service(let service, _):
      return [
        line([Span(name(service.uuid), .bold), Span(suffix(service.uuid))]),
        line([Span("\(service.isPrimary ? "primary" : "secondary") service, handles \(service.handle)–\(service.endHandle)", .dim)]),
      ]
    case .include(let include):
      return [line([Span("included service, declared at \(include.handle)", .dim)])]
    case .characteristic(let item, _, _):
      let facts = peer.facts(item)
      let own = facts.userDescription.map { " \"\(renderer.safe($0))\"" } ?? ""
      return [
        line([
          Span(name(item.uuid) + own, .bold), Span("\(suffix(item.uuid))  \(item.valueHandle)  "),
          Span(Self.properties(item.properties), .dim),
        ])
      ] + bytes(peer.values[item.valueHandle]) { DecodedText.text($0, of: item.uuid, formats: facts.formats) }
    case .descriptor(let item, let owner, _):
      let facts = peer.facts(owner)
      return [
        line([Span(name(item.uuid), .bold), Span("\(suffix(item.uuid))  \(item.handle)")])
      ] + bytes(peer.values[item.handle]) { _ in facts.text(item) }
    }
  }

  private func bytes(_ value: Result<[UInt8], any Error>?, _ meaning: ([UInt8]) -> String?) -> [Frame.Line] {
    switch value {
    case .success(let bytes)?:
      let text = meaning(bytes) ?? DecodedText.plain(bytes).map { "\"\(renderer.safe($0))\"" } ?? ""
      let hex = bytes.isEmpty ? "(empty)" : bytes.map { Hex.encode([$0]) }.joined(separator: " ")
      return [
        line([Span(renderer.message(text))]),
        line([Span(hex, .dim)], right: bytes.count > 8 ? [Span("\(bytes.count) bytes", .dim)] : []),
      ]
    case .failure(let error)?: return [line([Span(renderer.message(Failure(error).message), .yellow)])]
    case nil: return []
    }
  }

  private func name(_ uuid: UUID) -> String { AssignedNumbers.name(of: uuid).map(renderer.safe) ?? uuid.description }

  /// Returns the UUID with a space before it, for a UUID without a name. Returns an empty text for a UUID with a name.
  private func suffix(_ uuid: UUID) -> String { AssignedNumbers.name(of: uuid) == nil ? "" : " \(uuid)" }

  private func columns(_ text: String, _ width: Int) -> String { renderer.pad(renderer.clipMiddle(text, to: width), to: width) }
}

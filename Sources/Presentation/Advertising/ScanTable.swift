package import BluetoothLE
import BluetoothLEText
import Terminal

/// The layout of the devices of a scan as rows for a terminal.
package struct ScanTable {
  let width: Int
  /// Whether the terminal shows UTF-8. If false, the table uses ASCII.
  let isUTF8: Bool
  let paint: (String, TerminalStyle) -> String

  /// Whether the terminal is wide enough for all columns. A narrower table omits the signal bar, the age and the interval.
  private var hasBar: Bool { width >= 72 }
  private var nameColumns: Int { width >= 120 ? 24 : width >= 72 ? 12 : 9 }

  var header: LiveView.Line {
    let bar = hasBar ? String(repeating: " ", count: 9) : ""
    let times = hasBar ? " AGE EVERY" : ""
    let text = DisplayText.clip("RSSI\(bar) \(pad("NAME", nameColumns)) \(pad("ADDRESS", 20))\(times) WHAT", to: width)
    return LiveView.Line(paint(text, .bold), columns: DisplayText.width(text))
  }

  /// Returns the row of a device.
  /// - Parameters:
  ///   - time: The current time in nanoseconds since 1970-01-01T00:00:00Z.
  ///   - facts: The facts in the device's advertisements, the most specific first.
  func row(_ device: DeviceView, at time: Int64, _ facts: ScanFacts) -> LiveView.Line {
    var strength = (device.signal.level.map { String(Int($0.rounded())) } ?? "?").padded(to: 4)
    if hasBar { strength += " " + Self.bar(device.signal.level, isUTF8: isUTF8) + trend(device.signal.trend) + " " }
    let name = device.name.map { DisplayText.clipMiddle(safe($0.raw), to: nameColumns, ellipsis: ellipsis) } ?? (isUTF8 ? "–" : "-")
    var rest = " \(pad(name, nameColumns)) \(device.peer.address) \(Self.kind(device.peer))\(device.isConnectable ? "c" : " ")"
    if hasBar {
      rest += " " + (device.signal.age(at: time).map(Self.duration) ?? "").padded(to: 4)
      rest += " " + (device.signal.interval.map(Self.interval) ?? "").padded(to: 5)
    }
    let room = width - DisplayText.width(strength) - DisplayText.width(rest) - 1
    if room > 0 { rest += " " + what(facts, room) }
    let clipped = clip(rest, to: width - DisplayText.width(strength))
    return LiveView.Line(
      paint(strength, Self.paint(device.signal.level)) + clipped, columns: DisplayText.width(strength) + DisplayText.width(clipped))
  }

  func summary(_ text: String) -> LiveView.Line {
    let clipped = clip(text, to: width)
    return LiveView.Line(paint(clipped, .dim), columns: DisplayText.width(clipped))
  }

  // MARK: Columns

  /// Returns the kind of an address as a letter: `p` public, `r` random static, `~` random and changing.
  package static func kind(_ peer: PeerAddress) -> String {
    switch peer.randomKind {
    case nil: "p"
    case .static: "r"
    case .resolvablePrivate, .nonResolvablePrivate, .reserved: "~"
    }
  }

  /// Returns a bar of six cells for a signal level in dBm. Each filled cell stands for 10 dB above -104 dBm. Nil returns an empty bar.
  package static func bar(_ level: Double?, isUTF8: Bool) -> String {
    let filled = level.map { max(0, min(6, Int(($0 + 104) / 10))) } ?? 0
    return String(repeating: isUTF8 ? "▆" : "#", count: filled) + String(repeating: isUTF8 ? "▁" : ".", count: 6 - filled)
  }

  private func trend(_ trend: SignalHistory.Trend?) -> String {
    switch trend {
    case nil: " "
    case .rising: isUTF8 ? "↑" : "^"
    case .falling: isUTF8 ? "↓" : "v"
    }
  }

  private static func paint(_ level: Double?) -> TerminalStyle {
    guard let level else { return .dim }
    return level >= -60 ? .green : level >= -80 ? .yellow : .dim
  }

  /// Formats a number of seconds in at most four columns, such as `1.5s` or `12m`.
  package static func duration(_ seconds: Double) -> String {
    if seconds < 9.95 { return tenths(seconds) + "s" }
    if seconds < 999.5 { return "\(Int(seconds.rounded()))s" }
    if seconds < 999 * 60 { return "\(Int(seconds / 60))m" }
    return "\(Int(min(seconds / 3600, 999)))h"
  }

  /// Formats a number of seconds in at most five columns, such as `104ms` or `1.5s`.
  static func interval(_ seconds: Double) -> String { seconds < 0.9995 ? "\(Int((seconds * 1000).rounded()))ms" : duration(seconds) }

  private static func tenths(_ seconds: Double) -> String {
    let tenths = Int((seconds * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Returns as many facts as fit into `room` columns. If a MAC does not fit, keeps its last three bytes, which differ between devices.
  private func what(_ facts: ScanFacts, _ room: Int) -> String {
    var parts = facts.others.map(safe)
    if let mac = facts.mac {
      let known = mac.hasPrefix("??:") ? ellipsis + mac.drop { "?:".contains($0) } : mac
      parts.insert("MAC " + (known.count + 4 <= room || known.count < 17 ? known : ellipsis + known.suffix(8)), at: 0)
    }
    let separator = isUTF8 ? " · " : ", "
    var text = ""
    for part in parts {
      let left = room - DisplayText.width(text) - (text.isEmpty ? 0 : separator.count)
      // Two letters and an ellipsis would be useless.
      guard text.isEmpty || left >= min(5, DisplayText.width(part)) else { break }
      text += (text.isEmpty ? "" : separator) + clip(part, to: left)
    }
    return text
  }

  // MARK: Text

  private var ellipsis: String { isUTF8 ? "…" : ".." }

  private func safe(_ text: String) -> String { isUTF8 ? DisplayText.escape(text) : DisplayText.ascii(DisplayText.escape(text)) }

  private func clip(_ text: String, to limit: Int) -> String { DisplayText.clip(text, to: limit, ellipsis: ellipsis) }

  private func pad(_ text: String, _ columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - DisplayText.width(text)))
  }
}

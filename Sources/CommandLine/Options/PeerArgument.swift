import BluetoothLELinux

/// A device as the user names it on the command line: a selector, `@last`, `@.` or an alias.
package enum PeerArgument: Sendable, Equatable, CustomStringConvertible {
  case selector(PeerSelector)
  /// The last connected device, `@last`.
  case last
  /// The current device of a session, `@.`.
  case current
  /// The name of an alias, without the `@`.
  case alias(String)

  package var description: String {
    switch self {
    case .selector(let selector): selector.description
    case .last: "@last"
    case .current: "@."
    case .alias(let name): "@\(name)"
    }
  }

  /// The shortest word that names the device: `Band-7` for `name:Band-7`.
  package var typed: String { description.after("name:").flatMap { Self(argument: $0) == self ? $0 : nil } ?? description }
}

extension PeerArgument: ExpressibleByArgument {
  /// Parses a PEER. A word without a prefix is the name of a device, such as `Band-7`. Nil for an invalid PEER.
  package init?(argument: String) {
    if let peer = Self(form: argument) {
      self = peer
    } else if Self.mistake(in: argument) == nil {
      self = .selector(.name(argument))
    } else {
      return nil
    }
  }

  /// Parses a PEER with a prefix such as `name:` or `@`, or an address. Nil for a plain name.
  package init?(form text: String) {
    if text == "@last" {
      self = .last
    } else if text == "@." {
      self = .current
    } else if text.hasPrefix("@"), text.count > 1 {
      self = .alias(String(text.dropFirst()))
    } else {
      guard let selector = PeerSelector(text) else { return nil }
      self = .selector(selector)
    }
  }

  /// The prefixes that select a device by one of its properties.
  static let prefixes = ["name:", "mac:", "service:"]

  /// Returns the reason why a text is not the plain name of a device. Nil if it is a valid name.
  static func mistake(in text: String) -> String? {
    if text.isEmpty { return "it is empty. Is a variable unset?" }
    if text.contains("."), let adapter = AdapterSpec.named(in: text), InputFile.exists(text) {
      return "it is a file. For an adapter, use -i \(ShellWords.quoteForShell(adapter))"
    }
    if text == "name:" { return "the name is missing" }
    if prefixes.contains("\(text):") { return "write it with a colon and the rest, as in \(text):\(text == "name" ? "Band-7" : "…")" }
    if let kind = prefixes.first(where: { text.lowercased().hasPrefix($0) && !text.hasPrefix($0) }) {
      return "write \(kind) in lower case"
    }
    if let (wrong, right) = FamiliarWords.prefixes.first(where: { text.lowercased().hasPrefix($0.key) }) {
      return "there is no prefix \(wrong). Did you mean \(DisplayText.escape(right + text.dropFirst(wrong.count)))?"
    }
    if let slash = text.firstIndex(of: "/"), Address(text[..<slash]) != nil { return "the type of an address is public or random" }
    if text.hasPrefix("service:") { return "unknown service. Use a UUID or a name, as in service:heart_rate" }
    let parts = text.split(whereSeparator: { ":-".contains($0) })
    if text.hasPrefix("mac:") || parts.count > 2 && parts.allSatisfy({ $0.utf8.count < 3 && (text.contains(":") || Hex.number($0) != nil) })
    {
      return "an address has six bytes of two hex digits: AA:BB:CC:DD:EE:FF"
    }
    if text.hasPrefix("@") { return "the name of the alias is missing" }
    guard (try? Selector(text, abbreviating: false)) != nil else { return nil }
    return "it names an attribute. For a device with that name, use name:\(DisplayText.clip(ShellWords.quoteForShell(text), to: 60))"
  }
}

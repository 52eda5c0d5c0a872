import ArgumentParser
import Bluetooth
import GATT
import Operations
import Text

/// The PEER of the command line.
enum PeerArgument: Sendable, Equatable, CustomStringConvertible {
  case selector(PeerSelector)
  /// The one connected last.
  case last
  /// The one that a session is about.
  case current
  /// From the configuration file.
  case alias(String)

  var description: String {
    switch self {
    case .selector(let selector): selector.description
    case .last: "@last"
    case .current: "@."
    case .alias(let name): "@\(name)"
    }
  }
}

extension PeerArgument: ExpressibleByArgument {
  /// One of the forms of a PEER, or a word that can only be the name of a device: `Band-7`.
  init?(argument: String) {
    if let peer = Self(form: argument) {
      self = peer
    } else if Self.mistake(in: argument) == nil {
      self = .selector(.name(argument))
    } else {
      return nil
    }
  }

  /// A text that could not be anything but a PEER.
  init?(form text: String) {
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

  /// Why a text that has no form of a PEER is not taken for a name; nil when it is a name.
  static func mistake(in text: String) -> String? {
    if text.isEmpty { return "it is empty, as an unset variable is" }
    if text == "name:" { return "the name has to follow" }
    if let kind = ["name:", "mac:", "service:"].first(where: { text.lowercased().hasPrefix($0) && !text.hasPrefix($0) }) {
      return "\(kind) is written small"
    }
    if let slash = text.firstIndex(of: "/"), Address(text[..<slash]) != nil { return "the type of an address is public or random" }
    if text.hasPrefix("service:") { return "what follows service: is neither a UUID nor a name that the Bluetooth SIG assigned" }
    let parts = text.split(whereSeparator: { ":-".contains($0) })
    if text.hasPrefix("mac:") || parts.count > 2 && parts.allSatisfy({ $0.utf8.count < 3 && Hex.number($0) != nil }) {
      return "an address has six octets of two hex digits: AA:BB:CC:DD:EE:FF"
    }
    if text.hasPrefix("@") { return "the name of an alias has to follow" }
    guard (try? Selector(text)) != nil else { return nil }
    return "it names an attribute. A device of that name is name:\(DisplayText.clip(ShellWords.quoteForShell(text), to: 60))"
  }
}

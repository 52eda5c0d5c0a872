import ArgumentParser
import Operations

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
  init?(argument: String) {
    if argument == "@last" {
      self = .last
    } else if argument == "@." {
      self = .current
    } else if argument.hasPrefix("@"), argument.count > 1 {
      self = .alias(String(argument.dropFirst()))
    } else {
      guard let selector = PeerSelector(argument) else { return nil }
      self = .selector(selector)
    }
  }
}

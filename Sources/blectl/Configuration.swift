import Bluetooth
import EventLoop
import LinuxIO
import Operations
import Text

/// The user's files and environment: `$XDG_CONFIG_HOME/blectl/config.json` with aliases, `names.json` there with names (see `NamesFile`), `$XDG_STATE_HOME/blectl/last` with the last peer.
struct Configuration: Sendable {
  private let environment: [String: String]

  init(environment: [String: String]) { self.environment = environment }

  func variable(_ name: String) -> String? { environment[name] }

  /// `--adapter`, else `$BLECTL_ADAPTER`, else the first kernel adapter that is up.
  func adapter(_ name: String?) throws -> AdapterSpec {
    let named = name ?? environment["BLECTL_ADAPTER"].flatMap { $0.isEmpty ? nil : $0 }
    guard let named else { return .kernel(nil) }
    return try AdapterSpec(named)
  }

  /// What `@last` and `@ALIAS` stand for.
  @LoopActor
  func resolve(_ argument: PeerArgument) async throws -> PeerSelector {
    switch argument {
    case .selector(let selector): return selector
    case .last:
      guard let path = statePath, let text = try? await InputFile.read(path, limit: 256),
        let peer = PeerSelector(String(decoding: text, as: UTF8.self).trimmed), case .address = peer
      else { throw Failure(.notFound, "@last: no device has been connected yet; name one by address, name:, mac: or service:") }
      return peer
    case .current: throw Failure(.usage, "@. is the device that a session is about; there is no session here")
    case .alias(let name):
      let aliases = try await self.aliases()
      guard let text = aliases[name] else {
        let known = aliases.isEmpty ? "none are defined" : "known: " + aliases.keys.sorted().joined(separator: ", ")
        throw Failure(.notFound, "@\(name): no such alias in \(configPath ?? "the configuration") (\(known))")
      }
      guard let peer = PeerArgument(argument: text) else {
        throw Failure(.input, "@\(name) in \(configPath ?? "the configuration") is not a peer: \(text)")
      }
      if case .alias = peer { throw Failure(.input, "@\(name) in \(configPath ?? "the configuration") is an alias of an alias") }
      return try await resolve(peer)
    }
  }

  /// For `@last`. A home that cannot be written is not worth a message at every connect.
  func remember(_ peer: PeerAddress) {
    guard let path = statePath else { return }
    try? StateFile.write(Array("\(peer)\n".utf8), to: path)
  }

  @LoopActor
  private func aliases() async throws -> [String: String] {
    guard let path = configPath, InputFile.exists(path) else { return [:] }
    let tree: JSONTree
    do { tree = try JSONTree.parse(try await InputFile.read(path, limit: 1 << 20)) } catch let error as JSONTree.Failure {
      throw Failure(.input, "\(path):\(error.line): \(error.reason)")
    }
    guard let aliases = tree["aliases"] else { return [:] }
    guard case .object(let members) = aliases.kind else {
      throw Failure(.input, "\(path):\(aliases.line): aliases: \(aliases.noun) where an object should be")
    }
    var result: [String: String] = [:]
    for (name, value) in members {
      guard let peer = value.string else {
        throw Failure(.input, "\(path):\(value.line): \(name): \(value.noun) where a PEER in quotes should be")
      }
      result[name] = peer
    }
    return result
  }

  var namesPath: String? { path("XDG_CONFIG_HOME", ".config", "names.json") }
  private var configPath: String? { path("XDG_CONFIG_HOME", ".config", "config.json") }
  private var statePath: String? { path("XDG_STATE_HOME", ".local/state", "last") }

  private func path(_ variable: String, _ fallback: String, _ file: String) -> String? {
    // The XDG specification: relative paths are to be ignored.
    if let base = environment[variable], base.hasPrefix("/") { return "\(base)/blectl/\(file)" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return "\(home)/\(fallback)/blectl/\(file)"
  }
}

import Bluetooth
import EventLoop
import LinuxIO
import Operations
import Text

/// The user's files and environment: `$XDG_CONFIG_HOME/blectl/config.json` with aliases, `names.json` there with names (see `NamesFile`), `$XDG_STATE_HOME/blectl/devices` with the devices that were connected and the aliases given in sessions.
struct Configuration: Sendable {
  private let environment: [String: String]
  /// As `--adapter` names it.
  private let adapterName: String?
  /// The keys of the configuration file.
  static let keys = ["aliases", "adapters"]

  init(environment: [String: String], adapter: String? = nil) {
    self.environment = environment
    adapterName = adapter
  }

  func variable(_ name: String) -> String? { environment[name] }

  /// `--adapter`, else `$BLECTL_ADAPTER`, else the first kernel adapter that is up; or what replaces it.
  func adapter() throws -> AdapterSpec {
    let spec = try namedAdapter()
    return try replacement(of: spec)?.spec ?? spec
  }

  /// What the user is told of the adapter; nil when it is the one that was named.
  func adapterNote() throws -> String? { try replacement(of: try namedAdapter())?.note }

  private func namedAdapter() throws -> AdapterSpec {
    let named = adapterName ?? environment["BLECTL_ADAPTER"].flatMap { $0.isEmpty ? nil : $0 }
    guard let named else { return .kernel(nil) }
    return try AdapterSpec(named)
  }

  private func replacement(of spec: AdapterSpec) throws(Failure) -> AdapterReplacement? {
    guard case .kernel(let number?) = spec else { return nil }
    return try AdapterReplacement.find(of: number, in: environment, configPath)
  }

  /// The air of `KnownDevices`: nil for a radio.
  private var air: String? { (try? adapter())?.fileAir }

  /// The air of `TransferMemory`, without the file: a simulated device may be described anew while a transfer to it goes on.
  var kindOfAir: String? { air.map { String($0.prefix { $0 != ":" }) } }

  /// What `@last` and `@ALIAS` stand for.
  @LoopActor
  func resolve(_ argument: PeerArgument) async throws -> PeerSelector {
    switch argument {
    case .selector(let selector): return selector
    case .last:
      if let device = KnownDevices.last(in: deviceLog, on: air) { return .address(device.peer.address, device.peer.type) }
      throw Failure(.notFound, "@last: no device has been connected yet; name one by address, name:, mac: or service:")
    case .current: throw Failure(.usage, "@. is the device that a session is about; there is no session here")
    case .alias(let name):
      let aliases = try self.aliases()
      guard let text = aliases[name] else {
        let given = KnownDevices.aliases(in: deviceLog, on: air)
        if let peer = given[name] { return peer }
        let known = Set(aliases.keys).union(given.keys).sorted()
        throw Failure(
          .notFound,
          "@\(Failure.head(name)): no such alias in \(configPath ?? "the configuration"), and none was given in a session (\(known.isEmpty ? "none are defined" : "known: " + known.joined(separator: ", ")))"
        )
      }
      guard let peer = PeerArgument(argument: text) else {
        throw Failure(.input, "@\(Failure.head(name)) in \(configPath ?? "the configuration") is not a peer: \(text)")
      }
      if case .alias = peer {
        throw Failure(.input, "@\(Failure.head(name)) in \(configPath ?? "the configuration") is an alias of an alias")
      }
      return try await resolve(peer)
    }
  }

  // MARK: Known devices

  /// As it was heard earlier.
  func name(of peer: PeerAddress) -> String? { KnownDevices.name(of: peer, in: deviceLog, on: air) }

  /// For `@last` and `peers`. A home that cannot be written is not worth a message at every connect.
  @LoopActor
  func remember(_ connection: Connection) {
    let device = KnownDevices.Device(
      connection.peer, name: connection.name, selector: connection.selector, time: Timestamp.text(RealTime.now), air: air)
    try? add(.connected(device))
  }

  /// Gives a peer a name that outlives the session, or takes it back with nil.
  /// - Throws: Failure for what is no name, or is one of the configuration file's, which stands above; FileError.
  @LoopActor
  func setAlias(_ name: String, to peer: PeerSelector?) throws {
    guard KnownDevices.isAlias(name) else {
      throw Failure(
        .usage,
        "\(DisplayText.quote(name)) cannot be an alias: 1 to 64 characters without blanks or any of @ ; , # { } and quotes, and not last")
    }
    if try aliases()[name] != nil {
      throw Failure(
        .usage, "@\(Failure.head(name)) is an alias in \(configPath ?? "the configuration"), which stands above those given in sessions")
    }
    guard statePath != nil else { throw Failure(.output, "there is no folder to keep aliases in: neither XDG_STATE_HOME nor HOME is set") }
    let isOther = peer == nil && !KnownDevices(parsing: deviceLog).hasAlias(name, on: air)
    try add(.alias(name, peer, air: isOther ? nil : air))
  }

  /// Devices that were connected before, and the aliases, on the air of the adapter: those of the configuration file that name a device
  /// themselves stand above.
  @LoopActor
  func knownDevices() throws -> (devices: [KnownDevices.Device], aliases: [String: PeerSelector]) {
    let known = KnownDevices(parsing: deviceLog)
    return (known.devices(on: air), known.aliases(on: air).merging(try selectors()) { $1 })
  }

  /// For whoever is in a hurry: the device that was connected last, and all aliases. A configuration that is wrong has none.
  @LoopActor
  func lastDevice() -> (peer: PeerAddress?, aliases: [String: PeerSelector]) {
    let (log, air) = (deviceLog, air)
    let own = try? selectors()
    return (KnownDevices.last(in: log, on: air)?.peer, KnownDevices.aliases(in: log, on: air).merging(own ?? [:]) { $1 })
  }

  /// Those aliases of the configuration file that name a device themselves.
  @LoopActor
  private func selectors() throws -> [String: PeerSelector] {
    try aliases().compactMapValues { text in
      if case .selector(let selector)? = PeerArgument(argument: text) { selector } else { nil }
    }
  }

  // MARK: Transfers

  /// A state that cannot be read is none.
  var transfers: TransferMemory { TransferMemory(parsing: log(transfersPath)) }

  /// As `remember` a device. - Returns: false when it could not be written.
  @LoopActor
  @discardableResult
  func remember(_ record: TransferMemory.Record) -> Bool {
    guard let path = transfersPath else { return false }
    return (try? StateLog.append(record.line, to: path, limit: Self.logLimit) { TransferMemory(parsing: $0).log }) != nil
  }

  // MARK: What was heard

  /// As `transfers`. - Parameter air: where.
  func heard(on air: String) -> HeardDevices { HeardDevices(parsing: log(heardPath), air: air) }

  /// The latest that are wanted, `limit` of them.
  func attributes(limit: Int, where isWanted: (KnownAttributes.Record) -> Bool) -> [KnownAttributes.Record] {
    KnownAttributes(parsing: log(attributesPath), limit: limit, where: isWanted).records
  }

  /// A home that cannot be written is not worth a message; one of the files may be a link to nowhere.
  func remember(_ heard: HeardDevices.Record, _ found: [KnownAttributes.Record]) {
    if let path = heardPath {
      try? StateLog.append(heard.line, to: path, limit: Self.logLimit) { HeardDevices(parsing: $0).log }
    }
    guard let path = attributesPath, !found.isEmpty else { return }
    try? StateLog.append(found.flatMap(\.line), to: path, limit: Self.logLimit) { KnownAttributes(parsing: $0).log }
  }

  /// A state that cannot be read is none.
  private func log(_ path: String?) -> [UInt8] {
    path.flatMap { try? InputFile.readIfThere($0, limit: 17 * Self.logLimit) } ?? []
  }

  /// Octets from which the log is written anew.
  private static let logLimit = 64 << 10

  private func add(_ record: KnownDevices.Record) throws(FileError) {
    guard let path = statePath else { return }
    try StateLog.append(record.line, to: path, limit: Self.logLimit) { KnownDevices(parsing: $0).log }
  }

  private var deviceLog: [UInt8] { log(statePath) }

  @LoopActor
  func aliases() throws -> [String: String] {
    guard let path = configPath, let tree = try Self.tree(of: path, keys: Self.keys), let aliases = tree["aliases"] else { return [:] }
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

  /// A JSON object in a file of the user's; nil when there is no such file.
  /// - Parameter keys: the only ones that it may have.
  static func tree(of path: String, keys: [String]) throws(Failure) -> JSONTree? {
    let tree: JSONTree
    do {
      guard let contents = try InputFile.readIfThere(path, limit: 1 << 20) else { return nil }
      tree = try JSONTree.parse(contents)
    } catch let error as JSONTree.Failure {
      throw Failure(.input, "\(path):\(error.line): \(error.reason)")
    } catch {
      throw Failure(error)
    }
    guard case .object(let members) = tree.kind else {
      throw Failure(.input, "\(path):\(tree.line): \(tree.noun) where an object should be")
    }
    if let other = members.first(where: { !keys.contains($0.key) }) {
      let known = keys.count == 1 ? "not \(keys[0])" : "neither \(keys.joined(separator: " nor "))"
      throw Failure(.input, "\(path):\(other.value.line): \(DisplayText.quote(other.key)) is \(known)")
    }
    return tree
  }

  var namesPath: String? { path("XDG_CONFIG_HOME", ".config", "names.json") }
  /// A folder of device files.
  var devicesPath: String? { path("XDG_CONFIG_HOME", ".config", "devices") }
  private var configPath: String? { path("XDG_CONFIG_HOME", ".config", "config.json") }
  var historyPath: String? { path("XDG_STATE_HOME", ".local/state", "history") }
  private var transfersPath: String? { path("XDG_STATE_HOME", ".local/state", "transfers") }
  private var heardPath: String? { path("XDG_STATE_HOME", ".local/state", "heard") }
  private var attributesPath: String? { path("XDG_STATE_HOME", ".local/state", "attributes") }
  private var statePath: String? { path("XDG_STATE_HOME", ".local/state", "devices") }

  private func path(_ variable: String, _ fallback: String, _ file: String) -> String? {
    // The XDG specification: relative paths are to be ignored.
    if let base = environment[variable], base.hasPrefix("/") { return "\(base)/blectl/\(file)" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return "\(home)/\(fallback)/blectl/\(file)"
  }
}

import BluetoothLELinux
import SystemPackage

/// The user's files and environment. `$XDG_CONFIG_HOME/blectl` holds `config.json` (aliases, adapters, defaults) and `names.json` (names of UUIDs).
/// `$XDG_STATE_HOME/blectl/devices` holds previously connected devices and the aliases defined in sessions.
package struct Configuration: Sendable {
  private let environment: [String: String]
  /// The value of `--adapter`. Nil if the user gave none.
  private let adapterName: String?
  /// The permitted top-level keys of `config.json`.
  static let keys = ["aliases", "adapters", "defaults", "devices", "$schema"]
  /// The file of `--config`, which replaces `config.json`. Nil if the user gave none.
  private let file: String?
  /// The defaults for options. Empty before `readDefaults`, and for an invalid file.
  package private(set) var defaults = OptionDefaults()
  /// The mistake in the configuration file. Nil before `readDefaults`, and for a valid file.
  package private(set) var problem: Failure?

  package init(environment: [String: String], adapter: String? = nil, file: String? = nil) {
    self.environment = environment
    adapterName = adapter
    self.file = file
  }

  /// Reads the defaults for options from the configuration file.
  /// - Parameter isShared: Whether the results concern others, as in a script. If so, ignores personal defaults, except those of `--config`.
  package mutating func readDefaults(isShared: Bool) {
    guard let path = configPath else { return }
    do {
      guard let bytes = try InputFile.readIfThere(path, limit: 1 << 20) else {
        if file != nil { throw FileError.unreadable(path, .noSuchFileOrDirectory) }
        return
      }
      defaults = try OptionDefaults(parsing: bytes, path, isShared: file == nil && (isShared || variable("CI") == "true"))
    } catch { problem = Failure(error) }
  }

  /// Returns the defaults for a device, whose address or name may be unknown.
  @LoopActor
  package func options(for peer: PeerAddress?, named name: UntrustedText?, _ selector: PeerSelector?) -> OptionDefaults.Options {
    guard !defaults.devices.isEmpty else { return defaults.general }
    let aliases = lastDevice().aliases
    return defaults.options { key in
      let meant: PeerSelector? =
        switch key {
        case .selector(let selector): selector
        case .alias(let alias): aliases[alias]
        case .last, .current: nil
        }
      guard let meant else { return false }
      return selector.map { meant.isSame(as: $0) } ?? false || peer.map { meant.means($0, named: name ?? self.name(of: $0)) } ?? false
    }
  }

  /// The environment variables that affect blectl and are set.
  package var variables: [(name: String, value: String)] {
    environment.filter { $0.key.hasPrefix("BLECTL_") || ["NO_COLOR", "CI", "XDG_CONFIG_HOME", "XDG_STATE_HOME"].contains($0.key) }
      .sorted { $0.key < $1.key }.map { ($0.key, $0.key == "BLECTL_PASSKEY" ? "(set)" : $0.value) }
  }

  package func variable(_ name: String) -> String? { environment[name] }

  /// Returns the adapter of `--adapter`, else of `$BLECTL_ADAPTER`, else the first kernel adapter that is up. If the user configured a
  /// replacement of the adapter, returns the replacement.
  package func adapter() throws -> AdapterSpec {
    let spec = try namedAdapter()
    return try replacement(of: spec)?.spec ?? spec
  }

  /// Returns the note about a replaced adapter. Nil if the user replaced no adapter.
  func adapterNote() throws -> String? { try replacement(of: try namedAdapter())?.note }

  private func namedAdapter() throws -> AdapterSpec {
    let named = adapterName ?? environment["BLECTL_ADAPTER"].flatMap { $0.isEmpty ? nil : $0 } ?? defaults.general.values["adapter"]?.text
    guard let named else { return .kernel(nil) }
    return try AdapterSpec(named)
  }

  func replacement(of spec: AdapterSpec) throws(Failure) -> AdapterReplacement? {
    guard case .kernel(let number?) = spec else { return nil }
    return try AdapterReplacement.find(of: number, in: environment, configPath)
  }

  /// The name of the simulation or recording, such as `sim:FILE`. Nil for a real radio.
  private var air: String? { (try? adapter())?.fileAir }

  /// The kind of the simulation or recording, which is `sim` or `replay`. Nil for a real radio.
  package var kindOfAir: String? { air.map { String($0.prefix { $0 != ":" }) } }

  /// Returns the selector of a PEER, such as `@last` or `@ALIAS`. Throws `Failure` for an unknown device or alias, and for `@.`.
  @LoopActor package func resolve(_ argument: PeerArgument) async throws -> PeerSelector {
    switch argument {
    case .selector(let selector): return selector
    case .last:
      if let device = KnownDevices.last(in: deviceLog, on: air) { return .address(device.peer.address, device.peer.type) }
      throw Failure(.notFound, "Cannot resolve @last: no device has been connected yet. Use an address or name:, mac: or service:.")
    case .current: throw Failure(.usage, "@. works only in a session, where it is the current device.")
    case .alias(let name):
      let aliases = try self.aliases()
      guard let text = aliases[name] else {
        let given = KnownDevices.aliases(in: deviceLog, on: air)
        if let peer = given[name] { return peer }
        let known = Set(aliases.keys).union(given.keys).sorted()
        let there = known.isEmpty ? "No alias is defined." : "Known aliases: \(known.joined(separator: ", "))."
        let shown = Failure.head(name)
        throw Failure(
          .notFound,
          "Unknown alias @\(shown). \(there) To define it: blectl alias \(shown) PEER")
      }
      guard let peer = PeerArgument(argument: text) else {
        throw Failure(.input, "Invalid alias @\(Failure.head(name)) in \(configPath ?? ""): \(DisplayText.quote(text)) is not a PEER.")
      }
      if case .alias = peer {
        throw Failure(.input, "Invalid alias @\(Failure.head(name)) in \(configPath ?? ""): it names another alias.")
      }
      return try await resolve(peer)
    }
  }

  @LoopActor package func isAlias(_ name: String) -> Bool {
    KnownDevices.aliases(in: deviceLog, on: air)[name] != nil || (try? aliases()[name]) != nil
  }

  // MARK: Known devices

  /// Returns the last stored name of a device that blectl has connected. Nil if blectl stored no name.
  package func name(of peer: PeerAddress) -> UntrustedText? { KnownDevices.name(of: peer, in: deviceLog, on: air) }

  /// Stores a connected device for `@last` and `peers`. Ignores errors.
  @LoopActor func remember(_ connection: Connection) {
    let device = KnownDevices.Device(
      connection.identityAddress, name: connection.name, selector: connection.selector, time: Timestamp.text(RealTime.now), air: air)
    try? add(.connected(device))
  }

  /// Stores an alias for later sessions, or removes the alias if `peer` is nil.
  /// - Throws: `Failure` for an invalid name or a name in the configuration file; `FileError` if writing fails.
  @LoopActor package func setAlias(_ name: String, to peer: PeerSelector?) throws {
    guard KnownDevices.isAlias(name) else {
      throw Failure(
        .usage,
        "Invalid alias \(DisplayText.quote(name)). Use up to 64 characters, except spaces, quotes and @ ; , # { }, and not the word last."
          + (name.after("@").map { KnownDevices.isAlias($0) ? " Omit the @: \($0)" : "" } ?? "")
      )
    }
    if try aliases()[name] != nil {
      throw Failure(.usage, "Cannot change @\(Failure.head(name)): \(configPath ?? "the configuration") defines it. Choose another name.")
    }
    guard statePath != nil else { throw Failure(.output, "Cannot store the alias: neither XDG_STATE_HOME nor HOME is set.") }
    let isOther = peer == nil && !KnownDevices(parsing: deviceLog).hasAlias(name, on: air)
    try add(.alias(name, peer, air: isOther ? nil : air))
  }

  /// Returns the previously connected devices and the aliases of the selected adapter. An alias in the configuration file takes
  /// precedence if it names a device directly. A bonded device is one device, also if the log has several private addresses of it.
  @LoopActor package func knownDevices() throws -> (devices: [KnownDevices.Device], aliases: [String: PeerSelector]) {
    let resolver = IdentityResolver(((try? BondStore(folder: bondsPath).all()) ?? []).identityKeys)
    let known = KnownDevices(parsing: deviceLog) { resolver.identity(of: $0)?.address }
    return (known.devices(on: air), known.aliases(on: air).merging(try selectors()) { $1 })
  }

  /// Returns the last connected device and all aliases. `peer` is nil before the first connection. Ignores an invalid configuration file.
  @LoopActor package func lastDevice() -> (peer: PeerAddress?, aliases: [String: PeerSelector]) {
    let (log, air) = (deviceLog, air)
    let own = try? selectors()
    return (KnownDevices.last(in: log, on: air)?.peer, KnownDevices.aliases(in: log, on: air).merging(own ?? [:]) { $1 })
  }

  /// Returns the aliases in the configuration file that name a device directly.
  @LoopActor private func selectors() throws -> [String: PeerSelector] {
    try aliases().compactMapValues { text in
      if case .selector(let selector)? = PeerArgument(argument: text) { selector } else { nil }
    }
  }

  // MARK: Transfers

  /// The interrupted transfers. Empty if the file of transfers is unreadable.
  package var transfers: TransferMemory { TransferMemory(parsing: log(transfersPath)) }

  /// Stores the state of a transfer. Returns false if writing fails or the file of transfers has no path.
  @LoopActor
  @discardableResult
  package func remember(_ record: TransferMemory.Record) -> Bool {
    transfersPath != nil && (try? append(record.line, to: transfersPath) { TransferMemory(parsing: $0).log }) != nil
  }

  // MARK: Heard devices

  /// Returns the devices that earlier commands heard. `air` names the radio, such as `hci`. Empty if the state file is unreadable.
  package func heard(on air: String) -> HeardDevices { HeardDevices(parsing: log(heardPath), air: air) }

  /// Returns the latest attribute records for which `isWanted` returns true, at most `limit`.
  package func attributes(limit: Int, where isWanted: (KnownAttributes.Record) -> Bool) -> [KnownAttributes.Record] {
    KnownAttributes(parsing: log(attributesPath), limit: limit, where: isWanted).records
  }

  /// Returns whether the user sees a hint for the first time, and remembers that. True if the state file cannot be written.
  package func isNew(hint name: String) -> Bool {
    let path = path("XDG_STATE_HOME", ".local/state", "hints")
    guard !String(decoding: log(path), as: UTF8.self).split(separator: "\n").contains(name[...]) else { return false }
    try? append(Array("\(name)\n".utf8), to: path) { $0 }
    return true
  }

  /// Stores heard devices and discovered attributes for the completion of later command lines. Ignores errors.
  func remember(_ heard: HeardDevices.Record, _ found: [KnownAttributes.Record]) {
    try? append(heard.line, to: heardPath) { HeardDevices(parsing: $0).log }
    if !found.isEmpty { try? append(found.flatMap(\.line), to: attributesPath) { KnownAttributes(parsing: $0).log } }
  }

  /// Returns the contents of a state file. Empty if the file is unreadable.
  private func log(_ path: String?) -> [UInt8] { path.flatMap { try? InputFile.readIfThere($0, limit: 17 * Self.logLimit) } ?? [] }

  /// The size in bytes at which `StateLog` compacts a log.
  private static let logLimit = 64 << 10

  private func add(_ record: KnownDevices.Record) throws(FileError) {
    try append(record.line, to: statePath) { KnownDevices(parsing: $0).log }
  }

  /// Appends to a state file. Does nothing if `path` is nil. `shorten` compacts the contents of a file that has reached the size limit.
  private func append(_ line: [UInt8], to path: String?, _ shorten: ([UInt8]) -> [UInt8]) throws(FileError) {
    if let path { try StateLog.append(line, to: path, limit: Self.logLimit, shorten: shorten) }
  }

  private var deviceLog: [UInt8] { log(statePath) }

  @LoopActor func aliases() throws -> [String: String] {
    guard let path = configPath, let tree = try Self.tree(of: path, keys: Self.keys), let aliases = tree["aliases"] else { return [:] }
    var result: [String: String] = [:]
    for (name, value) in try Self.members(of: aliases, "\(path):\(aliases.line): aliases") {
      guard let peer = value.string else {
        throw Failure(.input, "\(path):\(value.line): \(name): Expected a PEER in quotes, found \(value.noun)")
      }
      result[name] = peer
    }
    return result
  }

  /// Returns the JSON object in a file. Nil if the file does not exist.
  /// - Parameter keys: The permitted keys. The function throws an error for any other key.
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
    if let other = try members(of: tree, "\(path):\(tree.line)").first(where: { !keys.contains($0.key) }) {
      let known = keys.joined(separator: " or ")
      throw Failure(.input, "\(path):\(other.value.line): Unknown key \(DisplayText.quote(other.key)). Use \(known).")
    }
    return tree
  }

  /// Returns the members of a JSON object. Throws an error that starts with `place`, a file and line, for any other JSON value.
  static func members(of tree: JSONTree, _ place: String) throws(Failure) -> [(key: String, value: JSONTree)] {
    guard case .object(let members) = tree.kind else { throw Failure(.input, "\(place): Expected an object, found \(tree.noun)") }
    return members
  }

  package var namesPath: String? { path("XDG_CONFIG_HOME", ".config", "names.json") }
  /// The folder of the user's device files. Nil if neither `XDG_CONFIG_HOME` nor `HOME` is an absolute path.
  package var devicesPath: String? { path("XDG_CONFIG_HOME", ".config", "devices") }
  package var configPath: String? { file ?? path("XDG_CONFIG_HOME", ".config", "config.json") }
  package var historyPath: String? { path("XDG_STATE_HOME", ".local/state", "history") }
  /// The folder of the key store. Nil if neither `XDG_STATE_HOME` nor `HOME` is an absolute path.
  package var bondsPath: String? { path("XDG_STATE_HOME", ".local/state", "bonds") }
  package var centralsPath: String? { path("XDG_STATE_HOME", ".local/state", "centrals") }
  /// The folder of the numbers of advertising instances.
  package var instancesPath: String? { path("XDG_STATE_HOME", ".local/state", "advertising") }
  private var transfersPath: String? { path("XDG_STATE_HOME", ".local/state", "transfers") }
  private var heardPath: String? { path("XDG_STATE_HOME", ".local/state", "heard") }
  private var attributesPath: String? { path("XDG_STATE_HOME", ".local/state", "attributes") }
  package var statePath: String? { path("XDG_STATE_HOME", ".local/state", "devices") }

  private func path(_ variable: String, _ fallback: String, _ file: String) -> String? {
    // The XDG specification says to ignore relative paths.
    if let base = environment[variable], base.hasPrefix("/") { return "\(base)/blectl/\(file)" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return "\(home)/\(fallback)/blectl/\(file)"
  }
}

extension Configuration: TransferStore {}

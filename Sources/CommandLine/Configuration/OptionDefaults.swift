import BluetoothLEDeviceFiles

/// The defaults for options in `config.json`: those for all devices, and those for single devices.
package struct OptionDefaults: Sendable {
  /// A default, as text that the option accepts, and its place as file, line and column.
  package struct Value: Sendable {
    package let text: String
    package let place: String
  }

  /// The defaults that apply to one device, by the long name of their option.
  package struct Options: Sendable {
    package fileprivate(set) var values: [String: Value] = [:]

    package var mtu: Int? { values["mtu"].flatMap { Int($0.text) } }
    package var retries: Int? { values["retries"].flatMap { Int($0.text) } }
    package var timeout: Double? { values["timeout"].flatMap { try? TimeText.seconds($0.text) } }
    package var mode: WriteMode? { values["mode"].flatMap { WriteMode(rawValue: $0.text) } }
    package var format: ValueFormat? { values["as"].flatMap { try? ValueFormat($0.text) } }
    package var pairs: Bool { values["pair"]?.text == "true" }
    package var level: SecurityLevel? { values["level"].flatMap { Int($0.text) }.flatMap { SecurityLevel(rawValue: $0) } }
    /// The path of the device file.
    package var device: String? { values["device"]?.text }

    var parameters: LinkParameterRequest {
      LinkParameterRequest(
        mtu: mtu, phy: values["phy"].flatMap { PHYArgument(argument: $0.text)?.phy },
        interval: values["interval"].flatMap { try? TimeText.milliseconds($0.text) }.map { .limited(seconds: $0 / 1000) })
    }
  }

  /// The options that `defaults` accepts.
  package static let names = ["adapter", "color", "timeout", "mtu", "phy", "interval", "retries", "mode", "as", "pair", "level"]
  /// The options that an entry of `devices` accepts.
  package static let deviceNames = ["mtu", "phy", "interval", "mode", "as", "pair", "level", "device"]
  /// The options whose personal defaults scripts and programs ignore.
  private static let personal = ["mode", "as", "pair"]

  package private(set) var general = Options()
  private(set) var devices: [(peer: PeerArgument, options: Options)] = []
  /// The number of personal defaults that a script or a program ignores.
  package private(set) var ignored = 0

  init() {}

  /// Parses and checks all defaults in a configuration file.
  /// - Parameter isShared: Whether to ignore the personal defaults.
  /// - Throws: `FileEntryError` with the place of the first mistake.
  init(parsing bytes: [UInt8], _ path: String, isShared: Bool) throws {
    for (key, entry) in try FileEntry(parsing: bytes, name: path, limit: 1 << 20).members() {
      switch key {
      case "defaults": general = try options(entry, Self.names, isShared)
      case "devices":
        for (device, entry) in try entry.members() {
          guard let peer = PeerArgument(argument: device), peer != .last, peer != .current else {
            throw entry.error("Not a device. Use an address, name:GLOB or @ALIAS.")
          }
          devices.append((peer, try options(entry, Self.deviceNames, isShared)))
        }
      case "aliases", "adapters", "$schema": break
      default: throw unknown(key, entry, Configuration.keys)
      }
    }
  }

  private mutating func options(_ entry: FileEntry, _ names: [String], _ isShared: Bool) throws -> Options {
    var options = Options()
    for (name, entry) in try entry.members() {
      guard names.contains(name) else { throw unknown(name, entry, names) }
      let text = try Self.text(name, entry)
      if isShared, Self.personal.contains(name) {
        ignored += 1
      } else {
        options.values[name] = Value(text: text, place: "\(entry.file):\(entry.tree.line):\(entry.tree.column)")
      }
    }
    return options
  }

  private func unknown(_ key: String, _ entry: FileEntry, _ known: [String]) -> FileEntryError {
    let meant = SpellingSuggestion.nearest(to: key, among: known).map { " Did you mean \($0)?" } ?? ""
    return entry.error("Unknown key.\(meant) Use \(known.joined(separator: ", ")).")
  }

  /// Returns a default as text, after the check that the option makes on the command line.
  private static func text(_ name: String, _ entry: FileEntry) throws -> String {
    let isNumber = ["timeout", "mtu", "interval", "retries", "level"].contains(name)
    let text: String
    switch entry.tree.kind {
    case .bool(let value) where name == "pair": return "\(value)"
    case .number(let number) where isNumber: text = number
    case .string(let string) where !["mtu", "retries", "pair", "level"].contains(name): text = string
    default:
      throw entry.error("Expected \(name == "pair" ? "true or false" : isNumber ? "a number" : "a string"), found \(entry.tree.noun).")
    }
    do {
      switch name {
      case "adapter": _ = try AdapterSpec(text)
      case "as": _ = try ValueFormat(text)
      case "color", "timeout": _ = try ProcessOptions.parse(["--\(name)", text])
      case "mode":
        if WriteMode(rawValue: text) == nil { throw Failure(.input, "Use \(WriteMode.allCases.map(\.rawValue).joined(separator: ", ")).") }
      // A relative path starts at the folder of the file.
      case "device":
        return text.hasPrefix("/") ? text : (entry.file.lastIndex(of: "/").map { String(entry.file[...$0]) } ?? "") + text
      default: _ = try LinkOptions.parse(["--\(name)", text])
      }
    } catch {
      let reason = error is Failure || error is any FailureConvertible ? Failure(error).message : ProcessOptions.message(for: error)
      throw entry.error("Invalid value \(DisplayText.quote(text)). \(reason)")
    }
    return text
  }

  /// The defaults of all devices and of each, on one line. Nil without any.
  package var summary: String? {
    func list(_ options: Options) -> [String] { options.values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text)" } }
    let parts = list(general) + devices.map { "\($0.peer): \(list($0.options).joined(separator: ", "))" }
    return parts.isEmpty ? nil : DisplayText.escape(parts.joined(separator: "; "))
  }

  /// Adds the defaults of each device for which `isMeant` returns true to the general ones. Later entries take precedence.
  func options(where isMeant: (PeerArgument) -> Bool) -> Options {
    var options = general
    for device in devices where isMeant(device.peer) { options.values.merge(device.options.values) { $1 } }
    return options
  }
}

package import BluetoothLEDeviceFiles
import CommandLine

/// The data from which completion creates candidates, such as commands, devices and attributes.
package struct CompletionModel: Sendable {
  package struct Device: Sendable, Equatable {
    /// The address of the device with its type, such as `C0:FF:EE:00:00:07/random`.
    package var address: String
    var name: UntrustedText?
    /// A note about the device, such as its signal strength or its age.
    var hint = ""
    /// Whether the session has a connection to the device.
    package var isLink = false
  }

  package struct Attribute: Sendable, Equatable {
    var service: UUID?
    var uuid: UUID
    var handle: AttributeHandle
    var properties: Properties
    /// The user description (2901) of the attribute. Nil if blectl has not read any.
    var description: String?
  }

  package struct DeviceCommand: Sendable {
    let name: String
    let hint: String
    /// The parameters of the command. `hint` describes the value, and `choices` lists the names of permitted values.
    var parameters: [(name: String, hint: String, choices: [String])] = []
  }

  package var commands: [(name: String, hint: String)] = []
  package var devices: [Device] = []
  /// The names of the aliases, without the `@`.
  package var aliases: [String] = []
  /// The aliases of the devices to which the session has a connection, without the `@`.
  package var linkAliases: Set<String> = []
  /// The attributes of the current device. Nil without a connection or before discovery.
  package var attributes: [Attribute]?
  /// The commands in the device file. Empty until the session has loaded the file.
  package var deviceCommands: [DeviceCommand] = []
  /// The candidates for `--adapter`, such as `hci0`.
  var adapters: [Entry] = []
  /// Whether blectl knows which device `@last` means.
  var knowsLast = true
  /// Whether the current device is connected, so that commands may omit PEER.
  package var isConnected = false

  package init() {}

  /// A candidate with its keys. Completion offers the candidate if the typed text is a prefix of a key.
  package struct Entry: Equatable {
    /// The text to insert into the line, without quotes.
    let text: String
    /// The texts that find the candidate, in lowercase.
    let keys: [String]
    let hint: String
    /// Whether an earlier candidate has the same meaning. Completion then offers this candidate only after the user has typed a character.
    var isOther = false
    /// Whether the candidate is a long form such as `180f/2a19`. Completion offers a long form only if no shorter form matches.
    var isLastResort = false
    /// Whether the user may type more after the candidate without a space.
    var goesOn = false

    /// Returns whether the typed text, in lowercase, is a prefix of a key.
    func isFound(by typed: String) -> Bool { keys.contains { $0.hasPrefix(typed) } }
  }

  // MARK: Entries

  /// Returns the candidates for a PEER. Uses the name of a device if it is unique and the user can type it, otherwise the address.
  /// - Parameter onlyLinks: Whether to return only connected devices.
  func peers(onlyLinks: Bool = false, onlyAddresses: Bool = false) -> [Entry] {
    var named: [String: Int] = [:]
    for device in devices { if let name = device.name { named[name.raw.lowercased(), default: 0] += 1 } }
    var entries: [Entry] = []
    if !onlyLinks, knowsLast { entries.append(Entry("@last", hint: "the device connected last")) }
    entries += aliases.filter { (!onlyLinks || linkAliases.contains($0)) && DisplayText.isPrintable(Array($0.utf8)) }.sorted().map {
      Entry(text: "@\($0)", keys: ["@\($0)".lowercased(), $0.lowercased()], hint: "alias")
    }
    for device in devices where device.isLink || !onlyLinks {
      let address = device.address.lowercased()
      let keys = [address, address.filter { $0 != ":" }, String(address.map { $0 == ":" ? "-" : $0 })]
      guard let name = device.name, !name.isEmpty else {
        entries.append(Entry(text: device.address, keys: keys, hint: device.hint))
        continue
      }
      let isOne = named[name.raw.lowercased()] == 1 && Self.canBeTyped(name.raw) && !onlyAddresses
      let hints = [isOne ? device.address : "\(name)", device.hint].filter { !$0.isEmpty }
      // Typing the address completes the address, not the name.
      entries.append(
        Entry(
          text: isOne ? "name:\(name.raw)" : device.address, keys: ["name:\(name.raw)".lowercased(), name.raw.lowercased()],
          hint: hints.joined(separator: " ")))
      entries.append(
        Entry(
          text: device.address, keys: keys,
          hint: ["\(name)", device.hint].filter { !$0.isEmpty }.joined(separator: " "), isOther: true))
    }
    return entries
  }

  /// Removes aliases, `@last` and address types from the data, for a command that accepts only plain addresses.
  mutating func keepPlainAddresses() {
    devices = devices.map { .init(address: String($0.address.prefix { $0 != "/" }), name: $0.name, hint: $0.hint) }
    aliases = []
    knowsLast = false
  }

  /// Returns whether the user can type the name, because it has at most 64 bytes, only printable characters and no wildcards.
  private static func canBeTyped(_ name: String) -> Bool {
    DisplayText.isPrintable(Array(name.utf8)) && !name.utf8.contains { "*?[]\\".utf8.contains($0) } && name.utf8.count <= 64
  }

  /// Returns an index such as `[2]`, counted from 1, for each name that occurs several times. Empty for a unique name.
  private static func indexes(_ names: [some Hashable]) -> [String] {
    let counts = names.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    var seen = counts.mapValues { _ in 0 }
    return names.map { name in
      seen[name, default: 0] += 1
      return counts[name, default: 0] > 1 ? "[\(seen[name, default: 0])]" : ""
    }
  }

  static func attributes(_ attributes: [Attribute], for use: CommandShape.AttributeUse) -> [Entry] {
    let use = use == .sending && !attributes.contains { use.allows($0.properties) } ? .writing : use
    let paths = attributes.map { attribute in attribute.service.map { "\($0)/\(attribute.uuid)" } }
    let (indexes, pathIndexes) = (indexes(attributes.map(\.uuid)), indexes(paths))
    var entries: [Entry] = []
    for (number, attribute) in attributes.enumerated() {
      let uuid = "\(attribute.uuid)"
      let index = indexes[number]
      let path = paths[number].map { $0 + pathIndexes[number] }
      guard use.allows(attribute.properties) else { continue }
      let name = AssignedNumbers.snakeName(of: attribute.uuid).flatMap { $0.isEmpty ? nil : $0 }
      let text = (name ?? uuid) + index
      let handle = attribute.handle.description
      let said = attribute.description.map { "\"\(DisplayText.clip(DisplayText.escape($0), to: 40))\"" }
      let properties = attribute.properties.names.map { $0 == "write_without_response" ? "write_cmd" : $0 }.joined(separator: " ")
      func hint(_ other: String) -> String { [other, said, properties].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ", ") }
      entries.append(
        Entry(
          text: text, keys: [text.lowercased(), attribute.description?.lowercased()].compactMap(\.self),
          hint: hint(name == nil ? handle : path ?? uuid)))
      if name != nil {
        entries.append(Entry(text: uuid + index, keys: [(uuid + index).lowercased()], hint: hint(name ?? ""), isOther: true))
      }
      entries.append(Entry(text: handle, keys: [handle.lowercased()], hint: hint(text), isOther: true))
      if let path { entries.append(Entry(text: path, keys: [path.lowercased()], hint: hint(text), isOther: true, isLastResort: true)) }
    }
    return entries
  }
}

extension CompletionModel.Entry {
  /// Creates a candidate whose only key is its own text.
  init(_ text: String, hint: String = "", goesOn: Bool = false) {
    self.init(text: text, keys: [text.lowercased()], hint: hint, goesOn: goesOn)
  }
}

extension CompletionModel.DeviceCommand {
  package init(_ command: BluetoothLEDeviceFiles.DeviceCommand) {
    let parameters = command.parameters.map { parameter in
      let facts = CallParameter(parameter)
      return (name: parameter.name, hint: facts.text, choices: facts.choices)
    }
    self.init(name: command.name, hint: command.summary ?? "", parameters: parameters)
  }
}

package import ATT
package import Bluetooth
import CommandLine
package import DeviceFiles
package import GATT
import Presentation
package import Text

/// The data for completion, such as commands, devices and the attributes of the current device.
package struct CompletionModel: Sendable {
  package struct Device: Sendable, Equatable {
    /// The address of the device and its type.
    package var address: String
    var name: UntrustedText?
    /// A note about the device, such as its signal strength or its age.
    var hint = ""
    /// Whether the session has a link to the device.
    package var isLink = false

    package init(address: String, name: UntrustedText? = nil, hint: String = "", isLink: Bool = false) {
      self.address = address
      self.name = name
      self.hint = hint
      self.isLink = isLink
    }
  }

  package struct Attribute: Sendable, Equatable {
    var service: UUID?
    var uuid: UUID
    var handle: AttributeHandle
    var properties: Properties
    /// The name in the firmware, from the user description (2901).
    var description: String?

    package init(service: UUID? = nil, uuid: UUID, handle: AttributeHandle, properties: Properties, description: String? = nil) {
      self.service = service
      self.uuid = uuid
      self.handle = handle
      self.properties = properties
      self.description = description
    }
  }

  package struct DeviceCommand: Sendable {
    let name: String
    let hint: String
    /// The parameters, with a note about each value and the names that it may have.
    var parameters: [(name: String, hint: String, choices: [String])] = []
  }

  package var commands: [(name: String, hint: String)] = []
  package var devices: [Device] = []
  /// The names of the aliases, without the `@`.
  package var aliases: [String] = []
  /// The aliases of devices that the session has links to.
  package var linkAliases: Set<String> = []
  /// The attributes of the current device. Nil without a link, or before discovery.
  package var attributes: [Attribute]?
  /// The commands in the device file, once the session has loaded the file.
  package var deviceCommands: [DeviceCommand] = []
  /// The adapters, in the form of `--adapter`.
  var adapters: [Entry] = []
  /// Whether blectl knows the device that `@last` stands for.
  var knowsLast = true
  /// Whether commands may omit PEER.
  package var isConnected = false

  package init() {}

  /// A candidate and the keys that find it. The typed text must be a prefix of a key.
  package struct Entry: Equatable {
    /// The text for the line, without quotes.
    let text: String
    /// The keys in lowercase.
    let keys: [String]
    let hint: String
    /// Whether an earlier entry means the same. Such an entry appears only after the user typed something.
    var isOther = false
    /// Whether this is a long form, which appears only if no other entry matches.
    var isLastResort = false
    /// Whether more text may follow without a space.
    var goesOn = false

    /// Returns whether the typed text is a prefix of a key.
    /// - Parameter typed: The typed text in lowercase.
    func isFound(by typed: String) -> Bool { keys.contains { $0.hasPrefix(typed) } }
  }

  // MARK: Entries

  /// Returns the devices, by name if the name is unique and the user can type it, otherwise by address.
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

  /// Keeps only addresses without their types, for commands that accept nothing else.
  mutating func keepPlainAddresses() {
    devices = devices.map { .init(address: String($0.address.prefix { $0 != "/" }), name: $0.name, hint: $0.hint) }
    aliases = []
    knowsLast = false
  }

  /// Returns whether a pattern of printable characters can match only this name.
  private static func canBeTyped(_ name: String) -> Bool {
    DisplayText.isPrintable(Array(name.utf8)) && !name.utf8.contains { "*?[]\\".utf8.contains($0) } && name.utf8.count <= 64
  }

  /// Returns an index such as `[2]` for each name that occurs several times. Empty for a unique name.
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
  /// Creates a candidate that only its own text finds.
  init(_ text: String, hint: String = "", goesOn: Bool = false) {
    self.init(text: text, keys: [text.lowercased()], hint: hint, goesOn: goesOn)
  }
}

extension CompletionModel.DeviceCommand {
  package init(_ command: DeviceFiles.DeviceCommand) {
    let parameters = command.parameters.map { parameter in
      let facts = CallParameter(parameter)
      return (name: parameter.name, hint: facts.text, choices: facts.choices)
    }
    self.init(name: command.name, hint: command.summary ?? "", parameters: parameters)
  }
}

// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A parser for device files, whose format blectl-device(5) describes.
package enum DeviceFile {
  /// The maximum size of a file in bytes. `parse` refuses larger files.
  package static let maximumLength = 1 << 20
  static let maximumCommands = 256

  /// Reads a device file: JSON with comments.
  /// - Parameter name: The name of the file for errors.
  package static func parse(_ bytes: [UInt8], name: String) throws(FileEntryError) -> DeviceDescription {
    try parse(FileEntry(parsing: bytes, name: name, limit: maximumLength))
  }

  /// Parses the device descriptions in a simulation file, and skips its peripherals. Returns an empty list for invalid JSON.
  package static func devices(among bytes: [UInt8], name: String) throws(FileEntryError) -> [DeviceDescription] {
    guard let tree = try? JSONTree.parse(bytes) else { return [] }
    let root = FileEntry(file: name, path: "", tree: tree)
    return try (root.isList ? root.list() : [root]).filter { isDevice($0.tree) }.map(parse)
  }

  /// Returns whether a file describes a device and not a peripheral.
  package static func isDevice(_ tree: JSONTree) -> Bool { tree["commands"] != nil || tree["device"] != nil }

  private static let keys = [
    "device", "summary", "match", "names", "advertisement", "to", "from", "frames", "errors", "commands", "events", "simulate",
  ]

  package static func parse(_ entry: FileEntry) throws(FileEntryError) -> DeviceDescription {
    let fields = try entry.object(keys)
    guard let name = fields["device"] else { throw entry.error("Missing key \"device\": the name of the device.") }
    var device = DeviceDescription(name: try name.words(limit: 64), file: entry.file)
    device.summary = try fields["summary"]?.words()
    if let value = fields["match"] { device.match = try match(value) }
    var characteristics = CharacteristicNames()
    if let value = fields["names"] { (device.names, characteristics) = try names(value) }
    var frames = FrameReader()
    for (key, value) in try fields["frames"]?.namedMembers(limit: FrameReader.maximumFrames) ?? [] { try frames.define(key, value) }
    if let value = fields["advertisement"] { device.advertisement = try advertisement(value, frames) }
    var commands = CommandReader(frames: frames, characteristics: characteristics)
    commands.to = try fields["to"].map(characteristics.find)
    commands.from = try fields["from"].map(characteristics.find)
    if let value = fields["errors"] { commands.errors = try commands.errors(value, answers: []) }
    for (key, value) in try fields["commands"]?.namedMembers(limit: maximumCommands) ?? [] {
      try value.checkName(key)
      device.commands.append(try commands.command(key, value))
    }
    for (key, value) in try fields["events"]?.namedMembers(limit: maximumCommands) ?? [] {
      try value.checkName(key)
      device.events.append(try commands.event(key, value))
    }
    device.simulation = fields["simulate"]
    return device
  }

  // MARK: Recognition

  private static func match(_ entry: FileEntry) throws(FileEntryError) -> DeviceMatch {
    let fields = try entry.object(["name", "services", "manufacturer_data"])
    var match = DeviceMatch()
    if let value = fields["name"] {
      for item in value.isList ? try value.bounded() : [value] { match.names.append(try item.words()) }
    }
    if let value = fields["services"] { for item in try value.bounded() { match.services.append(try item.uuid()) } }
    for (key, value) in try fields["manufacturer_data"]?.namedMembers(limit: 16) ?? [] {
      match.manufacturerData.append(.init(company: try company(key, value), prefix: try prefix(value)))
    }
    if match.isEmpty { throw entry.error("The match is empty. Use \"name\", \"services\" or \"manufacturer_data\".") }
    return match
  }

  private static func company(_ key: String, _ entry: FileEntry) throws(FileEntryError) -> UInt16 {
    guard key.utf8.count == 4, let number = Hex.number(key) else {
      throw entry.error("A company identifier has four hex digits, such as 004c.")
    }
    return UInt16(truncatingIfNeeded: number)
  }

  private static func prefix(_ entry: FileEntry) throws(FileEntryError) -> [UInt8?] {
    guard let prefix = Hex.pattern(try entry.string()) else { throw entry.error("Expected hex digits, with ?? for any byte.") }
    return prefix
  }

  private static func advertisement(_ entry: FileEntry, _ frames: FrameReader) throws(FileEntryError) -> DeviceAdvertisement {
    let fields = try entry.object(["mac", "manufacturer_data"])
    var advertisement = DeviceAdvertisement()
    if let value = fields["mac"] {
      advertisement.macRule = try value.words()
      advertisement.macRuleEntry = value.error("Invalid MAC rule. Example: mfg:0305@-6:le")
    }
    for (key, value) in try fields["manufacturer_data"]?.namedMembers(limit: 16) ?? [] {
      advertisement.manufacturerData[try company(key, value)] = try frames.frame(value, called: "the data of company \(key)")
    }
    return advertisement
  }

  // MARK: Names

  private static func names(_ entry: FileEntry) throws(FileEntryError) -> ([UUID: String], CharacteristicNames) {
    var names: [UUID: String] = [:]
    var characteristics = CharacteristicNames()
    for (key, value) in try entry.namedMembers(limit: 256) {
      guard let uuid = UUID(key) else { throw value.error("Invalid UUID \(DisplayText.quote(key)).") }
      let name = try value.words(limit: 64)
      guard names.updateValue(name, forKey: uuid) == nil else { throw value.error("\(uuid) already has a name.") }
      let typed = AssignedNumbers.snake(name)
      guard characteristics.byName.updateValue(uuid, forKey: typed.isEmpty ? name : typed) == nil else {
        throw value.error("The name \(DisplayText.quote(name)) is already in use.")
      }
    }
    return (names, characteristics)
  }
}

/// The names that a device file gives to services and characteristics, in the form that users type.
struct CharacteristicNames {
  var byName: [String: UUID] = [:]

  /// Finds a characteristic by UUID or by name, with or without its service: `ff01`, `fee0/ff01`, `battery_level`, `fee0/answers`.
  func find(_ entry: FileEntry) throws(FileEntryError) -> DeviceCharacteristic {
    let text = try entry.string()
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let uuids = parts.map { byName[String($0)] ?? UUID($0) ?? AssignedNumbers.uuid(named: String($0)) }
    guard (1...2).contains(parts.count), case let uuid?? = uuids.last, case let service? = uuids.first else {
      throw entry.error(
        "Unknown characteristic \(DisplayText.quote(text)). Use ff01, fee0/ff01 (service/characteristic) or a name from this file.")
    }
    return DeviceCharacteristic(service: parts.count == 2 ? service : nil, uuid: uuid)
  }
}

extension Hex {
  /// Parses hex digits in which `??` stands for any byte, and ignores spaces. The result has a nil element for each `??`.
  /// - Returns: Nil for other text.
  package static func pattern(_ text: String) -> [UInt8?]? {
    let digits = Array(text.utf8.filter { $0 != 0x20 })
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8?] = []
    for start in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[start..<start + 2], as: UTF8.self)
      guard let byte = pair == "??" ? 0 : number(pair) else { return nil }
      bytes.append(pair == "??" ? nil : UInt8(truncatingIfNeeded: byte))
    }
    return bytes
  }
}

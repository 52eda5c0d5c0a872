import BluetoothLEDeviceFiles
import BluetoothLESimulator
import Foundation
import TestSupport

/// Compares the schemas in man/schemas with the readers of the files: each object has the same keys in both.
@Suite(.timeLimit(.minutes(15))) struct FileSchemaTests {
  private typealias Schema = [String: Any]

  private static func definition(_ place: String) throws -> Schema {
    let parts = place.split(separator: "/").map(String.init)
    let file = ExampleFiles.folder.deletingLastPathComponent().appendingPathComponent("schemas/\(parts[0]).json")
    let schema = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? Schema)
    return try #require((schema["$defs"] as? [String: Schema])?[parts[1]])
  }

  /// The keys that a definition allows.
  private func keys(_ schema: Schema) -> Set<String> { Set((schema["properties"] as? Schema ?? [:]).keys) }

  /// The keys that the definitions in `required` of `oneOf` or `anyOf` name.
  private func required(_ list: Any?) -> Set<String> {
    Set((list as? [Schema] ?? []).flatMap { $0["required"] as? [String] ?? [] })
  }

  /// Returns the message of the error in a file. `inside` stands where `#` is in `text`.
  private func error(_ text: String, _ inside: String) -> String {
    let device = #"{"device": "D", "to": "ff02", "from": "ff01", %}"#
    let peripheral = #"{"name": "N", "address": "D1:00:00:00:00:09/random", "variables": {"v": 1, "o": "00"}, %}"#
    let characteristic =
      #""services": [{"uuid": "ffe0", "characteristics": [{"uuid": "ffe1", "properties": ["read", "write", "notify"], %}]}]"#
    var file = text
    for (name, frame) in [("C", characteristic), ("D", device), ("P", peripheral)] where file.hasPrefix(name + " ") {
      file = frame.replacingOccurrences(of: "%", with: String(file.dropFirst(2)))
      if name == "C" { file = peripheral.replacingOccurrences(of: "%", with: file) }
    }
    file = file.replacingOccurrences(of: "#", with: inside)
    do {
      _ = try PeripheralFile.parse(Array(file.utf8), name: "x")
      return ""
    } catch { return "\(error)" }
  }

  /// Definitions, and files that have them where the `#` is. The letters stand for a device file, a peripheral file and a characteristic.
  private static let objects = [
    ("peripheral/peripheral", #"P #"#),
    ("peripheral/advertisementFields", #"P "advertisement": {#}"#),
    ("peripheral/service", #"P "services": [{"uuid": "ffe0", #}]"#),
    ("peripheral/include", #"P "services": [{"uuid": "ffe0", "includes": [{#}]}]"#),
    ("peripheral/characteristic", #"C #"#),
    ("peripheral/descriptor", #"C "descriptors": [{"uuid": "2901", #}]"#),
    ("peripheral/collect", #"C "collect": {#}"#),
    ("peripheral/periodic", #"C "periodic": {#}"#),
    ("peripheral/sink", #"C "sink": {#}"#),
    ("peripheral/reaction", #"C "reactions": [{#}]"#),
    ("peripheral/readReaction", #"C "read_reactions": [{#}]"#),
    ("peripheral/timer", #"P "timers": {"t": {#}}"#),
    ("peripheral/literalFormat", #"C "value": {#}"#),
    ("peripheral/link", #"P "link": {#}"#),
    ("peripheral/change", #"P "link": {"changes": [{#}]}"#),
    ("peripheral/firmware", #"P "firmware": {#}"#),
    ("peripheral/mcumgr", #"P "update": {"mcumgr": {#}}"#),
    ("peripheral/dfu", #"P "update": {"dfu": {#}}"#),
    ("peripheral/refusal", #"P "update": {"dfu": {"refuses": {#}}}"#),
    ("device/device", #"D #"#),
    ("device/match", #"D "match": {#}"#),
    ("device/advertisement", #"D "advertisement": {#}"#),
    ("device/layout", #"D "frames": {"f": {#}}"#),
    ("device/body", #"D "frames": {"f": {"fields": [{"body": true, #}]}}"#),
    ("device/bit", #"D "frames": {"f": {"fields": [{"type": "u8", "bits": [{#}]}]}}"#),
    ("device/command", #"D "commands": {"c": {"request": {"header": "00"}, #}}"#),
    (
      "device/parameter",
      #"D "commands": {"c": {"request": {"fields": [{"name": "p", "type": "u8"}]}, "parameters": {"p": {#}}}}"#
    ),
    ("device/event", #"D "events": {"e": {#}}"#),
    ("device/answer", #"D "commands": {"c": {"request": {"header": "00"}, "answer": {#}}}"#),
    ("device/packet", #"D "commands": {"c": {"request": {"header": "00"}, "answer": {"packets": [{#}]}}}"#),
    (
      "device/index",
      #"D "commands": {"c": {"request": {"header": "00"}, "answer": {"frame": {"header": "00"}, "index": {#}}}}"#
    ),
    ("device/errors", #"D "errors": {#}"#),
    (
      "device/simulatedAnswer",
      #"D "commands": {"c": {"request": {"header": "00"}}}, "simulate": {"name": "N", "address": "D1:00:00:00:00:09/random", "answers": {"c": {#}}, "services": [{"uuid": "ffe0", "characteristics": [{"uuid": "ff02", "properties": ["write"]}]}]}"#
    ),
  ]

  @Test(arguments: objects.indices) func object(_ index: Int) throws {
    let (place, text) = Self.objects[index]
    let message = error(text, #""unknown key": 1"#)
    let list = try #require(message.components(separatedBy: "Unknown key. Use ").dropFirst().first, "\(message)")
    let known = list.prefix { $0 != "." }.components(separatedBy: ", ")
    #expect(Set(known) == keys(try Self.definition(place)).subtracting(["$schema"]), "\(place)")
  }

  /// Definitions of objects with exactly one key of a kind, as above.
  private static let kinds = [
    ("peripheral/action", #"P "on_connect": [{#}]"#),
    ("peripheral/computed", #"P "on_connect": [{"set": "ffe1", "value": {#}}]"#),
    ("peripheral/computedNumber", #"P "on_connect": [{"count": "v", "by": {#}}]"#),
    ("peripheral/comparison", #"P "on_connect": [{"do": [], "if": {#}}]"#),
    ("device/field", #"D "frames": {"f": {"fields": [{#}]}}"#),
  ]

  @Test(arguments: kinds.indices) func kind(_ index: Int) throws {
    let (place, plain) = Self.kinds[index]
    // Actions refer to characteristics of the peripheral.
    let services = #""services": [{"uuid": "ffe0", "characteristics": [{"uuid": "ffe1", "properties": ["read", "write"]}]}], "#
    let text = plain.hasPrefix("P ") ? "P " + services + plain.dropFirst(2) : plain
    let schema = try Self.definition(place)
    let names = required(schema["oneOf"])
    let list = try #require(error(text, #""unknown key": 1"#).components(separatedBy: "Unknown key. Use ").dropFirst().first)
    let sentences = list.dropLast().components(separatedBy: ". Beside one of them: ")
    #expect(Set(sentences[0].components(separatedBy: ", ")) == names, "\(place)")
    #expect(Set(sentences.joined(separator: ", ").components(separatedBy: ", ")) == keys(schema), "\(place)")
    let dependent = schema["dependentSchemas"] as? [String: Schema] ?? [:]
    for key in keys(schema).subtracting(names) {
      for name in names {
        let isAllowed = dependent[key].map { required($0["anyOf"]).contains(name) } ?? true
        let message = error(text, "\"\(name)\": null, \"\(key)\": null")
        #expect(message.contains("\"\(name)\" takes no \"\(key)\"") == !isAllowed, "\(place): \(name) with \(key): \(message)")
      }
    }
    // Keys that the reader knows, but the schema lacks.
    for key in [
      "after_ms", "if", "else", "times", "by", "value", "values", "from", "octets", "of", "order", "key", "with", "as", "at", "is",
      "matches",
    ]
    where !keys(schema).contains(key) {
      #expect(error(text, "\"\(key)\": null").contains("Unknown key"), "\(place): \(key)")
    }
  }

  @Test(arguments: [
    #"{"$schema": "s", "name": "N", "address": "D1:00:00:00:00:09/random"}"#,
    #"{"$schema": 3, "device": "D", "simulate": {"name": "N", "address": "D1:00:00:00:00:09/random"}}"#,
  ]) func namesItsSchema(_ text: String) throws {
    #expect(try PeripheralFile.parse(Array(text.utf8), name: "x").count == 1)
    #expect(throws: FileEntryError.self) { try PeripheralFile.parse(Array("[\(text)]".utf8), name: "x") }
    let inside = #"{"device": "D", "simulate": {"$schema": "s", "name": "N", "address": "D1:00:00:00:00:09/random"}}"#
    #expect(throws: FileEntryError.self) { try PeripheralFile.parse(Array(inside.utf8), name: "x") }
    if text.contains("device") {
      #expect(try DeviceFile.parse(Array(text.utf8), name: "x").name == "D")
      #expect(try DeviceFile.devices(among: Array(text.utf8), name: "x").count == 1)
    }
  }
}

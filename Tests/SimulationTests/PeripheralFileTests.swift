import Bluetooth
import Foundation
import GATT
import TestSupport
import Testing
import Text

@testable import Simulation

@Suite struct PeripheralFileTests {
  private func parse(_ text: String) throws -> [PeripheralDescription] {
    try PeripheralFile.parse(Array(text.utf8), name: "x.jsonc")
  }

  private func peripheral(_ inside: String) throws -> PeripheralDescription {
    try #require(try parse(#"{"name": "N", "address": "D1:00:00:00:00:09/random", \#(inside)}"#).first)
  }

  @Test func theLeastThatIsAPeripheral() throws {
    let all = try parse(#"{"name": "N", "address": "D1:00:00:00:00:09/random"}"#)
    let one = try #require(all.first)
    #expect(all.count == 1 && one.name == "N" && one.address.description == "D1:00:00:00:00:09/random")
    #expect(one.mtu == 517 && one.advertising.data.isEmpty && one.advertising.isConnectable && one.linkLimits == .init())
    #expect(one.advertising.interval == .milliseconds(100) && one.advertising.rssi == -60)
    let table = one.database.attributes.map { "\($0.type) \(Hex.encode($0.value))" }
    #expect(
      table == [
        "2800 0018", "2803 020300002a", "2a00 4e", "2803 020500012a", "2a01 0000", "2800 0118", "2803 200800052a", "2a05 ", "2902 0000",
      ])
  }

  @Test func everythingAboutTheLink() throws {
    let one = try peripheral(
      #""connectable": false, "interval_ms": 250, "rssi": -90, "mtu": 100, "data_length": 0x30, "phys": ["1m", "coded"], "packets_per_event": 3,"#
        + #""advertisement": "020106", "scan_response": ["0201", {"u8": 6}], "appearance": 961"#)
    #expect(!one.advertising.isConnectable && one.advertising.interval == .milliseconds(250) && one.advertising.rssi == -90)
    #expect(one.mtu == 100 && one.linkLimits.dataLength == 48 && one.linkLimits.phys == [.le1M, .coded])
    #expect(one.linkLimits.packetsPerEvent == 3)
    #expect(one.advertising.data == [2, 1, 6] && one.advertising.scanResponse == [2, 1, 6])
    #expect(one.database[5]?.value == [0xC1, 0x03])
  }

  @Test(
    arguments: [
      (#"{"flags": 6, "name": "Ab", "tx_power": -4}"#, "020106" + "03094162" + "020afc"),
      (#"{"tx_power": 127, "flags": 0}"#, nil), (#"{"short_name": "A", "appearance": 961}"#, "020841" + "0319c103"),
      (#"{"services": ["ffe0", "180D"]}"#, "0503e0ff0d18"),
      (#"{"services": ["12345678-1234-5678-1234-56789abcdef0", "ffe0"]}"#, "0303e0ff" + "1107f0debc9a785634127856341278563412"),
      (#"{"manufacturer_data": {"004c": "0215", "0157": ["01", {"u16be": 2}]}}"#, "05ff4c000215" + "06ff5701010002"),
      (#"{"service_data": {"fe95": "3020"}}"#, "051695fe3020"),
      (#"{"service_data": {"12345678-1234-5678-1234-56789abcdef0": ""}}"#, "1121f0debc9a785634127856341278563412"),
      (#"{}"#, ""), (#""ff ff ff""#, "ffffff"), (#"{"utf8": "text"}"#, nil),
      (#"{"name": "12345678901234567890123456789"}"#, "1e09" + String(repeating: "x", count: 0)),
    ] as [(String, String?)])
  func advertisement(_ text: String, _ hex: String?) throws {
    guard let hex else {
      #expect(throws: BluetoothError.self) { try peripheral(#""advertisement": \#(text)"#) }
      return
    }
    let data = try peripheral(#""advertisement": \#(text)"#).advertising.data
    if hex == "1e09" { #expect(data.count == 31 && data.starts(with: [0x1E, 0x09])) } else { #expect(Hex.encode(data) == hex) }
  }

  @Test func servicesAndHandles() throws {
    let one = try peripheral(
      #"""
      "services": [
        {"uuid": "180a", "handle": 16, "primary": false, "characteristics": [
          {"uuid": "2a29", "properties": ["read"], "value": [{"utf8": "Ä"}, "00", {"u16le": [1, "0x0203"]}], "handle": "0x0020"}
        ]},
        {"uuid": "fff0", "includes": ["180a"], "characteristics": [
          {"uuid": "fff1", "properties": ["write", "notify", "extended_properties"], "max_length": 4, "permissions": ["read", "write_encrypted"],
           "descriptors": [
             {"uuid": "2900", "value": "0100"}, {"uuid": "2901", "value": {"utf8": "One"}, "permissions": ["read", "write"], "max_length": 8},
             {"uuid": "2902"}
           ]}
        ]}
      ]
      """#)
    let table = one.database.attributes.dropFirst(9).map { "\($0.handle) \($0.type) \(Hex.encode($0.value)) \($0.permissions.rawValue)" }
    #expect(
      table == [
        "16 2801 0a18 1", "32 2803 022100292a 1", "33 2a29 c3840001000302 1", "34 2800 f0ff 1", "35 2802 100021000a18 1",
        "36 2803 982500f1ff 1", "37 fff1  19", "38 2900 0100 1", "39 2901 4f6e65 3", "40 2902 0000 3",
      ])
    #expect(one.database[37]?.maximumLength == 4 && one.database[39]?.maximumLength == 8)
    #expect(one.database[37]?.role == .value([.write, .notify, .extendedProperties], configuration: 40))
  }

  @Test func theFilesOwnBasicServicesReplaceOurs() throws {
    let one = try peripheral(#""services": [{"uuid": "1801"}, {"uuid": "1800", "handle": 5}]"#)
    #expect(one.database.attributes.map { Hex.encode($0.value) } == ["0118", "0018"])
  }

  @Test func reactions() throws {
    let one = try peripheral(
      #"""
      "services": [{"uuid": "ff00", "characteristics": [
        {"uuid": "ff01", "properties": ["write"], "collect": {"octets": 10}, "reactions": [
          {"when": "1b??02*", "length": 5, "sum8": 255, "then": [
            {"notify": "ff02", "value": ["01", {"value_of": "ff00/ff03"}, {"written": true}, {"checksum": "sum8"}], "after_ms": 5},
            {"indicate": "ff02"}, {"set": "ff03", "value": {"u8": 9}}, {"reset": "ff04", "after_ms": 1}, {"disconnect": true}
          ]},
          {"then": []}
        ]},
        {"uuid": "ff02", "properties": ["notify", "indicate"], "periodic": {"every_ms": 10, "values": ["01", {"value_of": "ff03"}]}},
        {"uuid": "ff03", "properties": ["read"]},
        {"uuid": "ff04", "properties": ["write_without_response"], "sink": {"report": "ff03"}}
      ]}]
      """#)
    let behaviour = try #require(one.behaviours[one.handle("ff01")])
    let second = one.handle("ff02")
    let third = one.handle("ff03")
    let pattern = try #require(Reaction.Pattern("1b??02*"))
    #expect(behaviour.collect == .init(octets: 10, pause: .seconds(1)))
    #expect(
      behaviour.reactions == [
        Reaction(
          condition: .init(pattern: pattern, length: 5, sum8: 255),
          actions: [
            .notify(second, .init(parts: [.octets([1]), .valueOf(third), .written, .sum8]), after: .milliseconds(5)),
            .indicate(second, .init(parts: [.valueOf(second)]), after: .zero), .set(third, .init(parts: [.octets([9])]), after: .zero),
            .reset(sink: one.handle("ff04"), after: .milliseconds(1)), .disconnect(after: .zero),
          ]),
        Reaction(),
      ])
    #expect(
      one.behaviours[second]?.periodic
        == .init(interval: .milliseconds(10), values: [.init(parts: [.octets([1])]), .init(parts: [.valueOf(third)])]))
    #expect(one.behaviours[one.handle("ff04")]?.sink == .init(report: third, pause: .milliseconds(100)))
  }

  @Test(arguments: [
    ("1b9901", "1b9901", true), ("1b9901", "1b99", false), ("1b9901", "1b990100", false), ("1b??01", "1bff01", true),
    ("1b??01", "1bff02", false),
    ("1b*", "1b", true), ("1b*", "1b00", true), ("1b*", "1c", false), ("1b ?? *", "1b", false), ("*", "", true), ("", "", true),
    ("", "00", false),
    ("??", "00", true),
  ])
  func patterns(_ pattern: String, _ written: String, _ matches: Bool) throws {
    let pattern = try #require(Reaction.Pattern(pattern))
    #expect(pattern.matches(Hex.decode(written) ?? []) == matches)
  }

  @Test(arguments: ["1", "1?", "?1", "1b**", "*1b", "xx", "+1", "1b???"])
  func noPatterns(_ text: String) { #expect(Reaction.Pattern(text) == nil) }

  @Test func commentsAndCommas() throws {
    let all = try parse(
      "\u{FEFF}// one\n[ /* two\n */ {\"name\": \"\\u00e4\\ud83d\\ude00\\n\\/\", \"address\": \"D1:00:00:00:00:09/random\",}, ] // end")
    #expect(all.first?.name == "ä😀\n/")
  }

  /// What the error must contain: line, path, reason.
  static let refused: [(String, String)] = [
    ("", "x.jsonc:1: the file ends where a value should be"),
    ("[]", "no peripheral"),
    ("3", "a number where an object should be"),
    ("{", "the file ends where a key in double quotes should be"),
    ("{\n\n'a': 1}", "x.jsonc:3: ''' where a key in double quotes should be"),
    ("{\"a\" 1}", "'1' where ':' should be"),
    ("{\"a\": 1 \"b\": 2}", "'\"' where ',' or '}' should be"),
    ("[1 2]", "'2' where ',' or ']' should be"),
    ("{} x", "'x' where the end of the file should be"),
    ("{}\u{0}", "octet 0x0 where the end of the file should be"),
    ("{\"a\": bad}", "\"bad\" is not a value: strings need double quotes"),
    ("{\"a\": \"b\n\"}", "a string that does not end on its line"),
    ("{\"a\": \"\\x\"}", "unknown escape"),
    ("{\"a\": \"\\ud800\"}", "surrogate"),
    ("{\"a\": \"\\u12\"}", "four hex digits"),
    ("/* \n\n", "x.jsonc:1: a comment that does not end"),
    ("/", "'/' where a value should be"),
    ("{\"name\": \"A\", \"name\": \"B\"}", "the key \"name\" is given twice"),
    (String(repeating: "[", count: 100_000), "nested deeper than 32 levels"),
    (String(repeating: "{\"a\":", count: 100_000), "nested deeper than 32 levels"),
    ("{\"address\": \"D1:00:00:00:00:09/random\"}", "it has no name"),
    ("{\"name\": \"N\"}", "it has no address"),
    ("{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09\"}", "address: \"D1:00:00:00:00:09\" is not an address with its type"),
    ("{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/static\"}", "is not an address with its type"),
    (
      "[{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/random\"},\n{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/random\"}]",
      "x.jsonc:2: [1]: the address"
    ),
  ]

  /// Inside a peripheral.
  static let refusedInside: [(String, String)] = [
    (#""colour": "red""#, "colour: unknown key; there are name, address"),
    (#""colour\u001b[31m": "red""#, #"colour\x1b[31m: unknown key"#),
    (#""rssi": "-60""#, "rssi: a string where a number should be"),
    (#""rssi": 21"#, "rssi: 21 is not in -127…20"),
    (#""rssi": 1e1"#, "\"1e1\" is not a whole number"),
    (#""rssi": 99999999999999999999"#, "is not a whole number of a sensible size"),
    (#""rssi": ٣"#, "where a value should be"),
    (#""mtu": 22"#, "mtu: 22 is not in 23…517"),
    (#""mtu": 518"#, "mtu: 518"),
    (#""data_length": 252"#, "data_length: 252"),
    (#""interval_ms": 19"#, "interval_ms: 19"),
    (#""phys": ["2m"]"#, "phys: every device has the PHY 1m"),
    (#""phys": ["1m", "4m"]"#, "phys[1]: unknown PHY"),
    (#""connectable": 1"#, "connectable: a number where true or false should be"),
    (#""advertisement": {"name": "123456789012345678901234567890"}"#, "advertisement: 32 octets: an advertisement has at most 31"),
    (#""scan_response": "0102 0304 0506 0708 0910 1112 1314 1516 0102 0304 0506 0708 0910 1112 1314 1516""#, "scan_response: 32 octets"),
    (#""advertisement": {"manufacturer_data": {"4c": "00"}}"#, "advertisement.manufacturer_data.4c: a company identifier"),
    (#""advertisement": {"service_data": {"fe9": "00"}}"#, "advertisement.service_data.fe9: \"fe9\" is not a UUID"),
    (#""advertisement": {"uuid": "fe95"}"#, "advertisement.uuid: unknown key"),
    (#""advertisement": "0x""#, "advertisement: \"0x\" is not hex"),
    (#""services": {}"#, "services: an object where a list should be"),
    (#""services": [{}]"#, "services[0]: a service has a uuid"),
    (#""services": [{"uuid": "ffe"}]"#, "services[0].uuid: \"ffe\" is not a UUID"),
    (#""services": [{"uuid": "ffe0", "includes": ["ffe1"]}]"#, "services[0].includes[0]: no other service"),
    (#""services": [{"uuid": "ffe0", "includes": ["ffe0"]}]"#, "services[0].includes[0]: no other service"),
    (#""services": [{"uuid": "ffe0", "handle": 9}]"#, "services[0]: handle 0x0009 is taken or out of order: the last one is 0x0009"),
    (#""services": [{"uuid": "ffe0", "handle": 0}]"#, "services[0].handle: 0 is not in 1…65535"),
    (#""services": [{"uuid": "ffe0", "handle": 65536}]"#, "services[0].handle: 65536"),
    (
      #""services": [{"uuid": "ffe0", "handle": 32}, {"uuid": "ffe1", "handle": 16}]"#,
      "services[1]: handle 0x0010 is taken or out of order"
    ),
    (characteristic(#""uuid": "ffe1""#), "characteristics[0]: a characteristic has properties"),
    (characteristic(#""properties": []"#), "characteristics[0]: a characteristic has a uuid"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["reed"]"#),
      "characteristics[0].properties[0]: unknown property \"reed\"; there are broadcast, read"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "permissions": ["all"]"#), "permissions[0]: unknown permission \"all\""),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "value": "xyz""#), "characteristics[0].value: \"xyz\" is not hex"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "value": {"u8": 256}"#),
      "characteristics[0].value.u8: \"256\" (column 1) does not fit u8"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "value": {"u16": 2}"#), "value.u16: unknown key"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "value": {"u8": 2, "i8": 3}"#), "value: an object with one key"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "value": "\#(String(repeating: "00", count: 513))""#),
      "characteristics[0].value: 513 octets: at most 512"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "max_length": 513"#), "max_length: 513 is not in 0…512"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "max_length": 1, "value": "0102""#), "value: 2 octets: at most 1"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "handle": 10"#), "services[0].characteristics[0]: handle 0x000a is taken"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "handle": "0xffff""#),
      "services[0].characteristics[0]: more than 65535 attributes"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "descriptors": [{"uuid": "2901"}, {"uuid": "2902"}]"#),
      "services[0].characteristics[0].descriptors[1]: a Client Characteristic Configuration (2902) without"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["notify"], "descriptors": [{"uuid": "2902"}, {"uuid": "2902"}]"#),
      "descriptors[1]: a second Client"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["notify"], "descriptors": [{"uuid": "2901", "handle": 12}]"#),
      "descriptors[0]: handle 0x000c is taken"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "descriptors": [{"uuid": "2901"}, {"value": "00"}]"#),
      "descriptors[1]: a descriptor has a uuid"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["extended_properties"]"#),
      "characteristics[0]: the extended_properties property without"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "reactions": []"#), "reactions: nothing can be written"),
    (characteristic(#""uuid": "ffe1", "properties": ["read"], "sink": {"report": "ffe1"}"#), "sink: nothing can be written"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["write"], "sink": {"report": "ffe1"}"#),
      "sink.report: the report is a characteristic of its own"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["write"], "sink": {}"#), "sink: it has no report"),
    (
      characteristic(#""uuid": "ffe1", "properties": ["read"], "periodic": {"every_ms": 5, "values": ["00"]}"#),
      "periodic: nobody can subscribe"
    ),
    (
      characteristic(#""uuid": "ffe1", "properties": ["notify"], "periodic": {"every_ms": 0, "values": ["00"]}"#),
      "periodic.every_ms: 0 is not"
    ),
    (characteristic(#""uuid": "ffe1", "properties": ["notify"], "periodic": {"every_ms": 5, "values": []}"#), "periodic.values: no values"),
    (reaction(#"{"when": "1b9", "then": []}"#), "reactions[0].when: \"1b9\" is not a pattern"),
    (reaction(#"{"when": "1b99"}"#), "reactions[0]: it has no then"),
    (reaction(#"{"then": [{}]}"#), "reactions[0].then[0]: an action has exactly one of notify, indicate"),
    (reaction(#"{"then": [{"notify": "ffe2", "set": "ffe2"}]}"#), "then[0]: an action has exactly one of"),
    (reaction(#"{"then": [{"notify": "ffe9"}]}"#), "then[0].notify: no characteristic \"ffe9\""),
    (reaction(#"{"then": [{"notify": "ffe1"}]}"#), "then[0].notify: the characteristic has no notify property"),
    (reaction(#"{"then": [{"indicate": "ffe1"}]}"#), "then[0].indicate: the characteristic has no indicate property"),
    (reaction(#"{"then": [{"set": "a/b/c"}]}"#), "then[0].set: \"a/b/c\" is not a characteristic"),
    (reaction(#"{"then": [{"set": "ffe2"}]}"#), "then[0].set: 2 characteristics are \"ffe2\""),
    (reaction(#"{"then": [{"reset": "ffe1"}]}"#), "then[0].reset: the characteristic is no sink"),
    (reaction(#"{"then": [{"disconnect": true, "value": "00"}]}"#), "then[0].value: disconnect takes no value"),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"checksum": "crc"}}]}"#), "then[0].value.checksum: unknown checksum"),
    (reaction(#"{"then": [{"set": "ffe1", "value": {"written": false}}]}"#), "then[0].value.written: only true"),
    (reaction(#"{"then": [{"set": "ffe1", "value": "\#(String(repeating: "00", count: 513))"}]}"#), "then[0].value: 513 octets"),
    (reaction(#"{"then": [{"set": "ffe1", "after_ms": 3600001}]}"#), "then[0].after_ms: 3600001"),
  ]

  private static func characteristic(_ inside: String) -> String {
    #""services": [{"uuid": "ffe0", "characteristics": [{\#(inside)}]}]"#
  }

  private static func reaction(_ reaction: String) -> String {
    #""services": [{"uuid": "ffe0", "characteristics": [{"uuid": "ffe1", "properties": ["write"], "reactions": [\#(reaction)]}, "#
      + #"{"uuid": "ffe2", "properties": ["read"]}, {"uuid": "ffe2", "properties": ["read"]}]}]"#
  }

  private func expectRefusal(_ text: String, _ message: String) {
    do {
      _ = try parse(text)
      Issue.record("accepted, but should be refused: \(message)")
    } catch let error as BluetoothError {
      #expect(error.kind == .input)
      #expect(error.message.hasPrefix("x.jsonc:") && error.message.contains(message), "\(error.message)")
    } catch { Issue.record(error) }
  }

  @Test(arguments: refused.indices)
  func refusal(_ index: Int) { expectRefusal(Self.refused[index].0, Self.refused[index].1) }

  @Test(arguments: refusedInside.indices)
  func refusalInside(_ index: Int) {
    let (inside, message) = Self.refusedInside[index]
    expectRefusal("{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/random\", \(inside)}", message)
  }

  @Test func tooMuch() throws {
    let one = #"{"name": "N", "address": "D1:00:00:00:00:%/random"}"#
    let many = (0..<65).map { one.replacingOccurrences(of: "%", with: Hex.encode([UInt8($0)])) }
    #expect(try parse("[" + many.dropLast().joined(separator: ",") + "]").count == 64)
    expectRefusal("[" + many.joined(separator: ",") + "]", "65 peripherals: at most 64 are allowed")
    expectRefusal(String(repeating: " ", count: PeripheralFile.maximumLength + 1), "4194305 octets")
    let list = [String](repeating: #"{"uuid":"f","properties":[]}"#.replacingOccurrences(of: "f", with: "fff1"), count: 33_000)
    expectRefusal(
      #"{"name": "N", "address": "D1:00:00:00:00:09/random", "services": [{"uuid": "fff0", "characteristics": [\#(list.joined(separator: ","))]}]}"#,
      "services[0].characteristics[32762]: more than 65535 attributes")
    let actions = [String](repeating: #"{"set": "ffe1"}"#, count: 257).joined(separator: ",")
    expectRefusal(
      "{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/random\", " + Self.reaction("{\"then\": [\(actions)]}") + "}",
      "then: 257 items: at most 256 are allowed")
  }

  @Test func notUTF8() {
    do {
      _ = try PeripheralFile.parse(Array("{\"name\": \"".utf8) + [0xC0, 0x9B] + Array("\"}".utf8), name: "x\u{1B}")
      Issue.record("accepted")
    } catch { #expect(error.message == "x\\x1b:1: a string that is not UTF-8") }
  }

  /// Never a trap, and what is accepted can be run.
  @Test func hostileFiles() {
    let small =
      #"[{"name":"\u00e4","address":"D1:00:00:00:00:09/random","advertisement":{"flags":6,"services":["ffe0"]},"services":[{"uuid":"ffe0",//\#n"characteristics":[{"uuid":"ffe1","properties":["write"],"reactions":[{"when":"1b??*","then":[{"set":"ffe1","value":["00",{"u16le":1}],"after_ms":1}]}]}]}]}]"#
    var accepted = 0
    hostile([Array(small.utf8)]) { if (try? PeripheralFile.parse($0, name: "x")) != nil { accepted += 1 } }
    #expect(accepted > 0)
    hostile([Array(Presets.text.utf8)], mutations: 200) { _ = try? PeripheralFile.parse($0, name: "x") }
  }

  /// The manual's example is a file that works.
  @Test func theManualsExample() throws {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("man/blectl-peripheral.5")
    let page = try String(contentsOf: url, encoding: .utf8)
    let example = try #require(
      page.components(separatedBy: ".\\\" example\n.Bd -literal\n").dropFirst().first?.components(separatedBy: "\n.Ed").first)
    let all = try parse(example.replacingOccurrences(of: "\\e", with: "\\"))
    #expect(all.map(\.name) == ["Lamp", "Thermometer"])
    for key in [
      "name", "address", "appearance", "connectable", "interval_ms", "rssi", "advertisement", "scan_response", "mtu", "data_length", "phys",
      "packets_per_event", "services", "flags", "short_name", "manufacturer_data", "service_data", "tx_power", "uuid", "primary", "handle",
      "includes", "characteristics", "properties", "value", "permissions", "max_length", "descriptors", "reactions", "collect", "octets",
      "pause_ms", "periodic", "every_ms", "values", "sink", "report", "when", "length", "sum8", "then", "notify", "indicate", "set",
      "reset",
      "disconnect", "after_ms", "value_of", "written", "checksum",
    ] { #expect(page.contains(".It Ic \(key)\n") || page.contains(".It Ic \(key) "), "\(key) is not documented") }
  }
}

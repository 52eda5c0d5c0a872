import TestSupport

@testable import BluetoothLE
@testable import BluetoothLEDeviceFiles

@Suite(.timeLimit(.minutes(15))) struct DeviceFileTests {
  private func parse(_ text: String) throws -> DeviceDescription { try DeviceFile.parse(Array(text.utf8), name: "x.json") }

  @Test func everythingThatAFileMaySay() throws {
    let device = try parse(
      #"""
      {
        "device": "Band", "summary": "a band", // comment
        "match": {"name": ["Band-*", "Other"], "services": ["fee0"], "manufacturer_data": {"0157": "02 ?? 07"}},
        "names": {"ff01": "Answers", "ff02": "The Commands"},
        "advertisement": {"mac": "mfg:0157@-6:be", "manufacturer_data": {"0157": {"fields": [{"name": "kind", "type": "u8"}, {"name": "mac", "type": "bytes"}]}}},
        "to": "the_commands", "from": "fee0/answers",
        "commands": {
          "sleep": {
            "summary": "sleeps", "mode": "request", "chunk": 20, "gap_ms": 10, "to": "2a19",
            "request": {"header": "01", "fields": [{"name": "hours", "type": "u8", "scale": 0.5, "unit": "h"}, {"name": "id", "type": "u8"}]},
            "parameters": {"hours": {"least": 0.5, "greatest": 12, "default": 8, "summary": "how long"}},
            "counter": "id"
          },
          "ask": {"request": {"header": "02"}, "answer": {"frame": {"header": "03"}, "within_ms": 200, "from": "ff03"}}
        },
        "events": {"sos": {"summary": "help", "frame": {"header": "f0"}}},
        "simulate": {"anything": 1}
      }
      """#)
    #expect(device.name == "Band" && device.summary == "a band" && device.simulation != nil)
    #expect(device.match.names == ["Band-*", "Other"] && device.match.services == [UUID(0xFEE0)])
    #expect(device.match.manufacturerData == [.init(company: 0x157, prefix: [2, nil, 7])])
    #expect(device.match.manufacturerData[0].matches([2, 99, 7, 1]) && !device.match.manufacturerData[0].matches([2, 99]))
    #expect(device.names[UUID(0xFF02)] == "The Commands" && device.advertisement?.macRule == "mfg:0157@-6:be")
    #expect(try device.advertisement?.manufacturerData[0x157]?.decode([7, 1, 2]).last?.value == .bytes([1, 2]))
    let sleep = try #require(device.command("sleep"))
    #expect(sleep.to.description == "2a19" && sleep.mode == .request && sleep.chunk == 20 && sleep.gap == .milliseconds(10))
    #expect(sleep.parameters.map(\.name) == ["hours"] && sleep.parameters[0].rangeText == "0.5 to 12" && sleep.counter == "id")
    #expect(try Hex.encode(sleep.encode([], number: 258).bytes) == "011002")
    #expect(try Hex.encode(sleep.encode([NamedValue("hours", .number(1.5))]).bytes) == "010300")
    #expect(throws: FieldFault.self) { try sleep.encode([NamedValue("hours", .integer(13))]) }
    #expect(sleep.decode([1, 16, 5])?.first?.value == .number(8) && sleep.decode([1, 25, 5]) == nil && sleep.decode([1, 25]) == nil)
    let ask = try #require(device.command("ask"))
    #expect(ask.to.description == "ff02" && ask.answer?.from.description == "ff03" && ask.answer?.limit == .milliseconds(200))
    #expect(device.events[0].from.description == "fee0/ff01")
  }

  /// Members of the file, and the text that the error must contain.
  private static let refused: [(String, String)] = [
    (#""colour": 1"#, "x.json:1:43: colour: Unknown key. Use device, summary"),
    (#""match": {}"#, "match: The match is empty"),
    (#""match": {"manufacturer_data": {"15": "02"}}"#, "A company identifier has four hex digits"),
    (#""match": {"manufacturer_data": {"0157": "0"}}"#, "Expected hex digits"),
    (#""names": {"xyzzy": "a"}"#, "names.xyzzy: Invalid UUID \"xyzzy\""),
    (#""names": {"ff01": "a", "ff02": "A"}"#, "The name \"A\" is already in use"),
    (#""names": {"ff01": "a\u001b"}"#, "Expected printable text"),
    (#""to": "nowhere""#, "to: Unknown characteristic \"nowhere\""),
    (#""to": "a/b/c""#, "Unknown characteristic \"a/b/c\""),
    (#""frames": {"a b": {}}"#, "Invalid name \"a b\""),
    (#""frames": {"a": {}}"#, "frames.a: The frame is empty"),
    (#""frames": {"a": {"header": "0"}}"#, ""),
    (#""frames": {"a": {"in": "a", "header": "00"}}"#, "Unknown frame. No earlier frame is defined."),
    (#""frames": {"a": {"header": "00"}, "b": {"in": "a", "header": "00"}}"#, "The outer frame has no {\"body\": true}"),
    (#""frames": {"a": {"fields": [{"body": true}, {"body": true}]}}"#, "A frame can have only one body"),
    (#""frames": {"a": {"fields": [{"body": true, "at": 3}]}}"#, "frames.a.fields[0].at: Unknown key. Use body."),
    (#""frames": {"a": {"fields": [{"body": false}]}}"#, "frames.a.fields[0].body: Use true."),
    (#""frames": {"a": {"$schema": "device.json"}}"#, "frames.a.$schema: Unknown key."),
    (
      #""frames": {"a": {"fields": [{"name": "k", "type": "u8"}, {"body": true}]}, "b": {"in": "a", "with": {"q": 1}}}"#,
      "The outer frame has no field \"q\""
    ),
    (
      #""frames": {"a": {"fields": [{"name": "k", "type": "u8"}, {"body": true}]}, "b": {"in": "a", "with": {"k": 256}}}"#,
      "256 is out of range (0 to 255)"
    ),
    (#""frames": {"a": {"fields": [{"name": "k", "type": "u16"}]}}"#, "u16 needs a byte order: u16le or u16be"),
    (#""frames": {"a": {"fields": [{"name": "k", "type": "u7"}]}}"#, "Unknown type \"u7\""),
    (#""frames": {"a": {"fields": [{"name": "k"}]}}"#, "frames.a.fields[0]: Missing key \"type\""),
    (#""frames": {"a": {"fields": [{"type": "u8"}]}}"#, "Expected exactly one key of a field"),
    (#""frames": {"a": {"fields": [{"name": "k", "type": "u8"}, {"name": "k", "type": "u8"}]}}"#, "The packet already has a field \"k\""),
    (#""frames": {"a": {"fields": [{"name": "all", "type": "u8"}]}}"#, "all has a meaning in \"length_of\""),
    (#""frames": {"a": {"fields": [{"name": "k", "type": "bytes"}, {"name": "l", "type": "bytes"}]}}"#, "The field needs a fixed size"),
    (#""frames": {"a": {"fields": [{"length_of": "k", "type": "u8"}]}}"#, "No later field is called \"k\". Use \"all\" for"),
    (
      #""frames": {"a": {"fields": [{"length_of": "body", "type": "u8"}, {"name": "k", "type": "bytes"}, {"checksum": "sum8"}]}}"#,
      "\"body\" (fields: k). Use \"all\" for the length of the packet, or \"rest\" for the length after this number. If N of these bytes do not count, such as a checksum: \"add\": -N"
    ),
    (
      #""frames": {"a": {"fields": [{"name": "k", "type": "bytes"}, {"length_of": "k", "type": "u8"}]}}"#,
      "The size of k must be before k"
    ),
    (
      #""frames": {"a": {"fields": [{"length_of": "k", "type": "u8"}, {"name": "k", "type": "bytes", "length": 2}]}}"#,
      "Remove the fixed size"
    ),
    (#""frames": {"a": {"fields": [{"count_of": "k", "type": "u8"}, {"name": "k", "type": "bytes"}]}}"#, "k is not a list"),
    (#""frames": {"a": {"fields": [{"length_of": "k", "type": "i8"}]}}"#, "A size must be an unsigned number"),
    (
      #""frames": {"a": {"fields": [{"name": "k", "type": "u8", "at": 3}, {"name": "l", "type": "u8", "at": 3}]}}"#,
      "The earlier fields take 4 bytes"
    ),
    (#""frames": {"a": {"fields": [{"name": "k", "type": "bytes"}, {"name": "l", "type": "u8", "at": 3}]}}"#, "Remove \"at\""),
    (#""frames": {"a": {"fields": [{"checksum": "md5"}]}}"#, "Unknown checksum \"md5\". Use sum8, sum8_complement, xor8, CRC-8"),
    (#""frames": {"a": {"fields": [{"checksum": "sum8", "xor": 256}]}}"#, "256 is not in 0…255"),
    (
      #""frames": {"a": {"fields": [{"checksum": "sum8", "over": "after"}, {"checksum": "sum8"}]}}"#,
      "A checksum cannot cover a later checksum"
    ),
    (#""frames": {"a": {"fields": [{"bits": [{"name": "x", "bit": 8}], "type": "u8"}]}}"#, "8 is not in 0…7"),
    (
      #""frames": {"a": {"fields": [{"bits": [{"name": "x", "bit": 1, "width": 2}, {"name": "y", "bit": 2}], "type": "u8"}]}}"#,
      "Another entry uses these bits"
    ),
    (#""frames": {"a": {"fields": [{"name": "k", "type": "u8", "scale": 0}]}}"#, "The scale must be 1e-12 to 1e12"),
    (#""frames": {"a": {"fields": [{"name": "k", "type": "u8", "scale": 1e99999}]}}"#, "is not a number, or is too large"),
    (#""frames": {"a": {"fields": [{"name": "k", "type": "u8", "values": {"x": 1, "y": 1}}]}}"#, "1 already has a name"),
    (#""frames": {"a": {"fields": [{"name": "k", "type": "u8", "values": {"1": 1}}]}}"#, "A name cannot be a number"),
    (#""frames": {"a": {"fields": [{"name": "k", "list": [{"name": "x", "type": "bytes"}]}]}}"#, "A list item needs a fixed size"),
    (#""frames": {"a": {"fields": [{"name": "k", "list": []}]}}"#, "The frame is empty"),
    (#""frames": {"a": {"fields": [{"name": "k", "list": [{"name": "y", "list": []}]}]}}"#, "A list item cannot have \"list\""),
    (
      #""frames": {"a": {"fields": [{"name": "k", "type": "u8", "count": 99999999999999999999}]}}"#,
      "is not a whole number, or is too large"
    ),
    (#""commands": {"c": {}}"#, "commands.c: Missing key \"request\""),
    (#""commands": {"c": {"request": {"header": "00"}}}"#, "Missing key \"to\": the characteristic to write"),
    (#""to": "ff02", "commands": {"c=": {"request": {"header": "00"}}}"#, "Invalid name \"c=\""),
    (#""to": "ff02", "commands": {"c": {"request": "nope"}}"#, "Unknown frame. No earlier frame is defined."),
    (#""to": "ff02", "commands": {"c": {"request": {"header": "00"}, "mode": "fast"}}"#, "Unknown mode. Use auto, request, command"),
    (
      #""to": "ff02", "commands": {"c": {"request": {"header": "00"}, "parameters": {"x": {}}}}"#,
      "The request has no field \"x\""
    ),
    (#""to": "ff02", "commands": {"c": {"request": {"header": "00"}, "counter": "x"}}"#, "no unsigned-number field \"x\""),
    (
      #""to": "ff02", "commands": {"c": {"request": {"fields": [{"name": "x", "type": "u8"}]}, "parameters": {"x": {"default": 9, "greatest": 8}}}}"#,
      "x: 9 is out of range (at most 8)"
    ),
    (
      #""to": "ff02", "commands": {"c": {"request": {"fields": [{"name": "x", "type": "u8", "scale": 0.5}]}, "parameters": {"x": {"least": -5}}}}"#,
      "parameters.x.least: The field holds 0 to 127.5"
    ),
    (
      #""to": "ff02", "commands": {"c": {"request": {"fields": [{"name": "x", "type": "u8", "values": {"a": 1, "b": 9}}]}, "parameters": {"x": {"default": "b", "greatest": 8}}}}"#,
      "x: b is out of range (at most 8)"
    ),
    (
      #""to": "ff02", "from": "ff01", "commands": {"c": {"request": {"header": "00"}, "answer": {"packets": [{"frame": {"fields": [{"name": "v", "type": "u8"}]}}, {"frame": {"fields": [{"name": "v", "type": "u8"}]}}]}}}"#,
      "Two packets have a field \"v\""
    ),
    (
      #""to": "ff02", "commands": {"c": {"request": {"header": "00"}, "answer": {"frame": {"header": "01"}}}}"#,
      "Missing key \"from\": the characteristic that sends the packets"
    ),
    (#""to": "ff02", "from": "ff01", "commands": {"c": {"request": {"header": "00"}, "answer": {}}}"#, "Missing key \"frame\""),
    (
      #""to": "ff02", "from": "ff01", "commands": {"c": {"request": {"header": "00"}, "answer": {"frame": {"header": "01"}, "count": 2, "silence_ms": 3}}}"#,
      "Use only one of \"count\", \"until\" and \"silence_ms\""
    ),
    (
      #""to": "ff02", "from": "ff01", "commands": {"c": {"request": {"header": "00"}, "answer": {"frame": {"header": "01"}, "count": {"field": "n"}}}}"#,
      "No whole-number field \"n\" in this or an earlier packet"
    ),
    (
      #""to": "ff02", "from": "ff01", "commands": {"c": {"request": {"header": "00"}, "answer": {"frame": {"header": "01"}, "errors": {"field": "x", "ok": 0}}}}"#,
      "The frame has no field \"x\""
    ),
    (
      #""to": "ff02", "from": "ff01", "commands": {"c": {"request": {"header": "00"}, "answer": {"frame": {"header": "01"}, "echo": ["x"]}}}"#,
      "The request has no field \"x\""
    ),
    (
      #""to": "ff02", "from": "ff01", "commands": {"c": {"request": {"header": "00"}, "answer": {"packets": []}}}"#,
      "Add at least one packet"
    ),
    (
      #""to": "ff02", "from": "ff01", "commands": {"c": {"request": {"header": "00"}, "answer": {"packets": [{"frame": {"header": "01"}, "silence_ms": 3}, {"frame": {"header": "02"}}]}}}"#,
      "Only the last packet can have \"silence_ms\""
    ),
    (#""errors": {"field": "x"}"#, "Errors of the whole file need the key \"frame\""),
    (#""events": {"e": {"frame": {"header": "00"}}}"#, "Missing key \"from\": the characteristic that sends the packets"),
  ]

  @Test(arguments: refused.indices) func refusal(_ index: Int) {
    let (text, message) = Self.refused[index]
    if message.isEmpty { return }
    do {
      _ = try parse(#"{"device": "D", "summary": "s", \#(text)}"#)
      Issue.record("accepted: \(text)")
    } catch { #expect("\(error)".hasPrefix("x.json:1:") && "\(error)".contains(message), "\(error)") }
  }

  @Test func whatIsNoFileAtAll() throws {
    #expect(throws: FileEntryError(file: "x", reason: "The file is too long: 1048577 bytes (maximum 1048576).")) {
      try DeviceFile.parse([UInt8](repeating: 0x20, count: DeviceFile.maximumLength + 1), name: "x")
    }
    let deep = String(repeating: "[", count: 500_000)
    for text in ["", "[]", "3", "{}", "{\"device\": \"D\", \"commands\": \(deep)", "{\"device\": \"D\u{0}\"}", "\u{0}"] {
      #expect(throws: FileEntryError.self) { try parse(text) }
    }
    let line = #"{"device": "D", "summary": ""# + String(repeating: "x", count: 1_000_000)
    #expect(throws: FileEntryError.self) { try parse(line) }
  }

  /// Nested frames add their lengths and never multiply them.
  @Test func manyFramesInEachOther() throws {
    var text = #"{"device": "D", "frames": {"f0": {"header": "00", "fields": [{"body": true}]}"#
    for index in 1..<256 { text += #", "f\#(index)": {"in": "f\#(index - 1)", "header": "00", "fields": [{"body": true}]}"# }
    let error = #expect(throws: FileEntryError.self) { try parse(text + "}}") }
    #expect(error?.reason == "More than 256 fields.")
  }
}

import BluetoothLEDeviceFiles
import Foundation
import TestSupport

@testable import BluetoothLESimulator

@Suite(.timeLimit(.minutes(15))) struct PeripheralFileTests {
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
      #""connectable": false, "interval_ms": 250, "rssi": -90, "mtu": 100, "data_length": 0x30, "phys": ["1m", "coded"], "packets_per_event": 3, "starts_after_ms": 1500, "failing_connections": 2,"#
        + #""advertisement": "020106", "scan_response": ["0201", {"u8": 6}], "appearance": 961"#)
    #expect(!one.advertising.isConnectable && one.advertising.interval == .milliseconds(250) && one.advertising.rssi == -90)
    #expect(one.mtu == 100 && one.linkLimits.dataLength == 48 && one.linkLimits.phys == [.le1M, .coded])
    #expect(one.linkLimits.packetsPerEvent == 3)
    #expect(one.advertising.startsAfter == .milliseconds(1500) && one.linkLimits.failingConnections == 2)
    #expect(one.advertising.data == [2, 1, 6] && one.advertising.scanResponse == [2, 1, 6])
    #expect(one.database[5]?.value == [0xC1, 0x03])
  }

  @Test func whatIsSlow() throws {
    let one = try peripheral(
      #""link": {"packet_error_rate": 0.05, "guard_us": 300, "inter_frame_space_us": 100, "polling_us": 1000},"#
        + #""firmware": {"buffers": 3, "ms_per_packet": 5.5, "jitter_ms": 0.25, "ms_per_request": 20, "slow_every": 16, "slow_ms": 3,"#
        + #""short_octets": 100, "ms_per_long_octet": 0.01, "uneven_ms": 2, "when_full": "drop", "ms_per_drop": 1, "answers_at_once": true,"#
        + #""drops_after": 7, "drops": 2}"#)
    let limits = one.linkLimits
    #expect(limits.packetErrorRate == 0.05 && limits.guardTime == 300 && limits.interFrameSpace == 100 && limits.pollingTime == 1000)
    var firmware = Firmware()
    firmware.buffers = 3
    firmware.timePerPacket = .microseconds(5500)
    firmware.jitter = .microseconds(250)
    firmware.timePerRequest = .milliseconds(20)
    (firmware.slowEvery, firmware.slowTime) = (16, .milliseconds(3))
    (firmware.shortBytes, firmware.timePerLongByte) = (100, .microseconds(10))
    firmware.unevenTime = .milliseconds(2)
    (firmware.whenFull, firmware.timePerDrop) = (.drop, .milliseconds(1))
    (firmware.answersAtOnce, firmware.dropsAfter, firmware.drops) = (true, 7, 2)
    #expect(limits.firmware == firmware)
    #expect(try peripheral(#""firmware": {}"#).linkLimits.firmware == Firmware())
  }

  @Test func whatChanges() throws {
    let limits = try peripheral(
      #""phys": ["1m", "2m", "coded"], "link": {"packet_error_rate": 0.5, "encrypted": true, "coded": "s2", "seed": 7, "cut_after_octets": 1000, "cuts": 2, "controller_buffers": 4,"#
        + #""controller_buffer_length": 27, "changes": [{"after_ms": 600, "data_length": 27, "phy": "2m"},"#
        + #"{"after_octets": 5000, "interval_ms": 11.25, "latency": 1, "timeout_ms": 2000}]}"#
    ).linkLimits
    #expect(limits.isEncrypted && limits.prefersS2 && limits.seed == 7 && limits.cutAfterBytes == 1000 && limits.cuts == 2)
    #expect(limits.controllerBuffers == 4 && limits.controllerBufferLength == 27)
    let parameters = ConnectionParameters(intervalMin: 9, intervalMax: 9, latency: 1, supervisionTimeout: 200)
    #expect(
      limits.changes == [
        LinkChange(moment: .time(.milliseconds(600)), dataLength: 27, phy: .le2M),
        LinkChange(moment: .bytes(5000), parameters: parameters),
      ])
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
      #expect(throws: FileEntryError.self) { try peripheral(#""advertisement": \#(text)"#) }
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
    let table = one.database.attributes.dropFirst(9).map {
      "\($0.handle.number) \($0.type) \(Hex.encode($0.value)) \($0.permissions.rawValue)"
    }
    #expect(
      table == [
        "16 2801 0a18 1", "32 2803 022100292a 1", "33 2a29 c3840001000302 1", "34 2800 f0ff 1", "35 2802 100021000a18 1",
        "36 2803 982500f1ff 1", "37 fff1  19", "38 2900 0100 1", "39 2901 4f6e65 3", "40 2902 0000 3",
      ])
    #expect(one.database[37]?.maximumLength == 4 && one.database[39]?.maximumLength == 8)
    #expect(one.database[37]?.role == .value([.write, .notify, .extendedProperties], configuration: 40))
  }

  @Test func allHandlesOfACompleteDevice() throws {
    let one = try peripheral(
      #"""
      "complete": true, "comment": "From a trace.",
      "services": [
        {"uuid": "fff0", "handle": 16, "end_handle": 64, "includes": [{"service": "0x0060", "handle": 18}, "fff2"], "comment": "Odd.",
         "characteristics": [
           {"uuid": "fff1", "properties": ["read"], "handle": 32, "value_handle": 40, "value": "01", "read_error": 5, "comment": "No.",
            "permissions": ["read_encrypted"], "descriptors": [{"uuid": "2901", "handle": 41, "read_error": "0x80", "write_error": 8}]}]},
        {"uuid": "fff2", "handle": 80}, {"uuid": "fff2", "handle": 96, "primary": false, "end_handle": 65535}
      ]
      """#)
    #expect(one.database.attributes.map(\.handle.number) == [16, 18, 19, 32, 40, 41, 80, 96])
    #expect(
      one.database.attributes.map { Hex.encode($0.value) } == [
        "f0ff", "6000fffff2ff", "50005000f2ff", "022800f1ff", "01", "", "f2ff", "f2ff",
      ])
    #expect([16, 96].map { one.database[$0]?.role } == [.service(endHandle: 64), .service(endHandle: 65535)])
    #expect(one.database[40]?.readError == .insufficientAuthentication && one.database[40]?.writeError == nil)
    #expect(one.database[41]?.readError?.rawValue == 0x80 && one.database[41]?.writeError?.rawValue == 8)
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
    #expect(behaviour.collect == .init(bytes: 10, pause: .seconds(1)))
    #expect(
      behaviour.reactions == [
        Reaction(
          condition: .init(pattern: pattern, length: 5, sum8: 255),
          actions: [
            .init(
              .notify(second, .init(parts: [.bytes([1]), .valueOf(third), .written, .checksum(.sum8, .little, of: nil)])),
              after: .milliseconds(5)),
            .init(.indicate(second, .init(parts: [.valueOf(second)]))), .init(.set(third, .init(parts: [.bytes([9])]))),
            .init(.reset(sink: one.handle("ff04")), after: .milliseconds(1)), .init(.disconnect(.terminate(.remoteUserTerminated))),
          ]),
        Reaction(),
      ])
    #expect(
      one.behaviours[second]?.periodic
        == .init(interval: .milliseconds(10), values: [.init(parts: [.bytes([1])]), .init(parts: [.valueOf(third)])]))
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

  @Test func notUTF8() {
    do {
      _ = try PeripheralFile.parse(Array("{\"name\": \"".utf8) + [0xC0, 0x9B] + Array("\"}".utf8), name: "x\u{1B}")
      Issue.record("accepted")
    } catch { #expect(error.description == "x\\x1b:1:14: The string is not valid UTF-8") }
  }

  /// Hostile files cause no trap, and accepted ones can run.
  @Test func hostileFiles() {
    let small =
      #"[{"name":"\u00e4","address":"D1:00:00:00:00:09/random","advertisement":{"flags":6,"services":["ffe0"]},"services":[{"uuid":"ffe0",//\#n"characteristics":[{"uuid":"ffe1","properties":["write"],"reactions":[{"when":"1b??*","then":[{"set":"ffe1","value":["00",{"u16le":1}],"after_ms":1}]}]}]}]}]"#
    var accepted = 0
    hostile([Array(small.utf8)]) { if (try? PeripheralFile.parse($0, name: "x")) != nil { accepted += 1 } }
    #expect(accepted > 0)
    hostile([Array(BuiltInDevices.text.utf8)], mutations: 200) { _ = try? PeripheralFile.parse($0, name: "x") }
  }

  /// The manual's example is a valid file.
  @Test func theManualsExample() throws {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("man/blectl-peripheral.5")
    let page = try String(contentsOf: url, encoding: .utf8)
    let examples = page.components(separatedBy: ".\\\" example\n.Bd -literal\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n.Ed").first
    }
    let all = try examples.flatMap { try parse($0.replacingOccurrences(of: "\\e", with: "\\")) }
    #expect(all.map(\.name) == ["Door", "Lamp", "Thermometer"])
    for key in [
      "name", "address", "comment", "complete", "end_handle", "value_handle", "read_error", "write_error", "appearance", "connectable",
      "interval_ms", "rssi", "advertisement", "scan_response", "mtu", "data_length", "phys",
      "packets_per_event", "starts_after_ms", "failing_connections", "services", "flags", "short_name", "manufacturer_data", "service_data",
      "tx_power", "uuid", "primary", "handle",
      "includes", "characteristics", "properties", "value", "permissions", "max_length", "descriptors", "reactions", "collect", "octets",
      "pause_ms", "periodic", "every_ms", "values", "sink", "report", "when", "length", "sum8", "then", "notify", "indicate", "set",
      "reset",
      "disconnect", "busy_ms", "controller_error", "after_ms", "value_of", "written", "checksum", "variables", "timers", "on_connect",
      "on_disconnect", "read_reactions",
      "on_subscribe", "on_unsubscribe", "unasked", "if", "error", "answer", "answer_after_ms", "let", "count", "by", "set_clock", "start",
      "stop",
      "link", "firmware", "packet_error_rate", "guard_us", "inter_frame_space_us", "polling_us", "seed",
      "encrypted", "coded", "cut_after_octets", "cuts", "controller_buffers", "controller_buffer_length", "changes", "after_octets", "phy",
      "latency", "timeout_ms", "buffers", "ms_per_packet", "jitter_ms",
      "ms_per_request", "slow_every", "slow_ms", "short_octets", "ms_per_long_octet", "uneven_ms", "when_full", "ms_per_drop",
      "answers_at_once", "drops_after", "drops",
      "update", "mcumgr", "version", "image_size", "slot_size", "mode", "no_downgrade", "reassembly", "buffer_size", "access",
      "page_erase_ms", "page_swap_ms", "hash_ms", "request_ms", "reset_ms", "boot_ms",
      "dfu", "buttonless", "application_version", "hardware_version", "softdevice", "init_packet_size", "flash_size", "banks",
      "refuses", "operation", "object", "result", "extended", "times",
      "advertise", "do", "times", "else", "variable", "random_octets", "of", "order", "aes_cmac", "hmac_sha256", "key", "xor", "with",
      "from", "octets", "random", "clock", "length", "number", "as", "subscribers", "sum", "is", "at_least", "matches", "any", "not",
    ] {
      // At the start of a paragraph, or in the text of its entry.
      let words = page.split(separator: "\n").filter { $0.hasPrefix(".It Ic ") || $0.hasPrefix(".Ic ") }.flatMap {
        $0.split(separator: " ").dropFirst()
      }
      #expect(words.contains(Substring(key)), "\(key) is not documented")
    }
  }
}

import TestSupport

/// A command with a lost link reports its progress.
@Suite(.timeLimit(.minutes(15))) struct LostLinkTests {
  private static let reboot = "before it confirmed them. That is normal for a reboot."

  private static func run(
    _ words: [String], _ script: @escaping @Sendable ([UInt8]) -> [H4Controller.Answer]?
  ) throws -> Blectl.Result {
    let controller = try ScriptedDevice(script: script).controller()
    return try Blectl.run(words.map { $0 == "ADDRESS" ? ScriptedDevice.address : $0 }, adapter: controller.adapter, virtual: false)
  }

  /// The PDU at which the link ends, how it ends, and the report: bytes sent and acknowledged, and part of the message.
  private static let writes: [(words: String, at: [UInt8], how: H4Controller.Answer, sent: Int, acknowledged: Int, said: String)] = [
    // The request after a Write Command.
    ("write ADDRESS 0x14 01 --mode command", [0x04, 0x14, 0, 0x14, 0], .disconnect, 1, 0, "disconnected \(reboot)"),
    ("write ADDRESS 0x14 01 --mode command", [0x04, 0x14, 0, 0x14, 0], .loss, 1, 0, "stopped answering \(reboot)"),
    ("write ADDRESS 0x14 01 --mode request", [0x12, 0x14, 0], .disconnect, 1, 0, "disconnected \(reboot)"),
    ("write ADDRESS fff2 01", [0x12, 0x14, 0], .disconnect, 1, 0, "disconnected \(reboot)"),
    // The second of three, and the last one.
    ("write ADDRESS 0x14 010203040506 --mode request --chunk 2", [0x12, 0x14, 0, 3], .disconnect, 4, 2, ". 2 of 6 bytes were confirmed."),
    ("write ADDRESS 0x14 010203040506 --mode request --chunk 2", [0x12, 0x14, 0, 5], .disconnect, 6, 4, "disconnected \(reboot)"),
    // Queued data: nothing is written before the Execute Write Request.
    ("write ADDRESS 0x14 \(Bytes.hex(Array(1...40))) --mode long", [0x16, 0x14, 0, 18, 0], .disconnect, 18, 0, "closed it (HCI 0x13)."),
    ("write ADDRESS 0x14 \(Bytes.hex(Array(1...40))) --mode long", [0x18], .disconnect, 40, 0, "disconnected \(reboot)"),
  ]

  @Test func writesTellHowFarTheyCame() throws {
    for item in Self.writes {
      let result = try Self.run(["--json"] + item.words.split(separator: " ").map(String.init)) {
        $0.starts(with: item.at) ? [item.how] : nil
      }
      let place: Comment = "\(item.words): \(result.errors)"
      #expect(result.status == 6 && result.error?.string("kind") == "link_lost" && result.error?.int("code") != nil, place)
      #expect(result.error?.int("sent") == item.sent && result.error?.int("acknowledged") == item.acknowledged, place)
      #expect(result.error?.string("message")?.hasSuffix(item.said) == true, place)
    }
  }

  /// The message has the device's name.
  @Test func aReboot() throws {
    let controller = try ScriptedDevice { $0.starts(with: [0x04, 0x14, 0, 0x14, 0]) ? [.disconnect] : nil }.controller()
    controller.advertise([7, 0, 0, 0xEE, 0xFF, 0xC0], [4, 9] + Array("Raw".utf8))
    let result = try Blectl.run(
      ["write", "name:Raw", "fff2", "01", "--mode", "command", "--first"], adapter: controller.adapter, virtual: false)
    #expect(
      result.status == 6 && result.errors.hasSuffix("blectl: All bytes were sent, but Raw disconnected \(Self.reboot)\n"),
      "\(result.errors)")
  }

  @Test func sendFile() throws {
    let file = try TemporaryFolder.file(Array(0..<60))
    let result = try Self.run(["--json", "send-file", "ADDRESS", "fff2", file, "--mode", "request", "--chunk", "20"]) {
      $0.starts(with: [0x12, 0x14, 0, 20]) ? [.disconnect] : nil
    }
    let error = try #require(result.error, "\(result.errors)")
    #expect(error.int("sent") == 40 && error.int("acknowledged") == 20 && error.int("resume_offset") == 20, "\(result.errors)")
  }

  /// The device disconnects during discovery.
  @Test(arguments: [[0x10], [0x08], [0x04]] as [[UInt8]]) func discovery(_ at: [UInt8]) throws {
    for words in [["services", "ADDRESS"], ["write", "ADDRESS", "fff2", "01"], ["notify", "ADDRESS", "fff2"]] {
      let result = try Self.run(words) { $0.starts(with: at) ? [.disconnect] : nil }
      let place: Comment = "\(words) at \(at): \(result.errors)"
      #expect(result.status == 6 && result.errors.contains("\(ScriptedDevice.address) disconnected during discovery: "), place)
      #expect(result.errors.contains("write 0x0012 VALUE --mode request"), place)
    }
    let written = try Self.run(["write", "ADDRESS", "0x14", "01", "--mode", "request"]) { $0.starts(with: at) ? [.disconnect] : nil }
    #expect(written.status == 0, "\(written.errors)")
  }

  /// The configuration is the next 2902 after the value, and the record has the UUID.
  @Test func notifyByHandleNeedsNoDiscovery() throws {
    let result = try Self.run(["--json", "notify", "ADDRESS", "0x14", "-n", "1"]) { pdu in
      switch pdu {
      case let pdu where pdu[0] == 0x10 || pdu[0] == 0x08: [.disconnect]
      case [0x12, 0x15, 0, 1, 0]: [.pdu([0x13]), .pdu([0x1B, 0x14, 0, 9])]
      default: nil
      }
    }
    let value = try result.records.first
    #expect(result.status == 0 && value?.string("uuid") == "fff2" && value?.string("value") == "09", "\(result.errors)")
  }
}

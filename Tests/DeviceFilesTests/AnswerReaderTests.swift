import BluetoothLEDeviceFiles
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct AnswerReaderTests {
  private static let device = #"""
    {
      "device": "Band", "to": "ff02", "from": "ff01",
      "frames": {
        "answer": {"header": "56", "fields": [{"body": true}, {"checksum": "sum8"}]},
        "failed": {"header": "56ff", "fields": [{"name": "code", "type": "u8"}, {"checksum": "sum8"}]}
      },
      "errors": {"frame": "failed", "field": "code", "codes": {"1": "busy", "0x02": "no such thing"}},
      "commands": {
        "battery": {"request": {"header": "01"}, "answer": {"frame": {"in": "answer", "header": "7b", "fields": [{"name": "level", "type": "u8", "unit": "%"}]}}},
        "history": {
          "request": {"header": "02", "fields": [{"name": "from", "type": "u8"}]},
          "answer": {
            "frame": {"in": "answer", "header": "7c",
              "fields": [{"name": "total", "type": "u8"}, {"name": "number", "type": "u8"}, {"name": "steps", "type": "u16le"}]},
            "count": {"field": "total"}, "index": "number"
          }
        },
        "days": {
          "request": {"header": "03"},
          "answer": {"packets": [
            {"frame": {"header": "5600", "fields": [{"name": "days", "type": "u8"}, {"checksum": "sum8"}]}},
            {"frame": {"header": "5601", "fields": [{"name": "day", "type": "u8"}, {"name": "steps", "type": "u8"}, {"checksum": "sum8"}]},
              "count": {"field": "days"}, "index": "day", "as": "history"},
            {"frame": {"header": "5602", "fields": [{"name": "check", "type": "u8"}, {"checksum": "sum8"}]}}
          ]}
        },
        "raw": {"request": {"header": "04"}, "answer": {"frame": {"fields": [{"name": "data", "type": "bytes"}]}, "silence_ms": 200, "errors": false}},
        "more": {"request": {"header": "05"}, "answer": {"frame": {"header": "58", "fields": [{"name": "last", "type": "u8"}, {"name": "data", "type": "u8"}]}, "until": {"last": 1}}},
        "status": {"request": {"header": "06"}, "answer": {"frame": {"header": "59", "fields": [{"name": "status", "type": "u8"}, {"name": "v", "type": "u8"}]},
          "errors": {"field": "status", "ok": 0, "codes": {"3": "empty"}}}},
        "list": {"request": {"header": "08"}, "answer": {"frame": {"header": "5b", "fields": [{"name": "total", "type": "u8"}, {"name": "v", "type": "u8"}]},
          "count": {"field": "total"}, "as": "items"}},
        "many": {"request": {"header": "09"}, "answer": {"packets": [
          {"frame": {"header": "5c00", "fields": [{"name": "sum", "type": "u64le"}]}},
          {"frame": {"header": "5c01", "fields": [{"name": "v", "type": "u8"}]}, "count": {"field": "sum"}},
          {"frame": {"header": "5c02", "fields": [{"name": "w", "type": "u8"}]}, "count": {"field": "sum"}}]}},
        "named": {"request": {"header": "0a", "fields": [{"name": "mode", "type": "u8", "values": {"on": 1}}, {"name": "t", "type": "u8", "scale": 0.5}, {"name": "f", "type": "f32le"}]},
          "answer": {"frame": {"header": "5d", "fields": [{"name": "mode", "type": "u8", "values": {"on": 1}}, {"name": "t", "type": "u8", "scale": 0.5}, {"name": "f", "type": "f32le"}, {"name": "st", "type": "u8", "values": {"fine": 0, "busy": 1, "odd": 2}}]},
            "echo": ["mode", "t", "f"], "until": {"st": 0}, "errors": {"field": "st", "ok": [0, "odd"], "codes": {"1": "it is busy"}}}},
        "echo": {"request": {"header": "07", "fields": [{"name": "seq", "type": "u8"}]}, "counter": "seq",
          "answer": {"frame": {"header": "5a", "fields": [{"name": "seq", "type": "u8"}, {"name": "v", "type": "u8"}]}, "echo": ["seq"]}},
        "lock": {"request": {"header": "08"}, "answer": {"frame": {"header": "5bff", "fields": [{"name": "code", "type": "u8"}]}}},
        "unlock": {"request": {"header": "09"}, "answer": {"frame": {"header": "5bff", "fields": [{"name": "code", "type": "u8"}]}}}
      },
      "events": {"sos": {"frame": {"header": "56f0", "fields": [{"name": "count", "type": "u8"}, {"checksum": "sum8"}]}}}
    }
    """#

  private static func sum(_ hex: String) -> String {
    let bytes = Hex.decode(hex) ?? []
    return hex + Hex.encode([bytes.reduce(0, &+)])
  }

  /// Returns the verdict on each packet, and the values at the end.
  private func read(
    _ command: String, _ packets: [String], number: Int64 = 0, values: [NamedValue] = [NamedValue("from", .integer(1))]
  ) throws -> ([String], String?) {
    let device = try DeviceFile.parse(Array(Self.device.utf8), name: "band.json")
    let found = try #require(device.command(command))
    let sent = try found.encode(values, number: number)
    var reader = AnswerReader(try #require(found.answer), request: sent.values, command: command, of: device)
    var verdicts: [String] = []
    for packet in packets {
      switch reader.take(try #require(Hex.decode(packet))) {
      case .part: verdicts.append("part")
      case .finished: verdicts.append("finished")
      case .event(let name, let values): verdicts.append("event \(name) \(DeviceValue.object(values).plainText)")
      case .failure(let failure): verdicts.append("failure \(failure.code.plainText): \(failure.meaning ?? "?")")
      case .refused(let reason): verdicts.append("\(reason)")
      case .endless: verdicts.append("endless")
      }
    }
    if reader.silence != nil { reader.fellSilent() }
    return (verdicts, reader.isFinished ? DeviceValue.object(reader.values).plainText : nil)
  }

  @Test func oneNumberedPacketAfterTheOther() throws {
    let all = [Self.sum("567c03010a00"), Self.sum("567c03020b00"), Self.sum("567c03030c00")]
    #expect(try read("history", all) == (["part", "part", "finished"], "steps 10, 11, 12"))
    #expect(
      try read("history", [all[0], all[0], all[1], all[0], all[2]]) == (
        ["part", "doubled", "part", "doubled", "finished"], "steps 10, 11, 12"
      ))
    let early = try read("history", [all[1], all[0]])
    #expect(early == (["outOfOrder(expected: Optional(1), found: Optional(2))", "part"], nil))
    let lost = try read("history", [all[0], all[2]])
    #expect(lost == (["part", "outOfOrder(expected: Optional(2), found: Optional(3))"], nil))
  }

  @Test func eventsAndStrangersInBetween() throws {
    let (verdicts, values) = try read(
      "history",
      [
        Self.sum("56f001"), Self.sum("567c02010a00"), "99", Self.sum("567b3c"), Self.sum("56f002"), "56f003ff", "56f0",
        Self.sum("567c02020b00"),
        Self.sum("567c02020b00"), Self.sum("567c02030b00"),
      ])
    #expect(
      verdicts == [
        "event sos count 1", "part", "foreign", "answerOf(\"battery\")", "event sos count 2",
        "malformed(BluetoothLE.PacketFault.checksum(expected: [73], found: [255]), of: Optional(\"sos\"))",
        "malformed(BluetoothLE.PacketFault.cut(2, needs: 4), of: Optional(\"sos\"))", "finished", "doubled", "foreign",
      ])
    #expect(values == "steps 10, 11")
  }

  @Test func errorsByTheirCode() throws {
    #expect(try read("battery", [Self.sum("56ff01")]).0 == ["failure 1: busy"])
    #expect(try read("battery", [Self.sum("56ff02")]).0 == ["failure 2: no such thing"])
    #expect(try read("battery", [Self.sum("56ff09")]).0 == ["failure 9: ?"])
    #expect(try read("battery", ["56ff0100"]).0 != ["failure 1: busy"])
    #expect(try read("status", ["590307"]).0 == ["failure 3: empty"])
    #expect(try read("status", ["590007"]) == (["finished"], "status 0, v 7"))
  }

  /// If errors have their own frame, an answer's field of the same name is a value.
  @Test func aFieldThatIsCalledAsThatOfErrors() throws {
    #expect(try read("lock", ["5bff09"]) == (["finished"], "code 9"))
    #expect(try read("lock", [Self.sum("56ff01")]).0 == ["failure 1: busy"])
  }

  /// Many commands have the same answer. It belongs to the command that waits.
  @Test func twoCommandsWithOneAnswer() throws {
    #expect(try read("unlock", ["5bff01"]) == (["finished"], "code 1"))
    #expect(try read("battery", ["5bff01"]).0 == ["answerOf(\"lock\")"])
  }

  @Test func severalFramesInTheirOrder() throws {
    let begin = Self.sum("560002"), end = Self.sum("560244")
    let days = [Self.sum("56010107"), Self.sum("56010208")]
    #expect(try read("days", [begin] + days + [end]) == (["part", "part", "part", "finished"], "history steps 7, steps 8, check 68"))
    #expect(
      try read("days", [days[0], begin, end, begin] + days + [end]).0
        == [
          "outOfOrder(expected: nil, found: nil)", "part", "outOfOrder(expected: nil, found: nil)", "doubled", "part", "part", "finished",
        ])
    #expect(try read("days", [begin, days[0], days[1]]).1 == nil)
  }

  /// With zero items, no further packet is expected.
  @Test func noItems() throws {
    #expect(try read("days", [Self.sum("560000"), Self.sum("560244")]) == (["part", "finished"], "history , check 68"))
    #expect(try read("list", ["5b0000"]) == (["finished"], "items "))
    #expect(try read("many", ["5c000000000000000000"]).0 == ["finished"])
    #expect(try read("history", [Self.sum("567c00000000")]).0 == ["finished"])
  }

  /// A packet with another total belongs to another answer, or to none.
  @Test func anotherTotal() throws {
    #expect(try read("list", ["5b0207", "5b0108", "5b0208"]) == (["part", "changed(field: \"total\")", "finished"], "items v 7, v 8"))
  }

  @Test func tooMany() throws {
    #expect(try read("many", ["5c000100010000000000"]).0 == ["endless"])
    #expect(try read("many", ["5c00ffffffffffffff7f"]).0 == ["endless"])
    let most = DeviceCommand.Answer.maximumPackets
    let verdicts = try read("more", Array(repeating: "580007", count: most)).0
    #expect(verdicts.dropLast().allSatisfy { $0 == "part" } && verdicts.last == "endless")
  }

  /// Values are compared as sent, whether typed by number or name, rounded or not.
  @Test func valuesAsTheyAreSent() throws {
    for mode in [DeviceValue.integer(1), .text("on")] {
      let values = [NamedValue("mode", mode), NamedValue("t", .integer(3)), NamedValue("f", .number(1.1))]
      #expect(try read("named", ["5d0106cdcc8c3f02", "5d0106cdcc8c3f00"], values: values).0 == ["part", "finished"])
      #expect(try read("named", ["5d0106cdcc8c3f01"], values: values).0 == ["failure busy: it is busy"])
      #expect(try read("named", ["5d0206cdcc8c3f00"], values: values).0 == ["otherRequest(field: \"mode\")"])
    }
  }

  @Test func silenceAndAField() throws {
    #expect(try read("raw", ["0102", "03"]) == (["part", "part"], "data 0102, 03"))
    // A packet that starts like another frame is not taken for raw bytes.
    #expect(try read("raw", ["0102", Self.sum("56f001"), "56f001ff"]).1 == "data 0102")
    #expect(try read("raw", []).1 == nil)
    #expect(try read("more", ["580007", "580108"]) == (["part", "finished"], "last 0, 1, data 7, 8"))
  }

  @Test func anAnswerToAnotherRequest() throws {
    #expect(try read("echo", ["5a0407", "5a0508"], number: 261) == (["otherRequest(field: \"seq\")", "finished"], "v 8"))
  }

  /// A cut or changed answer never gives other values.
  @Test func cutAndDamaged() throws {
    let whole = try #require(Hex.decode(Self.sum("567b3c")))
    for count in 0..<whole.count {
      let (verdicts, values) = try read("battery", [Hex.encode(whole.prefix(count))])
      #expect(values == nil && verdicts[0].contains("cut(\(count), needs:"), "\(verdicts)")
    }
    for index in whole.indices {
      for bit in 0..<8 {
        var packet = whole
        packet[index] ^= 1 << UInt8(bit)
        let (verdicts, values) = try read("battery", [Hex.encode(packet)])
        #expect(values == nil && verdicts[0] != "finished", "\(Hex.encode(packet)): \(verdicts)")
      }
    }
    let long = try read("battery", [Hex.encode(whole) + "00"])
    #expect(long.0[0].contains("tooLong(5, allowed: 4)"))
  }
}

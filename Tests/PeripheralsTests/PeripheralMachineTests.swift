import TestSupport

@testable import BluetoothLESimulator

/// Tests a device's timing without air and links.
@Suite(.timeLimit(.minutes(15))) struct PeripheralMachineTests {
  @Test func actionsWaitBranchAndRepeat() throws {
    var device = try PeripheralDevice(
      #""variables": {"n": 0, "log": ""},"#,
      reactions: #"""
        [{"then": [
          {"times": 3, "do": [
            {"count": "n"},
            {"if": {"variable": "n", "is": 2}, "do": [{"notify": "ff02", "value": "22"}], "else": [{"indicate": "ff02", "value": {"u8": {"variable": "n"}}}]},
            {"notify": "ff02", "value": "ee", "after_ms": 10, "if": {"variable": "n", "above": 2}}
          ]},
          {"times": {"difference": [0, 1]}, "do": [{"disconnect": true}]},
          {"count": "n", "by": -2},
          {"notify": "ff02", "value": [{"u8": {"variable": "n"}}, {"written": true}], "after_ms": 5},
          {"disconnect": 0x15}
        ]}]
        """#)
    #expect(device.write("aa") == ["indicate 01"])
    #expect(device.advance(milliseconds: 9) == [])
    #expect(device.advance(milliseconds: 1) == ["notify 22"])
    #expect(device.advance(milliseconds: 15) == ["indicate 03"])
    let rest = device.advance(milliseconds: 10)
    #expect(rest.prefix(2) == ["notify ee", "notify 01aa"] && rest.count == 3 && rest.last?.contains("0x15") == true, "\(rest)")
    #expect(device.machine.due == nil && !device.machine.isWaiting)
  }

  @Test func timers() throws {
    var device = try PeripheralDevice(
      #"""
      "variables": {"n": 0},
      "timers": {
        "once": {"after_ms": 100, "then": [{"notify": "ff02", "value": "01"}]},
        "tick": {"every_ms": 1000, "then": [{"count": "n"}, {"notify": "ff02", "value": {"u8": {"variable": "n"}}}]}
      },
      """#,
      reactions: #"""
        [{"when": "01", "then": [{"start": "once"}]}, {"when": "02", "then": [{"stop": "once"}]},
         {"when": "03", "then": [{"stop": "tick"}]}, {"when": "04", "then": [{"start": "tick"}]}]
        """#)
    _ = device.write("01")
    #expect(device.advance(milliseconds: 60) == [])
    _ = device.write("01")
    #expect(device.advance(milliseconds: 60) == [], "it began anew")
    #expect(device.advance(milliseconds: 40) == ["notify 01"])
    _ = device.write("01")
    _ = device.write("02")
    #expect(device.advance(milliseconds: 839) == [])
    #expect(device.advance(milliseconds: 2001) == ["notify 01", "notify 02", "notify 03"])
    _ = device.write("03")
    #expect(device.advance(milliseconds: 9000) == [] && device.machine.due == nil)
    _ = device.write("04")
    #expect(device.advance(milliseconds: 999) == [] && device.advance(milliseconds: 1) == ["notify 04"])
  }

  /// Pending actions run in the order of their times, whatever caused them.
  @Test func theOrderOfTime() throws {
    var device = try PeripheralDevice(
      #""timers": {"t": {"every_ms": 10, "then": [{"notify": "ff02", "value": "00"}]}},"#,
      reactions:
        #"[{"then": [{"notify": "ff02", "value": {"written": true}, "after_ms": 15}, {"notify": "ff02", "value": "ff", "after_ms": 10}]}]"#)
    _ = device.write("aa")
    _ = device.advance(milliseconds: 5)
    _ = device.write("bb")
    #expect(
      device.advance(milliseconds: 30)
        == ["00", "aa", "bb", "00", "ff", "ff", "00"].map { "notify \($0)" })
  }

  @Test func aYearIsNotMadeUpFor() throws {
    var device = try PeripheralDevice(#""timers": {"t": {"every_ms": 10, "then": [{"notify": "ff02", "value": "00"}]}},"#)
    #expect(device.advance(milliseconds: 365 * 86_400_000 + 3).count == PeripheralMachine.mostAtOnce)
    // The phase stays.
    #expect(device.advance(milliseconds: 6) == [] && device.advance(milliseconds: 1).count == 1)
  }

  /// Without limits, each of these actions would run forever or fill the memory.
  @Test(arguments: [
    #"[{"times": 9223372036854775807, "do": [{"notify": "ff02", "value": "00"}]}]"#,
    #"[{"times": 9223372036854775807, "do": []}]"#,
    #"[{"times": 1000000000, "do": [{"times": 1000000000, "do": [{"times": 1000000000, "do": [{"count": "n"}]}]}]}]"#,
    #"[{"times": 100000, "do": [{"let": "log", "value": [{"variable": "log"}, {"variable": "log"}, "00"]}]}]"#,
    #"[{"times": 100000, "do": [{"notify": "ff02", "value": [{"random_octets": 512}]}]}]"#,
    #"[{"times": 100000, "do": [{"start": "a"}]}]"#,
  ])
  func workIsBounded(_ actions: String) throws {
    var device = try PeripheralDevice(
      #"""
      "variables": {"n": 0, "log": ""},
      "timers": {"a": {"after_ms": 10, "then": [{"start": "b"}]}, "b": {"after_ms": 10, "then": [{"start": "a"}]}},
      """#,
      reactions: #"[{"then": \#(actions)}]"#)
    #expect(device.write("00").count <= 4096)
    #expect(device.advance(milliseconds: 86_400_000).count <= 4096)
    #expect(!device.machine.isWaiting)
    // Each event has its own budget.
    #expect(device.machine.value(Template(parts: [.bytes([1])]), at: device.now, device.database) == [1])
  }

  @Test func whatWaitsIsBounded() throws {
    var device = try PeripheralDevice("", reactions: #"[{"then": [{"notify": "ff02", "value": "00", "after_ms": 1000}]}]"#)
    for _ in 0..<3000 { _ = device.write("00") }
    #expect(device.advance(milliseconds: 1000).count == PeripheralMachine.mostWaiting)
    _ = device.write("00")
    device.machine.forget()
    #expect(device.advance(milliseconds: 1000) == [])
  }

  @Test func aValueTooLargeForAVariableOrACharacteristicIsCut() throws {
    var device = try PeripheralDevice(
      #""variables": {"log": "01"},"#,
      reactions: #"""
        [{"then": [{"times": 12, "do": [{"let": "log", "value": [{"variable": "log"}, {"variable": "log"}]}]},
          {"notify": "ff02", "value": [{"variable": "log"}, {"variable": "log"}]}]}]
        """#)
    #expect(device.write("00").first?.count == "notify ".count + 1024)
  }

  @Test(arguments: [
    (#"{"manufacturer_data": {"ffff": {"variable": "s"}}, "tx_power": 4}"#, ["03ffffff020a04", "05ffffff0102020a04"]),
    (#"["ff", {"variable": "s"}]"#, ["ff", "ff0102"]),
    (#"{"name": "12345678901234567890123", "service_data": {"fe95": ["aa", {"variable": "s"}]}}"#, ["aa", "aa01"]),
  ])
  func advertisements(_ text: String, _ data: [String]) throws {
    var device = try PeripheralDevice(
      #""variables": {"s": ""}, "advertisement": \#(text),"#, reactions: #"[{"then": [{"let": "s", "value": {"written": true}}]}]"#)
    let template = try #require(device.description.advertisement)
    var shown: [[UInt8]] = []
    for written in ["", "0102"] {
      _ = device.write(written)
      shown.append(template.data { device.machine.value($0, at: device.now, device.database) })
    }
    #expect(shown.allSatisfy { $0.count <= 31 })
    for (made, end) in zip(shown, data) { #expect(made.suffix(end.count / 2).elementsEqual(bytes(end)), "\(made)") }
  }

  private func bytes(_ hex: String) -> [UInt8] { (0..<hex.count / 2).map { UInt8(hex.dropFirst($0 * 2).prefix(2), radix: 16) ?? 0 } }
}

/// Times that a device computes.
@Suite(.timeLimit(.minutes(15))) struct ComputedTimeTests {
  /// Returns the times of the first values of a timer, in milliseconds.
  private static func times(_ interval: String, count: Int, seed: UInt64 = 1) throws -> [Int64] {
    var device = try PeripheralDevice(
      #""variables": {"n": 0}, "timers": {"t": {"every_ms": \#(interval), "then": [{"count": "n"}, {"notify": "ff02", "value": "01"}]}},"#,
      seed: seed)
    var times: [Int64] = []
    while times.count < count, let due = device.machine.due {
      let effects = device.advance(milliseconds: due / 1_000_000 - device.now / 1_000_000)
      times += effects.map { _ in due / 1_000_000 }
    }
    return times
  }

  @Test func aTimerComputesEachInterval() throws {
    #expect(try Self.times(#"{"sum": [100, {"product": [{"variable": "n"}, 50]}]}"#, count: 4) == [100, 200, 350, 550])
    #expect(try Self.times("100", count: 3) == [100, 200, 300])
  }

  @Test func aSeedDecides() throws {
    let interval = #"{"random": [100, 2000]}"#
    let times = try Self.times(interval, count: 20)
    #expect(try Self.times(interval, count: 20) == times)
    #expect(try Self.times(interval, count: 20, seed: 2) != times)
    let steps = zip(times, [0] + times).map { $0 - $1 }
    #expect(steps.allSatisfy { (100...2000).contains($0) } && Set(steps).count > 10, "\(steps)")
  }

  /// A result outside of the limits becomes the nearest limit.
  @Test(
    arguments: [
      (#"{"difference": [0, 5]}"#, 10), (#"{"quotient": [1, 0]}"#, 10), (#"{"product": [9223372036854775807, 1]}"#, 86_400_000),
      (#"{"random": [-9223372036854775807, -1]}"#, 10),
    ] as [(String, Int64)]) func limits(_ interval: String, _ time: Int64) throws
  {
    #expect(try Self.times(interval, count: 2) == [time, 2 * time])
  }

  @Test func actionsAndOneShotTimers() throws {
    var device = try PeripheralDevice(
      #""timers": {"once": {"after_ms": {"product": [{"number": {"written": true}}, 10]}, "then": [{"notify": "ff02", "value": "02"}]}},"#,
      reactions: #"""
        [{"then": [{"start": "once"}, {"notify": "ff02", "value": "01", "after_ms": {"difference": [{"number": {"written": true}}, 3]}}]}]
        """#)
    // A delay of zero or less runs at once.
    #expect(device.write("02") == ["notify 01"])
    #expect(device.advance(milliseconds: 19) == [] && device.advance(milliseconds: 1) == ["notify 02"])
    #expect(device.write("09") == [])
    #expect(device.advance(milliseconds: 5) == [] && device.advance(milliseconds: 1) == ["notify 01"])
    #expect(device.advance(milliseconds: 83) == [] && device.advance(milliseconds: 1) == ["notify 02"])
  }

  /// Overdue timers with computed intervals catch up in bounded work.
  @Test func aYearIsNotMadeUpFor() throws {
    var device = try PeripheralDevice(
      #""timers": {"t": {"every_ms": {"random": [10, 20]}, "then": [{"notify": "ff02", "value": "01"}]}},"#)
    #expect(device.advance(milliseconds: 31_536_000_000).count <= PeripheralMachine.mostAtOnce)
    #expect(device.machine.due.map { $0 > device.now && $0 <= device.now + 20_000_000 } == true)
  }
}

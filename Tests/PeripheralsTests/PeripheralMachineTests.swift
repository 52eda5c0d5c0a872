import TestSupport
import Testing

@testable import Peripherals

/// Tests a device's timing without air and links.
@Suite(.timeLimit(.minutes(1))) struct PeripheralMachineTests {
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
    #expect(device.machine.value(Template(parts: [.octets([1])]), at: device.now, device.database) == [1])
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
    for (made, end) in zip(shown, data) { #expect(made.suffix(end.count / 2).elementsEqual(octets(end)), "\(made)") }
  }

  private func octets(_ hex: String) -> [UInt8] { (0..<hex.count / 2).map { UInt8(hex.dropFirst($0 * 2).prefix(2), radix: 16) ?? 0 } }
}

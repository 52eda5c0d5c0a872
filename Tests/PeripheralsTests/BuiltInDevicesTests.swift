import BluetoothLESimulator
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct BuiltInDevicesTests {
  @Test func whatIsInTheAir() throws {
    let all = try BuiltInDevices.peripherals()
    let table = all.map {
      "\($0.name) \($0.address) \($0.mtu) \($0.linkLimits.dataLength) \(Hex.encode($0.advertising.data)) \(Hex.encode($0.advertising.scanResponse))"
    }
    #expect(
      table == [
        "GateLock D1:00:00:00:00:01/random 23 27 0201060909476174654c6f636b0303e0ff0bff05030101" + "22110038c1a4 ",
        "GateLock D1:00:00:00:00:02/random 23 27 0201060909476174654c6f636b0303e0ff0bff05030101" + "33110038c1a4 ",
        "Band-7 C0:FF:EE:00:00:07/public 185 251 0201061bff5701020a0700ffffffffffffffffffffffffff03c0ffee000007 070942616e642d3705030d18e0fe",
        "Panel D1:00:00:00:00:10/random 247 251 020106060950616e656c0303f0ff020a04 ",
        "SafeLock D1:00:00:00:00:50/random 185 251 0201060909536166654c6f636b030350ff ",
      ])
    #expect(all.map(\.linkLimits.phys) == [[.le1M], [.le1M], [.le1M, .le2M], [.le1M, .le2M], [.le1M, .le2M]])
    for peripheral in all {
      #expect(peripheral.database[3]?.value == Array(peripheral.name.utf8))
      #expect(peripheral.advertising.isConnectable)
    }
  }

  /// Writes a code in segments and returns the lock's answers.
  private func tryLock(_ segments: [[UInt8]], gap: Duration = .milliseconds(10)) async throws -> [String] {
    try await onLoop(with: try BuiltInDevices.peripherals()[0]) { lock in
      let client = PeripheralTestClient(VirtualPeripheral(lock))
      #expect(client.ask("020502") == "031700")
      #expect(client.ask("12" + lock.configuration("ffe2") + "0100") == "13")
      #expect(client.ask("12" + lock.hex("ffe1") + "00") == "0112" + lock.hex("ffe1") + "03")
      for segment in segments {
        client.write([0x52] + little(lock.handle("ffe1")) + segment)
        try await EventLoop.shared.sleep(for: gap)
      }
      try await EventLoop.shared.sleep(for: .seconds(5))
      let prefix = "1b" + lock.hex("ffe2")
      let answers = client.take().filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
      if let last = answers.last { #expect(client.ask("0a" + lock.hex("ffe2")) == "0b" + last) }
      return answers
    }
  }

  static let open = "4f50454e"
  static let fail = "4641494c"

  private func code(_ last: UInt8) -> [[UInt8]] {
    let code = (0..<103).map { UInt8($0) }
    let sum = code.reduce(0, &+)
    let whole = code + [0 &- sum &+ last]
    return stride(from: 0, to: 104, by: 20).map { Array(whole[$0..<min($0 + 20, 104)]) }
  }

  @Test func theLockOpens() async throws {
    #expect(code(0).map(\.count) == [20, 20, 20, 20, 20, 4])
    #expect(try await tryLock(code(0)) == [Self.open])
    #expect(try await tryLock(code(0), gap: .milliseconds(1900)) == [Self.open])
    #expect(try await tryLock(code(0) + code(0)) == [Self.open, Self.open])
  }

  @Test func theLockStaysShut() async throws {
    #expect(try await tryLock(code(1)) == [Self.fail])
    // Lost segment: judged after the pause. Segment above the MTU: ignored, as every such command. Extra bytes: judged as they are.
    #expect(try await tryLock(Array(code(0).dropLast())) == [Self.fail])
    #expect(try await tryLock([[UInt8](repeating: 0, count: 104)]) == [])
    #expect(try await tryLock([[UInt8]](repeating: [UInt8](repeating: 0, count: 20), count: 6)) == [Self.fail])
    // A pause in the middle ends one code and starts another.
    let slow = try await tryLock(code(0), gap: .seconds(3))
    #expect(slow == [String](repeating: Self.fail, count: 6))
  }

  @Test(.onLoop) @LoopActor func theLockForgetsWhenTheLinkIsLost() async throws {
    let description = try BuiltInDevices.peripherals()[1]
    let lock = VirtualPeripheral(description)
    let zeros = [0x52] + little(description.handle("ffe1")) + [UInt8](repeating: 0, count: 20)
    let first = PeripheralTestClient(lock)
    for _ in 0..<4 { first.write(zeros) }
    first.drop()
    #expect(lock.connectionCount == 0)
    let second = PeripheralTestClient(lock)
    #expect(second.ask("0a" + description.configuration("ffe2")) == "0b0000")
    #expect(second.ask("12" + description.configuration("ffe2") + "0100") == "13")
    for _ in 0..<5 { second.write(zeros) }
    second.write(zeros.prefix(3) + [0, 0, 0, 0])
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(second.take().last == "1b" + description.hex("ffe2") + Self.open)
  }

  @Test(.onLoop) @LoopActor func theBandAnswersCommands() async throws {
    let band = try BuiltInDevices.peripherals()[2]
    let client = PeripheralTestClient(VirtualPeripheral(band))
    #expect(client.ask("0a" + band.hex("2a19")) == "0b3c")
    #expect(client.ask("0a" + band.hex("2a29")) == "0b53696d756c617465642042616e6473")
    #expect(client.ask("0a" + band.hex("2a23")) == "0b070000feffeeffc0")
    #expect(client.ask("12" + band.configuration("ff01") + "0100") == "13")
    _ = client.take()
    client.write("52" + band.hex("ff02") + "1b9901")
    client.write("52" + band.hex("ff02") + "1b9903")
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(client.take() == ["1b" + band.hex("ff01") + "567b3c0d"])
    client.write("52" + band.hex("ff02") + "1b9902")
    try await EventLoop.shared.sleep(for: .seconds(1))
    let history = client.take().map { String($0.dropFirst(6)) }
    #expect(history == ["567c030100148e1c94", "567c0302ab280010ba", "567c030343236a31d9"])
  }

  @Test(.onLoop) @LoopActor func theHeartBeatsWhileSubscribed() async throws {
    let band = try BuiltInDevices.peripherals()[2]
    let client = PeripheralTestClient(VirtualPeripheral(band))
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(client.take().isEmpty)
    #expect(client.ask("12" + band.configuration("2a37") + "0100") == "13")
    try await EventLoop.shared.sleep(for: .milliseconds(3500))
    let prefix = "1b" + band.hex("2a37")
    #expect(client.log.dropFirst().map(\.milliseconds) == [11_000, 12_000, 13_000])
    #expect(client.take().dropFirst() == [prefix + "0048", prefix + "004a", prefix + "0049"])
    #expect(client.ask("12" + band.configuration("2a37") + "0000") == "13")
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(client.take() == ["13"])
  }

  @Test(.onLoop) @LoopActor func thePanelCountsAndChecks() async throws {
    let panel = try BuiltInDevices.peripherals()[3]
    let peripheral = VirtualPeripheral(panel)
    let client = PeripheralTestClient(peripheral)
    #expect(client.ask("020502") == "03f700")
    #expect(client.ask("0a" + panel.hex("fff7")) == "0b0000000000000000")
    #expect(client.ask("12" + panel.configuration("fff7") + "0100") == "13")
    _ = client.take()
    // "123456789" has the CRC-32 0xcbf43926. It is sent partly with a command, partly with a request.
    client.write("52" + panel.hex("fff6") + "31323334")
    client.write("12" + panel.hex("fff6") + "3536373839")
    #expect(client.ask("0a" + panel.hex("fff7")) == "0b090000002639f4cb")
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(client.take() == ["13", "0b090000002639f4cb", "1b" + panel.hex("fff7") + "090000002639f4cb"])
    client.drop()
    let next = PeripheralTestClient(peripheral)
    #expect(next.ask("0a" + panel.hex("fff7")) == "0b090000002639f4cb")
    #expect(next.ask("12" + panel.hex("fff8") + "01") == "13")
    #expect(next.ask("0a" + panel.hex("fff7")) == "0b090000002639f4cb")
    #expect(next.ask("12" + panel.hex("fff8") + "00") == "13")
    #expect(next.ask("0a" + panel.hex("fff7")) == "0b0000000000000000")
  }
}

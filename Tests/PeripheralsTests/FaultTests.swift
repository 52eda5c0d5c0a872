import BluetoothLEDeviceFiles
import BluetoothLESimulator
import TestSupport

/// Every fault of a served device, seen by blectl's own client.
@Suite(.timeLimit(.minutes(15))) struct FaultTests {
  @Test func thereAreEnough() { #expect(FaultCase.all.count >= 60) }

  @Test(arguments: FaultCase.all) func aCorrectClient(_ test: FaultCase) async throws {
    try await onLoop { try await Self.check(test, beforeStart: false) }
  }

  /// The same faults in the file, or as lines before anyone is connected.
  @Test(arguments: [FaultCase.all[0], FaultCase.all[20], FaultCase.all[FaultCase.all.count - 9]]) func fromTheBeginning(
    _ test: FaultCase
  ) async throws {
    try await onLoop { try await Self.check(test, beforeStart: true) }
    try await onLoop { try await Self.check(test, beforeStart: false, inFile: true) }
  }

  /// The simulator makes the faults of a file, too.
  @Test(.onLoop) @LoopActor func inTheSimulator() async throws {
    let description = try ServedFixture.parse(#""faults": ["fault ff01 error 0x80 1 time"], "#)
    let client = PeripheralTestClient(VirtualPeripheral(description))
    #expect(client.ask("0a" + description.hex("ff01")) == "010a" + description.hex("ff01") + "80")
    #expect(client.ask("0a" + description.hex("ff01")) == "0b0a0b")
  }

  @Test(arguments: [
    ("set ff01 00", "Use a line such as"), ("fault off", "Use a line such as"), ("", "Use a line such as"),
    ("fault ff01 eror", "Expected error, delay"), ("fault ff09 silent", "Not exactly one attribute"), ("fault 0x0100 silent", "the handle"),
    ("fault 'ff01 silent", "Close"),
  ]) func wrongFaultsOfAFile(_ line: String, _ message: String) throws {
    do {
      _ = try ServedFixture.parse("\"faults\": [\"\(line)\"], ")
      Issue.record("\(line)")
    } catch let error as FileEntryError { #expect("\(error)".contains("x:1:") && "\(error)".contains(message), "\(error)") }
  }

  @LoopActor private static func check(_ test: FaultCase, beforeStart: Bool, inFile: Bool = false) async throws {
    let lines = test.lines.split(separator: "; ").map(String.init)
    let fixture = try ServedFixture(inFile ? "\"faults\": [\(lines.map { "\"\($0)\"" }.joined(separator: ", "))], " : "")
    if beforeStart { for line in lines { try fixture.perform(line) } }
    try await fixture.device.start()
    let client = Client(fixture.radio.connect().channel)
    // Discovery reads configurations, too.
    if case .subscribe = test.step { _ = try await client.discover() }
    if !beforeStart, !inFile { for line in lines { try fixture.perform(line) } }

    let begin = EventLoop.shared.now
    let outcome = await outcome { try await run(test.step, client, fixture) }
    #expect(outcome == test.outcome)
    #expect(begin.duration(to: EventLoop.shared.now).components.seconds == test.seconds)
    #expect(await self.outcome { Hex.encode(try await client.read(fixture.handle("ff02"))) } == test.next)
    #expect(fixture.value("ff01") == test.value)
    try await EventLoop.shared.sleep(for: .seconds(60))
    let faults = fixture.take().filter { $0.hasPrefix("fault ") }
    #expect(faults.count == test.faults.count && zip(faults, test.faults).allSatisfy { $0.hasPrefix("fault \($1)") }, "\(faults)")
    // The device serves the next central.
    try fixture.perform("fault off")
    let other = Client(fixture.radio.connect(2).channel)
    #expect(try await other.read(fixture.handle("ff02")) == [0x0C])
    await fixture.device.end()
  }

  @LoopActor private static func outcome(_ body: @LoopActor () async throws -> String) async -> String {
    do { return try await body() } catch {
      switch error {
      case GATTError.errorResponse(let code, to: _, on: _): return "att \(Hex.encode(code.rawValue))"
      case ATTError.violation: return "protocol"
      case ATTError.noResponse: return "timeout"
      case is Disconnection: return "lost"
      default: return "\(error)"
      }
    }
  }

  @LoopActor private static func run(_ step: FaultCase.Step, _ client: Client, _ fixture: ServedFixture) async throws -> String {
    let ff01 = fixture.handle("ff01")
    switch step {
    case .read(let uuid): return Hex.encode(try await client.read(fixture.handle(uuid)))
    case .readUUID(let uuid):
      return try await client.read(uuid: UUID(uuid) ?? UUID(0)).map { Hex.encode($0.value) }.joined(separator: " ")
    case .readMultiple(let one, let two): return Hex.encode(try await client.readMultiple([fixture.handle(one), fixture.handle(two)]))
    case .readDescription: return Hex.encode(try await client.read(try await client.resolve(try Selector("ff01@2901")).handle))
    case .write(let hex):
      try await client.writeRequest(Hex.decode(hex) ?? [], to: ff01)
      return "ok"
    case .command(let hex):
      try await client.writeCommand((Hex.decode(hex) ?? [])[...], to: ff01)
      try await client.barrier(after: ff01)
      return "ok"
    case .long(let hex):
      let value = Hex.decode(hex) ?? []
      let attribute = try await client.resolve(try Selector("ff01"))
      try await client.write(
        value, to: ff01, plan: try WriteProcedure(value: value.count, properties: attribute.properties, mtu: client.mtu, mode: .long))
      return "ok"
    case .subscribe(let uuid):
      guard let item = try await client.resolve(try Selector(uuid)).characteristic else { return "no characteristic" }
      _ = try await client.subscribe(item)
      return "ok"
    case .exchange: return "mtu \(try await client.exchangeMTU())"
    case .discover:
      _ = try await client.discover()
      return "ok"
    }
  }
}

import BluetoothLESimulator
import TestSupport

/// The owner of the attributes may refuse, delay or suppress answers to valid requests.
@Suite(.timeLimit(.minutes(15))) struct ServerDecisionTests {
  @LoopActor private final class Fixture {
    let channel = ServerTestChannel()
    let server: Server
    var accesses: [ServerSession.Access] = []
    var effects = 0

    init(_ decide: @escaping @LoopActor (ServerSession.Access) -> Server.Decision) throws {
      var descriptions = AttributeDatabase.ServiceDescription(UUID(0xFF00))
      for uuid: UInt32 in [0xFF01, 0xFF02] {
        var one = AttributeDatabase.CharacteristicDescription(UUID(uuid), [.read, .write, .writeWithoutResponse, .notify])
        (one.value, one.maximumLength) = ([1, 2], 40)
        descriptions.characteristics.append(one)
      }
      var secret = AttributeDatabase.CharacteristicDescription(UUID(0xFF03), [.writeWithoutResponse])
      secret.permissions = [.writeWithoutResponse]
      descriptions.characteristics.append(secret)
      server = Server(database: try AttributeDatabase(services: [descriptions]), channel: channel, rxMTU: 23)
      server.onAccess = { [weak self] access in
        self?.accesses.append(access)
        var decision = decide(access)
        decision.then = { self?.effects += 1 }
        return decision
      }
      server.start()
    }

    func ask(_ hex: String) -> [String] {
      channel.deliver(hex)
      return channel.take()
    }
    func value(_ handle: AttributeHandle) -> [UInt8] { server.store.database[handle]?.value ?? [] }
  }

  /// The value handles are 3, 6 and 9.
  @Test(.onLoop) @LoopActor func onlyWhatWouldBeGrantedIsAsked() async throws {
    let fixture = try Fixture { _ in Server.Decision() }
    for (request, answer) in [
      ("0a0900", "010a090002"), ("120200aa", "0112020003"), ("1209000a", "0112090003"),
      ("1203" + "00" + String(repeating: "00", count: 41), nil),
      ("1204000100", "13"), ("0e03000900", "010e090002"), ("0801000f000328", nil), ("0c03000100", "0d02"), ("52020001", nil),
      ("180110", nil),
    ] as [(String, String?)] {
      let answers = fixture.ask(request)
      if let answer { #expect(answers == [answer], "\(request)") }
    }
    #expect(fixture.accesses == [] && fixture.effects == 0)
    #expect(fixture.ask("0a0300") == ["0b0102"] && fixture.ask("0c03000000") == ["0d0102"])
    #expect(fixture.ask("0e03000600") == ["0f01020102"] && fixture.ask("080100ffff02ff") == ["090406000102"])
    #expect(fixture.ask("12030005") == ["13"] && fixture.ask("52090007") == [])
    #expect(
      fixture.accesses == [
        .read(3), .read(3), .read(3), .read(6), .read(6), .write(3, value: [5], .request), .write(9, value: [7], .command),
      ])
    #expect(fixture.effects == 7 && fixture.value(3) == [5] && fixture.value(9) == [7])
  }

  @Test(.onLoop) @LoopActor func arefusalWritesNothing() async throws {
    let fixture = try Fixture { access in
      var decision = Server.Decision()
      if access.handle == 6 { decision.error = ErrorCode(rawValue: 0x80) }
      return decision
    }
    #expect(fixture.ask("1206000a") == ["0112060080"] && fixture.ask("5206000b") == [] && fixture.ask("0a0600") == ["010a060080"])
    #expect(fixture.ask("0e03000600") == ["010e060080"] && fixture.ask("080100ffff02ff") == ["0108060080"])
    #expect(fixture.value(6) == [1, 2])
    // A refused long write fails on execution, which discards it.
    #expect(fixture.ask("1606000000aabb") == ["1706000000aabb"] && fixture.ask("1801") == ["0118060080"])
    #expect(fixture.ask("1801") == ["19"] && fixture.value(6) == [1, 2])
    #expect(fixture.ask("1603000000aabb") == ["1703000000aabb"] && fixture.ask("1801") == ["19"] && fixture.value(3) == [0xAA, 0xBB])
    #expect(fixture.accesses.last == .write(3, value: [0xAA, 0xBB], .long))
  }

  @Test(.onLoop) @LoopActor func lateAndMissingAnswers() async throws {
    let fixture = try Fixture { access in
      var decision = Server.Decision()
      if access.handle == 3 { decision.delay = .seconds(2) }
      if access.handle == 6 { decision.isAnswered = false }
      return decision
    }
    #expect(fixture.ask("12030007") == [] && fixture.value(3) == [7], "written at once")
    try await EventLoop.shared.sleep(for: .milliseconds(1999))
    #expect(fixture.channel.take() == [])
    try await EventLoop.shared.sleep(for: .milliseconds(2))
    #expect(fixture.channel.take() == ["13"])
    #expect(fixture.ask("12060008") == [] && fixture.value(6) == [8])
    // A client that keeps asking without an answer gets a limited number of late ones.
    for _ in 0..<100 { #expect(fixture.ask("0a0300") == []) }
    try await EventLoop.shared.sleep(for: .seconds(3))
    #expect(fixture.channel.take() == [String](repeating: "0b07", count: 16))
    // No answers follow the end.
    _ = fixture.ask("0a0300")
    fixture.channel.drop()
    try await EventLoop.shared.sleep(for: .seconds(3))
    #expect(fixture.channel.take() == [])
  }
}

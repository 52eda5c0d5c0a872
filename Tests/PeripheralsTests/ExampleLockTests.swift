import BluetoothLESimulator
import TestSupport

/// Tests man/examples/challenge-lock.json with a client that sends PDUs.
@Suite(.timeLimit(.minutes(15))) struct ExampleLockTests {
  private static let key = Hex.decode("2b7e151628aed2a6abf7158809cf4f3c") ?? []

  @LoopActor private struct Lock {
    let description: PeripheralDescription
    let peripheral: VirtualPeripheral
    let client: PeripheralTestClient
    let answer: String
    let state: String

    init() throws {
      description = try ExampleFiles.read("challenge-lock.json")
      peripheral = VirtualPeripheral(description)
      client = PeripheralTestClient(peripheral)
      (answer, state) = ("1b" + description.hex("ffb2"), "1b" + description.hex("ffb3"))
      subscribe(client)
    }

    func subscribe(_ client: PeripheralTestClient) {
      _ = client.ask("02f700")
      for uuid in ["ffb2", "ffb3"] { _ = client.ask("12" + description.configuration(uuid) + "0100") }
      _ = client.take()
    }

    /// Returns the answer to the request, and the notifications in the time after it.
    func send(_ command: [UInt8], milliseconds: Int = 100, _ other: PeripheralTestClient? = nil) async throws -> [String] {
      let client = other ?? client
      client.write("12" + description.hex("ffb1") + Hex.encode(command))
      try await EventLoop.shared.sleep(for: .milliseconds(milliseconds))
      return client.take()
    }

    func challenge() async throws -> [UInt8] {
      let heard = try await send([1])
      #expect(heard.count == 2 && heard.first == "13")
      let value = Hex.decode(String(heard.last?.dropFirst(answer.count) ?? "")) ?? []
      #expect(value.count == 17 && value.first == 1)
      return Array(value.dropFirst())
    }

    func refusal(_ code: String) -> [String] { ["0112" + description.hex("ffb1") + code] }
    var shown: String { Hex.encode(peripheral.advertising.data) }
    func read() -> String {
      defer { _ = client.take() }
      return client.ask("0a" + description.hex("ffb3"))
    }
  }

  private static func code(_ algorithm: MessageAuthentication, _ command: UInt8, _ challenge: [UInt8]) -> [UInt8] {
    [command] + (algorithm.code(of: challenge + [command], key: key) ?? [])
  }

  @Test(.onLoop, arguments: [(MessageAuthentication.aesCMAC, 2), (.hmacSHA256, 3)] as [(MessageAuthentication, UInt8)])
  @LoopActor func opensForTheKeyAndLocksByItself(_ algorithm: MessageAuthentication, _ command: UInt8) async throws {
    let lock = try Lock()
    #expect(lock.shown == "020106" + "0303b0ff" + "0cff0503" + "0301" + "00" + "010c000000d1" && lock.read() == "0b00")
    let code = Self.code(algorithm, command, try await lock.challenge())
    #expect(try await lock.send(code) == ["13", lock.answer + "0200", lock.state + "01"])
    #expect(lock.shown.hasSuffix("030101010c000000d1") && lock.read() == "0b01")
    #expect(try await lock.send(code) == lock.refusal("81"), "each challenge is good for one code")
    try await EventLoop.shared.sleep(for: .milliseconds(4700))
    #expect(lock.client.take().isEmpty)
    try await EventLoop.shared.sleep(for: .milliseconds(200))
    #expect(lock.client.take() == [lock.answer + "0400", lock.state + "00"])
    #expect(lock.shown.hasSuffix("030100010c000000d1") && lock.read() == "0b00")
  }

  @Test(.onLoop) @LoopActor func threeTries() async throws {
    let lock = try Lock()
    for left in [2, 1] {
      let challenge = try await lock.challenge()
      // A code of the other kind is wrong.
      let wrong = [2] + Self.code(.aesCMAC, 3, challenge).dropFirst()
      #expect(try await lock.send(wrong) == ["13", lock.answer + "02010\(left)"])
    }
    _ = try await lock.challenge()
    let wrong = [3] + [UInt8](repeating: 0, count: 32)
    #expect(try await lock.send(wrong) == ["13", lock.answer + "02021e", lock.state + "02"])
    #expect(lock.read() == "0b02" && lock.shown.hasSuffix("030102010c000000d1"))
    for command: [UInt8] in [[1], [2], [4], [9]] { #expect(try await lock.send(command) == lock.refusal("80")) }
    // A reconnection does not help.
    lock.client.drop()
    let second = PeripheralTestClient(lock.peripheral)
    lock.subscribe(second)
    #expect(try await lock.send([1], second) == lock.refusal("80"))
    try await EventLoop.shared.sleep(for: .seconds(30))
    #expect(second.take() == [lock.state + "00"])
    #expect(try await lock.send([1], second).count == 2)
  }

  @Test(.onLoop) @LoopActor func aRightCodeForgivesAndAChallengeExpires() async throws {
    let lock = try Lock()
    _ = try await lock.challenge()
    #expect(try await lock.send([2] + [UInt8](repeating: 0, count: 16)) == ["13", lock.answer + "020102"])
    let stale = Self.code(.aesCMAC, 2, try await lock.challenge())
    try await EventLoop.shared.sleep(for: .seconds(10))
    #expect(try await lock.send(stale) == lock.refusal("81"))
    let code = Self.code(.aesCMAC, 2, try await lock.challenge())
    #expect(try await lock.send(code).dropFirst() == [lock.answer + "0200", lock.state + "01"])
    #expect(try await lock.send([4]) == ["13", lock.answer + "0400", lock.state + "00"])
    _ = try await lock.challenge()
    #expect(try await lock.send([2] + [UInt8](repeating: 0, count: 16)) == ["13", lock.answer + "020102"])
  }

  @Test(.onLoop) @LoopActor func theLinkTakesItsChallengeWithItAndNothingElse() async throws {
    let lock = try Lock()
    let open = Self.code(.aesCMAC, 2, try await lock.challenge())
    lock.client.write("12" + lock.description.hex("ffb1") + Hex.encode(open))
    try await EventLoop.shared.sleep(for: .milliseconds(60))
    lock.client.drop()
    #expect(lock.shown.hasSuffix("030101010c000000d1"))
    let second = PeripheralTestClient(lock.peripheral)
    lock.subscribe(second)
    #expect(second.ask("0a" + lock.description.hex("ffb3")) == "0b01")
    let challenge = try await lock.send([1], second)
    second.drop()
    // No client is connected when the lock locks.
    try await EventLoop.shared.sleep(for: .seconds(5))
    #expect(lock.shown.hasSuffix("030100010c000000d1"))
    let third = PeripheralTestClient(lock.peripheral)
    lock.subscribe(third)
    let answer = Self.code(.aesCMAC, 2, Hex.decode(String(challenge.last?.suffix(32) ?? "")) ?? [])
    #expect(try await lock.send(answer, third) == lock.refusal("81"))
  }

  @Test(.onLoop, arguments: [[], [0], [2], [2, 3], [5], [1, 1], [3] + [UInt8](repeating: 3, count: 16)] as [[UInt8]])
  @LoopActor func noCommands(_ command: [UInt8]) async throws {
    let lock = try Lock()
    #expect(try await lock.send(command) == lock.refusal("82"))
  }
}

import TestSupport

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct BearerTests {
  @Test(.onLoop) @LoopActor func waitersGoInOrderAndEachGetsItsAnswer() async throws {
    let (near, far) = MemoryChannel.pair()
    near.delay = .milliseconds(15)
    let peer = ScriptedPeer(far) { pdu in [0x0B, pdu[1]] }
    let bearer = Bearer(near)
    var order: [AttributeHandle] = []
    let tasks = (UInt16(1)...5).map { handle in
      EventLoop.shared.spawn {
        if case .read(let value)? = try? await bearer.request(.read(AttributeHandle(rawValue: handle))) {
          #expect(value == [UInt8(handle)])
          order.append(AttributeHandle(rawValue: handle))
        }
      }
    }
    for task in tasks { await task.value }
    #expect(order == [1, 2, 3, 4, 5] && bearer.isIdle)
    #expect(peer.received.map { $0[1] } == [1, 2, 3, 4, 5])
    bearer.close()
  }

  @Test(.onLoop) @LoopActor func silenceEndsAfterThirtySecondsAndClosesTheBearer() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far)
    let bearer = Bearer(near)
    let client = RecordingClient(bearer)
    let start = EventLoop.shared.now
    let waiting = EventLoop.shared.spawn { await Self.kind { try await bearer.request(.read(2)) } }
    #expect(await Self.kind { try await bearer.request(.read(1)) } == "timeout")
    #expect(await waiting.value == "timeout")
    #expect(start.duration(to: EventLoop.shared.now) >= .seconds(30))
    #expect(near.isClosed && peer.received.count == 1 && client.ends.count == 1)
    let again = EventLoop.shared.now
    #expect(await Self.kind { try await bearer.request(.read(3)) } == "timeout")
    #expect(again.duration(to: EventLoop.shared.now) < .seconds(1), "a closed bearer answers at once")
    bearer.send(.write(1, value: [1]))
    #expect(await Self.kind { try await bearer.waitUntilWritable() } == "timeout")
    #expect(peer.received.count == 1, "no more PDUs shall be sent")
  }

  @Test(.onLoop) @LoopActor func aCancelledRequestDoesNotGiveItsAnswerToTheNext() async throws {
    let (near, far) = MemoryChannel.pair()
    far.delay = .milliseconds(50)
    let peer = ScriptedPeer(far) { pdu in [0x0B, pdu[1]] }
    let bearer = Bearer(near)
    let task = EventLoop.shared.spawn { () -> Bool in
      do { _ = try await bearer.request(.read(1)) } catch { return error is CancellationError }
      return false
    }
    try await EventLoop.shared.sleep(for: .milliseconds(10))
    task.cancel()
    #expect(await task.value)
    #expect(try await bearer.request(.read(2)) == .read([2]))
    #expect(peer.received.count == 2 && bearer.faults == Bearer.Faults())
    bearer.close()
  }

  @Test(.onLoop) @LoopActor func linkLossEndsEveryPendingOperationOnce() async throws {
    let (near, far) = MemoryChannel.pair()
    let bearer = Bearer(near)
    let client = RecordingClient(bearer)
    near.isWritable = false
    let tasks = (UInt16(1)...3).map { handle in
      EventLoop.shared.spawn { await Self.kind { try await bearer.request(.read(AttributeHandle(rawValue: handle))) } }
    }
    let writer = EventLoop.shared.spawn { await Self.kind { try await bearer.waitUntilWritable() } }
    try await EventLoop.shared.sleep(for: .seconds(1))
    far.lose(LinkLost("supervision timeout"))
    for task in tasks { #expect(await task.value == "link lost") }
    #expect(await writer.value == "link lost")
    #expect(bearer.closed as? LinkLost == LinkLost("supervision timeout") && client.ends.count == 1)
    bearer.close()
    #expect(client.ends.count == 1)
  }

  @Test(.onLoop) @LoopActor func aServerMayTakeThePeersRequests() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far)
    let bearer = Bearer(near)
    let server = RecordingServer()
    server.bearer = bearer
    bearer.server = server
    var seen: [String] = []
    bearer.onPDU = { seen.append("\($0 == .sent ? ">" : "<")\(Hex.encode($1))") }
    peer.push([0x0A, 7, 0])
    peer.push([0x52, 7, 0, 1])
    peer.push([0x0A, 8, 0])
    bearer.start()
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(peer.received == [[0x0B, 0xAA], [0x01, 0x0A, 8, 0, 0x01], [0x1B, 7, 0]])
    #expect(server.commands == [.write(7, value: [1])])
    #expect(seen == ["<0a0700", ">0b aa".filter { $0 != " " }, "<52070001", "<0a0800", ">010a080001", ">1b0700"])
    bearer.close()
    bearer.close()
    #expect(server.ends == 1 && bearer.server == nil)
  }

  @Test(.onLoop) @LoopActor func aChannelThatTakesNothingIsNotWaitedForForEver() async throws {
    let (near, _) = MemoryChannel.pair()
    let bearer = Bearer(near, timeout: .seconds(2))
    near.isWritable = false
    let start = EventLoop.shared.now
    #expect(
      await Self.kind {
        try await withDeadline(start.advanced(by: .seconds(100))) {
          try await bearer.waitUntilWritable()
        }
      } == "timeout")
    near.isWritable = true
    try await bearer.waitUntilWritable()
    bearer.close()
  }

  /// The limit applies to transactions that start while it is set, and to one that blocks the next.
  @Test(.onLoop) @LoopActor func aLimitForTheTime() async throws {
    let (near, _) = MemoryChannel.pair()
    let bearer = Bearer(near, timeout: .seconds(30))
    bearer.limit = .seconds(3)
    #expect(await Self.error { try await bearer.request(.read(1)) } == .noResponse(to: .read, handle: 1, within: .seconds(3)))
    let (other, _) = MemoryChannel.pair()
    let blocked = Bearer(other, timeout: .seconds(30))
    let given = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(5))) { try await blocked.request(.read(1)) }
    #expect(given == nil && blocked.closed == nil)
    blocked.limit = .seconds(3)
    #expect(await Self.error { try await blocked.request(.read(2)) } == .noResponse(to: .read, handle: 1, within: .seconds(8)))
  }

  private static func error(_ body: @LoopActor () async throws -> Response) async -> ATTError? {
    do { _ = try await body() } catch { return error as? ATTError }
    return nil
  }

  @Test(.onLoop) @LoopActor func faultsAreCountedAndEndNothing() async throws {
    let (near, far) = MemoryChannel.pair()
    let peer = ScriptedPeer(far, rules: [.init([0x0A], [.pdu([]), .pdu([0x1B]), .pdu([0xFF]), .pdu([0x0B, 1]), .pdu([0x0B, 2])])])
    let bearer = Bearer(near)
    #expect(try await bearer.request(.read(1)) == .read([1]))
    far.drop(3)
    try await EventLoop.shared.sleep(for: .milliseconds(1))
    #expect(bearer.faults == Bearer.Faults(empty: 1, malformed: 1, stray: 1, unknownCommands: 1, lost: 3))
    #expect(bearer.closed == nil && peer.received.count == 1)
    bearer.close()
  }

  @LoopActor private final class RecordingClient: BearerClient {
    var ends: [any Error] = []
    init(_ bearer: Bearer) { bearer.client = self }
    func received(_ event: Unsolicited) {}
    func ignored(_ fault: BearerState.Fault) {}
    func exhausted(_ error: any Error) {}
    func closed(_ error: any Error) { ends.append(error) }
  }

  /// A server with one attribute that notifies after it answered a request for another one.
  @LoopActor private final class RecordingServer: BearerServer {
    var commands: [ATTCommand] = []
    var ends = 0
    weak var bearer: Bearer?
    func serve(_ request: Request) -> (response: Response?, then: [@LoopActor () -> Void]) {
      if case .read(7) = request { return (.read([0xAA]), []) }
      return (BearerState.answerWithoutServer(request), [{ self.bearer?.notify(HandleValue(7, [])) }])
    }
    func execute(_ command: ATTCommand) { commands.append(command) }
    func closed(_ error: any Error) { ends += 1 }
  }

  @LoopActor
  private static func kind<T>(_ body: @escaping @LoopActor () async throws -> T) async -> String? {
    do { _ = try await body() } catch {
      switch error {
      case ATTError.noResponse, ATTError.nothingGotThrough: return "timeout"
      case is LinkLost: return "link lost"
      default: return "\(error)"
      }
    }
    return nil
  }
}

import Glibc
import Terminal
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct SinkTests {
  private static func record(_ number: Int) -> [UInt8] { Array("record \(number) \(String(repeating: "x", count: number % 200))\n".utf8) }

  @LoopActor private func sink(_ reader: SlowReader, _ kind: SlowReader.Kind = .pipe, limit: Int = 10_000) -> Sink {
    Sink(reader.writeEnd, limit: limit, mayReopen: kind != .pipeThatCannotBeReopened)
  }

  @LoopActor private final class State { var isDone = false }

  @Test(.onLoop, arguments: SlowReader.Kind.allCases) @LoopActor func aSlowReaderHoldsUpTheWriterAndNobodyElse(_ kind: SlowReader.Kind)
    async throws
  {
    let reader = SlowReader(kind)
    let sink = sink(reader, kind)
    let state = State()
    let writing = EventLoop.shared.spawn { () -> Bool in
      defer { state.isDone = true }
      do { for number in 0..<10_000 { try await sink.write(Self.record(number)) } } catch { return false }
      return true
    }
    for _ in 0..<100 { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    #expect(!state.isDone)
    #expect(sink.queued >= 10_000 && sink.queued < 10_000 + 300)
    let wanted = (0..<10_000).flatMap(Self.record)
    let seen = try await reader.read(atLeast: wanted.count)
    #expect(seen == wanted)
    #expect(await writing.value)
    #expect(sink.queued == 0)
  }

  @Test(.onLoop, arguments: SlowReader.Kind.allCases) @LoopActor func offersAreTakenWholeOrNotAtAll(_ kind: SlowReader.Kind) async throws {
    let reader = SlowReader(kind)
    let sink = sink(reader, kind)
    var wanted: [UInt8] = []
    var refusals = 0
    for number in 0..<10_000 {
      if try sink.offer(Self.record(number)) { wanted += Self.record(number) } else { refusals += 1 }
    }
    #expect(refusals > 0)
    #expect(sink.queued <= 10_000 + 300)
    #expect(try sink.offer([1], reserve: 1000), "there is a reserve for what must not be lost")
    #expect(try await reader.read(atLeast: wanted.count + 1) == wanted + [1])
    #expect(try sink.offer([2]), "there is room again")
    #expect(try await reader.read(atLeast: 1) == [2])
  }

  @Test(.onLoop, arguments: SlowReader.Kind.allCases) @LoopActor func whoWaitsLearnsThatTheReaderWent(_ kind: SlowReader.Kind) async throws
  {
    let reader = SlowReader(kind)
    let sink = sink(reader, kind)
    let writing = EventLoop.shared.spawn { () -> Bool in
      do { while true { try await sink.write(Self.record(100)) } } catch { return (error as? OutputFailure)?.isClosedPipe ?? false }
    }
    for _ in 0..<10 { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    reader.close()
    #expect(await writing.value)
    #expect(throws: OutputFailure.self) { try sink.offer([1]) }
  }

  @Test(.onLoop) @LoopActor func aClosedPipeIsNoticedAtOnceByWhoCanWait() async throws {
    let reader = SlowReader()
    let sink = sink(reader)
    reader.close()
    let error = await #expect(throws: OutputFailure.self) { try await sink.write([1]) }
    #expect(error?.isClosedPipe == true)
  }

  @Test(.onLoop) @LoopActor func aFullDiskIsAFailureWithItsReason() async throws {
    let file = unsafe open("/dev/full", O_WRONLY)
    defer { close(file) }
    let sink = Sink(file, limit: 100)
    let error = await #expect(throws: OutputFailure.self) { try await sink.write([1]) }
    #expect(error?.isClosedPipe == false && error?.reason.contains("No space") == true)
    await #expect(throws: OutputFailure.self) { try await sink.flush(until: nil) }
  }

  @Test(.onLoop) @LoopActor func waitingCanBeCancelled() async throws {
    let reader = SlowReader()
    let sink = sink(reader)
    let writing = EventLoop.shared.spawn { () -> Bool in
      do { while true { try await sink.write(Self.record(100)) } } catch { return error is CancellationError }
    }
    for _ in 0..<10 { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    writing.cancel()
    #expect(await writing.value)
  }

  @Test(.onLoop) @LoopActor func flushingEndsAtItsDeadline() async throws {
    let reader = SlowReader()
    let sink = sink(reader)
    let inPipe = reader.fill()
    #expect(try sink.offer([1, 2, 3]))
    try await sink.flush(until: EventLoop.shared.now.advanced(by: .seconds(1)))
    #expect(sink.queued == 3)
    #expect(try await reader.read(atLeast: inPipe + 3).suffix(3) == [1, 2, 3])
    try await sink.flush(until: nil)
  }

  /// The parent shell uses the same open file description, so its flags must not change.
  @Test(.onLoop, arguments: SlowReader.Kind.allCases) @LoopActor func theDescriptorStaysAsTheCallerHasIt(_ kind: SlowReader.Kind)
    async throws
  {
    let reader = SlowReader(kind)
    let sink = sink(reader, kind)
    while try sink.offer(Self.record(100)) {}
    #expect(fcntl(reader.writeEnd, F_GETFL) & O_NONBLOCK == 0)
  }

  @Test(.onLoop) @LoopActor func recordsOfOneTurnAreOneWrite() async throws {
    let reader = SlowReader()
    let sink = sink(reader)
    for number in 0..<10 { #expect(try sink.offer(Self.record(number))) }
    #expect(reader.read().isEmpty)
    let seen = try await reader.read(atLeast: 1)
    #expect(seen == (0..<10).flatMap(Self.record))
  }
}

/// The reading end of a pipe or socket, which reads only on request.
@LoopActor
final class SlowReader {
  enum Kind: CaseIterable { case pipe, pipeThatCannotBeReopened, socket }

  let writeEnd: Int32
  private let readEnd: Int32
  private var isClosed = false

  init(_ kind: Kind = .pipe) {
    var ends: [Int32] = [-1, -1]
    if kind == .socket {
      _ = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
    } else {
      _ = unsafe pipe(&ends)
    }
    (readEnd, writeEnd) = (ends[0], ends[1])
    _ = fcntl(readEnd, F_SETFL, O_NONBLOCK)
  }

  isolated deinit {
    close()
    _ = Glibc.close(writeEnd)
  }

  /// Reads the available bytes.
  func read() -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = unsafe Glibc.read(readEnd, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
    return all
  }

  /// Reads until `count` bytes arrived, one loop turn at a time, up to a hundred thousand turns.
  func read(atLeast count: Int) async throws -> [UInt8] {
    var all: [UInt8] = []
    for _ in 0..<100_000 {
      all += read()
      if all.count >= count { break }
      try await EventLoop.shared.sleep(for: .zero)
    }
    return all
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    _ = Glibc.close(readEnd)
  }

  /// Fills the buffer and returns the number of bytes that fit. Its contents are lost.
  func fill() -> Int {
    let flags = fcntl(writeEnd, F_GETFL)
    _ = fcntl(writeEnd, F_SETFL, flags | O_NONBLOCK)
    defer { _ = fcntl(writeEnd, F_SETFL, flags) }
    let zeros = [UInt8](repeating: 0, count: 4096)
    var count = 0
    while case let written = unsafe write(writeEnd, zeros, zeros.count), written > 0 { count += written }
    return count
  }
}

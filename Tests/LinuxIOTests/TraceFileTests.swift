import Foundation
import Glibc
import SystemPackage
import TestSupport
import Traces

@testable import BluetoothLE
@testable import BluetoothLELinux

/// Reads a pipe to its end on its own thread, once allowed.
private final class Reader: Sendable {
  private let mayRead = DispatchSemaphore(value: 0)
  private let bytes: Task<[UInt8], Never>

  init(_ path: String) {
    let (mayRead, (stream, continuation)) = (mayRead, AsyncStream<[UInt8]>.makeStream())
    bytes = Task { await stream.reduce([], +) }
    Thread.detachNewThread {
      let pipe = unsafe open(path, O_RDONLY)
      mayRead.wait()
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while case let count = unsafe read(pipe, &buffer, buffer.count), count > 0 { continuation.yield(Array(buffer[..<count])) }
      close(pipe)
      continuation.finish()
    }
  }

  func start() { mayRead.signal() }

  func all() async -> [UInt8] { await bytes.value }
}

@Suite(.timeLimit(.minutes(15))) struct TraceFileTests {
  @Test(.onLoop) @LoopActor func recordsWhatItIsGivenAndReplacesAnOldTrace() async throws {
    let file = TemporaryPath()
    try file.write([UInt8](repeating: 9, count: 10_000))
    let trace = try await TraceFile.open(file.path, header: Snoop.header)
    trace.record([1, 3, 0x0C, 0], .hostToController)
    trace.record([4, 0x0E, 4, 1, 3, 0x0C, 0], .controllerToHost)
    // The file is readable before it is closed: a trace is complete up to a crash.
    let records = try Snoop.parse(try await InputFile.read(file.path, limit: 10_000))
    #expect(records.map(\.packet) == [[1, 3, 0x0C, 0], [4, 0x0E, 4, 1, 3, 0x0C, 0]])
    #expect(records.map(\.direction) == [.hostToController, .controllerToHost])
    try await trace.close()
  }

  @Test(.onLoop) @LoopActor func followsNoLinks() async throws {
    let (target, link, hardLink) = (TemporaryPath(), TemporaryPath(), TemporaryPath())
    try target.write([1, 2, 3])
    unsafe symlink(target.path, link.path)
    unsafe Glibc.link(target.path, hardLink.path)
    for path in [link.path, hardLink.path, "/no/such/folder/trace"] {
      let error = await #expect(throws: FileError.self) { _ = try await TraceFile.open(path, header: Snoop.header) }
      guard case .trace(path, _)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    #expect(try await InputFile.read(target.path, limit: 10) == [1, 2, 3])
  }

  /// Other users may have put something into a shared folder. Only root can make such files for a test.
  @Test(.onLoop, .enabled(if: geteuid() == 0)) @LoopActor func otherUsersFiles() async throws {
    for isPipe in [false, true] {
      let file = TemporaryPath()
      if isPipe { try SystemCall.call { unsafe mkfifo(file.path, 0o666) } } else { try file.write([1, 2, 3]) }
      let reader = try SystemCall.open(file.path, O_RDONLY | O_NONBLOCK)
      try SystemCall.call { unsafe chown(file.path, 65534, 65534) }
      await #expect(throws: FileError.trace(file.path, .notPermitted)) { _ = try await TraceFile.open(file.path, header: Snoop.header) }
      await #expect(throws: FileError.keys(file.path, .notPermitted)) { try await OutputFile.write(keys: [5], to: file.path) }
      // The shell of the user who ran sudo made the pipe of a descriptor.
      if isPipe {
        let inherited = try SystemCall.open(file.path, O_RDWR)
        _ = try PrivateFile.open("/dev/fd/\(inherited.rawValue)")
      }
      var bytes = [UInt8](repeating: 0, count: 10)
      #expect(try SystemCall.read(reader.rawValue, into: &bytes) == (isPipe ? 0 : 3))
      if !isPipe {
        // Root may read the files of all users.
        #expect(try InputFile.readIfThere(file.path, limit: 10, isOwn: true) == [1, 2, 3])
      }
    }
  }

  /// A device that passes on what it gets is no file for a trace. One that stores nothing is.
  @Test(.onLoop) @LoopActor func devices() async throws {
    await #expect(throws: FileError.trace("/dev/ptmx", .notSupported)) { _ = try await TraceFile.open("/dev/ptmx", header: Snoop.header) }
    let before = SystemCall.status(of: "/dev/null")?.st_mode
    let trace = try await TraceFile.open("/dev/null", header: Snoop.header, hasKeys: true)
    try await trace.close()
    #expect(SystemCall.status(of: "/dev/null")?.st_mode == before)
  }

  /// The mode of an old file changes before the first byte, and only if the trace gets keys.
  @Test(.onLoop) @LoopActor func keysAreForTheUserOnly() async throws {
    for (hasKeys, mode) in [(false, 0o644), (true, 0o600)] as [(Bool, mode_t)] {
      let file = TemporaryPath()
      try file.write([1, 2, 3])
      try SystemCall.call { unsafe chmod(file.path, 0o644) }
      let trace = try await TraceFile.open(file.path, header: Snoop.header, hasKeys: hasKeys)
      #expect((SystemCall.status(of: file.path)?.st_mode ?? 0) & 0o777 == mode)
      try await trace.close()
    }
  }

  @Test(.onLoop) @LoopActor func aFullDiskIsReportedOnce() async throws {
    _ = await #expect(throws: FileError.trace("/dev/full", .noSpace)) { _ = try await TraceFile.open("/dev/full", header: Snoop.header) }
  }

  @Test(.onLoop) @LoopActor func aPipeWaitsForItsReader() async throws {
    let pipe = TemporaryPath()
    try SystemCall.call { unsafe mkfifo(pipe.path, 0o600) }
    let path = pipe.path
    var waits = 0
    let opening = EventLoop.shared.spawn {
      try? await TraceFile.open(path, header: Snoop.header, readerWithin: .seconds(3600)) { waits += 1 }
    }
    for _ in 0..<10 { try await EventLoop.shared.sleep(for: .milliseconds(50)) }
    #expect(waits == 1)
    let reader = try SystemCall.open(path, O_RDONLY | O_NONBLOCK)
    let trace = try #require(await opening.value)
    // More bytes than a pipe holds.
    for number in 0..<2000 { trace.record([1, 0, 0xFC, 250] + [UInt8](repeating: UInt8(number & 255), count: 250), .hostToController) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 10_000)
    while bytes.count < 16 + 2000 * 278 {
      if let count = try? SystemCall.read(reader.rawValue, into: &buffer) { bytes += buffer[..<count] }
      try await EventLoop.shared.sleep(for: .zero)
    }
    #expect(try Snoop.parse(bytes).map { $0.packet.last } == (0..<2000).map { UInt8($0 & 255) })
    try await trace.close()
  }

  /// A reader runs in real time, so waiting for it ignores the loop's time.
  @Test(.onLoop) @LoopActor func theRestIsWaitedFor() async throws {
    let pipe = TemporaryPath()
    try SystemCall.call { unsafe mkfifo(pipe.path, 0o600) }
    let path = pipe.path
    let opening = EventLoop.shared.spawn { try? await TraceFile.open(path, header: Snoop.header, readerWithin: .seconds(600)) }
    let reader = Reader(path)
    let trace = try #require(await opening.value)
    for number in 0..<10_000 { trace.record([1, 0, 0xFC, 250] + [UInt8](repeating: UInt8(number & 255), count: 250), .hostToController) }
    EventLoop.shared.schedule(after: .seconds(3600)) { reader.start() }
    try await trace.close(within: .seconds(600))
    #expect(try Snoop.parse(await reader.all()).count == 10_000)
  }

  @Test(.onLoop) @LoopActor func waitingForAReaderEnds() async throws {
    let pipe = TemporaryPath()
    try SystemCall.call { unsafe mkfifo(pipe.path, 0o600) }
    let path = pipe.path
    _ = await #expect(throws: FileError.trace(path, .noSuchAddressOrDevice)) {
      _ = try await TraceFile.open(path, header: Snoop.header, readerWithin: .milliseconds(60))
    }
    let opening = EventLoop.shared.spawn { () -> Bool in
      do { _ = try await TraceFile.open(path, header: Snoop.header, readerWithin: .seconds(3600)) } catch {
        return error is CancellationError
      }
      return false
    }
    try await EventLoop.shared.sleep(for: .seconds(60))
    opening.cancel()
    #expect(await opening.value)
  }

  @Test(.onLoop) @LoopActor func aReaderThatStopsEndsTheTraceOnly() async throws {
    let pipe = TemporaryPath()
    try SystemCall.call { unsafe mkfifo(pipe.path, 0o600) }
    let reader = try SystemCall.open(pipe.path, O_RDONLY | O_NONBLOCK)
    let trace = try await TraceFile.open(pipe.path, header: Snoop.header)
    var failures: [FileError] = []
    trace.onFailure = { failures.append($0) }
    for _ in 0..<TraceFile.limit / 250 { trace.record([UInt8](repeating: 1, count: 250), .hostToController) }
    #expect(failures == [.trace(pipe.path, .resourceTemporarilyUnavailable)])
    try await trace.close()
    _ = reader.rawValue
  }
}

extension TraceFile {
  fileprivate func record(_ packet: [UInt8], _ direction: Direction) {
    write(Snoop.Record(packet: packet, direction: direction, wallClock: 0).encoded)
  }
}

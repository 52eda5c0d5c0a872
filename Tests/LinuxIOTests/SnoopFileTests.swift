import Captures
import EventLoop
import Foundation
import Glibc
import HCI
import SystemPackage
import TestSupport
import Testing

@testable import LinuxIO

/// Reads a pipe to its end on its own thread, once allowed.
private final class Reader: Sendable {
  private let mayRead = DispatchSemaphore(value: 0)
  private let octets: Task<[UInt8], Never>

  init(_ path: String) {
    let (mayRead, (stream, continuation)) = (mayRead, AsyncStream<[UInt8]>.makeStream())
    octets = Task { await stream.reduce([], +) }
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

  func all() async -> [UInt8] { await octets.value }
}

@Suite(.timeLimit(.minutes(15))) struct SnoopFileTests {
  @Test func recordsWhatItIsGivenAndReplacesAnOldTrace() async throws {
    try await onLoop {
      let file = TemporaryPath()
      try file.write([UInt8](repeating: 9, count: 10_000))
      let trace = try await SnoopFile.open(file.path)
      trace.record([1, 3, 0x0C, 0], .hostToController)
      trace.record([4, 0x0E, 4, 1, 3, 0x0C, 0], .controllerToHost)
      // The file is readable before it is closed: a trace is complete up to a crash.
      let records = try Snoop.parse(try await InputFile.read(file.path, limit: 10_000))
      #expect(records.map(\.packet) == [[1, 3, 0x0C, 0], [4, 0x0E, 4, 1, 3, 0x0C, 0]])
      #expect(records.map(\.direction) == [.hostToController, .controllerToHost])
      try await trace.close()
    }
  }

  @Test func followsNoLinks() async throws {
    try await onLoop {
      let (target, link, hardLink) = (TemporaryPath(), TemporaryPath(), TemporaryPath())
      try target.write([1, 2, 3])
      unsafe symlink(target.path, link.path)
      unsafe Glibc.link(target.path, hardLink.path)
      for path in [link.path, hardLink.path, "/no/such/folder/trace"] {
        let error = await #expect(throws: FileError.self) { _ = try await SnoopFile.open(path) }
        guard case .trace(path, _)? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
      }
      #expect(try await InputFile.read(target.path, limit: 10) == [1, 2, 3])
    }
  }

  @Test func aFullDiskIsReportedOnce() async throws {
    try await onLoop {
      _ = await #expect(throws: FileError.trace("/dev/full", .noSpace)) { _ = try await SnoopFile.open("/dev/full") }
    }
  }

  @Test func aPipeWaitsForItsReader() async throws {
    try await onLoop {
      let pipe = TemporaryPath()
      try SystemCall.call { unsafe mkfifo(pipe.path, 0o600) }
      let path = pipe.path
      var waits = 0
      let opening = EventLoop.shared.spawn { try? await SnoopFile.open(path, readerWithin: .seconds(3600)) { waits += 1 } }
      for _ in 0..<10 { try await EventLoop.shared.sleep(for: .milliseconds(50)) }
      #expect(waits == 1)
      let reader = try SystemCall.open(path, O_RDONLY | O_NONBLOCK)
      let trace = try #require(await opening.value)
      // More bytes than a pipe holds.
      for number in 0..<2000 { trace.record([1, 0, 0xFC, 250] + [UInt8](repeating: UInt8(number & 255), count: 250), .hostToController) }
      var octets: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 10_000)
      while octets.count < 16 + 2000 * 278 {
        if let count = try? SystemCall.read(reader.rawValue, into: &buffer) { octets += buffer[..<count] }
        try await EventLoop.shared.sleep(for: .zero)
      }
      #expect(try Snoop.parse(octets).map { $0.packet.last } == (0..<2000).map { UInt8($0 & 255) })
      try await trace.close()
    }
  }

  /// A reader runs in real time, so waiting for it ignores the loop's time.
  @Test func theRestIsWaitedFor() async throws {
    try await onLoop {
      let pipe = TemporaryPath()
      try SystemCall.call { unsafe mkfifo(pipe.path, 0o600) }
      let path = pipe.path
      let opening = EventLoop.shared.spawn { try? await SnoopFile.open(path, readerWithin: .seconds(60)) }
      let reader = Reader(path)
      let trace = try #require(await opening.value)
      for number in 0..<10_000 { trace.record([1, 0, 0xFC, 250] + [UInt8](repeating: UInt8(number & 255), count: 250), .hostToController) }
      EventLoop.shared.schedule(after: .seconds(3600)) { reader.start() }
      try await trace.close(within: .seconds(60))
      #expect(try Snoop.parse(await reader.all()).count == 10_000)
    }
  }

  @Test func waitingForAReaderEnds() async throws {
    try await onLoop {
      let pipe = TemporaryPath()
      try SystemCall.call { unsafe mkfifo(pipe.path, 0o600) }
      let path = pipe.path
      _ = await #expect(throws: FileError.trace(path, .noSuchAddressOrDevice)) {
        _ = try await SnoopFile.open(path, readerWithin: .milliseconds(60))
      }
      let opening = EventLoop.shared.spawn { () -> Bool in
        do { _ = try await SnoopFile.open(path, readerWithin: .seconds(3600)) } catch { return error is CancellationError }
        return false
      }
      try await EventLoop.shared.sleep(for: .seconds(60))
      opening.cancel()
      #expect(await opening.value)
    }
  }

  @Test func aReaderThatStopsEndsTheTraceOnly() async throws {
    try await onLoop {
      let pipe = TemporaryPath()
      try SystemCall.call { unsafe mkfifo(pipe.path, 0o600) }
      let reader = try SystemCall.open(pipe.path, O_RDONLY | O_NONBLOCK)
      let trace = try await SnoopFile.open(pipe.path)
      var failures: [FileError] = []
      trace.onFailure = { failures.append($0) }
      for _ in 0..<SnoopFile.limit / 250 { trace.record([UInt8](repeating: 1, count: 250), .hostToController) }
      #expect(failures == [.trace(pipe.path, .resourceTemporarilyUnavailable)])
      try await trace.close()
      _ = reader.rawValue
    }
  }
}

import EventLoop
import Glibc
import HCI
import SystemPackage
import TestSupport
import Testing

@testable import LinuxIO

@Suite struct SnoopFileTests {
  @Test func recordsWhatItIsGivenAndReplacesAnOldTrace() async throws {
    try await onLoop {
      let file = TemporaryPath()
      try file.write([UInt8](repeating: 9, count: 10_000))
      let trace = try SnoopFile(file.path)
      trace.record([1, 3, 0x0C, 0], .hostToController)
      trace.record([4, 0x0E, 4, 1, 3, 0x0C, 0], .controllerToHost)
      // Readable before it is closed: a trace is whole up to a crash.
      let records = try Snoop.parse(try await InputFile.read(file.path, limit: 10_000))
      #expect(records.map(\.packet) == [[1, 3, 0x0C, 0], [4, 0x0E, 4, 1, 3, 0x0C, 0]])
      #expect(records.map(\.direction) == [.hostToController, .controllerToHost])
      try trace.close()
    }
  }

  @Test func followsNoLinks() async throws {
    try await onLoop {
      let (target, link, hardLink) = (TemporaryPath(), TemporaryPath(), TemporaryPath())
      try target.write([1, 2, 3])
      unsafe symlink(target.path, link.path)
      unsafe Glibc.link(target.path, hardLink.path)
      for path in [link.path, hardLink.path, "/no/such/folder/trace"] {
        let error = #expect(throws: FileError.self) { _ = try SnoopFile(path) }
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
      _ = #expect(throws: FileError.trace("/dev/full", .noSpace)) { _ = try SnoopFile("/dev/full") }
    }
  }
}

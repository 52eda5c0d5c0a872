import EventLoop
import LinuxIO
import SystemPackage
import Terminal

/// The JSON records of a scan in a file, whatever stdout shows.
@LoopActor
final class ScanLog {
  private let path: String
  private let sink: Sink
  private var file: OwnedDescriptor

  /// Records are added to a file that is there.
  /// - Throws: FileError.
  init(_ path: String) throws {
    self.path = path
    file = try AppendedFile.open(path)
    sink = Sink(file.rawValue, limit: Output.limit)
  }

  /// Waits for room.
  func write(_ record: [UInt8]) async throws { try await told { try await self.sink.write(record) } }

  /// Returns when everything was written; gives a slow reader a second.
  func close() async throws {
    try await told { try await self.sink.flush(until: EventLoop.shared.now.advanced(by: .seconds(1))) }
    if sink.queued > 0 { throw FileError.unwritable(path, .resourceTemporarilyUnavailable) }
  }

  private func told(_ body: @LoopActor () async throws -> Void) async throws {
    do { try await body() } catch let error as OutputFailure {
      throw Failure(.output, "cannot write “\(path)”: \(error.isClosedPipe ? "nobody reads it any more" : error.reason)")
    }
  }
}

package import BluetoothLE
import BluetoothLELinux
import SystemPackage
import Terminal

/// A log file for the JSON records of a scan, independent of standard output.
@LoopActor
package final class ScanLog {
  private let path: String
  private let sink: Sink
  private var file: OwnedDescriptor

  /// Opens the file, to which the log appends records.
  /// - Throws: `FileError`.
  package init(_ path: String) throws {
    self.path = path
    file = try AppendedFile.open(path)
    sink = Sink(file.rawValue, limit: Output.limit)
  }

  /// Appends a record to the file. Waits until the file accepts the record.
  func write(_ record: [UInt8]) async throws { try await told { try await self.sink.write(record) } }

  /// Writes the queued records. Waits at most one second if the file is a pipe with a slow reader.
  func close() async throws {
    try await told { try await self.sink.flush(until: EventLoop.shared.now.advanced(by: .seconds(1))) }
    if sink.queued > 0 { throw FileError.unwritable(path, .resourceTemporarilyUnavailable) }
  }

  private func told(_ body: @LoopActor () async throws -> Void) async throws {
    do { try await body() } catch let error as OutputFailure {
      throw Failure(.output, "Cannot write \"\(path)\": \(error.isClosedPipe ? "its reader closed it" : error.reason)")
    }
  }
}

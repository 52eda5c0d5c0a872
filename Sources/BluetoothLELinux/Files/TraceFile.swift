import Glibc
import SystemPackage

/// A file to which a trace is written. Writes each record immediately, so that a trace is complete up to a crash.
@LoopActor
package final class TraceFile {
  private var file: OwnedDescriptor
  private let path: String
  private var unreported: FileError?
  private var hasFailed = false
  /// The bytes that the reader of a pipe has not taken yet. Empty for a regular file.
  private var queue = OutputQueue()
  private var queued = 0
  private var watch: Watch?

  /// The maximum number of bytes that wait for the reader of a pipe.
  static let limit = 4 << 20

  /// The callback for the first record that blectl cannot write. Recording stops then, and the command continues.
  package var onFailure: (@LoopActor (FileError) -> Void)?

  /// Opens a file and writes its header. Replaces an existing file only if `PrivateFile` accepts it.
  /// Waits in real time for the reader of a named pipe.
  /// - Parameters:
  ///   - header: The bytes before the first record.
  ///   - hasKeys: Whether the trace contains keys. Then only the user can read the file, even if it existed.
  ///   - limit: The real time to wait for a reader.
  ///   - onWait: The callback before the first wait.
  /// - Throws: FileError, also when a pipe has no reader within `limit`, or CancellationError.
  package static func open(
    _ path: String, header: [UInt8], hasKeys: Bool = false, readerWithin limit: Duration = .seconds(10), onWait: @LoopActor () -> Void = {}
  ) async throws -> TraceFile {
    var left = Int(limit.inMilliseconds)
    var hasWaited = false
    while true {
      do throws(Errno) {
        return try opened(path, header, hasKeys)
      } catch {
        // Opening would block until there is a reader, and poll(2) cannot wait for a reader.
        guard error == .noSuchAddressOrDevice, OutputFile.isPipe(path), left > 0 else { throw FileError.trace(path, error) }
      }
      if !hasWaited { onWait() }
      hasWaited = true
      do { try await RealTime.sleep(milliseconds: min(50, left)) } catch let error as Errno { throw FileError.trace(path, error) }
      left -= 50
    }
  }

  private static func opened(_ path: String, _ header: [UInt8], _ hasKeys: Bool) throws(Errno) -> TraceFile {
    let file = try PrivateFile.open(path, creating: true)
    let descriptor = file.rawValue
    let kind = try SystemCall.status(descriptor).kind
    // Before the first byte. Never on a device: root would take /dev/null from all others.
    if hasKeys, kind != S_IFCHR { try SystemCall.call { fchmod(descriptor, 0o600) } }
    if kind == S_IFREG { try SystemCall.call { ftruncate(descriptor, 0) } }
    let trace = TraceFile(file, path)
    try trace.writeAll(header)
    return trace
  }

  private init(_ file: consuming OwnedDescriptor, _ path: String) {
    self.file = file
    self.path = path
  }

  /// Opens standard output and writes the header.
  /// - Throws: FileError.
  package static func standardOutput(header: [UInt8]) throws(FileError) -> TraceFile {
    do throws(Errno) {
      let status = try SystemCall.status(STDOUT_FILENO)
      // Open the pipe again: O_NONBLOCK then does not affect other processes that share it.
      let file =
        status.kind == S_IFIFO
        ? try SystemCall.open("/proc/self/fd/\(STDOUT_FILENO)", O_WRONLY | O_NONBLOCK | O_NOCTTY)
        : OwnedDescriptor(try SystemCall.call { fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) })
      let trace = TraceFile(file, "-")
      try trace.writeAll(header)
      return trace
    } catch { throw FileError.trace("-", error) }
  }

  // The descriptor must not be closed before the loop has forgotten it.
  isolated deinit { watch?.cancel() }

  /// Closes the trace. Waits up to `limit` of real time for the reader of a pipe to take the remaining records. Idempotent.
  /// - Throws: FileError if writing a record failed and `onFailure` is nil.
  package func close(within limit: Duration = .seconds(1)) async throws {
    if !queue.isEmpty {
      await shielded { [self] in
        try? await race({ try await self.writeRest() }, { try await RealTime.sleep(milliseconds: Int(limit.inMilliseconds)) })
      }
    }
    if !queue.isEmpty { fail(.resourceTemporarilyUnavailable) }
    watch?.cancel()
    watch = nil
    file.close()
    if let error = unreported {
      unreported = nil
      throw error
    }
  }

  private func writeRest() async throws {
    let descriptor = file.rawValue
    while !queue.isEmpty, !hasFailed {
      _ = try await EventLoop.shared.wait(for: descriptor, .writable)
      flush()
    }
  }

  /// Writes an encoded record. Does nothing after a failure.
  package func write(_ bytes: [UInt8]) {
    guard !hasFailed, file.rawValue >= 0 else { return }
    do throws(Errno) { try writeAll(bytes) } catch { fail(error) }
  }

  private func writeAll(_ bytes: [UInt8]) throws(Errno) {
    var rest = bytes[...]
    do throws(Errno) {
      while queue.isEmpty, !rest.isEmpty { rest = rest.dropFirst(try SystemCall.write(file.rawValue, rest)) }
    } catch .wouldBlock {
      // It waits, like the rest.
      EventLoop.shared.virtualTime.waitsForReader = true
    }
    guard !rest.isEmpty else { return }
    guard queued + rest.count <= Self.limit else { throw .resourceTemporarilyUnavailable }
    queue.append(Array(rest))
    queued += rest.count
    if watch == nil { watch = EventLoop.shared.watch(file.rawValue, .writable) { [weak self] _ in self?.flush() } }
  }

  private func flush() {
    var isRead = false
    do throws(Errno) {
      while let part = queue.front {
        let count = try SystemCall.write(file.rawValue, part)
        queue.removeFirst(count)
        queued -= count
        isRead = true
      }
    } catch .wouldBlock {
      if isRead { EventLoop.shared.virtualTime.waitsForReader = true }
      return
    } catch {
      fail(error)
    }
    watch?.cancel()
    watch = nil
  }

  private func fail(_ error: Errno) {
    guard !hasFailed else { return }
    hasFailed = true
    (queue, queued) = (OutputQueue(), 0)
    let failure = FileError.trace(path, error)
    if let onFailure { onFailure(failure) } else { unreported = failure }
  }
}

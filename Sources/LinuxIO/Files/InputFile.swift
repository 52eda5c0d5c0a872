package import EventLoop
import Glibc
import SystemPackage

/// Reads whole files of any kind that has an end: regular files, pipes, terminals, `/dev/stdin`.
@LoopActor
package enum InputFile {
  package nonisolated static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Whether the path is a regular file, which programs can read twice. A pipe is not.
  package nonisolated static func isRegular(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Reads a small user file immediately. Nil if the file does not exist, or is in a folder that this user may not enter. Accepts
  /// regular files only, because they never block.
  /// - Throws: FileError.
  package nonisolated static func readIfThere(_ path: String, limit: Int) throws(FileError) -> [UInt8]? {
    do throws(Errno) {
      let file = try SystemCall.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
      let kind = try SystemCall.status(file.rawValue).st_mode & S_IFMT
      guard kind == S_IFREG else { throw kind == S_IFDIR ? .isDirectory : .invalidArgument }
      var contents: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 16_384)
      while contents.count <= limit {
        let count = try SystemCall.read(file.rawValue, into: &buffer)
        if count == 0 { return contents }
        contents += buffer[..<count]
      }
    } catch {
      if error == .noSuchFileOrDirectory || error == .notDirectory { return nil }
      // This user may not enter the folder, for example another user's home after su, so we cannot know what it holds.
      if error == .permissionDenied, !exists(path) { return nil }
      throw .unreadable(path, error)
    }
    throw .tooLong(path, limit: limit)
  }

  /// Reads a whole file. Waits for pipes without blocking the loop. Ignores the size that the file system reports: it is 0 in
  /// /proc, and a file may grow during the read.
  /// - Parameters:
  ///   - path: `-` is standard input.
  ///   - limit: The maximum number of bytes. A longer file is an error.
  ///   - patience: The real time to wait for a writer of a named pipe.
  ///   - whenIdle: Called if no data arrives within two seconds of real time.
  /// - Throws: FileError, ETIMEDOUT for a named pipe without a writer; CancellationError.
  package static func read(
    _ path: String, limit: Int, writerWithin patience: Duration = .seconds(10), whenIdle: (@LoopActor @Sendable () -> Void)? = nil
  ) async throws -> [UInt8] {
    if path == "-" { return try await read(STDIN_FILENO, nil, limit, nil, whenIdle) }
    let descriptor: OwnedDescriptor
    do throws(Errno) {
      // O_NONBLOCK: opening a pipe would otherwise wait for its writer.
      descriptor = try SystemCall.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    } catch {
      throw FileError.unreadable(path, error)
    }
    return try await read(descriptor.rawValue, path, limit, patience, whenIdle)
  }

  /// Waits until a pipe is readable. Throws ETIMEDOUT if it has no writer after `patience`. Returns any bytes that this check has read.
  static func beginning(_ descriptor: Int32, _ path: FileError.Path, _ patience: Duration) async throws -> [UInt8] {
    let isReady = try await race(
      {
        _ = try await EventLoop.shared.wait(for: descriptor, .readable)
        return true
      },
      {
        try await RealTime.sleep(milliseconds: Int(patience.inMilliseconds))
        return false
      })
    if isReady { return [] }
    // poll(2) does not tell whether there is a writer. With a writer, read(2) gives EAGAIN; without a writer, it gives the end.
    var buffer = [UInt8](repeating: 0, count: 65_536)
    do throws(Errno) {
      let count = try SystemCall.read(descriptor, into: &buffer)
      if count == 0 { throw Errno.timedOut }
      return Array(buffer[..<count])
    } catch .wouldBlock {
      return []
    } catch {
      throw FileError.unreadable(path, error)
    }
  }

  private static func read(
    _ descriptor: Int32, _ name: FileError.Path, _ limit: Int, _ patience: Duration?, _ whenIdle: (@LoopActor @Sendable () -> Void)?
  ) async throws -> [UInt8] {
    let status: stat
    do throws(Errno) { status = try SystemCall.status(descriptor) } catch { throw FileError.unreadable(name, error) }
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    if status.st_mode & S_IFMT == S_IFDIR { throw FileError.unreadable(name, .isDirectory) }
    if isRegular, status.st_size > Int64(limit) { throw FileError.tooLong(name, limit: limit) }
    let idling = whenIdle.map { tell in
      EventLoop.shared.spawn { if (try? await RealTime.sleep(milliseconds: 2000)) != nil { tell() } }
    }
    defer { idling?.cancel() }
    var contents: [UInt8] = []
    if let patience, status.st_mode & S_IFMT == S_IFIFO { contents = try await beginning(descriptor, name, patience) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      // Wait before every read: a blocking descriptor then never blocks. The flags of standard input are not ours to change.
      if !isRegular { _ = try await EventLoop.shared.wait(for: descriptor, .readable) }
      try Task.checkCancellation()
      do throws(Errno) {
        let count = try SystemCall.read(descriptor, into: &buffer)
        if count == 0 { return contents }
        contents += buffer[..<count]
        idling?.cancel()
      } catch .wouldBlock {
        continue
      } catch {
        throw FileError.unreadable(name, error)
      }
      if contents.count > limit { throw FileError.tooLong(name, limit: limit) }
    }
  }
}

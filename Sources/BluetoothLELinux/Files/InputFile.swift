import Glibc
package import SystemPackage

/// Reads whole files of any kind that has an end: regular files, pipes, terminals, `/dev/stdin`.
@LoopActor
package enum InputFile {
  package nonisolated static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Returns the folder of a file without symbolic links, and with a slash at its end. Nil if it does not exist.
  package nonisolated static func folder(of file: String) -> String? {
    guard let path = unsafe realpath(file.lastIndex(of: "/").map { String(file[...$0]) } ?? ".", nil) else { return nil }
    defer { unsafe free(path) }
    let text = unsafe String(cString: path)
    return text.hasSuffix("/") ? text : text + "/"
  }

  /// Reads a small user file without suspending. Accepts only regular files of at most `limit` bytes.
  /// Returns nil if the file does not exist, or if this user may not enter its folder. With `isOwn`, a visible folder that this user may
  /// not enter is an error.
  /// - Parameter isOwn: Whether to refuse a file of another user, which may contain foreign keys. Root may read the files of all users.
  /// - Throws: FileError.
  package nonisolated static func readIfThere(_ path: String, limit: Int, isOwn: Bool = false) throws(FileError) -> [UInt8]? {
    var isForeign = false
    do throws(Errno) {
      let file = try SystemCall.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
      let status = try SystemCall.status(file.rawValue)
      guard status.kind == S_IFREG else { throw status.kind == S_IFDIR ? .isDirectory : .invalidArgument }
      isForeign = isOwn && geteuid() != 0 && status.st_uid != geteuid()
      if isForeign { throw .notPermitted }
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
      // But a closed folder in an open one may hide what protects the user.
      if error == .permissionDenied, !exists(path), !(isOwn && exists(FilePath(path).removingLastComponent().string)) { return nil }
      if isForeign { throw .ofOtherUser(path) }
      throw .unreadable(path, error)
    }
    throw .tooLong(path, limit: limit)
  }

  /// Reads a file to its end, whatever size the file system reports. Suspends while a pipe has no data.
  /// - Parameters:
  ///   - path: The path of the file, or `-` for standard input.
  ///   - limit: The maximum number of bytes. A longer file is an error.
  ///   - patience: The real time to wait for a writer of a named pipe.
  ///   - whenIdle: The callback if no data arrives within two seconds of real time.
  /// - Throws: FileError, CancellationError, or ETIMEDOUT for a named pipe without a writer.
  package static func read(
    _ path: String, limit: Int, writerWithin patience: Duration = .seconds(10), whenIdle: (@LoopActor @Sendable () -> Void)? = nil
  ) async throws -> [UInt8] {
    if path == "-" { return try await read(STDIN_FILENO, nil, limit, nil, whenIdle) }
    WatchedFiles.add(path)
    let descriptor: OwnedDescriptor
    do throws(Errno) {
      // O_NONBLOCK: opening a pipe would otherwise wait for its writer.
      descriptor = try SystemCall.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    } catch {
      throw FileError.unreadable(path, error)
    }
    return try await read(descriptor.rawValue, path, limit, patience, whenIdle)
  }

  /// Waits up to `patience` until a pipe is readable. Then checks with one read for a writer, and returns the bytes of this read.
  /// - Throws: ETIMEDOUT if the pipe has no writer after `patience`.
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
    let isRegular = status.kind == S_IFREG
    if status.kind == S_IFDIR { throw FileError.unreadable(name, .isDirectory) }
    if isRegular, status.st_size > Int64(limit) { throw FileError.tooLong(name, limit: limit) }
    let idling = whenIdle.map { StandardInput.idleTimer($0) }
    defer { idling?.cancel() }
    var contents: [UInt8] = []
    if let patience, status.kind == S_IFIFO { contents = try await beginning(descriptor, name, patience) }
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

/// Reads files of a few lines, for example from /proc and /sys.
package enum SmallFile {
  /// Returns the first `limit` bytes of a file as text. Nil if this process cannot read the file.
  package static func text(of path: String, limit: Int = 16_384) -> String? {
    do {
      let file = try SystemCall.open(path, O_RDONLY)
      var buffer = [UInt8](repeating: 0, count: limit)
      var count = 0
      // The kernel returns generated files in pieces, whatever the size of the buffer.
      while count < limit {
        let more = try SystemCall.read(file.rawValue, into: &buffer, count..<limit, at: nil)
        if more == 0 { break }
        count += more
      }
      return String(decoding: buffer.prefix(count), as: UTF8.self)
    } catch {
      return nil
    }
  }

  /// Returns the first line of a file. Nil if this process cannot read the file.
  package static func line(of path: String) -> String? { text(of: path).map { String($0.prefix { $0 != "\n" }) } }
}

/// Lists the names in a folder, for path completion.
package enum FolderNames {
  /// The maximum number of names that `list` returns.
  static let limit = 10_000

  /// Returns the names in a folder, unordered. Names of folders end with a slash. Empty if this process cannot read the folder.
  /// - Parameter path: The path of the folder. An empty path is the working directory. A leading `~/` is `home`, if known.
  package static func list(_ path: String, home: String?) -> [String] {
    var path = path.isEmpty ? "." : path
    if path.hasPrefix("~/"), let home { path = home + path.dropFirst() }
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while names.count < limit, let entry = unsafe readdir(folder) {
      let kind = unsafe entry.pointee.d_type
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let name, name != ".", name != ".." else { continue }
      names.append(Int32(kind) == DT_DIR || Int32(kind) == DT_LNK && isFolder("\(path)/\(name)") ? name + "/" : name)
    }
    return names
  }

  /// Returns whether a path is a folder, or a symbolic link to a folder.
  package static func isFolder(_ path: String) -> Bool { SystemCall.status(of: path)?.kind == S_IFDIR }
}

/// The file that a path refers to. Equal values are the same file.
package enum FileIdentity: Hashable, Sendable {
  case file(device: UInt64, inode: UInt64)
  /// A file that does not exist yet, by its name and by the device and inode numbers of its folder.
  case name(String, device: UInt64, inode: UInt64)

  /// Identifies the file at a path, where `-` is standard input. Nil for pipes, devices and sockets.
  /// Nil also if stat(2) fails, unless the file is missing in an existing folder.
  package init?(_ path: String) {
    if let status = path == "-" ? try? SystemCall.status(STDIN_FILENO) : SystemCall.status(of: path) {
      guard status.kind == S_IFREG else { return nil }
      self = .file(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
      return
    }
    guard errno == ENOENT else { return nil }
    let parts = path.split(separator: "/")
    guard let name = parts.last, !path.hasSuffix("/") else { return nil }
    let folder = path.dropLast(name.count)
    guard let status = SystemCall.status(of: folder.isEmpty ? "." : String(folder)) else { return nil }
    self = .name(String(name), device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }
}

/// The size and modification time of a file. Two different values show that a program wrote to the file.
struct FileVersion: Equatable {
  /// The size in bytes.
  let size: Int
  private let modified: Int
  private let nanoseconds: Int

  init(_ status: stat) {
    size = Int(status.st_size)
    modified = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}

/// The reason why blectl cannot read or write a user's file.
package enum FileError: Error, Equatable, Sendable {
  /// The path of a file, or nil for standard input.
  package typealias Path = String?

  case unreadable(Path, Errno)
  /// The file belongs to another user, who may have put foreign keys into it.
  case ofOtherUser(String)
  /// The file is longer than `limit` bytes.
  case tooLong(Path, limit: Int)
  /// The file is a device that never reports an end.
  case endless(Path)
  /// The file ended at byte offset `at`, but had `count` bytes when blectl opened it. Another program truncated it.
  case endedEarly(Path, at: Int, count: Int)
  /// The file's size or modification time changed after blectl opened the file. `from` and `to` are sizes in bytes.
  case changed(Path, from: Int, to: Int)
  /// A caller needs more bytes of a pipe or terminal than the `limit` unreleased bytes that blectl keeps.
  case keepsNoMore(Path, limit: Int)
  /// A caller requested bytes of a pipe or terminal at byte `offset`, but blectl has already discarded those bytes.
  case passed(Path, offset: Int)
  /// blectl cannot write the file.
  case unwritable(String, Errno)
  /// blectl cannot write the trace file. ELOOP means that the path is a symbolic link. EPERM means that the file belongs to another user
  /// or has several hard links. ENOTSUP means a device that passes the data on. ENXIO means a pipe without a reader. EAGAIN means a pipe with a reader that is too slow.
  case trace(String, Errno)
  /// blectl cannot write keys to the file, for the same reasons.
  case keys(String, Errno)
}

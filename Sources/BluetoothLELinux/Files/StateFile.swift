import Glibc
package import SystemPackage

/// Replaces small files of the program as a whole. A reader sees either the old or the new contents.
package enum StateFile {
  /// Replaces the file at an absolute path. Creates missing parent directories that only the user can access.
  /// - Throws: FileError.unwritable.
  package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    do throws(Errno) {
      try makeFolders(above: path)
      try replace(path, with: bytes, mode: 0o600)
    } catch { throw .unwritable(path, error) }
  }

  /// Replaces the file at an absolute path by a function of its contents, while other processes of blectl wait. Syncs the new file.
  /// - Parameter change: Receives the contents, which are empty without a file. Nil keeps the file.
  /// - Throws: FileError, also if another process keeps the lock for 2 s; the errors of `change`.
  package static func update(_ path: String, limit: Int, _ change: ([UInt8]) throws -> [UInt8]?) throws {
    let lock = try lockFile(of: path)
    guard let new = try change(try InputFile.readIfThere(path, limit: limit, isOwn: true) ?? []) else { return }
    do throws(Errno) { try replace(path, with: new, mode: 0o600, isSynced: true) } catch { throw FileError.unwritable(path, error) }
    _ = lock.rawValue  // Locked until here.
  }

  private static func lockFile(of path: String) throws(FileError) -> OwnedDescriptor {
    do throws(Errno) {
      try makeFolders(above: path)
      let file = try SystemCall.open("\(path).lock", O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
      guard try StateLog.lock(file.rawValue, LOCK_EX, tries: 2000) else { throw .wouldBlock }
      return file
    } catch { throw .unwritable(path, error) }
  }

  /// Writes a temporary file in the same folder and renames it to `path`. After an error the old file is unchanged.
  /// - Parameters:
  ///   - mode: The mode of a new file, before the umask.
  ///   - old: The status of the replaced file, whose mode and owner the new file gets. Nil if there is no old file.
  ///   - isSynced: Whether the new file survives a power failure from now on.
  static func replace(
    _ path: String, with bytes: [UInt8], mode: mode_t, like old: stat? = nil, isSynced: Bool = false
  ) throws(Errno) {
    let temporary = beside(path)
    do throws(Errno) {
      let file = try SystemCall.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: old == nil ? mode : 0o600)
      if let old {
        // The owner first: chown clears the set-user-ID bits. Only root may give a file away; other users keep a file of their own.
        _ = fchown(file.rawValue, old.st_uid, old.st_gid)
        try SystemCall.call { fchmod(file.rawValue, old.st_mode & 0o7777) }
      }
      var rest = bytes[...]
      while !rest.isEmpty { rest = rest.dropFirst(try SystemCall.write(file.rawValue, rest)) }
      if isSynced { _ = try SystemCall.call { fsync(file.rawValue) } }
      _ = try SystemCall.call { unsafe rename(temporary, path) }
      if isSynced, let folder = try? SystemCall.open(String(path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex)), O_RDONLY) {
        _ = fsync(folder.rawValue)
      }
    } catch {
      if error != .fileExists { _ = unsafe unlink(temporary) }
      throw error
    }
  }

  /// Checks that `replace` may create a file in the folder of `path`.
  static func canReplace(_ path: String) throws(Errno) {
    let temporary = beside(path)
    _ = try SystemCall.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    _ = unsafe unlink(temporary)
  }

  /// Returns a new unique path for a temporary file in the folder of `path`.
  private static func beside(_ path: String) -> String {
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    return "\(path.dropLast(name.count)).\(String(UInt64.random(in: 0 ... .max), radix: 36)).part"
  }

  /// Creates the missing parent directories of a path. Only the user can access the new directories.
  static func makeFolders(above path: String) throws(Errno) {
    var folder = ""
    for name in path.split(separator: "/").dropLast() {
      folder += "/\(name)"
      do throws(Errno) { _ = try SystemCall.call { unsafe mkdir(folder, 0o700) } } catch { if error != .fileExists { throw error } }
    }
  }
}

/// Appends lines to log files, to which several processes of blectl may write.
package enum StateLog {
  /// Appends a line. Creates the file and missing parent directories that only the user can access. Starts a new line after an
  /// unfinished line of another process.
  /// - Parameters:
  ///   - line: A line that ends with a line feed.
  ///   - limit: The size in bytes above which this function rewrites the file.
  ///   - shorten: The function that returns the new contents from the contents of the long file.
  /// - Throws: FileError.unwritable.
  package static func append(_ line: [UInt8], to path: String, limit: Int, shorten: ([UInt8]) -> [UInt8]) throws(FileError) {
    do throws(Errno) {
      let file = try open(path)
      let size = Int(try SystemCall.status(file.rawValue).st_size)
      // A folder that takes no new files prevented every rewrite.
      guard size < 16 * limit else { throw .fileTooLarge }
      let isWhole = size == 0 || tail(of: file.rawValue, from: size - 1) == [UInt8(ascii: "\n")]
      let bytes = isWhole ? line : [UInt8(ascii: "\n")] + line
      guard try SystemCall.write(file.rawValue, bytes[...]) == bytes.count else { throw .noSpace }
      guard size + bytes.count > limit, try lock(file.rawValue, LOCK_EX, tries: 1), try isThere(file.rawValue) else { return }
      do throws(FileError) {
        try StateFile.write(shorten(tail(of: file.rawValue, from: 0)), to: path)
      } catch {
        // The line was added; the next one tries again.
      }
      _ = try lock(file.rawValue, LOCK_UN, tries: 1)
    } catch {
      throw .unwritable(path, error)
    }
  }

  /// Opens the file with a shared lock, which prevents a rewrite. Continues without the lock after 0.2 s.
  private static func open(_ path: String) throws(Errno) -> OwnedDescriptor {
    var tries = 0
    while true {
      let file = try openOnce(path)
      guard try SystemCall.status(file.rawValue).kind == S_IFREG else { throw .invalidArgument }
      tries += 1
      // The file was replaced between opening and locking: open the new one.
      if try lock(file.rawValue, LOCK_SH, tries: 200), try !isThere(file.rawValue), tries < 10 { continue }
      return file
    }
  }

  private static func openOnce(_ path: String) throws(Errno) -> OwnedDescriptor {
    let flags = O_RDWR | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW
    do throws(Errno) { return try SystemCall.open(path, flags, mode: 0o600) } catch {
      guard error == .noSuchFileOrDirectory else { throw error }
      try StateFile.makeFolders(above: path)
      return try SystemCall.open(path, flags, mode: 0o600)
    }
  }

  /// Locks the file. Returns false if another process still holds the lock after `tries` attempts, 1 ms apart.
  package static func lock(_ descriptor: Int32, _ operation: Int32, tries: Int) throws(Errno) -> Bool {
    for number in 1...tries {
      do throws(Errno) {
        try SystemCall.call { flock(descriptor, operation | LOCK_NB) }
        return true
      } catch {
        // Some network file systems have no locks.
        guard error == .wouldBlock else { return true }
      }
      if number < tries { usleep(1000) }
    }
    return false
  }

  static func isThere(_ descriptor: Int32) throws(Errno) -> Bool { try SystemCall.status(descriptor).st_nlink > 0 }

  private static func tail(of descriptor: Int32, from start: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe pread(descriptor, &buffer, buffer.count, off_t(start + bytes.count))
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }
}

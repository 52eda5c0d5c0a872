import Glibc
import SystemPackage

/// Appends lines to a file of the program itself, which several processes write. Rewrites a long file.
package enum StateLog {
  /// Appends a line. Creates the file and missing parent directories that only the user can access. Starts a new line after an
  /// unfinished line of another process.
  /// - Parameters:
  ///   - line: A line that ends with a line feed.
  ///   - limit: The size in bytes above which this function rewrites the file.
  ///   - shorten: Returns the new contents from the contents of the long file.
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

  /// Opens the file with a lock against a rewrite. Continues without a lock after 0.2 s, so a stopped process (Ctrl-Z) blocks no other.
  private static func open(_ path: String) throws(Errno) -> OwnedDescriptor {
    var tries = 0
    while true {
      let file = try openOnce(path)
      guard try SystemCall.status(file.rawValue).st_mode & S_IFMT == S_IFREG else { throw .invalidArgument }
      tries += 1
      // The file was replaced between opening and locking: open the new one.
      if try lock(file.rawValue, LOCK_SH, tries: 200), try !isThere(file.rawValue), tries < 10 { continue }
      return file
    }
  }

  private static func openOnce(_ path: String) throws(Errno) -> OwnedDescriptor {
    let flags = O_RDWR | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK
    do throws(Errno) { return try SystemCall.open(path, flags, mode: 0o600) } catch {
      guard error == .noSuchFileOrDirectory else { throw error }
      try StateFile.makeFolders(above: path)
      return try SystemCall.open(path, flags, mode: 0o600)
    }
  }

  /// Locks the file. Returns false if another process still holds the lock after `tries` attempts, 1 ms apart.
  private static func lock(_ descriptor: Int32, _ operation: Int32, tries: Int) throws(Errno) -> Bool {
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

  private static func isThere(_ descriptor: Int32) throws(Errno) -> Bool { try SystemCall.status(descriptor).st_nlink > 0 }

  private static func tail(of descriptor: Int32, from start: Int) -> [UInt8] {
    var octets: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe pread(descriptor, &buffer, buffer.count, off_t(start + octets.count))
      guard count > 0 else { return octets }
      octets += buffer[..<count]
    }
  }
}

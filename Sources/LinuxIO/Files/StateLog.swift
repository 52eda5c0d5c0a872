import Glibc
import SystemPackage

/// A file of the program's own to which several processes add lines, and which is written anew when it has become long.
package enum StateLog {
  /// Makes the file, and the folders above it, where they are missing, for the user only. A line that another process has left half written stays
  /// alone.
  /// - Parameters:
  ///   - line: ends with a line feed.
  ///   - limit: octets from which the file is written anew.
  ///   - shorten: what it shall be then.
  /// - Throws: FileError.unwritable.
  package static func append(_ line: [UInt8], to path: String, limit: Int, shorten: ([UInt8]) -> [UInt8]) throws(FileError) {
    do throws(Errno) {
      let file = try open(path)
      let size = Int(try SystemCall.status(file.rawValue).st_size)
      // It could not be written anew again and again, in a folder that takes no new files.
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

  /// Locked against being written anew, which takes a moment. Who stopped in it, with Ctrl-Z, makes nobody wait.
  private static func open(_ path: String) throws(Errno) -> OwnedDescriptor {
    var tries = 0
    while true {
      let file = try openOnce(path)
      guard try SystemCall.status(file.rawValue).st_mode & S_IFMT == S_IFREG else { throw .invalidArgument }
      tries += 1
      // Replaced between opening and locking: that one is no longer the file.
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

  /// - Returns: false when someone else has it.
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

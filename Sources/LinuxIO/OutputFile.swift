import Glibc
import SystemPackage

/// A file of the user's that is written at the end.
package enum OutputFile {
  /// Whether it can be written, before anything is done for it. It is there then. - Throws: FileError.unwritable.
  package static func check(_ path: String) throws(FileError) {
    do throws(Errno) { _ = try open(path, O_CREAT) } catch { throw .unwritable(path, error) }
  }

  /// In place of what it held. - Throws: FileError.unwritable.
  package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    do throws(Errno) {
      let file = try open(path, O_CREAT | O_TRUNC)
      var rest = bytes[...]
      while !rest.isEmpty { rest = rest.dropFirst(try SystemCall.write(file.rawValue, rest)) }
    } catch { throw .unwritable(path, error) }
  }

  /// Only the user may read a new one. A pipe that nobody reads is an error, not a wait without a limit.
  private static func open(_ path: String, _ flags: Int32) throws(Errno) -> OwnedDescriptor {
    try SystemCall.open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | flags, mode: 0o600)
  }
}

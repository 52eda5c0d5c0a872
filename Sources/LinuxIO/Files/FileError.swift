package import SystemPackage

/// An error with a user's file.
package enum FileError: Error, Equatable, Sendable {
  /// The path of a file, or nil for standard input.
  package typealias Path = String?

  case unreadable(Path, Errno)
  /// The file is longer than the limit.
  case tooLong(Path, limit: Int)
  /// The file is a device that never reports an end.
  case endless(Path)
  /// The file ended at byte offset `at`, but had `count` bytes when blectl opened it. Another program truncated it.
  case endedEarly(Path, at: Int, count: Int)
  /// The file's size in bytes or modification time changed since blectl opened it.
  case changed(Path, from: Int, to: Int)
  /// An input that can be read only once has reached the limit of bytes that blectl keeps until their release.
  case keepsNoMore(Path, limit: Int)
  /// Bytes of an input that can be read only once, from this byte offset, which blectl no longer keeps.
  case passed(Path, offset: Int)
  /// blectl cannot write the file.
  case unwritable(String, Errno)
  /// The trace cannot be written, because it replaces only an older trace of the same user. ELOOP means a link, and EPERM a file that
  /// is not this user's alone. ENXIO means a pipe without a reader, and EAGAIN a pipe whose reader does not keep up.
  case trace(String, Errno)
}

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
  /// The file ended at this byte, but had `count` bytes when it was opened: another program truncated it.
  case endedEarly(Path, at: Int, count: Int)
  /// The file's size in bytes or modification time changed since it was opened.
  case changed(Path, from: Int, to: Int)
  /// An input that can be read only once has reached the limit of bytes that are kept until they are released.
  case keepsNoMore(Path, limit: Int)
  /// These bytes of an input that can be read only once are no longer kept.
  case passed(Path, offset: Int)
  /// A state file could not be replaced.
  case unwritable(String, Errno)
  /// The trace cannot be written. It replaces only an older trace of the same user. ELOOP: a link; EPERM: not this user's alone;
  /// ENXIO: a pipe without a reader; EAGAIN: a pipe whose reader does not keep up.
  case trace(String, Errno)
}

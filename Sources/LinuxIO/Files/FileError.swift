package import SystemPackage

/// What went wrong with a file of the user's.
package enum FileError: Error, Equatable, Sendable {
  /// The path of a file. Nil: standard input.
  package typealias Path = String?

  case unreadable(Path, Errno)
  /// The file is longer than the limit.
  case tooLong(Path, limit: Int)
  /// A device that never says that it is at its end.
  case endless(Path)
  /// The file ended at this byte, but had `count` bytes when it was opened: somebody cut it.
  case endedEarly(Path, at: Int, count: Int)
  /// Its octets or the time of its last change are not those of when it was opened.
  case changed(Path, from: Int, to: Int)
  /// An input that can be read only once has reached the limit of bytes that are kept until they are released.
  case keepsNoMore(Path, limit: Int)
  /// These bytes of an input that can be read only once are not kept any more.
  case passed(Path, offset: Int)
  /// A state file could not be replaced.
  case unwritable(String, Errno)
  /// The trace, which replaces nothing but an older trace of this user's: ELOOP is a link, EPERM what is not this user's alone;
  /// ENXIO is a pipe without a reader, EAGAIN one whose reader does not keep up.
  case trace(String, Errno)
}

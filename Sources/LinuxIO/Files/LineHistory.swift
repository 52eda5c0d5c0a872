import Glibc
import SystemPackage

/// A file that lines are added to, each at once, by several programs side by side. Only the user may read it. It is kept short: when it has twice as
/// many lines as are wanted, the older ones are left out.
package struct LineHistory: Sendable {
  private let path: String
  private let limit: Int

  /// - Parameters:
  ///   - path: absolute.
  ///   - limit: lines that are wanted.
  package init(_ path: String, limit: Int) {
    self.path = path
    self.limit = limit
  }

  /// Octets of a line; longer ones are not kept.
  package static let longest = 4096

  /// The last lines, the oldest first.
  /// - Throws: FileError, when there is a file that cannot be used.
  package func read() throws(FileError) -> [String] {
    let lines = try contents()
    if lines.count > 2 * limit { shorten() }
    return lines.suffix(limit).map { String(decoding: $0, as: UTF8.self) }
  }

  private func contents() throws(FileError) -> [ArraySlice<UInt8>] {
    try (InputFile.readIfThere(path, limit: 64 << 20) ?? []).split(separator: UInt8(ascii: "\n"))
  }

  /// - Throws: FileError.unwritable.
  package func append(_ line: String) throws(FileError) {
    let octets = Array(line.utf8.filter { $0 != UInt8(ascii: "\n") }) + [UInt8(ascii: "\n")]
    guard octets.count <= Self.longest else { return }
    do throws(Errno) {
      try StateFile.makeFolders(above: path)
      // Whoever shortens the file puts another in its place: what was written to the old one in that moment is written again.
      for _ in 0..<3 {
        let file = try SystemCall.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode: 0o600)
        guard try SystemCall.status(file.rawValue).st_mode & S_IFMT == S_IFREG else { throw .invalidArgument }
        // One call: lines of others do not come between.
        _ = try SystemCall.write(file.rawValue, octets[...])
        if try isThere(file) { return }
      }
    } catch {
      throw .unwritable(path, error)
    }
  }

  private func isThere(_ file: borrowing OwnedDescriptor) throws(Errno) -> Bool {
    let opened = try SystemCall.status(file.rawValue)
    var named = stat()
    guard unsafe stat(path, &named) == 0 else { return false }
    return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
  }

  /// By one program at a time. What cannot be shortened stays as it is.
  private func shorten() {
    guard let file = try? SystemCall.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), flock(file.rawValue, LOCK_EX | LOCK_NB) == 0,
      (try? isThere(file)) == true, let lines = try? contents()
    else { return }
    try? StateFile.write(Array(lines.suffix(limit).joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")], to: path)
  }
}

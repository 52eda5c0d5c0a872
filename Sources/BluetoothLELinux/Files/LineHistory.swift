import Glibc

/// A history file to which several programs can append lines at the same time. Only the user may read it.
/// `read` shortens a file of more than twice `limit` lines to its last `limit` lines.
package struct LineHistory: Sendable {
  private let path: String
  private let limit: Int

  /// Creates the history of a path without reading the file.
  /// - Parameter path: An absolute path.
  /// - Parameter limit: The maximum number of lines that `read` returns.
  package init(_ path: String, limit: Int) { (self.path, self.limit) = (path, limit) }

  private static let largest = 64 << 20
  /// The maximum length of a line in bytes, with its line feed. `append` ignores longer lines.
  package static let longest = 4096

  /// Returns at most the last `limit` lines, the oldest first.
  /// - Throws: FileError if the file exists but this process cannot read it.
  package func read() throws(FileError) -> [String] {
    let lines = try contents()
    if lines.count > 2 * limit { shorten() }
    return lines.suffix(limit).map { String(decoding: $0, as: UTF8.self) }
  }

  private func contents() throws(FileError) -> [ArraySlice<UInt8>] {
    try (InputFile.readIfThere(path, limit: Self.largest) ?? []).split(separator: UInt8(ascii: "\n"))
  }

  /// Appends a line to the file. Creates a missing file. Ignores a line longer than `longest`.
  /// - Throws: FileError.unwritable.
  package func append(_ line: String) throws(FileError) {
    let bytes = Array(line.utf8.filter { $0 != UInt8(ascii: "\n") }) + [UInt8(ascii: "\n")]
    guard bytes.count <= Self.longest else { return }
    // `read` shortens it, by lines.
    try StateLog.append(bytes, to: path, limit: Self.largest) { $0 }
  }

  /// Removes all but the last `limit` lines from the file. Does nothing if another program holds the file's lock.
  private func shorten() {
    guard let file = try? SystemCall.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), flock(file.rawValue, LOCK_EX | LOCK_NB) == 0,
      (try? StateLog.isThere(file.rawValue)) == true, let lines = try? contents()
    else { return }
    try? StateFile.write(Array(lines.suffix(limit).joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")], to: path)
  }
}

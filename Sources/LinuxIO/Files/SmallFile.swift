import Glibc

/// Reads files of a few lines, for example from /proc and /sys.
package enum SmallFile {
  /// Returns the first `limit` bytes of a file as text. Nil if the file cannot be read.
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

  /// Returns the first line of a file. Nil if the file cannot be read.
  package static func line(of path: String) -> String? { text(of: path).map { String($0.prefix { $0 != "\n" }) } }
}

import Glibc

/// Files of a few lines, as the kernel makes them up in /proc and /sys.
package enum SmallFile {
  /// The first `limit` octets; nil when it cannot be read.
  package static func text(of path: String, limit: Int = 16_384) -> String? {
    do {
      let file = try SystemCall.open(path, O_RDONLY)
      var buffer = [UInt8](repeating: 0, count: limit)
      var count = 0
      // What the kernel makes up comes in pieces, however much is asked for.
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

  /// The first line; nil when it cannot be read.
  package static func line(of path: String) -> String? { text(of: path).map { String($0.prefix { $0 != "\n" }) } }
}

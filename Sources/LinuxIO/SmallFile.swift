import Glibc

/// Files of a few lines, as the kernel makes them up in /proc and /sys.
package enum SmallFile {
  /// The first 16 KiB; nil when it cannot be read.
  package static func text(of path: String) -> String? {
    do {
      let file = try SystemCall.open(path, O_RDONLY)
      var buffer = [UInt8](repeating: 0, count: 16_384)
      let count = try SystemCall.read(file.rawValue, into: &buffer)
      return String(decoding: buffer.prefix(count), as: UTF8.self)
    } catch {
      return nil
    }
  }

  /// The first line; nil when it cannot be read.
  package static func line(of path: String) -> String? { text(of: path).map { String($0.prefix { $0 != "\n" }) } }
}

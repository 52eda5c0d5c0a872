/// A file system as /proc/self/mountinfo lists it (proc_pid_mountinfo(5)).
package struct Mount: Sendable, Equatable {
  /// The directory where the file system is mounted.
  package let point: String
  /// The file system's type: `ext4`, `nfs4`, `overlay`…
  package let type: String

  package init(point: String, type: String) { (self.point, self.type) = (point, type) }

  /// Finds the file system of a file. Nil if /proc does not list it.
  /// - Parameters:
  ///   - path: An absolute path without symbolic links.
  ///   - table: The contents of /proc/self/mountinfo.
  package init?(of path: String, table: String? = SmallFile.text(of: "/proc/self/mountinfo", limit: 1 << 20)) {
    var found: Mount?
    for line in (table ?? "").split(separator: "\n") {
      guard let mount = Mount(line: line), mount.contains(path) else { continue }
      // With several mounts at one point, the last hides the others.
      if mount.point.utf8.count >= found?.point.utf8.count ?? 0 { found = mount }
    }
    guard let found else { return nil }
    self = found
  }

  private init?(line: Substring) {
    let words = line.split(separator: " ")
    guard words.count > 4, let dash = words.firstIndex(of: "-"), words.index(after: dash) < words.endIndex else { return nil }
    self.init(point: Self.unescaped(words[4]), type: Self.unescaped(words[words.index(after: dash)]))
  }

  private func contains(_ path: String) -> Bool { point == "/" || path == point || path.hasPrefix(point + "/") }

  /// Decodes the octal escapes of spaces, tabs, newlines and backslashes. For example, `\040` is a space.
  private static func unescaped(_ word: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(word.utf8)[...]
    while let first = rest.popFirst() {
      let digits = rest.prefix(3)
      if first == UInt8(ascii: "\\"), digits.count == 3, let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 8) {
        bytes.append(byte)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(first)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

import Glibc

/// What is in a folder, for whoever types a path.
package enum FolderNames {
  /// More than that nobody reads.
  static let limit = 10_000

  /// In no order, folders with a slash behind them; none where there is no folder, or one that may not be read.
  /// - Parameter path: empty: the working directory; `~/` is the user's home.
  package static func list(_ path: String, home: String?) -> [String] {
    var path = path.isEmpty ? "." : path
    if path.hasPrefix("~/"), let home { path = home + path.dropFirst() }
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while names.count < limit, let entry = unsafe readdir(folder) {
      let kind = unsafe entry.pointee.d_type
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { octets in
        unsafe String(validating: octets.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let name, name != ".", name != ".." else { continue }
      names.append(Int32(kind) == DT_DIR || Int32(kind) == DT_LNK && isFolder("\(path)/\(name)") ? name + "/" : name)
    }
    return names
  }

  /// Also by way of a symbolic link.
  package static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}

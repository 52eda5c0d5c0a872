import Glibc

/// Lists folders, for path completion.
package enum FolderNames {
  /// The maximum number of names in a list. A user does not read more.
  static let limit = 10_000

  /// Returns the names in a folder, unordered. Folders end with a slash. Empty if the folder is missing or unreadable.
  /// - Parameter path: Empty is the working directory. A leading `~/` is the user's home.
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

  /// Whether a path is a folder, or a symbolic link to a folder.
  package static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}

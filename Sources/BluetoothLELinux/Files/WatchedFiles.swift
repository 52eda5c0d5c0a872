/// The files that `InputFile.read` opened, and the versions that it read, for a program that waits until one of them changes.
@LoopActor
package enum WatchedFiles {
  /// The versions by path. A nil version is a file that did not exist. Nil unless `begin` was called.
  private static var versions: [String: FileVersion?]?
  /// The maximum number of watched files.
  private static let limit = 10_000
  /// The real time between two looks at the files, in milliseconds.
  private static let pause = 250

  /// Starts to watch the files that the process reads from now on.
  package static func begin() { versions = [:] }

  /// Watches a file, unless no program waits for changes. Keeps the version of an earlier call.
  package static func add(_ path: String) {
    guard let count = versions?.count, count < limit, versions?[path] == nil else { return }
    versions?.updateValue(version(of: path), forKey: path)
  }

  package static var count: Int { versions?.count ?? 0 }

  /// Waits until a watched file differs from the version that the process read, and until a program has finished writing to it.
  /// - Returns: The path of the first changed file in alphabetical order.
  /// - Throws: Errno or CancellationError.
  package static func change() async throws -> String {
    while true {
      let now = changed
      if let path = now.keys.min() {
        // An editor may remove the file before it writes the new one.
        try await RealTime.sleep(milliseconds: pause)
        if changed == now { return path }
      } else {
        try await RealTime.sleep(milliseconds: pause)
      }
    }
  }

  private static var changed: [String: FileVersion?] {
    var changed: [String: FileVersion?] = [:]
    for (path, before) in versions ?? [:] {
      let now = version(of: path)
      if now != before { changed.updateValue(now, forKey: path) }
    }
    return changed
  }

  private static func version(of path: String) -> FileVersion? { SystemCall.status(of: path).map(FileVersion.init) }
}

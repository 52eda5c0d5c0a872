import BluetoothLELinux

/// The files named on a command line. A written file must differ from all other files.
package struct CommandFiles {
  private var inputs: [Named] = []
  private var outputs: [Named] = []

  private struct Named {
    /// The option or argument that names the file, such as `--trace` or `SCRIPT`.
    let role: String
    let path: String

    var isStandard: Bool { path.hasPrefix("/dev/") || path.hasPrefix("/proc/self/fd/") }
  }

  /// Adds an input file. Does nothing if `path` is nil.
  package mutating func reads(_ path: String?, as role: String) { if let path { inputs.append(Named(role: role, path: path)) } }

  /// Adds the input file that a value names with `@FILE`, or standard input for `-`. Does nothing for any other value.
  package mutating func readsValue(_ value: String, as role: String) { reads(value == "-" ? value : value.after("@"), as: role) }

  package mutating func writes(_ path: String?, as role: String) {
    if let path { outputs.append(Named(role: role, path: path == "-" ? "./-" : path)) }
  }

  /// Checks that no output file of the command line is also an input file or another output file.
  /// - Throws: `Failure(.usage)` that names the file and both roles.
  func check() throws {
    var seen: [FileIdentity: Named] = [:]
    for file in outputs {
      guard let identity = FileIdentity(file.path) else { continue }
      if let other = seen.updateValue(file, forKey: identity), !(other.isStandard && file.isStandard) {
        throw Failure(.usage, "\(other.role) and \(file.role) would both write \(DisplayText.quote(file.path)). Choose another name.")
      }
    }
    guard !seen.isEmpty else { return }
    for file in inputs {
      guard let identity = FileIdentity(file.path), let output = seen[identity], !(output.isStandard && file.isStandard) else { continue }
      throw Failure(
        .usage, "\(output.role) would overwrite \(DisplayText.quote(file.path)), which is read as \(file.role). Choose another name.")
    }
  }
}

import LinuxIO
import Presentation
import Text

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

  /// Adds an input file. `path` is nil if the command line names no file.
  package mutating func reads(_ path: String?, as role: String) { if let path { inputs.append(Named(role: role, path: path)) } }

  /// Adds the file of a value that may be `@FILE` or standard input.
  package mutating func readsValue(_ value: String, as role: String) { reads(value == "-" ? value : value.after("@"), as: role) }

  package mutating func writes(_ path: String?, as role: String) {
    if let path { outputs.append(Named(role: role, path: path == "-" ? "./-" : path)) }
  }

  /// Checks that no written file is another file. Asks the file system only if the command writes one.
  /// - Throws: `Failure(.usage)` that names the two files.
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

import LinuxIO
import Text

/// Files that a command line names. What is written must be no other's: one of the two would be destroyed without a word.
struct CommandFiles {
  private var inputs: [Named] = []
  private var outputs: [Named] = []

  private struct Named {
    /// `--trace`, SCRIPT: what it is called on the command line.
    let role: String
    let path: String

    var isStandard: Bool { path.hasPrefix("/dev/") || path.hasPrefix("/proc/self/fd/") }
  }

  /// - Parameter path: nil: none is named.
  mutating func reads(_ path: String?, as role: String) { if let path { inputs.append(Named(role: role, path: path)) } }

  /// As `reads`, of a value that may be `@FILE` or standard input.
  mutating func readsValue(_ value: String, as role: String) { reads(value == "-" ? value : value.after("@"), as: role) }

  mutating func writes(_ path: String?, as role: String) {
    if let path { outputs.append(Named(role: role, path: path == "-" ? "./-" : path)) }
  }

  /// Asks the file system only where something is written.
  /// - Throws: Failure(.usage) that names the two.
  func check() throws {
    var seen: [FileIdentity: Named] = [:]
    for file in outputs {
      guard let identity = FileIdentity(file.path) else { continue }
      if let other = seen.updateValue(file, forKey: identity), !(other.isStandard && file.isStandard) {
        throw Failure(
          .usage,
          "\(other.role) and \(file.role) are both \(DisplayText.quote(file.path)), and one would destroy the other: choose another name")
      }
    }
    guard !seen.isEmpty else { return }
    for file in inputs {
      guard let identity = FileIdentity(file.path), let output = seen[identity], !(output.isStandard && file.isStandard) else { continue }
      throw Failure(
        .usage, "\(output.role) would overwrite \(DisplayText.quote(file.path)), which is read as \(file.role): choose another name")
    }
  }
}

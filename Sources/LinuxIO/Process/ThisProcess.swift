import CLinux
import Glibc

/// Prepares and ends this process, and reads its environment and arguments.
package enum ThisProcess {
  /// Prepares the process. Failed writes become errors (EPIPE), not signals in the middle of an open link. Makes no capability effective.
  /// Ctrl-\ does not trigger the long crash report of the Swift runtime. Replaces closed standard descriptors: otherwise the next
  /// opened file or socket would get their number, and results or messages would go there. Using a replacement fails (EBADF).
  package static func prepare() {
    Capabilities.lower()
    SignalWatch.ignoreFailedWrites()
    if shim_is_ignored(SIGQUIT) == 0 { _ = shim_default_signal(SIGQUIT) }
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Reads the environment. Call it once, before there is a second thread: C's `environ` is not safe for two.
  package static func environment() -> [String: String] {
    var variables: [String: String] = [:]
    var entry = unsafe environ
    while let text = unsafe entry.pointee {
      let parts = unsafe String(cString: text).utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(Substring(parts[0]))] = String(Substring(parts[1])) }
      unsafe entry += 1
    }
    return variables
  }

  /// Returns the index of the first argument that is not UTF-8. Swift has replaced the invalid bytes in `CommandLine.arguments`.
  package static func argumentThatIsNoText() -> Int? {
    CommandLine.arguments.indices.dropFirst().first { index in
      // U+FFFD replaces invalid bytes.
      guard CommandLine.arguments[index].utf8.contains(0xEF), let octets = unsafe CommandLine.unsafeArgv[index] else { return false }
      return unsafe String(validatingCString: octets) == nil
    }
  }

  /// Returns the path of the program after resolving links. Nil if /proc does not provide the path.
  package static func executable() -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes -> Int in
      guard let base = bytes.baseAddress else { return -1 }
      return unsafe readlink("/proc/self/exe", base.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
  }

  package static func exit(_ status: Int32) -> Never { Glibc.exit(status) }
}

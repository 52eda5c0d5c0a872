import CLinux
import Glibc

/// What a program does once with its own process, before anything runs beside and at the end.
package enum ThisProcess {
  /// A reader that goes away is an error of write(2) then (EPIPE), not a signal in the middle of an open link. And a standard descriptor that
  /// the caller closed would be given to the next file or socket that is opened, and results or messages would go there: what is put in its
  /// place fails (EBADF) when it is read or written, as the closed one would. And no capability is effective. And Ctrl-\ is no crash, of which
  /// the Swift runtime would tell at length.
  package static func prepare() {
    Capabilities.lower()
    SignalWatch.ignoreFailedWrites()
    if shim_is_ignored(SIGQUIT) == 0 { _ = shim_default_signal(SIGQUIT) }
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Read once, before anything runs beside: `environ` is C's, and not for two threads.
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

  /// The index of the first argument that is not UTF-8, and of which `CommandLine.arguments` has something else in its place.
  package static func argumentThatIsNoText() -> Int? {
    CommandLine.arguments.indices.dropFirst().first { index in
      // U+FFFD stands in place of what is wrong.
      guard CommandLine.arguments[index].utf8.contains(0xEF), let octets = unsafe CommandLine.unsafeArgv[index] else { return false }
      return unsafe String(validatingCString: octets) == nil
    }
  }

  /// The path of the program, with links resolved; nil when /proc does not say.
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

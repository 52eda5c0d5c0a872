import Glibc
import Text

/// Output before the event loop runs: usage errors and help.
extension Output {
  /// The width of the terminal on standard error, in columns. Nil if standard error is not a terminal.
  package nonisolated static var errorWidth: Int? {
    var window = winsize()
    guard isatty(STDERR_FILENO) == 1 else { return nil }
    return unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &window) == 0 && window.ws_col > 0 ? Int(window.ws_col) : 80
  }

  /// Folds a line at its words. A command of the program at its end stays on one line, to be copied.
  package nonisolated static func fold(_ line: String, of program: String, to width: Int) -> String {
    guard DisplayText.width(line) > width else { return line }
    let start = line.ranges(of: ": \(program) ").last?.lowerBound ?? line.endIndex
    let command = line[start...].dropFirst(2).replacing(" ", with: "\u{A0}")
    let words = line[..<start] + (command.isEmpty ? "" : ": \(command)")
    return DisplayText.wrap(String(words), to: width).joined(separator: "\n").replacing("\u{A0}", with: " ")
  }

  package enum StandardStream: Sendable { case output, error }

  /// Writes synchronously, for messages before the loop runs.
  /// - Returns: false when it could not be written.
  @discardableResult
  package nonisolated static func writeWaiting(_ stream: StandardStream, _ text: String) -> Bool {
    let descriptor = stream == .output ? STDOUT_FILENO : STDERR_FILENO
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&poller, 1, -1)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}

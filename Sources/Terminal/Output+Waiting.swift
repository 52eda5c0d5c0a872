import BluetoothLE
import Glibc

/// Functions that write output before the event loop runs, such as usage errors and help.
extension Output {
  /// The width of the terminal on stderr, in columns. Nil if stderr is not a terminal.
  package nonisolated static var errorWidth: Int? { width(of: STDERR_FILENO) }
  /// The width of the terminal on stdout, in columns. Nil if stdout is not a terminal.
  package nonisolated static var outputWidth: Int? { width(of: STDOUT_FILENO) }

  private nonisolated static func width(of descriptor: Int32) -> Int? {
    isatty(descriptor) == 1 ? TerminalSize(of: descriptor).columns : nil
  }

  /// Folds a line between words to a width in columns. A command of `program` after a colon stays on one line, so that users can copy it.
  package nonisolated static func fold(_ line: String, of program: String, to width: Int) -> String {
    guard DisplayText.width(line) > width else { return line }
    let start = line.ranges(of: ": \(program) ").last?.lowerBound ?? line.endIndex
    let rest = line[start...].dropFirst(2)
    let end = rest.firstRange(of: ". ")?.lowerBound ?? rest.endIndex
    let command = rest[..<end].replacing(" ", with: "\u{A0}")
    let words = line[..<start] + (command.isEmpty ? "" : ": \(command)") + rest[end...]
    return DisplayText.wrap(String(words), to: width).joined(separator: "\n").replacing("\u{A0}", with: " ")
  }

  package enum StandardStream: Sendable { case output, error }

  /// Writes a text and blocks until the kernel has accepted it.
  /// - Returns: False if the write failed.
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

import Glibc
package import Text

/// The only writer to stdout and stderr. stdout carries results, stderr everything else.
package final class Output {
  package struct Style: Sendable {
    package var json = false
    package var quiet = false
    package var verbosity = 0
    package var color = ColorChoice.auto

    package init() {}
  }

  package let style: Style
  package let outIsTerminal: Bool
  package let errIsTerminal: Bool
  private let colorOut: Bool
  private let colorErr: Bool
  /// Escape sequences would only be litter there.
  private let isDumb: Bool
  /// A line on the terminal that the next message has to replace (a progress bar or live table).
  private var eraseTransient: String?

  package init(_ style: Style, environment: (String) -> String?) {
    self.style = style
    outIsTerminal = isatty(STDOUT_FILENO) == 1
    errIsTerminal = isatty(STDERR_FILENO) == 1
    let isDumb = environment("TERM") == "dumb"
    self.isDumb = isDumb
    func allows(_ isTerminal: Bool) -> Bool {
      if style.json { return false }
      return switch style.color {
      case .always: true
      case .never: false
      case .auto: isTerminal && environment("NO_COLOR")?.isEmpty ?? true && !isDumb
      }
    }
    colorOut = allows(outIsTerminal)
    colorErr = allows(errIsTerminal)
  }

  /// May escape sequences move the cursor on stdout (live views)?
  package var canAnimateOut: Bool { outIsTerminal && !isDumb && !style.json && !style.quiet }
  package var canAnimateErr: Bool { errIsTerminal && !isDumb && !style.json && !style.quiet }

  package var width: Int { size.columns }
  package var height: Int { size.rows }

  private var size: (columns: Int, rows: Int) {
    var window = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else { return (80, 24) }
    return (Int(window.ws_col), Int(window.ws_row))
  }

  // MARK: Results

  /// One line of the result.
  package func line(_ text: String) throws(OutputFailure) { try write(Array((text + "\n").utf8)) }

  /// One JSON record.
  package func record(_ build: (inout JSONLine) -> Void) throws(OutputFailure) {
    var json = JSONLine()
    build(&json)
    try write(json.finished())
  }

  /// Octets as they are.
  package func write(_ bytes: [UInt8]) throws(OutputFailure) { try Self.writeAll(STDOUT_FILENO, bytes) }

  package func paint(_ text: String, _ paint: Paint) -> String { colorOut ? paint.apply(text) : text }

  // MARK: Messages

  /// Something that the user should know; not with `--quiet`.
  package func note(_ text: String) {
    guard !style.quiet else { return }
    message((colorErr ? Paint.yellow.apply("note:") : "note:") + " " + text)
  }

  /// What is being done; on a terminal or with `-v`.
  package func status(_ text: String) {
    guard !style.quiet, !style.json, errIsTerminal || style.verbosity > 0 else { return }
    message(colorErr ? Paint.dim.apply(text) : text)
  }

  package func verbose(_ level: Int, _ text: @autoclosure () -> String) {
    guard style.verbosity >= level else { return }
    message(colorErr ? Paint.dim.apply(text()) : text())
  }

  package func failure(_ text: String) {
    message((colorErr ? Paint.red.apply("blectl:") : "blectl:") + " " + text)
  }

  /// One line on stderr. A stderr that cannot be written is nobody's fault and nobody's to tell.
  package func message(_ text: String) {
    clearTransient()
    try? Self.writeAll(STDERR_FILENO, Array((text + "\n").utf8))
  }

  // MARK: Progress

  /// Shows `text` on the last line of the terminal until the next message or progress replaces it.
  package func progress(_ text: String) {
    guard canAnimateErr else { return }
    eraseTransient = "\r\u{1B}[K"
    try? Self.writeAll(STDERR_FILENO, Array(("\r\u{1B}[K" + text).utf8))
  }

  package func clearTransient() {
    guard let erase = eraseTransient else { return }
    eraseTransient = nil
    try? Self.writeAll(STDERR_FILENO, Array(erase.utf8))
  }

  // MARK: Writing

  private static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) throws(OutputFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        // Someone shares a non-blocking descriptor with us: wait for it, as a blocking one would.
        var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&poller, 1, -1)
      } else if errno != EINTR {
        throw OutputFailure(isClosedPipe: errno == EPIPE, reason: unsafe String(cString: strerror(errno)))
      }
    }
  }
}

package enum ColorChoice: String, Sendable, CaseIterable { case auto, always, never }

/// stdout could not be written. A closed pipe (`| head -1`) ends the program quietly.
package struct OutputFailure: Error {
  package let isClosedPipe: Bool
  package let reason: String
}

/// ANSI colours, used sparingly: names of things, not whole lines.
package enum Paint: String, Sendable {
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
  case cyan = "36"

  package func apply(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}

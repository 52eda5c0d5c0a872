import Glibc

/// The size of a terminal, in columns and rows that every library can handle.
package struct TerminalSize: Equatable, Sendable {
  package let columns: Int
  package let rows: Int

  /// The limits of both numbers. With less, readline 8.2 divides by zero. With much more, it hangs, and ncurses 6.4 refuses the terminal.
  static let (columnLimits, rowLimits) = (8...4096, 2...4096)

  /// Queries the terminal at a descriptor. If it reports no size, uses `COLUMNS` and `LINES`, else 80 columns and 24 rows.
  init(of descriptor: Int32) {
    var window = winsize()
    // After an error, both numbers stay 0.
    _ = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &window)
    self.init(reported: (Int(window.ws_col), Int(window.ws_row))) { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
  }

  init(reported: (columns: Int, rows: Int), environment: (String) -> String?) {
    func limited(_ reported: Int, _ name: String, _ usual: Int, _ limits: ClosedRange<Int>) -> Int {
      let number = reported > 0 ? reported : environment(name).flatMap { Int($0) } ?? 0
      return number > 0 ? min(max(number, limits.lowerBound), limits.upperBound) : usual
    }
    columns = limited(reported.columns, "COLUMNS", 80, Self.columnLimits)
    rows = limited(reported.rows, "LINES", 24, Self.rowLimits)
  }
}

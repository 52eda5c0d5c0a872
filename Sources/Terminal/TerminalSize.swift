import CBluetoothLESystem
import Glibc

/// The size of a terminal, within limits that every library can handle.
package struct TerminalSize: Equatable, Sendable {
  package let columns: Int
  package let rows: Int

  /// Queries the terminal at a descriptor. If it reports no size, uses `COLUMNS` and `LINES`, else 80 columns and 24 rows.
  init(of descriptor: Int32) {
    var window = winsize()
    _ = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &window)
    self.init(reported: (Int(window.ws_col), Int(window.ws_row))) { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
  }

  init(reported: (columns: Int, rows: Int), environment: (String) -> String?) {
    // Beyond these limits, readline 8.2 crashes or hangs, and ncurses 6.4 refuses the terminal.
    func limited(_ reported: Int, _ name: String, _ usual: Int, _ least: Int) -> Int {
      let number = reported > 0 ? reported : environment(name).flatMap { Int($0) } ?? 0
      return number > 0 ? min(max(number, least), 4096) : usual
    }
    columns = limited(reported.columns, "COLUMNS", 80, 8)
    rows = limited(reported.rows, "LINES", 24, 2)
  }
}

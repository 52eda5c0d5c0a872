package import BluetoothLE
import CCurses
import Glibc

// For termios: its shim is the first in this room to include it.

/// The settings of a terminal for reading single keys, without echo and line buffering. Ctrl-C and Ctrl-Z still send signals.
@LoopActor
package final class TerminalMode {
  private let descriptor: Int32
  private let user: termios
  private var isOurs = false

  /// Saves the terminal's current settings. Nil if the descriptor is not a terminal.
  package init?(_ descriptor: Int32) {
    var now = termios()
    guard unsafe tcgetattr(descriptor, &now) == 0 else { return nil }
    self.descriptor = descriptor
    user = now
  }

  isolated deinit { leave() }

  /// Applies the settings for single keys immediately. Input that arrived earlier stays available. Idempotent.
  /// - Parameter sequence: The escape sequence that a crash handler writes to undo other changes of the terminal, also after Ctrl-\.
  func enter(undoing sequence: String) {
    guard !isOurs else { return }
    var raw = user
    unsafe withUnsafePointer(to: user) { unsafe shim_guard_terminal(descriptor, $0, sequence + "\n") }
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
    // Ctrl-S searches forward.
    raw.c_iflag &= ~tcflag_t(ICRNL | INLCR | IXON)
    unsafe withUnsafeMutableBytes(of: &raw.c_cc) { characters in
      unsafe characters[Int(VMIN)] = 1
      unsafe characters[Int(VTIME)] = 0
    }
    isOurs = unsafe tcsetattr(descriptor, TCSANOW, &raw) == 0
    if !isOurs { shim_unguard_terminal() }
  }

  /// Restores the user's settings. Idempotent.
  package func leave() {
    guard isOurs else { return }
    isOurs = false
    var settings = user
    _ = unsafe tcsetattr(descriptor, TCSANOW, &settings)
    shim_unguard_terminal()
  }
}

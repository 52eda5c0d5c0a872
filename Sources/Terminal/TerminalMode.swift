// For termios: its shim is the first in this room to include that.
import CCurses
package import EventLoop
import Glibc

/// The terminal's settings while keys are read one by one: no echo, no lines. Ctrl-C and Ctrl-Z still are signals.
@LoopActor
package final class TerminalMode {
  private let descriptor: Int32
  private let user: termios
  private var isOurs = false

  /// - Returns: nil when it is no terminal.
  package init?(_ descriptor: Int32) {
    var now = termios()
    guard unsafe tcgetattr(descriptor, &now) == 0 else { return nil }
    self.descriptor = descriptor
    user = now
  }

  isolated deinit { leave() }

  /// At once, without waiting for what is still to be shown there; what was typed before stays to be read. Idempotent.
  /// - Parameter sequence: undoes what else the terminal is told, if the program crashes or is ended by Ctrl-\.
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

  /// The user's own settings again. Idempotent.
  package func leave() {
    guard isOurs else { return }
    isOurs = false
    var settings = user
    _ = unsafe tcsetattr(descriptor, TCSANOW, &settings)
    shim_unguard_terminal()
  }
}

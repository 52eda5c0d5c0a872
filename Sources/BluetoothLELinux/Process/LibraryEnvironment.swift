import CBluetoothLESystem
import Glibc

/// Hides variables of the process environment from C libraries.
///
/// The environment can name files that ncurses and readline then read. A process with more rights than its user must prevent this.
/// ncurses 6.4 compares only user and group numbers, and therefore does not notice capabilities.
package enum LibraryEnvironment {
  /// The environment that this process got at its start. Nil while C libraries see the same environment.
  private nonisolated(unsafe) static var callers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?

  /// The environment for child processes, with all variables that this process got at its start.
  static var ofChildren: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { unsafe callers ?? environ }

  /// Hides the user's variables from C libraries if this process has capabilities. Call this function before there is a second thread.
  package static func restrict() {
    guard unsafe callers == nil, Capabilities.areHeld else { return }
    var entry = unsafe ofChildren
    // Without this name, readline would look for the user's file even without HOME.
    var shown = unsafe [strdup("INPUTRC=/etc/inputrc")]
    while let text = unsafe entry.pointee {
      if unsafe isShown(String(cString: text)) { unsafe shown.append(text) }
      unsafe entry += 1
    }
    unsafe shown.append(nil)
    let copy = unsafe UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: shown.count)
    unsafe copy.initialize(from: shown, count: shown.count)
    unsafe callers = environ
    unsafe shim_set_environment(copy)
  }

  /// Returns whether C libraries may see a variable (`NAME=VALUE`). True for terminal type and size, locale and time zone.
  static func isShown(_ variable: String) -> Bool {
    let name = variable.prefix { $0 != "=" }
    return ["TERM", "LINES", "COLUMNS", "LANG", "TZ"].contains(name) || name.hasPrefix("LC_")
  }
}

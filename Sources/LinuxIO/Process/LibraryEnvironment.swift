import CLinux
import Glibc

/// Hides variables of the caller's environment from C libraries.
///
/// ncurses and readline read files and settings that the environment names. They must not do so in a process with more rights than its
/// caller. ncurses 6.4 compares only user and group numbers, so it does not notice capabilities.
package enum LibraryEnvironment {
  /// The caller's environment, while libraries see another one.
  private nonisolated(unsafe) static var callers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?

  /// The caller's environment, for child processes.
  static var ofChildren: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { unsafe callers ?? environ }

  /// Hides the caller's variables from libraries if this process has capabilities. Call it before there is a second thread.
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

  /// Whether a variable names no file of the caller: terminal type and size, locale, time zone. The C library checks the last two.
  static func isShown(_ variable: String) -> Bool {
    let name = variable.prefix { $0 != "=" }
    return ["TERM", "LINES", "COLUMNS", "LANG", "TZ"].contains(name) || name.hasPrefix("LC_")
  }
}

import Testing

@testable import LinuxIO

/// In a process with capabilities, terminal libraries see only variables that cannot name a file.
@Suite(.timeLimit(.minutes(1))) struct LibraryEnvironmentTests {
  @Test(arguments: ["TERM=xterm", "TERM=", "LINES=24", "COLUMNS=80", "LANG=de_DE.UTF-8", "LC_ALL=C", "LC_CTYPE=C.UTF-8", "TZ=UTC"])
  func namesNoFile(_ variable: String) { #expect(LibraryEnvironment.isShown(variable)) }

  @Test(arguments: [
    "TERMINFO=/tmp", "TERMINFO_DIRS=/tmp", "TERMCAP=/tmp/termcap", "TERMPATH=/tmp", "INPUTRC=/tmp/inputrc", "HOME=/tmp",
    "NCURSES_NO_SETBUF=1", "NCURSES_TRACE=1", "PATH=/bin", "LD_PRELOAD=x.so", "=", "", "term=xterm",
  ])
  func mayNameOne(_ variable: String) { #expect(!LibraryEnvironment.isShown(variable)) }
}

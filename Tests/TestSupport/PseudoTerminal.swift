import CBluetoothLESystem
import Foundation
import Glibc

/// A program on its own terminal, with the terminal's contents.
package final class PseudoTerminal: @unchecked Sendable {
  private let process = Process()
  private let master: Int32
  private let name: String
  private let reading = DispatchGroup()
  private let collected = Collected(streams: 1)

  /// - Parameters:
  ///   - locale: The value of `LC_ALL`.
  ///   - hasKeys: Whether it is also standard input and the controlling terminal, so that Ctrl-C is a signal.
  package init(
    _ command: [String], columns: Int, rows: Int, environment: [String: String] = [:], locale: String = "C.UTF-8", hasKeys: Bool = false
  ) throws {
    // Equivalent to posix_openpt(3) and ptsname(3), which Glibc's module lacks: TIOCSPTLCK and TIOCGPTN of ioctl_tty(2).
    master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (lock, number): (Int32, Int32) = (0, 0)
    guard master >= 0, unsafe ioctl(master, 0x4004_5431, &lock) == 0, unsafe ioctl(master, 0x8004_5430, &number) == 0 else {
      throw POSIXError(.ENXIO)
    }
    name = "/dev/pts/\(number)"
    let slave = unsafe open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard slave >= 0 else { throw POSIXError(.ENXIO) }
    resize(columns: columns, rows: rows)
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["--default-signal=INT,TERM,HUP,QUIT"] + (hasKeys ? ["setsid", "--ctty", "--wait"] : []) + command
    let own = ["PATH": "/usr/bin:/bin", "HOME": "/dev/null", "TERM": "xterm", "LC_ALL": locale]
    process.environment = own.merging(environment) { $1 }
    let handle = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
    (process.standardInput, process.standardOutput, process.standardError) = (hasKeys ? handle : FileHandle.nullDevice, handle, handle)
    try process.run()
    close(slave)
    DispatchQueue.global().asyncAfter(deadline: .now() + HangGuard.seconds) { [weak self] in self?.kill() }
    reading.enter()
    Thread.detachNewThread { [master, collected, reading] in
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while case let count = unsafe read(master, &buffer, buffer.count), count > 0 {
        collected.add(Array(buffer[..<count]), isError: false)
      }
      collected.end()
      reading.leave()
    }
  }

  /// Stops the program even if a test failed halfway.
  deinit {
    kill()
    close(master)
  }

  private func kill() {
    guard process.isRunning else { return }
    // Includes processes that `setsid` has started.
    signal(SIGKILL)
    Glibc.kill(process.processIdentifier, SIGKILL)
  }

  package func resize(columns: Int, rows: Int) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
  }

  package var bytes: [UInt8] { collected.all.0 }

  /// Waits for `text` after the first `bytes` bytes. - Returns: False if the program ended or the time limit passed first.
  package func wait(for text: String, after bytes: Int = 0) -> Bool {
    collected.wait { out, _ in String(decoding: out.dropFirst(bytes), as: UTF8.self).contains(text) }
  }

  /// Presses keys.
  package func type(_ keys: String) {
    var rest = Array(keys.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(master, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits until the screen fits. - Returns: False if the program ended or the time limit passed first.
  package func wait(columns: Int, where fits: (TerminalScreen) -> Bool) -> Bool {
    collected.wait { out, _ in fits(TerminalScreen(out, columns: columns)) }
  }

  /// Waits until the output so far fits. - Returns: False if the program ended or the time limit passed first.
  package func wait(where fits: ([UInt8]) -> Bool) -> Bool { collected.wait { out, _ in fits(out) } }

  /// Sends a signal to the foreground process group.
  package func signal(_ number: Int32) {
    // TIOCGPGRP, which also works on this end.
    var group: pid_t = 0
    if unsafe ioctl(master, UInt(TIOCGPGRP), &group) == 0, group > 0 { Glibc.kill(-group, number) }
  }

  package func interrupt() { Glibc.kill(process.processIdentifier, SIGINT) }

  /// Stops the program as Ctrl-Z does, even without a parent shell. Returns when it has stopped.
  package func stop() {
    Glibc.kill(process.processIdentifier, SIGSTOP)
    var information = unsafe siginfo_t()
    _ = unsafe waitid(P_PID, id_t(process.processIdentifier), &information, WSTOPPED | WNOWAIT)
  }

  /// Whether the terminal echoes typed text and passes it on line by line.
  package var echoes: Bool {
    let end = unsafe open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
    defer { close(end) }
    var settings = termios()
    return unsafe tcgetattr(end, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON)
  }

  /// Shows text from another program, for example a shell.
  package func show(_ text: String) {
    let end = unsafe open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC)
    let bytes = Array(text.utf8)
    _ = unsafe write(end, bytes, bytes.count)
    close(end)
  }

  package func resume() { Glibc.kill(process.processIdentifier, SIGCONT) }

  /// - Returns: The exit status and all output.
  package func finish() -> (status: Int32, text: String) {
    process.waitUntilExit()
    reading.wait()
    return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
  }
}

/// A terminal screen for text and the few control sequences of live views. It has no width, so long lines do not wrap.
package struct Screen {
  package private(set) var lines: [String] = [""]
  private var row = 0
  private var isAtStart = true
  /// Unknown escape sequences.
  package private(set) var unknown: [String] = []

  /// - Parameter rows: How many rows the cursor can move up.
  package init(_ text: String, rows: Int) {
    var rest = Substring(text)
    while let character = rest.popFirst() {
      switch character {
      case "\r\n", "\n":
        row += 1
        if row == lines.count { lines.append("") }
        isAtStart = true
      case "\r": isAtStart = true
      case "\u{1B}": sequence(&rest, rows)
      default:
        if isAtStart { lines[row] = "" }
        isAtStart = false
        lines[row].append(character)
      }
    }
  }

  private mutating func sequence(_ rest: inout Substring, _ rows: Int) {
    guard rest.popFirst() == "[" else { return unknown.append(String(rest.prefix(5))) }
    let number = rest.prefix { $0.isNumber }
    rest = rest.dropFirst(number.count)
    switch rest.popFirst() {
    case "A": row = max(row - (Int(number) ?? 1), max(0, lines.count - rows))
    case "K": if isAtStart { lines[row] = "" }
    case "J":
      lines.removeLast(lines.count - 1 - row)
      if isAtStart { lines[row] = "" }
    case "m": break
    case let other: unknown.append("\(number)\(other.map(String.init) ?? "")")
    }
  }
}

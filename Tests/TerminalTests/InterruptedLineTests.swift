import Glibc
import TestSupport
import Testing

@testable import Terminal

/// Tests the terminal line after `^C`.
@Suite(.timeLimit(.minutes(1))) struct InterruptedLineTests {
  private final class PseudoTerminal {
    let master: Int32
    let slave: Int32

    init() throws {
      var (master, slave): (Int32, Int32) = (-1, -1)
      try #require(unsafe openpty(&master, &slave, nil, nil, nil) == 0)
      _ = fcntl(master, F_SETFL, O_NONBLOCK)
      self.master = master
      self.slave = slave
    }

    deinit {
      close(slave)
      close(master)
    }

    func shown() -> String {
      var text: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while case let count = unsafe read(master, &buffer, buffer.count), count > 0 { text += buffer.prefix(count) }
      return String(decoding: text, as: UTF8.self)
    }
  }

  @Test func whatFollowsBeginsOnALineOfItsOwn() async throws {
    try await onLoop {
      let terminal = try PseudoTerminal()
      let output = Output(Output.Style(), out: terminal.slave, err: terminal.slave) { _ in nil }
      output.breakLine()
      #expect(terminal.shown() == "\r\n")
      // A bar is erased together with the text after it.
      output.progress("half")
      output.breakLine()
      output.clearTransient()
      #expect(terminal.shown() == "\r\u{1B}[Khalf\r\u{1B}[K")
      try LiveView().draw(["row"], on: output)
      _ = terminal.shown()
      output.breakLine()
      #expect(terminal.shown().isEmpty)
    }
  }

  @Test(arguments: [
    ([:], false), (["LANG": "C"], true), (["LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"], false), (["LANG": "de_DE"], true),
  ])
  func theLocaleDecides(_ environment: [String: String], _ isASCII: Bool) async throws {
    try await onLoop {
      let output = Output(Output.Style()) { environment[$0] }
      #expect(output.displayText("└─ “é” …") == (isASCII ? "`- \"é\" ~" : "└─ “é” …"))
    }
  }
}

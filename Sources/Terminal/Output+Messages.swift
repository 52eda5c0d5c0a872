package import BluetoothLE
import Glibc

/// Notes, progress lines and errors, which go to stderr.
extension Output {
  /// Makes all messages name these commands without the program, because the user types them at the prompt of a session.
  package func showPrompt(for commands: [String: Bool]) { streams.promptCommands = commands }

  // Messages contain user input and file names. Their control characters must not reach the terminal.

  /// Writes a note to stderr, unless the user gave `--quiet`.
  package func note(_ text: String, hidesIfQuiet: Bool = true) {
    guard !style.quiet || onMessage != nil || !hidesIfQuiet else { return }
    let text = DisplayText.visible(text).asMessage(of: style.program).atPrompt(of: style.program, streams.promptCommands)
    say(text, isNote: true, (colorErr ? TerminalStyle.yellow.apply("note:") : "note:") + folded(" " + text, after: "note:"))
  }

  /// Writes progress to stderr if stderr is a terminal or the output is verbose.
  package func status(_ text: String) {
    guard !style.quiet, errIsTerminal && !style.writesMessagesAsJSON || style.verbosity > 0 else { return }
    tell(DisplayText.visible(text))
  }

  package func verbose(_ level: Int, _ text: @autoclosure () -> String) {
    guard style.verbosity >= level else { return }
    tell(DisplayText.visible(text()))
  }

  package func failure(_ text: String) {
    let name = style.program + ":"
    let text = DisplayText.visible(text).asMessage(of: style.program).atPrompt(of: style.program, streams.promptCommands)
    put(message: (colorErr ? TerminalStyle.red.apply(name) : name) + folded(" " + displayText(text), after: name))
  }

  private func tell(_ text: String) {
    let folded = folded(text, after: "")
    say(text, isNote: false, colorErr ? TerminalStyle.dim.apply(folded) : folded)
  }

  private func folded(_ text: String, after name: String) -> String {
    guard errIsTerminal, !style.writesMessagesAsJSON else { return text }
    let columns = TerminalSize(of: STDERR_FILENO).columns
    return String(Self.fold(name + text, of: style.program, to: columns).dropFirst(name.count))
  }

  private func say(_ text: String, isNote: Bool, _ plain: String) {
    if let onMessage { return onMessage(text, isNote) }
    if let screen = streams.fullScreen { return screen.message(text) }
    guard style.writesMessagesAsJSON else { return put(message: displayText(plain)) }
    messageRecord { $0.string("note", text) }
  }

  /// Writes a JSON record to stderr.
  package func messageRecord(_ build: (inout RecordWriter) -> Void) {
    put(message: String(decoding: line(of: build, isResult: false).dropLast(), as: UTF8.self))
  }

  /// Writes a line to stderr, with control characters made visible.
  package func message(_ text: String) { put(message: DisplayText.visible(text)) }

  private func put(message text: String) {
    tellOfLoss()
    streams.message(text)
  }

  func tellOfLoss() {
    guard streams.lost > 0, streams.err.hasRoom else { return }
    let count = streams.lost
    streams.lost = 0
    note("Lost \(count.counted("message")) here: standard error was not read in time.")
  }
}

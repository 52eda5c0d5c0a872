import BluetoothLE

/// Progress and live views, which later output replaces.
extension Output {
  /// Shows `text` on the last line of the terminal until the next message or progress replaces it.
  /// - Parameter old: The text to replace. Keeps any other text on that line. Nil replaces every text.
  package func progress(_ text: String, replacing old: String? = nil) {
    if let old, streams.eraseTransient != nil, streams.transient != old { return }
    let isFree = streams.err.queued == 0 && streams.err.bottomLine?.isActive != true
    guard canAnimateErr, isFree, streams.emit("\r\u{1B}[K" + displayText(text)) else { return }
    (streams.eraseTransient, streams.transient) = ("\r\u{1B}[K", text)
  }

  package func clearTransient() { streams.clearTransient() }

  /// The callback before the program draws a live view. It detects a stop, during which another program may have used the terminal.
  package var beforeFrame: (@LoopActor () -> Void)? {
    get { streams.beforeFrame }
    set { streams.beforeFrame = newValue }
  }

  /// The full-screen program that shows the messages itself. Nil if no such program runs.
  package var fullScreen: FullScreen? {
    get { streams.fullScreen }
    set { streams.fullScreen = newValue }
  }

  package struct FullScreen {
    let message: @LoopActor (String) -> Void
    let resumed: @LoopActor () -> Void

    /// Creates a full-screen program.
    /// - Parameter message: The function that shows messages for stderr.
    /// - Parameter resumed: The callback when the process continues after a stop.
    package init(message: @escaping @LoopActor (String) -> Void, resumed: @escaping @LoopActor () -> Void) {
      self.message = message
      self.resumed = resumed
    }
  }

  /// The live view at the bottom of stdout. Nil without a live view.
  var live: LiveView? {
    get { streams.live }
    set { streams.live = newValue }
  }

  /// Adapts to a terminal that other programs used while this process was stopped (Ctrl-Z). Later output does not erase earlier lines.
  package func resumed() {
    if let screen = streams.fullScreen { return screen.resumed() }
    live?.forget()
    streams.eraseTransient = nil
  }

  /// Starts a new line after the terminal's `^C`. Does nothing if a progress bar or live view will erase the `^C`.
  package func breakLine() {
    guard errIsTerminal, streams.eraseTransient == nil, live == nil, streams.fullScreen == nil else { return }
    _ = streams.emit("\n")
  }
}

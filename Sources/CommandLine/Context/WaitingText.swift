import BluetoothLELinux

extension Output {
  /// Runs `body`. On a terminal, the last line shows what it waits for, with the seconds that are left, or that have passed.
  /// - Parameters:
  ///   - what: What blectl does, such as `Waiting for ffe1`.
  ///   - deadline: The end of the wait. Nil for a wait without a limit.
  package func showingWait<T>(_ what: String, until deadline: LoopClock.Instant?, _ body: () async throws -> T) async throws -> T {
    guard canAnimateErr else { return try await body() }
    let begin = RealTime.now
    let showing = EventLoop.shared.spawn { [self] in
      // In virtual time, a timer would make an endless wait pass at once.
      while deadline == nil
        ? (try? await RealTime.sleep(milliseconds: 1000)) != nil : (try? await EventLoop.shared.sleep(for: .seconds(1))) != nil
      {
        let left = deadline.map { max(0, EventLoop.shared.now.duration(to: $0).components.seconds) }
        progress("\(what): \(left.map { "\($0) s left" } ?? "\((RealTime.now - begin) / 1_000_000_000) s")")
      }
    }
    defer {
      showing.cancel()
      clearTransient()
    }
    return try await body()
  }

  /// Calls `body`, which reads standard input. Asks a user at a terminal to type, and otherwise shows that blectl waits.
  /// - Parameter body: The function gets the callback for input that does not arrive.
  package func readingInput<T>(_ body: (@escaping @LoopActor @Sendable () -> Void) async throws -> T) async throws -> T {
    guard !StandardInput.isTerminal else {
      status("Type the data. To end it, press Enter and Ctrl-D. To cancel, press Ctrl-C.")
      return try await body {}
    }
    return try await showingWait("Waiting for standard input to end", until: nil) {
      try await body { self.note("Waiting for standard input to end. On a terminal, press Ctrl-D to end it. Press Ctrl-C to cancel.") }
    }
  }

  /// Calls `body`, which reads a file that may be a pipe. Shows that blectl waits for data.
  package func reading<T>(_ path: String, _ body: (@escaping @LoopActor @Sendable () -> Void) async throws -> T) async throws -> T {
    let what = "Waiting for data from \(DisplayText.quote(path))"
    return try await showingWait(what, until: nil) {
      try await body { [self] in if !canAnimateErr { note("\(what). Press Ctrl-C to cancel.") } }
    }
  }
}

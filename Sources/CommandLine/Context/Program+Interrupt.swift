import BluetoothLELinux

extension Program {
  /// Runs a command until it ends or a signal cancels it, and returns the exit code. Tests pass their own `watch`, which starts the delivery
  /// of signals to its handler.
  @LoopActor static func run(
    _ command: any LoopCommand, _ process: ProcessContext,
    watch: (_ handler: @escaping @LoopActor (Int32) -> Void) -> SignalWatch = { SignalWatch(handler: $0) }
  ) async -> Int32 {
    let task = EventLoop.shared.spawn { () -> (any Error)? in
      do {
        if let problem = process.configuration.problem, !command.traits.program.showsProblems { throw problem }
        if command.traits.program.usesNames { try NamesFile.check() }
        try await process.run(command, in: Context(process, command.step))
        return nil
      } catch { return process.commands.explained(error) }
    }
    let output = process.output
    var signal: Int32?
    let interrupted = Wait<Void>()
    let watched = watch { number in
      if process.onSignal?(number) == true { return }
      if number == SignalWatch.resumed { return output.resumed() }
      signal = number
      if number == 2 { output.breakLine() }
      task.cancel()
      interrupted.resume(returning: ())
    }
    process.signals = watched
    process.endTraced = { task.cancel() }
    output.beforeFrame = { [weak watched] in watched?.deliver() }
    defer { watched.cancel() }
    var failure = await task.value
    if failure == nil { do { try output.finishRecords() } catch { failure = error } }
    await process.session.close()
    process.memory.write()
    output.clearTransient()
    do { try await process.writeRecord(of: failure) } catch { if failure == nil { failure = error } }
    do { try await process.closeTrace() } catch { if failure == nil { failure = error } }
    do { try await flush(output, interrupted) } catch { if failure == nil { failure = error } }
    let unwritten = output.unwrittenLines
    if unwritten > 0 { output.note("Discarded \(unwritten.counted("line")) of the result: the output was not read in time.") }
    let status = finalStatus(failure, signal, process)
    try? await flush(output, interrupted)
    return status
  }

  /// Writes all pending output and waits for its reader without a time limit. After Ctrl-C, waits at most 300 ms.
  @LoopActor private static func flush(_ output: Output, _ interrupted: Wait<Void>) async throws {
    if !output.isFlushed, !interrupted.isSettled {
      // Without a note, a user would not see why the program does not end.
      let note = EventLoop.shared.schedule(after: .seconds(2)) {
        output.note(
          "Waiting for the reader of standard output to take \(output.unwrittenLines.counted("line")). Press Ctrl-C to discard them.")
      }
      defer { note.cancel() }
      try await race({ try await output.flush(until: nil) }, { try await interrupted.value() })
    }
    try await output.flush(until: EventLoop.shared.now.advanced(by: .milliseconds(300)))
    if !output.isFlushed { throw CancellationError() }
  }

  @LoopActor private static func finalStatus(_ failure: (any Error)?, _ signal: Int32?, _ process: ProcessContext) -> Int32 {
    // The reader of the trace closed it.
    if process.isTraceUnread { return ExitStatus.output.rawValue }
    if let signal, failure != nil {
      // Print nothing after Ctrl-C, unless a change is incomplete.
      if let told = failure.map({ Failure($0) }), told.kind == .interrupted, told != .cancelled {
        _ = report(told, process.output)
      } else if process.output.style.writesMessagesAsJSON {
        reportJSON(Failure(.interrupted, "Interrupted"), process.output)
      }
      return 128 + signal
    }
    return failure.map { report($0, process.output) } ?? ExitStatus.done.rawValue
  }
}

/// A wait for the notifications that answer a write. It subscribes to the characteristics before the write.
@LoopActor
package final class AnswerWait {
  private let options: AnswerOptions
  private let connection: Connection
  private let context: Context
  private let values: SubscribedValues
  private var expected = AnswerPatterns([], count: 1, failures: [])
  private var failureObserver: ValueObserver?
  private let failed = Wait<ValueEvent>()
  private var last: ValueEvent?

  private init(_ options: AnswerOptions, _ connection: Connection, _ context: Context) {
    (self.options, self.connection, self.context) = (options, connection, context)
    values = SubscribedValues(connection.client) { context.reportDropped($0) }
  }

  /// A function that shows the values received so far, so that records appear in the order of their events.
  package typealias ShowArrived = @LoopActor () async throws -> Void

  /// Subscribes as the answer options say, runs `body`, and waits for the answers. Without answer options, runs `body` and does not wait.
  package static func wait(
    _ options: AnswerOptions, to body: @escaping @LoopActor (ShowArrived) async throws -> Void, on connection: Connection,
    _ context: Context
  )
    async throws
  {
    guard !options.areEmpty else { return try await body {} }
    let answers = AnswerWait(options, connection, context)
    do {
      let selectors = try (options.expect + options.failOn).map { try Selector(typed: $0.attribute) }
      try await connection.client.followingChanges(of: selectors) { try await answers.subscribe() }
      // A value that matches --fail-on ends the write early.
      try await race({ try await body { try await answers.takeArrived() } }) {
        throw try await answers.failure(try await answers.failed.value(), isQueued: true)
      }
      try await answers.wait()
      await answers.end()
    } catch {
      await answers.end()
      throw error
    }
  }

  private func end() async {
    failureObserver?.cancel()
    await values.end()
  }

  // MARK: Subscribing

  private func subscribe() async throws {
    let expected = try await patterns(options.expect)
    let failures = try await patterns(options.failOn)
    self.expected = AnswerPatterns(expected, count: options.expectCount ?? 1, failures: failures)
    if expected.isEmpty, failures.isEmpty {
      _ = try await ValueSenders.addAll(on: connection.client, indicates: options.indicate, context.output) {
        try await values.add($0, kind: $1)
      }
    }
    var watched = AnswerPatterns([], count: 1, failures: failures)
    failureObserver = connection.client.observeValues { [failed] in if watched.evaluate($0) != .neither { failed.resume(returning: $0) } }
  }

  private func patterns(_ arguments: [PatternArgument]) async throws -> [AnswerPatterns.Pattern] {
    var patterns: [AnswerPatterns.Pattern] = []
    for argument in arguments {
      let characteristic: Characteristic
      do { characteristic = try await connection.client.characteristic(try Selector(typed: argument.attribute)) } catch let error
        as GATTError
      {
        guard case .notFound = error, let advice = argument.patternAdvice else { throw error }
        var failure = Failure(error)
        failure.add(advice)
        throw failure
      }
      await context.describe(characteristic, on: connection)
      try await values.add(characteristic, kind: ValueSenders.kind(of: characteristic, indicates: options.indicate))
      patterns.append(AnswerPatterns.Pattern(characteristic.valueHandle, beginningWith: argument.bytes))
    }
    return patterns
  }

  // MARK: Waiting

  private func wait() async throws {
    let limit = Duration.limited(seconds: options.collect ?? context.step.timeout ?? 10)
    var deadline = EventLoop.shared.now.advanced(by: limit)
    let isCollecting = options.collect != nil
    while isCollecting || !expected.areComplete, let (event, uuid) = try await values.next(until: deadline, isNeeded: !isCollecting) {
      if try await take(event, uuid) == .answer, !isCollecting { deadline = EventLoop.shared.now.advanced(by: limit) }
    }
    guard expected.areComplete else { throw missing(within: limit) }
  }

  private func takeArrived() async throws { while let (event, uuid) = try values.ready() { _ = try await take(event, uuid) } }

  private func take(_ event: ValueEvent, _ uuid: UUID) async throws -> AnswerPatterns.Verdict {
    last = event
    let verdict = expected.evaluate(event)
    if case .failure = verdict { throw try await failure(event, isQueued: false) }
    if options.collect != nil || verdict == .answer {
      try await show(event, uuid)
    } else {
      let what = verdict == .further ? "an extra answer" : "a value that does not match --expect"
      context.output.note("Ignored \(what): \(text(event)) (\(meaning(of: event).attribute(at: event.handle)))")
    }
    return verdict
  }

  /// Shows the value that matches `--fail-on` and returns the failure.
  /// - Parameter isQueued: Whether the queue still contains the value and possibly earlier values.
  private func failure(_ event: ValueEvent, isQueued: Bool) async throws -> Failure {
    let uuid = connection.client.table?.attribute(at: event.handle).uuid
    if isQueued, options.collect != nil {
      while let (event, uuid) = try await values.next(until: EventLoop.shared.now) { try await show(event, uuid) }
    } else {
      try await show(event, uuid)
    }
    return Failure(.expectation, "\(meaning(of: event).attribute(at: event.handle)) sent a value that matches --fail-on: \(text(event))")
  }

  private func show(_ event: ValueEvent, _ uuid: UUID?) async throws {
    guard !context.isShownBeside(event) else { return }
    try await NotificationRecord.show(event, uuid, .auto, from: connection, context)
  }

  private func text(_ event: ValueEvent) -> String { ValueText.displayText(event.value, meaning(of: event)) }

  private func meaning(of event: ValueEvent) -> ValueMeaning {
    context.process.memory.meaning(of: event.value, at: event.handle, nil, on: connection)
  }

  private func missing(within limit: Duration) -> Failure {
    let count = options.expectCount ?? 1
    let parts = zip(options.expect, expected.missing).filter { $1 > 0 }.map { argument, missing in
      let start = argument.typed.map { " starting with \(DisplayText.escape($0))" } ?? ""
      return "\(count - missing) of \(count.counted("value"))\(start) on \(argument.attribute)"
    }
    let seen = last.map { " The last value was \(text($0))." } ?? ""
    return Failure(.expectation, "Received \(parts.joined(separator: " and ")) in \(limit.secondsText) s.\(seen)")
  }
}

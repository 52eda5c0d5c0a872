import CommandLine

/// The results of an update of several devices.
@LoopActor
struct Fleet {
  private var table = Table(["DEVICE", "RESULT", "FROM", "TO"])
  private var statuses: [ExitStatus] = []

  /// The exit codes, worst first.
  private static let order: [ExitStatus] = [.internal, .adapter, .refused, .expectation, .linkLost, .timeout, .notFound]

  /// Updates one device. Its failure is printed, and does not stop the others.
  /// - Throws: CancellationError, the errors of the output, and a no to a question.
  mutating func add(_ name: String, _ output: Output, _ update: @LoopActor () async throws -> [String]?) async throws {
    do { if let row = try await update() { table.add(row) } } catch {
      var failure = Failure(error)
      guard failure.kind != .interrupted, failure.kind != .output else { throw error }
      if !failure.message.contains(name) { failure.message = "\(DisplayText.escape(name)): \(failure.message)" }
      statuses.append(ExitStatus(rawValue: Program.report(failure, output)) ?? .internal)
      table.add([DisplayText.escape(name), "failed (exit \(failure.exitStatus.rawValue))", "-", "-"])
    }
  }

  /// Shows the table.
  /// - Throws: The worst exit code, if a device failed.
  func finish(_ output: Output) async throws {
    if !output.style.json { try await output.show(table) }
    if let worst = Self.order.first(where: statuses.contains) ?? statuses.first { throw worst }
  }
}

import CommandLine

/// The results of an update of several devices.
@LoopActor
struct Fleet {
  private var table = Table(["DEVICE", "RESULT", "FROM", "TO"])
  private var statuses: [ExitStatus] = []

  /// The exit codes, worst first.
  private static let order: [ExitStatus] = [
    .interrupted, .internal, .adapter, .refused, .expectation, .linkLost, .timeout, .notFound, .input, .usage,
  ]

  /// Updates one device. Its failure is printed, and does not stop the others. Ctrl-C and a no to a question do.
  /// - Throws: The errors of the output.
  mutating func add(_ name: String, _ output: Output, _ update: @LoopActor () async throws -> [String]?) async throws {
    let shown = DisplayText.escape(name)
    guard !statuses.contains(.interrupted) else { return table.add([shown, "not tried", "-", "-"]) }
    do { if let row = try await update() { table.add(row) } } catch {
      var failure = Failure(error)
      guard failure.kind != .output else { throw error }
      // After Ctrl-C, blectl prints nothing unless a change is incomplete.
      failure.isTold = failure == .cancelled
      if !failure.message.contains(name) { failure.message = "\(shown): \(failure.message)" }
      statuses.append(ExitStatus(rawValue: Program.report(failure, output)) ?? .internal)
      table.add([shown, failure.kind == .interrupted ? "stopped" : "failed (exit \(failure.exitStatus.rawValue))", "-", "-"])
    }
  }

  /// Shows the table.
  /// - Throws: The worst exit code, if a device failed.
  func finish(_ output: Output) async throws {
    if !output.style.json { try await output.show(table) }
    if let worst = Self.order.first(where: statuses.contains) { throw worst }
  }
}

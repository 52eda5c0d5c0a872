import BluetoothLEFirmware
import CommandLine

/// The results of an update of several devices.
@LoopActor
struct Fleet {
  struct Result: Sendable {
    let title: String
    let from, to: String?
    /// A word for the table: `updated`, `unchanged`, `planned`.
    let word: String

    init(_ title: String, _ plan: UpdatePlan, _ outcome: UpdateOutcome?) {
      self.title = title
      from = (outcome?.versionBefore ?? plan.runningVersion).map(UpdateText.version)
      to = (outcome.map(\.versionAfter) ?? plan.version).map(UpdateText.version)
      word = outcome != nil ? "updated" : plan.steps.isEmpty ? "unchanged" : "planned"
    }
  }

  private var table = Table(["DEVICE", "RESULT", "FROM", "TO"])
  private var statuses: [ExitStatus] = []

  /// The exit codes, worst first.
  private static let order: [ExitStatus] = [.internal, .adapter, .refused, .expectation, .linkLost, .timeout, .notFound]

  /// Updates one device. Its failure is printed, and does not stop the others.
  /// - Throws: CancellationError, the errors of the output, a mistake in the command, and a no to a question.
  mutating func add(_ name: String, _ output: Output, _ update: @LoopActor () async throws -> Result?) async throws {
    do {
      guard let result = try await update() else { return }
      table.add([output.displayText(result.title), result.word, result.from ?? "-", result.to ?? "-"].map(DisplayText.escape))
    } catch {
      var failure = Failure(error)
      guard ![.interrupted, .output, .usage].contains(failure.kind) else { throw error }
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

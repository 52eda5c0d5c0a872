package import BluetoothLE
package import BluetoothLEFirmware
package import Terminal

/// The output of the update of one device: its plan, progress, notes and result.
@LoopActor
package final class UpdateText {
  /// The device as the user knows it, also while it has another address.
  package let title: String
  private let output: Output
  private let device: RecordWriter.Members
  private let kind: UpdateProtocol
  private let plan: UpdatePlan
  package let progress: UploadProgress

  package init(_ output: Output, _ connection: Connection, _ kind: UpdateProtocol, _ plan: UpdatePlan) {
    (self.output, self.kind, self.plan) = (output, kind, plan)
    (title, device) = (connection.title, connection.identity)
    progress = UploadProgress(device, output)
  }

  // MARK: Plan

  /// The change of the versions, such as `Sensor from 1.0.0 to 1.1.0`.
  private func change(_ before: String?, _ after: String?) -> String {
    "\(title)\(before.map { " from \(DisplayText.escape($0))" } ?? "")\(after.map { " to \(DisplayText.escape($0))" } ?? "")"
  }

  private var isDowngrade: Bool {
    guard kind == .mcumgr, let from = plan.runningVersion.flatMap({ ImageVersion($0) }) else { return false }
    return plan.version.flatMap { ImageVersion($0) }.map { $0 < from } ?? false
  }

  /// The wanted image already runs, on trial.
  private var confirmsOnly: Bool { plan.steps == [.confirm] }

  /// The wanted image already runs, but another one blocks its slot.
  private var keepsImage: Bool { plan.steps.first == .finishEarlier && plan.notes.contains(.sameContent) }

  private var action: String {
    if confirmsOnly { return "Confirm \(plan.version ?? "the image") on \(title), which runs it on trial" }
    if keepsImage { return "Restart \(title) to end an earlier update, and keep \(plan.version ?? "the image")" }
    return "\(isDowngrade ? "Downgrade" : "Update") \(change(plan.runningVersion, plan.version))"
  }

  private var consequence: String {
    confirmsOnly ? " It then stays after each restart." : plan.canRevert ? "" : " The device cannot return to the old image."
  }

  /// Whether the user agrees to the first write.
  package var question: String { "\(action)?\(consequence)" }

  private var planText: String {
    if confirmsOnly { return "\(action).\(consequence)" }
    let steps = plan.steps.map(\.text).joined(separator: ", ")
    let revert = plan.canRevert && plan.steps.contains(.restart) ? " If the new image fails, the device reverts." : consequence
    let amount = plan.bytes > 0 ? ", \(Quantity.bytes(plan.bytes))" : " (the device has the image already)"
    return "\(action)\(keepsImage ? "" : " over \(kind.name)\(amount)"): \(steps).\(revert)"
  }

  /// Shows the notes, unless the result says them, and the plan as a message or as the result of a dry run.
  package func announce(isDry: Bool) async throws {
    for note in plan.notes where !plan.steps.isEmpty || note == .sameContent { output.note(note.text) }
    guard isDry else { return plan.steps.isEmpty ? () : output.status(planText) }
    guard output.style.json else {
      return try await output.sentence(plan.steps.isEmpty ? alreadyRuns : planText + " Nothing was written.")
    }
    try await output.record {
      $0.string("event", "update_plan")
      $0.string("from", plan.runningVersion)
      $0.string("to", plan.version)
      $0.integer("bytes", plan.bytes)
      $0.strings("steps", plan.steps.map { $0.name.replacing(" ", with: "_") })
      $0.bool("downgrade", isDowngrade)
      $0.bool("can_revert", plan.canRevert)
      $0.string("protocol", kind.rawValue)
      $0.members(device)
    }
  }

  /// The device, what happened, and the versions, for a table of several devices.
  package func row(_ outcome: UpdateOutcome?) -> [String] {
    let versions = [outcome?.versionBefore ?? plan.runningVersion, outcome.map(\.versionAfter) ?? plan.version]
    let word = outcome != nil ? "updated" : plan.steps.isEmpty ? "unchanged" : "planned"
    return [output.displayText(title), word] + versions.map { $0.map { DisplayText.escape($0) } ?? "-" }
  }

  private var alreadyRuns: String {
    "\(title) already runs this image\(plan.runningVersion.map { " (\(DisplayText.escape($0)))" } ?? ""). Nothing was uploaded."
  }

  // MARK: Run

  package func show(_ event: UpdateEvent) throws {
    switch event {
    case .began(let step):
      progress.end()
      output.status("\(title): \(step.text)")
    case .resumed(let byte): output.note("Continuing at byte \(byte).")
    case .note(let note): output.note(note.text)
    case .progress(let sent, let confirmed, let total): try progress.show(sent, confirmed, of: total)
    case .finished: break
    }
  }

  /// What happened, for the beginning of a sentence.
  private func change(_ outcome: UpdateOutcome, _ to: String?) -> String {
    if keepsImage { return "\(title) keeps \(to.map { DisplayText.escape($0) } ?? "the image"). The earlier update has ended" }
    let change = "Updated \(change(outcome.versionBefore, to))"
    guard outcome.bytes > 0 else { return "\(change). The device had the image already" }
    let resumed = outcome.resumptions == 0 ? "" : ", resumed \(outcome.resumptions == 1 ? "once" : "\(outcome.resumptions) times")"
    return "\(change): \(outcome.sent.text)\(resumed)"
  }

  /// Shows the result. `outcome` is nil if there was nothing to do.
  /// - Parameter firmware: The words before an action in advice, such as `blectl firmware Sensor`.
  package func show(_ outcome: UpdateOutcome?, _ firmware: String) async throws {
    progress.end()
    let (from, to) = (outcome?.versionBefore ?? plan.runningVersion, outcome.map(\.versionAfter) ?? plan.runningVersion)
    guard output.style.json else {
      guard let outcome else { return try await output.sentence(alreadyRuns) }
      if confirmsOnly { return try await output.sentence("Confirmed \(plan.version ?? "the image") on \(title).\(consequence)") }
      let trial =
        outcome.isConfirmed == false && plan.canRevert
        ? " The new image is not confirmed, so the device reverts at its next restart. To keep it: \(firmware) confirm" : ""
      let unproven = to == nil ? " The device reports no version." : ""
      return try await output.sentence("\(change(outcome, to)).\(unproven)\(trial)")
    }
    try await output.record {
      $0.string("event", "updated")
      $0.string("from", from)
      $0.string("to", to)
      $0.integer("bytes", outcome?.bytes ?? 0)
      $0.number("seconds", outcome?.sent.seconds)
      $0.integer("resumed", outcome?.resumptions ?? 0)
      $0.string("protocol", kind.rawValue)
      $0.bool("confirmed", outcome?.isConfirmed)
      $0.string("hash_before", (outcome?.hashBefore ?? plan.runningHash).map { Hex.encode($0) })
      $0.string("hash_after", (outcome.map(\.hashAfter) ?? plan.runningHash).map { Hex.encode($0) })
      $0.members(device)
    }
  }
}

extension UpdateProtocol {
  package var name: String { self == .mcumgr ? "MCUmgr" : "Nordic Secure DFU" }
}

extension UpdateStep: CaseNames {
  var text: String { self == .finishEarlier ? "restart to end an earlier update" : name }

  /// The name of the step. Records have underscores instead of spaces.
  fileprivate var name: String {
    if case .upload = self { return "upload" }
    return self == .finishEarlier ? "finish earlier update" : caseWords
  }
}

extension UpdateNote {
  package var text: String {
    switch self {
    case .paddingLeftOut(let count): "The padding at the end of the image (\(Quantity.bytes(count))) is left out."
    case .encrypted: "The image is encrypted, so its hash cannot be checked before the upload."
    case .compressed: "The image is compressed. After the restart, the device reports the hash of the decompressed image."
    case .sameContent: "The content is the same, but the signature may differ."
    case .singleSlot: "The device has one slot for images. It may refuse an upload, because this slot has the running image."
    case .noReassembly: "The device takes one write per message. A larger MTU makes the upload faster, if the device allows it."
    case .partInstalled(let index, let count): "The device already has part \(index + 1) of \(count), or a newer version of it."
    case .unfinished(let version, true): "Another image\(Self.text(version)) is on trial. The update restarts the device to end this."
    case .unfinished(let version, false):
      "Another image\(Self.text(version)) is pending: the next restart starts it. The update restarts the device until this has ended."
    case .notBackWithin(let time): "The device did not come back within \(time.secondsText) s. Check that it runs the new firmware."
    case .notConnected(let failure):
      "The firmware is installed, but the device was not connected after the restart. \(Failure(failure.error).message)"
    }
  }

  private static func text(_ version: String?) -> String { version.map { ", \(DisplayText.escape($0))," } ?? "" }
}

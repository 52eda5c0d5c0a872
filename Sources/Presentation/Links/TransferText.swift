package import BluetoothLE
import BluetoothLELinux
import BluetoothLEText
package import Terminal

/// The output of a transfer: notes, progress and the final report.
@LoopActor
package final class TransferText: DeliveryObserver {
  private let output: Output
  /// The name of the file as the user gave it.
  private let file: String
  /// The characteristic of `--verify notify:ATTR` as the user named it. Nil without this option.
  private let reporter: String?
  private var progress: Progress?

  package init(_ output: Output, file: String, reporter: String?) { (self.output, self.file, self.reporter) = (output, file, reporter) }

  package func delivery(_ event: FileDelivery.Event) {
    let unlessTold = reporter.map { ", unless \($0) reports more" } ?? ""
    switch event {
    case .transfer(let event): tell(event)
    case .noEarlierTransfer:
      output.note("No earlier transfer to this device and characteristic is known. Starting at byte 0\(unlessTold).")
    case .otherFile(let place):
      output.note("\(DisplayText.escape(file)) is not the file whose transfer ended at byte \(place). Starting at byte 0\(unlessTold).")
    case .windowIgnored(isRequest: true): output.note("--window has no effect here: only one request is in flight.")
    case .windowIgnored(isRequest: false):
      output.note("--window has no effect here: this adapter does not report what the device acknowledged.")
    case .commandsNotOffered(let target): output.note(target.unofferedCommandsNote)
    case .ignored(let value): output.note("Ignored a value that is not a report of count and CRC-32: \(ValueText.displayText(value))")
    }
  }

  package func willSend(on connection: Connection) { progress = Progress(connection.identity, output) }

  package func didProgress(_ transfer: FileTransfer) throws { try progress?.update(transfer) }

  package func didSend() { progress?.end() }

  private func tell(_ event: FileTransfer.Event) {
    switch event {
    case .plannedAnew(let before, let now, let link):
      output.note("The connection parameters changed (\(Self.facts(link))). Bytes per segment: \(now) instead of \(before).")
    case .deviceIsSlower(let isSlower, let before, let now):
      let change = isSlower ? "is slower than" : "keeps up with"
      output.note("The device \(change) the link. Bytes per segment: \(now) instead of \(before).")
    case .goesOn(let place, _, true): output.note("\(reporter ?? "The device") reports \(Quantity.bytes(place)). Continuing there.")
    case .goesOn(let place, let sent, false):
      let twice = sent > place ? " Bytes up to \(sent) may arrive twice." : ""
      output.note("Continuing at byte \(place), after the last confirmed one.\(twice)")
    case .resumesUnasked(let place):
      let reason = reporter.map { ", because \($0) cannot be read." } ?? ". To ask for it: --verify notify:ATTR"
      output.note("Resuming at byte \(place). Later bytes may arrive twice: the device's count is unknown\(reason)")
    case .startsOver(let remembered):
      output.note(
        "\(reporter ?? "The device") reports 0 bytes, so the device lost the \(remembered) that arrived. Starting over at byte 0.")
    case .counterIsAt(let count):
      output.note(
        "\(reporter ?? "The device") reports \(Quantity.bytes(count)) before the transfer. "
          + "If the device does not reset its count, the final check will fail.")
    }
  }

  /// Returns the share of the link capacity. Empty above 100 %: a simulated controller without air time is faster than any link.
  package nonisolated static func share(_ part: Double) -> String {
    let percent = (100 * part).rounded()
    return percent <= 100 ? ", \(Int(percent)) % of link capacity" : ""
  }

  /// Formats the known link parameters, such as `1M, 15 ms, 251 bytes`.
  private static func facts(_ link: LinkParameters) -> String {
    let known = [
      link.phy.map { $0.name.uppercased() }, link.interval.map { "\($0.millisecondsText) ms" }, link.maxTxOctets.map(Quantity.bytes),
    ]
    return known.compactMap(\.self).joined(separator: ", ")
  }

  package func didDeliver(_ transfer: FileTransfer, _ verdict: FileDelivery.Verdict) async throws {
    let bytes = transfer.progress.sent - transfer.offset
    let seconds = transfer.use.seconds
    let shown = (seconds * 1000).rounded() / 1000
    let limit = transfer.use.capacity.flatMap { seconds > 0 && $0 > 0 ? $0 / seconds : nil }
    if output.style.json {
      try await output.record {
        $0.string("event", "sent")
        $0.integer("bytes", bytes)
        $0.integer("segments", transfer.segments)
        $0.integer("chunk", transfer.segment)
        $0.integer("mtu", transfer.use.mtu)
        $0.number("seconds", shown)
        $0.number("bytes_per_second", (seconds > 0 ? Double(bytes) / seconds : 0).rounded())
        $0.string("mode", transfer.mode?.rawValue)
        $0.bool("verified", verdict.isPassed)
        $0.integer("offset", transfer.offset)
        $0.integer("acknowledged", transfer.progress.confirmed)
        $0.integer("verified_from", verdict.beginning)
        $0.members(progress?.device ?? .none)
        $0.number("interval_ms", transfer.use.parameters.interval?.inMilliseconds)
        $0.string("phy", transfer.use.parameters.phy?.name)
        $0.integer("data_length", transfer.use.parameters.maxTxOctets)
        $0.number("limit_bytes_per_second", limit?.rounded())
        $0.number("gap_ms", transfer.gap?.inMilliseconds)
        $0.integer("reconnects", transfer.use.count - 1)
      }
      return
    }
    output.clearTransient()
    let proof =
      switch verdict {
      case .notAsked: "Not verified."
      case .failed: "NOT verified."
      case .passed(from: 0): "Verified by the device: whole file, CRC-32 \(try await transfer.proof().whole.crcText)"
      case .passed(let place):
        "NOT verified before byte \(place). The device confirms the rest: CRC-32 \(try await transfer.proof().part.crcText)"
      }
    if transfer.segments == 0 {
      return try await output.line("Nothing left to send: the device has all \(Quantity.bytes(transfer.progress.sent)). \(proof)")
    }
    let share = limit.map { Self.share(Double(bytes) / seconds / $0) } ?? ""
    let known = Self.facts(transfer.use.parameters)
    let segment = transfer.segment.map { " of \($0)" } ?? ""
    let plan = "MTU \(transfer.use.mtu), \(Quantity.segments(transfer.segments))\(segment) by \(transfer.mode?.rawValue ?? "command")"
    let links = transfer.use.count > 1 ? ", over \(transfer.use.count) connections" : ""
    let gap = ((transfer.gap ?? .zero).inMilliseconds * 10).rounded() / 10
    let pace = gap > 0 ? " One segment every \(gap.plainText) ms: the device is slower than the link." : ""
    try await output.sentence(
      "Sent \(Quantity.bytes(bytes)) in \(shown) s: \(Quantity.rate(bytes, in: seconds))\(share) "
        + "(\(known.isEmpty ? "" : known + ", ")\(plan))\(links).\(pace) \(proof)")
  }
}

extension FileDelivery.Verdict {
  /// The value of the JSON field `verified`. Nil if the user did not ask for a verification.
  fileprivate var isPassed: Bool? {
    switch self {
    case .notAsked: nil
    case .failed: false
    case .passed: true
    }
  }

  /// The value of the JSON field `verified_from`, which is the offset of the first verified byte. Nil unless the verification passed.
  fileprivate var beginning: Int? { if case .passed(let place) = self { place } else { nil } }
}

extension ByteFile: ByteSource {}

extension FileError: ByteSourceError {
  var change: (before: Int, now: Int)? { if case .changed(_, let before, let now) = self { (before, now) } else { nil } }
}

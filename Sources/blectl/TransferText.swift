import Bluetooth
import EventLoop
import GAP
import GATT
import LinuxIO
import Operations
import Terminal
import Text

/// The notes and the final report of a transfer.
@LoopActor
enum TransferText {
  static func tell(_ event: FileTransfer.Event, report: String?, _ output: Output) {
    switch event {
    case .plannedAnew(let before, let now, let link):
      output.note("The connection parameters changed (\(facts(link))). Bytes per segment: \(now) instead of \(before).")
    case .deviceIsSlower(let isSlower, let before, let now):
      let change = isSlower ? "is slower than" : "keeps up with"
      output.note("The device \(change) the link. Bytes per segment: \(now) instead of \(before).")
    case .goesOn(let place, _, true): output.note("\(report ?? "The device") reports \(Quantity.octets(place)). Continuing there.")
    case .goesOn(let place, let sent, false):
      let twice = sent > place ? " Bytes up to \(sent) may arrive twice." : ""
      output.note("Continuing at byte \(place), after the last confirmed one.\(twice)")
    case .resumesUnasked(let place):
      let reason = report.map { ", because \($0) cannot be read." } ?? ". To ask for it: --verify notify:ATTR"
      output.note("Resuming at byte \(place). Later bytes may arrive twice: the device's count is unknown\(reason)")
    case .startsOver(let remembered):
      output.note("\(report ?? "The device") reports 0 bytes, so the device lost the \(remembered) that arrived. Starting over at byte 0.")
    case .counterIsAt(let count):
      output.note(
        "\(report ?? "The device") reports \(Quantity.octets(count)) before the transfer. "
          + "If the device does not reset its count, the final check will fail.")
    }
  }

  /// The known parameters: `1M, 15 ms, 251 bytes`.
  private static func facts(_ link: LinkParameters) -> String {
    let known = [
      link.phy.map { $0.name.uppercased() }, link.interval.map { "\($0.millisecondsText) ms" }, link.maxTxOctets.map(Quantity.octets),
    ]
    return known.compactMap(\.self).joined(separator: ", ")
  }

  enum Verification {
    case notAsked
    case failed
    /// The device has the file from this byte on; 0: the whole file.
    case passed(from: Int)

    /// The JSON fields `verified` and `verified_from`.
    var fields: (isPassed: Bool?, from: Int?) {
      switch self {
      case .notAsked: (nil, nil)
      case .failed: (false, nil)
      case .passed(let place): (true, place)
      }
    }
  }

  static func report(_ transfer: FileTransfer, _ verification: Verification, _ connection: Connection, _ output: Output) async throws {
    let octets = transfer.progress.sent - transfer.offset
    let seconds = transfer.seconds
    let shown = (seconds * 1000).rounded() / 1000
    let limit = transfer.capacity.flatMap { seconds > 0 && $0 > 0 ? $0 / seconds : nil }
    let (segment, mode) = (transfer.segment ?? 0, transfer.mode?.rawValue ?? "")
    if output.style.json {
      try await output.record {
        $0.string("event", "sent")
        $0.integer("bytes", octets)
        $0.integer("segments", transfer.segments)
        $0.integer("chunk", segment)
        $0.integer("mtu", transfer.mtu)
        $0.number("seconds", shown)
        $0.number("bytes_per_second", (seconds > 0 ? Double(octets) / seconds : 0).rounded())
        $0.string("mode", mode)
        $0.bool("verified", verification.fields.isPassed)
        $0.integer("offset", transfer.offset)
        $0.integer("acknowledged", transfer.progress.confirmed)
        $0.integer("verified_from", verification.fields.from)
        connection.identify(in: &$0)
        $0.number("interval_ms", transfer.link.interval?.inMilliseconds)
        $0.string("phy", transfer.link.phy?.name)
        $0.integer("data_length", transfer.link.maxTxOctets)
        $0.number("limit_bytes_per_second", limit?.rounded())
        $0.number("gap_ms", transfer.gap?.inMilliseconds)
        $0.integer("reconnects", transfer.links - 1)
      }
      return
    }
    output.clearTransient()
    let proof =
      switch verification {
      case .notAsked: "Not verified."
      case .failed: "NOT verified."
      case .passed(from: 0): "Verified by the device: whole file, CRC-32 \(try await transfer.proof().whole.crcText)"
      case .passed(let place): "Verified by the device from byte \(place): CRC-32 \(try await transfer.proof().part.crcText)"
      }
    if transfer.segments == 0 {
      return try await output.line("Nothing left to send: the device has all \(Quantity.octets(transfer.progress.sent)). \(proof)")
    }
    let share = limit.map { ", \(Int((100 * Double(octets) / seconds / $0).rounded())) % of link capacity" } ?? ""
    let known = facts(transfer.link)
    let plan = "MTU \(transfer.mtu), \(Quantity.segments(transfer.segments)) of \(segment) by \(mode)"
    let links = transfer.links > 1 ? ", over \(transfer.links) connections" : ""
    let gap = ((transfer.gap ?? .zero).inMilliseconds * 10).rounded() / 10
    let pace = gap > 0 ? " One segment every \(gap.plainText) ms: the device is slower than the link." : ""
    try await output.line(
      "Sent \(Quantity.octets(octets)) in \(shown) s: \(Quantity.rate(octets, in: seconds))\(share) "
        + "(\(known.isEmpty ? "" : known + ", ")\(plan))\(links).\(pace) \(proof)")
  }
}

/// The source of a transfer.
extension OctetFile: OctetSource {}

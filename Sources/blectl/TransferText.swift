import Bluetooth
import EventLoop
import GAP
import GATT
import LinuxIO
import Operations
import Terminal
import Text

/// What a transfer tells: on its way, and at its end.
@LoopActor
enum TransferText {
  static func tell(_ event: FileTransfer.Event, report: String?, _ output: Output) {
    switch event {
    case .plannedAnew(let before, let now, let link):
      output.note("the link has changed (\(facts(link))): segments of \(now) octets from here on, not \(before)")
    case .deviceIsSlower(let isSlower, let before, let now):
      output.note(
        "the device \(isSlower ? "is slower than" : "keeps up with") the link: segments of \(now) octets from here on, not \(before)")
    case .goesOn(let place, _, true): output.note("\(report ?? "the device") tells of \(place) octets: going on there")
    case .goesOn(let place, let sent, false):
      let twice = sent > place ? "; up to octet \(sent) may have arrived before, and arrive twice" : ""
      output.note("going on at octet \(place), up to which the device had answered\(twice)")
    case .resumesUnasked(let place):
      let reason = report.map { "\($0) cannot be read" } ?? "only --verify notify:ATTR asks the device what it has"
      output.note("resuming at byte \(place). Bytes after it may have arrived before, and arrive twice: \(reason)")
    case .startsOver(let remembered):
      output.note(
        "\(report ?? "the device") reports 0 bytes, not the \(remembered) that arrived before: the device has lost them. Starting over at byte 0"
      )
    case .counterIsAt(let count):
      output.note(
        "\(report ?? "the device") tells of \(Quantity.octets(count)) before anything is sent: where its count does not begin anew, it will not match the file"
      )
    }
  }

  /// `1M, 15 ms, 251 octets`, as far as it is known.
  private static func facts(_ link: LinkParameters) -> String {
    let known = [
      link.phy.map { $0.name.uppercased() }, link.interval.map { "\($0.millisecondsText) ms" }, link.maxTxOctets.map { "\($0) octets" },
    ]
    return known.compactMap(\.self).joined(separator: ", ")
  }

  enum Verification {
    case notAsked
    case failed
    /// The device has the file from this byte on; 0: all of it.
    case passed(from: Int)

    /// What JSON tells: `verified` and `verified_from`.
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
      case .notAsked: "; not verified"
      case .failed: "; NOT verified"
      case .passed(from: 0): "; verified by the device: the whole file, CRC-32 \(try await transfer.proof().whole.crcText)"
      case .passed(let place): "; verified by the device from byte \(place) on: CRC-32 \(try await transfer.proof().part.crcText)"
      }
    if transfer.segments == 0 {
      return try await output.line("nothing left to send: the device has all \(Quantity.octets(transfer.progress.sent))\(proof)")
    }
    let share = limit.map { ", \(Int((100 * Double(octets) / seconds / $0).rounded())) % of what this link carries" } ?? ""
    let known = facts(transfer.link)
    let plan = "MTU \(transfer.mtu), \(Quantity.segments(transfer.segments)) of \(segment) by \(mode)"
    let links = transfer.links > 1 ? ", over \(transfer.links) links" : ""
    let gap = transfer.gap ?? .zero
    let pace =
      gap > .zero
      ? "; one every \(((gap.inMilliseconds * 10).rounded() / 10).plainText) ms, because the device is slower than the link" : ""
    try await output.line(
      "sent \(Quantity.octets(octets)) in \(shown) s: \(Quantity.rate(octets, in: seconds))\(share) (\(known.isEmpty ? "" : known + ", ")\(plan))\(links)\(pace)\(proof)"
    )
  }
}

/// What is sent.
extension OctetFile: OctetSource {}

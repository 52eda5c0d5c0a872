import Bluetooth
import EventLoop
import GAP
import Operations
import Terminal
import Text

/// Collects MACs found in advertisements, prints each once, and knows why there was none.
@LoopActor
final class MACReport {
  private let command: MacFromAdv
  private let rules: [MACRule]?
  private let output: Output
  private var seen: Set<String> = []
  private var frames = 0
  private var refusals: [String] = []
  private(set) var found = 0

  init(_ command: MacFromAdv, _ rules: [MACRule]?, _ output: Output) {
    self.command = command
    self.rules = rules
    self.output = output
  }

  func add(_ data: [UInt8], sender: PeerAddress?, typeIsKnown: Bool) throws {
    frames += 1
    let advertisement = Advertisement(data)
    if command.learn {
      guard let sender else {
        refusals.append("--learn needs the sender's address before the data")
        return
      }
      for mac in MACFinder.learn(in: advertisement, sender: sender.address) { try show(mac, sender: sender) }
      return
    }
    switch MACFinder.find(in: advertisement, sender: sender, rules: rules ?? MACRule.known) {
    case .found(let macs): for mac in macs { try show(mac, sender: sender) }
    case .noneInThisFrame(let reason): if !refusals.contains(reason) { refusals.append(reason) }
    case .unknown: break
    }
  }

  func show(_ mac: FoundMAC, sender: PeerAddress?) throws {
    let key = "\(mac.text) \(sender.map { $0.description } ?? "") \(mac.rule)"
    guard !seen.contains(key) else { return }
    let isTaken: Bool
    if output.style.json {
      isTaken = try output.offerRecord(reserve: Output.reserve) {
        $0.string("event", "mac")
        $0.string("mac", mac.text)
        $0.string("address", sender?.address.description)
        $0.string("source", mac.source)
        $0.string("rule", mac.rule)
        $0.integer("offset", mac.offset)
        $0.string("order", mac.order.rawValue)
        $0.bool("matches_sender", mac.matchesSender)
        if mac.isPartial { $0.bool("partial", true) }
      }
    } else {
      let match = mac.matchesSender.map { $0 ? "= sender" : "≠ sender \(sender.map { $0.address.description } ?? "")" } ?? ""
      let fields = ["\(mac.text)", "\(mac.source)", "offset \(mac.offset)", "\(mac.order.rawValue)-endian", mac.rule, match]
      isTaken = try output.offerLine(fields.filter { !$0.isEmpty }.joined(separator: "  "), reserve: Output.reserve)
    }
    // One for which a slow reader has no room is shown when it is heard again.
    guard isTaken else { return }
    seen.insert(key)
    found += 1
  }

  /// - Throws: `.notFound` with the reason when nothing was found.
  func finish() throws {
    guard found == 0 else { return }
    if let reason = refusals.first { throw BluetoothError(.notFound, "this frame carries no MAC: \(reason)") }
    if frames == 0 { throw BluetoothError(.notFound, "no advertisement was heard or given") }
    if command.learn {
      throw BluetoothError(.notFound, "the sender's address does not occur in its \(frames) advertisement(s), neither forward nor reversed")
    }
    throw BluetoothError(
      .notFound,
      "no MAC in \(frames) advertisement(s): no known layout fits; --learn shows where the sender's address occurs, --rule names a place")
  }
}

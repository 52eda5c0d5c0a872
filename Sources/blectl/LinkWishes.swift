import Bluetooth
import EventLoop
import GAP
import Terminal

/// What is asked of a link before it is used.
struct LinkWishes: Sendable, Equatable {
  var dataLength: Int?
  var phy: PHY?
  var interval: Duration?

  /// What is refused is said and stops nothing: the link is slower then, not wrong.
  @LoopActor
  func ask(_ link: any Link, _ output: Output) async {
    // The interval last: a long one makes every other procedure slow.
    if let dataLength {
      await ask("data length", "\(dataLength) octets", output) {
        try await link.requestDataLength(dataLength).maxTxOctets.map { "\($0) octets" }
      }
    }
    if let phy { await ask("PHY", phy.name, output) { try await link.requestPHY(phy).phy?.name } }
    if let interval {
      await ask("interval", "\(interval.inMilliseconds) ms", output) {
        try await link.requestInterval(interval).interval.map { "\($0.inMilliseconds) ms" }
      }
    }
  }

  @LoopActor
  private func ask(_ what: String, _ wanted: String, _ output: Output, _ request: () async throws -> String?) async {
    do {
      let agreed = try await request()
      if let agreed, agreed != wanted { return output.note("\(what): \(agreed) was agreed on, not \(wanted)") }
      output.status("\(what): agreed on \(agreed ?? "an unknown value")")
    } catch { output.note("\(what) was not agreed: \(Failure(error).message)") }
  }
}

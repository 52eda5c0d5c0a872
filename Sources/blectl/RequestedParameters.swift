import Bluetooth
import EventLoop
import GAP
import Terminal

/// What is requested of a link before it is used; nil: nothing.
struct RequestedParameters: Sendable, Equatable {
  /// Octets, 27…251.
  var dataLength: Int?
  var phy: PHY?
  /// 7.5 ms…4 s.
  var interval: Duration?

  /// What is refused is said and stops nothing: the link is slower then, not wrong.
  /// - Throws: why the link was lost; CancellationError.
  @LoopActor
  func ask(_ link: any Link, _ output: Output) async throws {
    // The interval last: a long one makes every other procedure slow.
    if let dataLength {
      try await ask("data length", "\(dataLength) octets", output) {
        try await link.requestDataLength(dataLength).maxTxOctets.map { "\($0) octets" }
      }
    }
    if let phy { try await ask("PHY", phy.name, output) { try await link.requestPHY(phy).phy?.name } }
    if let interval {
      try await ask("interval", "\(interval.inMilliseconds) ms", output) {
        try await link.requestInterval(interval).interval.map { "\($0.inMilliseconds) ms" }
      }
    }
  }

  @LoopActor
  private func ask(_ what: String, _ wanted: String, _ output: Output, _ request: () async throws -> String?) async throws {
    do {
      let agreed = try await request()
      if let agreed, agreed != wanted { return output.note("\(what): \(agreed) was agreed on, not \(wanted)") }
      output.status("\(what): agreed on \(agreed ?? "an unknown value")")
    } catch {
      let failure = Failure(error)
      guard ![.linkLost, .interrupted].contains(failure.kind) else { throw error }
      output.note("\(what) was not agreed: \(failure.message)")
    }
  }
}

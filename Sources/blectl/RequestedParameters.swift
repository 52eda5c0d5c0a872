import Bluetooth
import EventLoop
import GAP
import Terminal

/// The parameters to request of a link before it is used; nil leaves one as it is.
struct RequestedParameters: Sendable, Equatable {
  /// The data length in bytes, 27…251.
  var dataLength: Int?
  var phy: PHY?
  /// The connection interval, 7.5 ms…4 s.
  var interval: Duration?

  /// Requests the parameters. A refusal only leaves the link slower, so it becomes a note.
  /// - Throws: the reason for a lost link; CancellationError.
  @LoopActor
  func ask(_ link: any Link, _ output: Output) async throws {
    for request in requests(link) {
      do { try await request.ask(output) } catch {
        let failure = Failure(error)
        guard ![.linkLost, .interrupted].contains(failure.kind) else { throw error }
        output.note("Cannot set the \(request.what) to \(request.wanted): \(failure.message)")
      }
    }
  }

  /// Requests the parameters. A refusal is an error.
  /// - Throws: as the procedures of `Link`.
  @LoopActor
  func demand(_ link: any Link, _ output: Output) async throws { for request in requests(link) { try await request.ask(output) } }

  private struct Request {
    let what: String
    let wanted: String
    let agree: @LoopActor () async throws -> String?

    @LoopActor
    func ask(_ output: Output) async throws {
      let agreed = try await agree()
      if let agreed, agreed != wanted { return output.note("The \(what) is \(agreed) instead of \(wanted).") }
      output.status("The \(what) is \(agreed ?? "unknown").")
    }
  }

  /// The requests in order. The interval is last, because a long one slows every other procedure.
  @LoopActor
  private func requests(_ link: any Link) -> [Request] {
    var requests: [Request] = []
    if let dataLength {
      requests.append(
        Request(what: "data length", wanted: Quantity.octets(dataLength)) {
          try await link.requestDataLength(dataLength).maxTxOctets.map(Quantity.octets)
        })
    }
    if let phy { requests.append(Request(what: "PHY", wanted: phy.name) { try await link.requestPHY(phy).phy?.name }) }
    if let interval {
      requests.append(
        Request(what: "interval", wanted: "\(interval.millisecondsText) ms") {
          try await link.requestInterval(interval).interval.map { "\($0.millisecondsText) ms" }
        })
    }
    return requests
  }
}

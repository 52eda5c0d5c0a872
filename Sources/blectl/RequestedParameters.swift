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
    for request in requests(link) {
      do { try await request.ask(output) } catch {
        let failure = Failure(error)
        guard ![.linkLost, .interrupted].contains(failure.kind) else { throw error }
        output.note("\(request.what) was not agreed: \(failure.message)")
      }
    }
  }

  /// As `ask`, but what is refused ends it.
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
      if let agreed, agreed != wanted { return output.note("\(what): \(agreed) was agreed on, not \(wanted)") }
      output.status("\(what): agreed on \(agreed ?? "an unknown value")")
    }
  }

  /// The interval last: a long one makes every other procedure slow.
  @LoopActor
  private func requests(_ link: any Link) -> [Request] {
    var requests: [Request] = []
    if let dataLength {
      requests.append(
        Request(what: "data length", wanted: "\(dataLength) octets") {
          try await link.requestDataLength(dataLength).maxTxOctets.map { "\($0) octets" }
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

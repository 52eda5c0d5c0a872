import Foundation
import TestSupport

/// The server's end of a link. The test controls the client's end.
@LoopActor
final class ServerTestChannel: Channel {
  var handler: (@LoopActor (ChannelEvent) -> Void)?
  private(set) var sent: [[UInt8]] = []
  private(set) var isClosed = false

  nonisolated init() {}

  func send(_ pdu: [UInt8]) { if !isClosed { sent.append(pdu) } }
  func waitUntilWritable(until _: LoopClock.Instant?) async throws -> Bool { true }
  func close() { isClosed = true }

  func deliver(_ hex: String) { handler?(.received(bytes(hex))) }
  func drop() { handler?(.closed(LinkLost("gone"))) }

  /// Returns the PDUs that the server sent since the last call.
  func take() -> [String] {
    defer { sent = [] }
    return sent.map { Hex.encode($0) }
  }
}

/// Decodes hex. Invalid hex becomes a value that matches nothing.
func bytes(_ hex: String) -> [UInt8] { hex.isEmpty ? [] : Hex.decode(hex) ?? [0xEE, 0xEE, 0xEE] }

func uuid(_ text: String) -> BluetoothLE.UUID { BluetoothLE.UUID(text) ?? BluetoothLE.UUID(0xDEAD) }

/// One client talking to a server, without a bearer and its channel.
struct ServerTestPeer {
  var state: BearerState
  var session = ServerSession()
  var database: AttributeDatabase

  struct Outcome {
    var answers: [[UInt8]] = []
    var events: [ServerSession.Event] = []
  }

  init(_ database: AttributeDatabase, rxMTU: Int = 517) {
    state = BearerState(rxMTU: rxMTU)
    self.database = database
  }

  /// Returns the answer in hex, empty for none.
  mutating func ask(_ hex: String) -> String { ask(bytes(hex)).answers.map { Hex.encode($0) }.joined(separator: " ") }

  mutating func ask(_ pdu: [UInt8]) -> Outcome {
    var outcome = Outcome()
    for action in state.receive(pdu) {
      switch action {
      case .answer(let bytes), .send(let bytes): outcome.answers.append(bytes)
      case .serve(let request):
        let (response, events) = session.answer(request, mtu: state.mtu, &database)
        outcome.answers.append(state.answer(response))
        outcome.events += events
      case .execute(let command): outcome.events += session.execute(command, &database)
      default: break
      }
    }
    return outcome
  }
}

import TestSupport

/// Plays one side of a recorded exchange. Sends each PDU as soon as the client has sent all earlier ones.
@LoopActor
final class Replay {
  struct Step: Sendable {
    let isFromClient: Bool
    let bytes: [UInt8]
  }

  let channel: MemoryChannel
  private var steps: [Step] = []
  private var next = 0
  /// Answers requests other than the next step.
  var server: PlainServer?
  private(set) var served = 0
  private(set) var unexpected: [[UInt8]] = []
  private(set) var received: [[UInt8]] = []

  init(_ channel: MemoryChannel) {
    self.channel = channel
    channel.handler = { event in
      if case .received(let pdu) = event { self.receive(pdu) }
    }
  }

  /// The client's steps that have not happened yet.
  var missing: [Step] { Array(steps[next...].filter(\.isFromClient)) }

  func play(_ steps: [Step]) {
    self.steps = steps
    next = 0
    sendTurn()
  }

  private func receive(_ pdu: [UInt8]) {
    received.append(pdu)
    if next < steps.count, steps[next].bytes == pdu {
      next += 1
      return sendTurn()
    }
    if let reply = server?.answer(pdu) {
      served += 1
      return channel.send(reply)
    }
    unexpected.append(pdu)
    // An error ends the operation instead of letting it wait.
    if let first = pdu.first, case .request(let method) = ATTOpcode(rawValue: first) {
      channel.send(Response.error(request: .request(method), handle: 0, code: ErrorCode(rawValue: 0x9F)).bytes)
    }
  }

  private func sendTurn() {
    while next < steps.count, !steps[next].isFromClient {
      channel.send(steps[next].bytes)
      next += 1
    }
  }

  /// Parses a script like `> 0a0300 < 0b01`, where `>` marks the client's PDUs.
  nonisolated static func steps(_ script: String) -> [Step] {
    var steps: [Step] = []
    for part in script.split(whereSeparator: { $0 == "\n" || $0 == " " }) where part != ">" && part != "<" {
      steps.append(Step(isFromClient: part.hasPrefix(">"), bytes: Hex.decode(String(part.dropFirst())) ?? []))
    }
    return steps
  }
}

func hex(_ bytes: some Collection<UInt8>) -> String { Hex.encode(Array(bytes)) }

/// Formats a handle like `0012`.
func hex(_ handle: AttributeHandle) -> String { String(handle.description.dropFirst(2)) }

/// Encodes a handle in little-endian order.
func little(_ handle: AttributeHandle) -> [UInt8] { [UInt8(truncatingIfNeeded: handle.rawValue), UInt8(handle.rawValue >> 8)] }

/// Names the ATT type in files that also import Foundation, which has a UUID of its own.
typealias AttributeUUID = UUID

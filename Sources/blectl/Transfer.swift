import ATT
import Bluetooth
import EventLoop
import GATT

/// The bulk transfer of `send-file`: segments, flow control, proof of arrival.
@LoopActor
final class Transfer {
  let mode: TransferMode
  let chunk: Int
  let segments: Int
  private let data: [UInt8]
  private let target: Target
  private let client: Client
  private let window: Int?
  private let gap: Duration
  private let ackEvery: Int?
  private let offset: Int
  private let progress: Progress
  /// Octets that the peer's ATT layer is known to have.
  private var confirmed = 0

  /// - Parameter dataLength: octets per LL packet when known, for the size of segments that wastes the least air.
  init(
    _ command: SendFile, _ data: [UInt8], target: Target, client: Client, dataLength: Int?, progress: Progress
  ) throws {
    // Looked up once: ArgumentParser's wrappers cost more than the sending of a segment.
    window = command.window.count
    gap = .limited(seconds: command.gap / 1000)
    ackEvery = command.ackEvery
    offset = command.offset
    self.data = data
    self.target = target
    self.client = client
    self.progress = progress
    let properties = target.characteristic?.properties
    mode = try command.mode ?? Self.mode(for: properties, target)
    let fits = WritePlan.largestSegment(mtu: client.mtu)
    if let wanted = command.chunk.octets {
      guard wanted <= fits else {
        throw BluetoothError(.usage, "--chunk \(wanted) does not fit: with MTU \(client.mtu) a segment has at most \(fits) octets")
      }
      chunk = wanted
    } else {
      // A request costs a round trip whatever its size; commands are cut to whole link-layer packets.
      chunk = mode == .request ? fits : WritePlan.fastestSegment(mtu: client.mtu, dataLength: dataLength)
    }
    segments = (data.count + chunk - 1) / chunk
  }

  private static func mode(for properties: Properties?, _ target: Target) throws -> TransferMode {
    guard let properties else {
      throw BluetoothError(
        .notFound, "handle \(target.handle) is not a characteristic's value; name --mode to write to it all the same")
    }
    if properties.contains(.writeWithoutResponse) { return .command }
    if properties.contains(.write) { return .request }
    throw BluetoothError(
      .att,
      "\(target.uuid?.description ?? target.handle.description) has neither write nor write_without_response: it cannot be written",
      code: 3, name: "write_not_permitted")
  }

  func run() async throws {
    defer { progress.end() }
    do {
      try await sendAll()
    } catch var error as BluetoothError {
      error.message += "; \(whereItStands)"
      throw error
    } catch is CancellationError {
      throw BluetoothError(.interrupted, "interrupted; \(whereItStands)")
    }
  }

  private var sent = 0

  private func sendAll() async throws {
    var number = 0
    while sent < data.count {
      let end = min(sent + chunk, data.count)
      let segment = Array(data[sent..<end])
      number += 1
      if mode == .request {
        try await client.writeRequest(segment, to: target.handle)
        confirmed = end
      } else {
        if let window { try await client.bearer.waitUntilUnacknowledged(below: window) }
        try await client.writeCommand(segment, to: target.handle)
        if let ackEvery, number % ackEvery == 0 {
          try await client.barrier(after: target.handle)
          confirmed = end
        }
      }
      sent = end
      try progress.update(sent)
      if gap > .zero, sent < data.count { try await EventLoop.shared.sleep(for: gap) }
    }
    if mode == .command {
      try await client.barrier(after: target.handle)
      confirmed = sent
    }
    try progress.update(sent)
  }

  /// The octet counts that let the user go on.
  private var whereItStands: String {
    let (confirmed, sent) = (confirmed + offset, sent + offset)
    let more = sent > confirmed ? ", up to \(sent) may have (--ack-every narrows this)" : ""
    return "\(confirmed) of \(data.count + offset) octets are known to have arrived\(more); go on with --offset \(confirmed)"
  }
}

extension WindowArgument {
  var count: Int? { if case .segments(let number) = self { number } else { nil } }
}

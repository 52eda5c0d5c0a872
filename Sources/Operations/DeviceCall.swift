import ATT
package import DeviceFiles
import EventLoop
import GATT

/// What a device answered to a command.
package struct DeviceAnswer: Sendable {
  package var values: [NamedValue] = []
  /// Those of the answer, in the order of arrival.
  package var packets: [[UInt8]] = []
  /// Packets that came meanwhile and were not taken for it.
  package var refused: [RefusedPacket] = []
}

package enum DeviceCallError: Error, Sendable, Equatable {
  /// Before anything was sent.
  case parameter(FieldFault)
  case noAnswer(Missing)
  /// The device answered that it did not do it.
  case failure(command: String, DeviceErrorAnswer)

  /// What came in place of an answer.
  package struct Missing: Sendable, Equatable {
    package let command: String
    /// How long nothing came that goes on with the answer.
    package let limit: Duration
    /// Packets of the answer that came, and how many there are, where that is known.
    package let taken: Int
    package let of: Int?
    /// The names of events that came.
    package let events: [String]
    /// At most `DeviceCallError.mostRefused`.
    package let refused: [RefusedPacket]

    /// The device has sent something that cannot be.
    package var isFault: Bool { refused.contains { $0.isFault } }
  }

  /// More are not kept.
  package static let mostRefused = 32
}

extension Connection {
  /// Runs a command of the device. One after the other, whoever asks: the next one's request is sent when the answer of this one is complete.
  /// - Parameters:
  ///   - values: its parameters; those that are missing have defaults.
  ///   - limit: to the first packet, and from one to the next; nil: as the file says.
  ///   - onEvent: told of what the device sends by itself meanwhile.
  /// - Throws: DeviceCallError; as `Client.characteristic`, `Client.subscribe` and `Client.send`; why the link ended; CancellationError.
  package func call(
    _ command: DeviceCommand, _ values: [NamedValue], of device: DeviceDescription, within limit: Duration? = nil,
    onEvent: @escaping @LoopActor (String, [NamedValue]) -> Void = { _, _ in }
  ) async throws -> DeviceAnswer {
    let place = calls.enter()
    defer { place.leave() }
    try await place.untilTurn()
    callNumber &+= 1
    let request: (octets: [UInt8], values: [NamedValue])
    do { request = try command.encode(values, number: callNumber) } catch { throw DeviceCallError.parameter(error) }
    guard let answer = command.answer else {
      try await send(request.octets, command, provesArrival: true)
      return DeviceAnswer()
    }
    let call = RunningCall(
      command: command.name, reader: AnswerReader(answer, request: request.values, command: command.name, of: device),
      values: SubscribedValues(client), limit: limit ?? answer.limit, onEvent: onEvent)
    do {
      try await call.values.add(try await client.characteristic(try answer.from.selector))
      try await call.passEarlier(than: unanswered.flatMap { $0.client === client && $0.from.isLike(answer.from) ? $0 : nil })
      unanswered = nil
      call.isSent = true
      try await race({ try await self.send(request.octets, command, provesArrival: false) }, { throw try await self.client.untilClosed() })
      let result = try await call.answer()
      await call.values.end()
      return result
    } catch {
      if call.isSent, !call.isOver { unanswered = UnansweredCall(call.reader, from: answer.from, client, within: call.limit) }
      await call.values.end()
      throw error
    }
  }

  private func send(_ octets: [UInt8], _ command: DeviceCommand, provesArrival: Bool) async throws {
    let target = try await client.attribute(try command.to.selector, discovering: true)
    let plan = try WritePlan(value: octets.count, properties: target.properties, mtu: client.mtu, mode: command.mode, chunk: command.chunk)
    var pacing = WritePacing(gap: command.gap)
    pacing.provesArrival = provesArrival
    try await client.send(octets, to: target.handle, plan: plan, pacing: pacing)
  }
}

/// A command whose answer did not come, or was not waited for: it may come yet, and where nothing in it tells whose it is, be taken for the next
/// one's.
@LoopActor
struct UnansweredCall {
  fileprivate let reader: AnswerReader
  fileprivate let from: DeviceCharacteristic
  fileprivate weak var client: Client?
  /// As long is waited for it, or for more of it.
  fileprivate let limit: Duration
  fileprivate let since: LoopClock.Instant

  fileprivate init(_ reader: AnswerReader, from: DeviceCharacteristic, _ client: Client, within limit: Duration) {
    self.reader = reader
    self.from = from
    self.client = client
    self.limit = limit
    since = EventLoop.shared.now
  }
}

/// One command whose answer is waited for.
@LoopActor
private final class RunningCall {
  let command: String
  let values: SubscribedValues
  private(set) var reader: AnswerReader
  let limit: Duration
  var isSent = false
  /// The device has answered.
  private(set) var isOver = false
  private let onEvent: @LoopActor (String, [NamedValue]) -> Void
  private var events: [String] = []
  private var refused: [RefusedPacket] = []

  init(
    command: String, reader: AnswerReader, values: SubscribedValues, limit: Duration,
    onEvent: @escaping @LoopActor (String, [NamedValue]) -> Void
  ) {
    self.command = command
    self.reader = reader
    self.values = values
    self.limit = limit
    self.onEvent = onEvent
  }

  /// What came before the request is no answer to it, nor is what still comes to the one before.
  func passEarlier(than unanswered: UnansweredCall?) async throws {
    var before = unanswered?.reader
    var end = unanswered.map { $0.since.advanced(by: $0.limit) } ?? EventLoop.shared.now
    // Not for ever: a device may send all the time.
    for _ in 0..<4096 {
      guard let (event, _) = try await values.next(until: end) else { return }
      switch before?.take(event.value) {
      case .part: if let limit = unanswered?.limit { end = EventLoop.shared.now.advanced(by: limit) }
      case .finished, .failure: (before, end) = (nil, EventLoop.shared.now)
      case .event, .refused, nil: break
      }
      var idle = reader
      if case .event(let name, let values) = idle.take(event.value) {
        tell(name, values)
      } else {
        refuse(event.value, .early)
      }
    }
  }

  func answer() async throws -> DeviceAnswer {
    var last = EventLoop.shared.now
    while true {
      let pause = reader.silence
      guard let (event, _) = try await values.next(until: last.advanced(by: pause ?? limit)) else {
        guard pause != nil else { throw missing() }
        reader.fellSilent()
        isOver = true
        return result
      }
      switch reader.take(event.value) {
      case .part: last = EventLoop.shared.now
      case .finished:
        isOver = true
        return result
      case .failure(let failure):
        isOver = true
        throw DeviceCallError.failure(command: command, failure)
      case .event(let name, let values): tell(name, values)
      case .refused(let reason): refuse(event.value, reason)
      }
    }
  }

  private var result: DeviceAnswer { DeviceAnswer(values: reader.values, packets: reader.packets, refused: refused) }

  private func tell(_ name: String, _ values: [NamedValue]) {
    if events.count < DeviceCallError.mostRefused { events.append(name) }
    onEvent(name, values)
  }

  private func refuse(_ packet: [UInt8], _ reason: RefusedPacket.Reason) {
    if refused.count < DeviceCallError.mostRefused { refused.append(RefusedPacket(packet, reason)) }
  }

  private func missing() -> DeviceCallError {
    let progress = reader.progress
    return .noAnswer(
      .init(command: command, limit: limit, taken: progress.taken, of: progress.of, events: events, refused: refused))
  }
}

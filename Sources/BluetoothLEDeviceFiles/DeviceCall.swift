// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A device's complete answer to a command of its device file.
package struct DeviceAnswer: Sendable {
  package var values: [NamedValue] = []
  /// The packets of the answer, in the order of arrival.
  package var packets: [[UInt8]] = []
  package var refused = RefusedPackets()
}

/// The packets that arrived during the wait for an answer but do not belong to the answer.
package struct RefusedPackets: Sendable, Equatable {
  /// The first refused packets in the order of arrival, at most 32.
  package private(set) var first: [RefusedPacket] = []
  /// The number of refused packets beyond the 32 in `first`.
  package private(set) var others = 0
  /// Whether at least one refused packet is a fault of the device.
  package private(set) var hasFault = false

  private static let kept = 32

  mutating func add(_ packet: RefusedPacket) {
    if packet.isFault { hasFault = true }
    if first.count < Self.kept { first.append(packet) } else { others += 1 }
  }
}

package enum DeviceCallError: Error, Sendable, Equatable {
  /// A parameter is invalid. The client sent nothing.
  case parameter(FieldFault)
  case noAnswer(Missing)
  /// The device answered with an error.
  case failure(command: String, DeviceErrorAnswer)
  /// The answer did not end after `taken` packets.
  case endless(command: String, taken: Int)
  /// Packets arrived too fast, and the queue dropped `lost` of them.
  case overrun(command: String, lost: Int)

  /// The packets that arrived instead of a complete answer.
  package struct Missing: Sendable, Equatable {
    package let command: String
    /// The time limit that passed without a packet of the answer.
    package let limit: Duration
    /// The number of the answer's packets that arrived. `of` is their total, or nil if unknown.
    package let taken: Int
    package let of: Int?
    /// The names of the events that arrived during the wait for the answer.
    package let events: Set<String>
    package let refused: RefusedPackets
  }
}

extension Connection {
  /// Runs a command of the device file. Waits until earlier calls on this connection are complete.
  /// - Parameters:
  ///   - values: The command's parameters. A missing parameter has the default of the device file.
  ///   - limit: The longest wait for the first packet and between packets. Nil means the limit in the device file.
  ///   - onEvent: Receives unsolicited events during the call.
  /// - Throws: `DeviceCallError`; the errors of `Client.characteristic`, `Client.subscribe` and `Client.send`; `CancellationError`.
  package func call(
    _ command: DeviceCommand, _ values: [NamedValue], of device: DeviceDescription, within limit: Duration? = nil,
    onEvent: @escaping @LoopActor (String, [NamedValue]) -> Void = { _, _ in }
  ) async throws -> DeviceAnswer {
    let calls = attachment(DeviceCalls())
    let place = calls.queue.enter()
    defer { place.leave() }
    try await place.untilTurn()
    calls.number &+= 1
    let request: (bytes: [UInt8], values: [NamedValue])
    do { request = try command.encode(values, number: calls.number) } catch { throw DeviceCallError.parameter(error) }
    // Check before subscribing: a request that cannot be written has no answer.
    let target = try await client.attribute(try command.to.selector, discovering: true)
    let plan = try WriteProcedure(
      value: request.bytes.count, properties: target.properties, mtu: client.mtu, mode: command.mode, chunk: command.chunk)
    var pacing = WritePacing(gap: command.gap)
    guard let answer = command.answer else {
      pacing.provesArrival = true
      try await client.send(request.bytes, to: target.handle, plan: plan, pacing: pacing)
      return DeviceAnswer()
    }
    let call = RunningCall(
      command: command.name, reader: AnswerReader(answer, request: request.values, command: command.name, of: device), client,
      limit: limit ?? answer.limit, onEvent: onEvent)
    calls.unanswered.removeAll { $0.client !== client || $0.end <= EventLoop.shared.now }
    do {
      try await call.values.add(try await client.characteristic(try answer.from.selector))
      for before in calls.unanswered where before.from.isLike(answer.from) && before.reader.isLike(answer) { try await call.pass(before) }
      try await call.passEarlier()
      calls.unanswered.removeAll { $0.from.isLike(answer.from) && $0.end <= EventLoop.shared.now || call.passed.contains($0.number) }
      call.isSent = true
      try await race(
        { try await self.client.send(request.bytes, to: target.handle, plan: plan, pacing: pacing) },
        { throw try await self.client.untilClosed() })
      let result = try await call.answer()
      await call.values.end()
      return result
    } catch {
      if call.isSent, !call.isOver {
        calls.unanswered.append(UnansweredCall(number: calls.number, call.reader, from: answer.from, client, within: call.limit))
      }
      await call.values.end()
      throw error
    }
  }
}

/// The commands of the device file that were called on a connection.
@LoopActor
private final class DeviceCalls {
  let queue = TurnQueue()
  /// The number of calls.
  var number: Int64 = 0
  /// The commands whose answers may still arrive.
  var unanswered: [UnansweredCall] = []
}

/// A command whose answer has not arrived. Its late answer could look like the answer to the next command.
@LoopActor
private struct UnansweredCall {
  /// The number of the call on its connection, from 1.
  fileprivate let number: Int64
  fileprivate let reader: AnswerReader
  fileprivate let from: DeviceCharacteristic
  fileprivate weak var client: Client?
  /// The time until which a late answer may arrive, one time limit after the call failed.
  fileprivate let end: LoopClock.Instant

  fileprivate init(number: Int64, _ reader: AnswerReader, from: DeviceCharacteristic, _ client: Client, within limit: Duration) {
    (self.number, self.reader, self.from, self.client) = (number, reader, from, client)
    end = EventLoop.shared.now.advanced(by: limit)
  }
}

/// A command that waits for its answer.
@LoopActor
private final class RunningCall {
  let command: String
  let values: SubscribedValues
  private(set) var reader: AnswerReader
  let limit: Duration
  var isSent = false
  /// Whether the device has completed its answer.
  private(set) var isOver = false
  private let onEvent: @LoopActor (String, [NamedValue]) -> Void
  /// The numbers of earlier calls whose late answers arrived during this call.
  private(set) var passed: Set<Int64> = []
  private var events: Set<String> = []
  private var refused = RefusedPackets()
  private let loss = Loss()

  /// A counter of the values that the queue dropped because the call did not take them in time.
  @LoopActor private final class Loss { var count = 0 }

  init(
    command: String, reader: AnswerReader, _ client: Client, limit: Duration, onEvent: @escaping @LoopActor (String, [NamedValue]) -> Void
  ) {
    (self.command, self.reader, self.limit, self.onEvent) = (command, reader, limit, onEvent)
    values = SubscribedValues(client) { [loss] in loss.count += $0 }
  }

  /// Waits for the late answer to an earlier command, for at most the time limit of the current command.
  func pass(_ before: UnansweredCall) async throws {
    var reader = before.reader
    let end = min(before.end, EventLoop.shared.now.advanced(by: limit))
    while let (event, _) = try await values.next(until: end) {
      passEarly(event.value)
      switch reader.take(event.value) {
      case .finished, .failure, .endless:
        passed.insert(before.number)
        return
      case .part, .event, .refused: break
      }
    }
  }

  /// Takes the packets that arrived before the request. Reports the events and refuses the other packets.
  func passEarlier() async throws { while let (event, _) = try await values.next(until: EventLoop.shared.now) { passEarly(event.value) } }

  private func passEarly(_ packet: [UInt8]) {
    var idle = reader
    if case .event(let name, let values) = idle.take(packet) { tell(name, values) } else { refuse(packet, .early) }
  }

  func answer() async throws -> DeviceAnswer {
    var last = EventLoop.shared.now
    while true {
      let pause = reader.silence
      let next = try await values.next(until: last.advanced(by: pause ?? limit), isNeeded: pause == nil)
      if loss.count > 0 { throw DeviceCallError.overrun(command: command, lost: loss.count) }
      guard let (event, _) = next else {
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
      case .endless: throw DeviceCallError.endless(command: command, taken: reader.packets.count)
      case .event(let name, let values): tell(name, values)
      case .refused(let reason): refuse(event.value, reason)
      }
    }
  }

  private var result: DeviceAnswer { DeviceAnswer(values: reader.values, packets: reader.packets, refused: refused) }

  private func tell(_ name: String, _ values: [NamedValue]) {
    // The device file limits the number of names.
    events.insert(name)
    onEvent(name, values)
  }

  private func refuse(_ packet: [UInt8], _ reason: RefusedPacket.Reason) { refused.add(RefusedPacket(packet, reason)) }

  private func missing() -> DeviceCallError {
    let progress = reader.progress
    return .noAnswer(.init(command: command, limit: limit, taken: progress.taken, of: progress.of, events: events, refused: refused))
  }
}

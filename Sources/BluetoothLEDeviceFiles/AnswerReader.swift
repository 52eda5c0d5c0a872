// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A state machine that classifies the packets that arrive while a command waits for its answer.
/// The state machine does no I/O and measures no time. The caller reports a pause with `fellSilent()`.
package struct AnswerReader: Sendable {
  package enum Verdict: Sendable, Equatable {
    /// A packet of the answer. The reader expects more packets.
    case part
    case finished
    case failure(DeviceErrorAnswer)
    case event(name: String, [NamedValue])
    case refused(RefusedPacket.Reason)
    /// The answer contains or announces more packets than `DeviceCommand.Answer.maximumPackets`.
    case endless
  }

  private enum Role: Equatable {
    case event(String)
    case error
    case part(Int)
    /// A packet of the answer to another command, with the name of that command.
    case other(String)

    /// The priority of the role if frames of several roles match a packet equally well. The lowest number wins.
    var rank: Int {
      switch self {
      case .event: 0
      case .error: 1
      case .part: 2
      case .other: 3
      }
    }
  }

  private let answer: DeviceCommand.Answer
  private let request: [NamedValue]
  private let candidates: [(frame: Frame, role: Role)]

  /// The zero-based index of the answer's part to which the next packet should belong.
  private var current = 0
  /// The accepted packets and their decoded values, by the zero-based index of the part.
  private var taken: [[(packet: [UInt8], values: [NamedValue])]]
  /// The accepted packets of the answer in order of arrival, without events and refused packets.
  package private(set) var packets: [[UInt8]] = []
  package private(set) var isFinished = false

  /// Creates a reader for one answer to `command` of `device`.
  /// - Parameter request: The field values of the sent request.
  package init(_ answer: DeviceCommand.Answer, request: [NamedValue], command: String, of device: DeviceDescription) {
    self.answer = answer
    self.request = request
    taken = answer.parts.map { _ in [] }
    var candidates: [(frame: Frame, role: Role)] = []
    for event in device.events where event.from.isLike(answer.from) { candidates.append((event.frame, .event(event.name))) }
    if let frame = answer.errors?.frame { candidates.append((frame, .error)) }
    for (index, part) in answer.parts.enumerated() { candidates.append((part.frame, .part(index))) }
    for other in device.commands where other.name != command {
      guard let theirs = other.answer, theirs.from.isLike(answer.from) else { continue }
      // A frame without constant bytes identifies nothing.
      candidates += theirs.parts.filter { !$0.frame.identity.isEmpty }.map { ($0.frame, .other(other.name)) }
    }
    self.candidates = candidates
  }

  /// The pause without packets that would complete the answer. Nil if the current part does not end with a pause, or has no packet yet.
  package var silence: Duration? {
    guard !isFinished, case .silence(let pause) = answer.parts[current].end, !taken[current].isEmpty else { return nil }
    return pause
  }

  /// Finishes the answer, because no packet arrived for the duration of `silence`. Does nothing if `silence` is nil.
  package mutating func fellSilent() { if silence != nil { isFinished = true } }

  // MARK: Packets

  /// Classifies a packet from the answer's characteristic. Adds the packet to `packets` if it is a part of the answer.
  package mutating func take(_ packet: [UInt8]) -> Verdict {
    // Take the most specific frame: an answer of arbitrary bytes must not swallow other packets.
    let alike = candidates.compactMap { candidate in candidate.frame.likeness(packet).map { (candidate: candidate, likeness: $0) } }
    guard let most = alike.map(\.likeness).max() else { return .refused(.foreign) }
    let best = alike.filter { $0.likeness == most }.map(\.candidate).sorted { rank($0.role) < rank($1.role) }
    var fault: (reason: PacketFault, role: Role)?
    for candidate in best {
      do { return classify(packet, try candidate.frame.decode(packet), candidate.role) } catch {
        if fault == nil || candidate.role == .part(current) { fault = (error, candidate.role) }
      }
    }
    guard let fault else { return .refused(.foreign) }
    return .refused(.malformed(fault.reason, of: name(fault.role)))
  }

  /// Returns the priority of a role that matches a packet. The lowest number wins. The part `current` has priority over other parts.
  private func rank(_ role: Role) -> Int { role == .part(current) ? 20 : role.rank * 10 + (role.rank == 2 ? 5 : 0) }

  private func name(_ role: Role) -> String? { if case .event(let name) = role { name } else { nil } }

  private mutating func classify(_ packet: [UInt8], _ values: [NamedValue], _ role: Role) -> Verdict {
    switch role {
    case .event(let name): return .event(name: name, values)
    case .other(let command): return .refused(.answerOf(command))
    case .error, .part: break
    }
    if isFinished { return .refused(packets.contains(packet) ? .doubled : .foreign) }
    if let field = answer.echo.first(where: { name in values[name].map { $0 != request[name] } ?? false }) {
      return .refused(.otherRequest(field: field))
    }
    if let failure = failure(values, role) { return .failure(failure) }
    guard case .part(let index) = role else { return .refused(.foreign) }
    guard index == current else {
      if index < current, taken[index].contains(where: { $0.packet == packet }) { return .refused(.doubled) }
      return .refused(.outOfOrder(expected: nil, found: nil))
    }
    if saysThereIsNone(values) {
      packets.append(packet)
      return advance()
    }
    if let refusal = disorder(packet, values) { return .refused(refusal) }
    taken[current].append((packet, values))
    packets.append(packet)
    if isComplete(values) { return advance() }
    return packets.count >= DeviceCommand.Answer.maximumPackets || total(of: current) ?? 0 > DeviceCommand.Answer.maximumPackets
      ? .endless : .part
  }

  /// Advances to the next part that expects packets, or finishes the answer.
  private mutating func advance() -> Verdict {
    repeat {
      current += 1
      guard current < answer.parts.count else {
        current = answer.parts.count - 1
        isFinished = true
        return .finished
      }
    } while total(of: current) == 0
    return total(of: current) ?? 0 > DeviceCommand.Answer.maximumPackets ? .endless : .part
  }

  /// Returns whether these values, in the first packet of the current part, announce 0 packets.
  private func saysThereIsNone(_ values: [NamedValue]) -> Bool {
    guard case .field(let name) = answer.parts[current].end, taken[current].isEmpty else { return false }
    return values[name]?.count == 0
  }

  /// Returns the expected number of packets of the part with this zero-based index. Nil if no packet has announced the number yet.
  private func total(of part: Int) -> Int? {
    switch answer.parts[part].end {
    case .count(let count): count
    // The first packet with the number decides. A later change is refused.
    case .field(let name):
      (taken[part].first?.values[name] ?? value(name, before: part)).map {
        min(max(0, $0.count ?? .max), DeviceCommand.Answer.maximumPackets + 1)
      }
    case .value, .silence: nil
    }
  }

  private func failure(_ values: [NamedValue], _ role: Role) -> DeviceErrorAnswer? {
    guard let errors = answer.errors, let code = values[errors.field] else { return nil }
    guard role == .error || errors.frame == nil else { return nil }
    if errors.fine.contains(code) { return nil }
    return DeviceErrorAnswer(
      code: code, meaning: errors.meanings[DeviceCommand.Errors.key(code)],
      values: values.filter { $0.name != errors.field && !answer.echo.contains($0.name) })
  }

  private func disorder(_ packet: [UInt8], _ values: [NamedValue]) -> RefusedPacket.Reason? {
    if case .field(let name) = answer.parts[current].end, let said = taken[current].first?.values[name], said != values[name] {
      return taken[current].contains { $0.packet == packet } ? .doubled : .changed(field: name)
    }
    guard let index = answer.parts[current].index, let found = values[index.field]?.count else { return nil }
    let width: Int =
      switch answer.parts[current].frame.field(index.field) {
      case .number(let field)?: min(8 * field.layout.width, 32)
      case .bit(let bit)?: bit.width
      case .string?, .list?, nil: 32
      }
    let expected = (index.first + taken[current].count) % (1 << width)
    guard found != expected else { return nil }
    return taken[current].contains { $0.packet == packet } ? .doubled : .outOfOrder(expected: expected, found: found)
  }

  /// Returns whether a packet with these values completes the current part.
  private func isComplete(_ values: [NamedValue]) -> Bool {
    switch answer.parts[current].end {
    case .count, .field: taken[current].count >= total(of: current) ?? 0
    case .value(let field, let wanted): values[field] == wanted
    case .silence: false
    }
  }

  /// Returns the field's value from the last packet of the nearest earlier part that has the field. Nil if no earlier part has the field.
  private func value(_ name: String, before part: Int) -> DeviceValue? {
    for part in taken[..<part].reversed() { if let value = part.last?.values[name] { return value } }
    return nil
  }

  /// Returns whether a packet could belong both to the reader's answer and to `other`.
  package func isLike(_ other: DeviceCommand.Answer) -> Bool {
    guard other.echo.isEmpty else { return false }
    func frames(_ answer: DeviceCommand.Answer) -> [Frame] { answer.parts.map(\.frame) + (answer.errors?.frame.map { [$0] } ?? []) }
    let theirs = frames(other)
    return frames(answer).contains { frame in theirs.contains { frame.isLike($0) } }
  }

  // MARK: Values

  /// The number of accepted packets, and the expected total. The total is nil until the number of packets of every part is known.
  package var progress: (taken: Int, of: Int?) {
    var all = 0
    for index in answer.parts.indices {
      if let count = total(of: index) {
        all += count
      } else {
        guard index < current || isFinished else { return (packets.count, nil) }
        all += taken[index].count
      }
    }
    return (packets.count, max(all, packets.count))
  }

  /// The decoded values of the answer, without fields that only number or count packets, or that echo the request.
  package var values: [NamedValue] {
    var values: [NamedValue] = []
    func add(_ name: String, _ value: DeviceValue) {
      if let index = values.firstIndex(where: { $0.name == name }) {
        values[index].value = value
      } else {
        values.append(NamedValue(name, value))
      }
    }
    for (part, packets) in zip(answer.parts, taken) {
      let plumbing = Self.plumbing(part, of: answer)
      if let group = part.group {
        add(group, .list(packets.map { .object($0.values.filter { !plumbing.contains($0.name) }) }))
        continue
      }
      for field in part.frame.fields where !plumbing.contains(field.name) {
        let all = packets.compactMap { $0.values[field.name] }
        if part.end == .count(1) {
          if let value = all.first { add(field.name, value) }
        } else if case .list = field {
          add(field.name, .list(all.flatMap { value in if case .list(let items) = value { items } else { [value] } }))
        } else {
          add(field.name, .list(all))
        }
      }
    }
    return values
  }

  /// Returns the names of the fields that number or count packets, or that echo the request.
  static func plumbing(_ part: DeviceCommand.Part, of answer: DeviceCommand.Answer) -> Set<String> {
    var names = Set(answer.echo)
    if let index = part.index { names.insert(index.field) }
    for case .field(let name) in answer.parts.map(\.end) { names.insert(name) }
    return names
  }
}

/// An error code that a device sent in place of an answer, with the other values of the packet.
package struct DeviceErrorAnswer: Sendable, Equatable {
  package let code: DeviceValue
  /// The meaning of the code from the device file. Nil if the file does not list the code.
  package let meaning: String?
  /// The decoded values of the packet, without the code and without fields that echo the request.
  package let values: [NamedValue]
}

/// A packet that is not part of the expected answer, and the reason.
package struct RefusedPacket: Sendable, Equatable {
  package let packet: [UInt8]
  package let reason: Reason

  package init(_ packet: [UInt8], _ reason: Reason) { (self.packet, self.reason) = (packet, reason) }

  package enum Reason: Sendable, Equatable {
    /// No frame in the file matches the first bytes of the packet.
    case foreign
    /// The packet starts like the event named `of`, or like the answer if `of` is nil, but does not fit the frame.
    case malformed(PacketFault, of: String?)
    /// The device already sent the same packet for this answer.
    case doubled
    /// The packet has the wrong number, or belongs to the wrong part. `expected` and `found` are nil for a wrong part.
    case outOfOrder(expected: Int?, found: Int?)
    case answerOf(String)
    /// The named field has another value than in the sent request.
    case otherRequest(field: String)
    /// The named field announces another number of packets than in the first packet.
    case changed(field: String)
    /// The packet arrived before the host sent the command.
    case early
  }

  /// Whether the packet shows a fault of the device: it is malformed, out of order, or changes the announced number of packets.
  package var isFault: Bool {
    switch reason {
    case .malformed, .outOfOrder, .changed: true
    case .foreign, .doubled, .answerOf, .otherRequest, .early: false
    }
  }
}

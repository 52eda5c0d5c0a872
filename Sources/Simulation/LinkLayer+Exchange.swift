import Bluetooth
import Peripherals

/// The exchange of PDUs inside a connection event (Vol 6 Part B §4.5.6).
extension LinkLayer {
  /// Exchanges up to half of the queued packets at `cursor` while the event lasts. If it exchanged all, the queues would run dry and end
  /// the event before the hosts see the acknowledgements.
  mutating func exchangeBatch() {
    var batch = batchLimit
    for queue in [central.queue, peripheral.queue] where !queue.isEmpty { batch = min(batch, max(1, queue.count / 2)) }
    var done = 0
    isBroken = false
    var goesOn = deadline == nil && hasExchange
    while goesOn, done < batch {
      goesOn = exchange()
      done += 1
      exchangesInEvent += 1
      // When neither side has more data, the peripheral's packet closes the event (MD bits, Vol 6 Part B §4.5.6).
      if !hasExchange || exchangesInEvent >= packetsPerEvent ?? .max { goesOn = false }
    }
    combineCompletions()
    phase = done > 0 ? .exchanging(eventGoesOn: goesOn) : .between
  }

  /// The phase after an exchange, when both sides may have sent all their data.
  var afterData: Phase {
    let end = min(eventEnd, cursor + Int64(pollingTime) * 1000)
    guard pollingTime > 0, end > cursor, !isBroken, deadline == nil, exchangesInEvent < packetsPerEvent ?? .max else { return .between }
    return hasExchange ? .open : .polling(until: end)
  }

  /// Handles data that a host queues while empty packets are exchanged: the next packet carries it.
  mutating func goOn(at now: Int64) {
    let step = airTime(0, central) + airTime(0, peripheral)
    let before = cursor
    if now > cursor { cursor += (now - cursor + step - 1) / step * step }
    guard hasExchange else { return cursor = before }
    lastHeard = cursor
    phase = .open
    due = cursor
  }

  /// Whether data is queued and the event has room for it. The first exchange of an event may take longer than the event.
  var hasExchange: Bool {
    guard !(central.queue.isEmpty && peripheral.queue.isEmpty) else { return false }
    return exchangesInEvent == 0 || cursor + airTime(central) + airTime(peripheral) <= eventEnd
  }

  /// Returns the time in ns of the next PDU and the space after it.
  private func airTime(_ transmitter: Transmitter) -> Int64 { airTime(transmitter.queue.nextCount(limit: transmitter.limit), transmitter) }

  private func airTime(_ octets: Int, _ transmitter: Transmitter) -> Int64 {
    Int64(AirTime.pdu(octets: octets, transmitter.coding, encrypted: isEncrypted) + interFrameSpace) * 1000
  }

  /// Exchanges a PDU of the central and its answer. Returns false if a packet was missed or the link was cut, which ends the event.
  private mutating func exchange() -> Bool {
    let fromCentral = central.queue.next(limit: central.limit)
    let fromPeripheral = peripheral.queue.next(limit: peripheral.limit)
    let (toPeripheral, toCentral) = (airTime(central), airTime(peripheral))
    cursor += toPeripheral
    guard !isMissed(fromCentral) else { return missed() }
    let isTaken = fromCentral.map { central.unacknowledged != nil || takes($0) } ?? false
    if let fromCentral, isTaken, central.unacknowledged == nil { deliver(fromCentral, to: .peripheral) }
    cursor += toCentral
    guard !isMissed(fromPeripheral) else {
      if isTaken { central.unacknowledged = fromCentral?.octets.count }
      return missed()
    }
    lastHeard = cursor
    // The peripheral does not acknowledge a PDU that it has no room for, and the central repeats it (Vol 6 Part B §4.5.9).
    if let fromCentral, isTaken { acknowledge(fromCentral, of: .central) }
    if let fromPeripheral {
      deliver(fromPeripheral, to: .central)
      acknowledge(fromPeripheral, of: .peripheral)
    }
    if let limit = cutAfterOctets, carriedOctets >= limit {
      cut(at: cursor)
      return false
    }
    return true
  }

  /// Takes room for a PDU at the peripheral, and returns whether there was any. Only the first PDU of a frame needs room.
  private mutating func takes(_ pdu: PacketQueue.PDU) -> Bool {
    guard let room, pdu.isStart else { return true }
    guard room > 0 else { return false }
    self.room = room - 1
    return true
  }

  private mutating func isMissed(_ pdu: PacketQueue.PDU?) -> Bool {
    guard packetErrorRate > 0 else { return false }
    // Empty PDUs are short: interference that destroys a data PDU mostly spares them.
    return packetErrorRate >= 1 || pdu != nil && random.fraction() < packetErrorRate
  }

  private mutating func missed() -> Bool {
    isBroken = true
    if cursor - lastHeard > parameters.supervisionTimeout.nanoseconds { deadline = (cursor, .connectionTimeout) }
    return false
  }

  private mutating func deliver(_ pdu: PacketQueue.PDU, to side: Side) {
    carriedOctets += pdu.octets.count
    results.append(.received(by: side, Array(pdu.octets), isStart: pdu.isStart))
  }

  private mutating func acknowledge(_ pdu: PacketQueue.PDU, of side: Side) {
    let isLast =
      switch side {
      case .central: central.queue.advance(pdu.octets.count)
      case .peripheral: peripheral.queue.advance(pdu.octets.count)
      }
    switch side {
    case .central: central.unacknowledged = nil
    case .peripheral: peripheral.unacknowledged = nil
    }
    if isLast { results.append(.completed(by: side, 1)) }
  }

  /// Combines the completions into one for each side, at the end. Real controllers also report several at a time.
  private mutating func combineCompletions() {
    var counts: (central: Int, peripheral: Int) = (0, 0)
    results.removeAll {
      guard case .completed(let side, let count) = $0 else { return false }
      if side == .central { counts.central += count } else { counts.peripheral += count }
      return true
    }
    if counts.central > 0 { results.append(.completed(by: .central, counts.central)) }
    if counts.peripheral > 0 { results.append(.completed(by: .peripheral, counts.peripheral)) }
  }
}

import Bluetooth

/// What happens inside a connection event (Vol 6 Part B §4.5.6).
extension LinkLayer {
  /// Exchanges some of what is queued, at `cursor`, while the event lasts: half of it, so that the queues do not run dry (which would end
  /// the event) before the hosts have seen what was acknowledged.
  mutating func exchangeBatch() {
    var batch = Self.batchLimit
    for queue in [central.queue, peripheral.queue] where !queue.isEmpty { batch = min(batch, max(1, queue.count / 2)) }
    var done = 0
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

  /// Something is queued, and the event has room for it; the first exchange of an event may take longer than the event.
  var hasExchange: Bool {
    guard !(central.queue.isEmpty && peripheral.queue.isEmpty) else { return false }
    return exchangesInEvent == 0 || cursor + airTime(central) + airTime(peripheral) <= eventEnd
  }

  /// ns, with the space after it.
  private func airTime(_ transmitter: Transmitter) -> Int64 {
    let octets = transmitter.queue.nextCount(limit: transmitter.limit)
    return Int64(AirTime.pdu(octets: octets, transmitter.coding) + interFrameSpace) * 1000
  }

  /// One PDU of the central and the answer to it. Returns false when something was missed, which ends the event.
  private mutating func exchange() -> Bool {
    let fromCentral = central.queue.next(limit: central.limit)
    let fromPeripheral = peripheral.queue.next(limit: peripheral.limit)
    let (toPeripheral, toCentral) = (airTime(central), airTime(peripheral))
    cursor += toPeripheral
    guard !isMissed(fromCentral) else { return missed() }
    if let fromCentral, central.unacknowledged == nil { deliver(fromCentral, to: .peripheral) }
    cursor += toCentral
    guard !isMissed(fromPeripheral) else {
      central.unacknowledged = fromCentral?.octets.count
      return missed()
    }
    lastHeard = cursor
    if let fromCentral { acknowledge(fromCentral, of: .central) }
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

  private mutating func isMissed(_ pdu: PacketQueue.PDU?) -> Bool {
    guard packetErrorRate > 0 else { return false }
    // Empty PDUs are short: what destroys a data PDU mostly spares them.
    return packetErrorRate >= 1 || pdu != nil && random.fraction() < packetErrorRate
  }

  private mutating func missed() -> Bool {
    if cursor - lastHeard > Int64(parameters.supervisionTimeout) * 10_000_000 { deadline = (cursor, .connectionTimeout) }
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

  /// One completion for each side, at the end: controllers report them in bunches too.
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

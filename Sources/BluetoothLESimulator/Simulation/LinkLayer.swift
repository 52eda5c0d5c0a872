// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import DequeModule

/// A state machine for both ends of a connection's link layer (Vol 6 Part B §4.5 and §5.1). It returns actions for both hosts.
/// It has no timer. The caller queues packets and calls `wake` at the time `due`.
///
/// Times are nanoseconds on any clock. The state machine skips empty connection events, so an idle link costs nothing.
/// Inside an event, the link exchanges a few PDUs at a time, so that the hosts can refill the queues as during a real event.
struct LinkLayer {
  enum Side: Sendable {
    case central, peripheral

    var other: Side { self == .central ? .peripheral : .central }
  }

  /// The parameters that determine when the two sides of a connection exchange packets (Vol 6 Part B §4.5.2).
  struct Parameters: Equatable, Sendable {
    var interval: ConnectionInterval
    /// The number of connection events that the peripheral may skip if it has no data.
    var latency: UInt16
    var supervisionTimeout: Centiseconds
  }

  /// A result of the link layer for one or both hosts.
  enum Action: Equatable, Sendable {
    /// A data PDU arrived at this side.
    /// - Parameter isStart: Whether the PDU starts an L2CAP frame.
    case received(by: Side, [UInt8], isStart: Bool)
    /// The peer acknowledged this number of packets from this side.
    case completed(by: Side, Int)
    /// A procedure that this side started has ended.
    case done(Procedure, by: Side = .central)
    /// The link ended, with the reason for each side. No action follows.
    case closed(central: ControllerErrorCode, peripheral: ControllerErrorCode)
  }

  /// The coding, the maximum payload and the send queue of one side of a link.
  struct Transmitter {
    var coding = AirTime.Coding.le1M
    var maxBytes = 27
    var queue = PacketQueue()
    /// The size, in bytes, of a delivered PDU whose acknowledgement its sender missed. The link repeats the PDU. Nil for no such PDU.
    var unacknowledged: Int?

    var limit: Int { unacknowledged ?? maxBytes }
  }

  enum Phase {
    /// No connection event is open.
    case between
    /// PDUs are in transmission until `cursor`. `results` has their actions.
    case exchanging(eventGoesOn: Bool)
    /// A connection event is open at `cursor`. The hosts have received all results so far.
    case open
    /// A connection event continues without data until this time in ns, or until a host queues data.
    case polling(until: Int64)
    case closed
  }

  /// The time of the next `wake`, in ns. Nil if nothing happens until a host queues data or starts a procedure.
  var due: Int64?
  private(set) var parameters: Parameters
  /// The inter-frame space (T_IFS) in µs.
  var interFrameSpace = AirTime.interFrameSpace
  /// Whether data PDUs always have a Message Integrity Check (MIC), as on an encrypted link.
  var hasIntegrityCheck = false
  private(set) var isEncrypted = false
  /// The time in µs for which an event continues with empty packets after the last data. The hosts can answer in the same event.
  var pollingTime = 0
  /// The time in µs that the central's scheduler leaves unused at the end of each event.
  var guardTime = 0
  /// The maximum number of exchanges in one event that the peripheral accepts. Nil means no limit.
  var packetsPerEvent: Int?
  /// The number of L2CAP frames that the peripheral's host can still accept. At 0, the link acknowledges no new frame. Nil means no limit.
  var room: Int?
  /// The maximum number of exchanges in one `wake`. Data that a side received waits until the last exchange.
  var batchLimit = 8
  /// The probability, 0–1, that a side misses a PDU with data, which ends the event. At 1, neither side receives anything.
  var packetErrorRate = 0.0
  /// The number of payload bytes, in both directions together, after which the link loses radio contact. Nil means never.
  var cutAfterBytes: Int?

  var random: SeededRandom
  var central = Transmitter()
  var peripheral = Transmitter()
  var phase = Phase.between

  // Connection event n, for n ≥ base, starts at anchor + (n − base) · interval.
  private var anchor: Int64
  private var base = 0
  /// The number of the last connection event with an exchange. −1 before the first exchange.
  private var lastEvent = -1
  /// The time, in ns, at which the next PDU can start.
  var cursor: Int64
  var exchangesInEvent = 0
  /// Whether a missed packet ended the current connection event.
  var isBroken = false
  var eventEnd: Int64 = 0
  var results: [Action] = []
  /// The time, in ns, at which a host queued data while both queues were empty. The next event with data is not earlier.
  private var wantedSince: Int64 = 0
  var lastHeard: Int64
  var carriedBytes = 0

  private var waiting: Deque<(procedure: Procedure, side: Side)> = []
  private var current: (procedure: Procedure, side: Side, event: Int)?
  /// The request that waits for the peripheral's key. Until the link is encrypted or the request refused, neither side sends data.
  private var encryption: EncryptionRequest?
  private var termination: (by: Side, reason: ControllerErrorCode, event: Int)?
  /// The time, in ns, at which both sides notice a loss of radio contact, and the reason that they report. Nil during contact.
  var deadline: (time: Int64, reason: ControllerErrorCode)?

  /// The longest delay of a late timer, in ns, for which the link makes up missed connection events.
  private static let patience: Int64 = 200_000_000

  /// Creates the link layer of a new connection.
  /// - Parameter firstAnchor: The time of connection event 0, in ns.
  init(parameters: Parameters, firstAnchor: Int64, random: SeededRandom) {
    self.parameters = parameters
    self.random = random
    anchor = firstAnchor
    cursor = firstAnchor
    lastHeard = firstAnchor
  }

  /// The connection interval in ns.
  private var interval: Int64 { parameters.interval.nanoseconds }

  subscript(side: Side) -> Transmitter {
    _read { if side == .central { yield central } else { yield peripheral } }
    _modify { if side == .central { yield &central } else { yield &peripheral } }
  }
  var isClosed: Bool { if case .closed = phase { true } else { false } }

  // MARK: Requests of the hosts

  /// Queues an HCI packet that a side sends.
  /// - Parameter isStart: Whether the packet starts an L2CAP frame.
  mutating func send(by side: Side, _ packet: [UInt8], isStart: Bool, at now: Int64) {
    guard !isClosed else { return }
    if central.queue.isEmpty && peripheral.queue.isEmpty {
      wantedSince = now
      // The packets in the idle events before were heard.
      lastHeard = max(lastHeard, anchorBefore(now))
    }
    self[side].queue.append(packet, isStart: isStart)
    switch phase {
    case .between: plan(at: now)
    case .polling: goOn(at: now)
    case .exchanging, .open, .closed: break
    }
  }

  mutating func start(_ procedure: Procedure, by side: Side = .central, at now: Int64) {
    guard !isClosed else { return }
    waiting.append((procedure, side))
    startNextProcedure(from: nextEvent(notBefore: now))
    if case .between = phase { plan(at: now) }
  }

  /// Answers `encryptionRequest` with the peripheral's key, or with nil if it has none. Does nothing without a request.
  mutating func answer(_ key: UInt128?, at now: Int64) {
    guard !isClosed, let encryption, current == nil else { return }
    let procedure = key.map { Procedure.encryptionStart(hasSameKey: $0 == encryption.key) } ?? .encryptionRefusal
    current = (procedure, .central, nextEvent(notBefore: now) + procedure.events)
    if case .between = phase { plan(at: now) }
  }

  /// Ends the link with LL_TERMINATE_IND in the next event. The link then discards queued packets.
  mutating func terminate(by side: Side, reason: ControllerErrorCode, at now: Int64) {
    guard !isClosed, termination == nil else { return }
    termination = (side, reason, nextEvent(notBefore: now))
    if case .between = phase { plan(at: now) }
  }

  /// Interrupts radio contact permanently. Both sides notice the loss after the supervision timeout.
  mutating func cut(at now: Int64) {
    guard !isClosed, deadline == nil else { return }
    let heard = max(lastHeard, anchorBefore(now))
    deadline = (heard &+ parameters.supervisionTimeout.nanoseconds, .connectionTimeout)
    if case .between = phase { plan(at: now) }
  }

  /// Ends the link for both sides, which report `reason`.
  mutating func fail(_ reason: ControllerErrorCode, at now: Int64) {
    guard !isClosed, deadline == nil else { return }
    deadline = (now, reason)
    if case .between = phase { plan(at: now) }
  }

  /// Fails the connection after six intervals, as if the peripheral had missed CONNECT_IND (Vol 6 Part B §4.5.2).
  mutating func failEstablishment() {
    deadline = (anchor &+ 6 * interval, .connectionFailedToBeEstablished)
    due = deadline?.time
  }

  // MARK: Time

  /// Advances to `now` and returns the actions since the last call. Sets `due` to the time of the next call.
  mutating func wake(at now: Int64) -> [Action] {
    guard let due, now >= due else { return [] }
    var actions: [Action] = []
    switch phase {
    case .closed: break
    case .exchanging(let eventGoesOn):
      swap(&actions, &results)
      phase = eventGoesOn ? .open : afterData
    case .open: exchangeBatch()
    case .polling: phase = .between
    case .between: actions = startEvent(at: now)
    }
    plan(at: now)
    return actions
  }

  private mutating func plan(at now: Int64) {
    switch phase {
    case .closed: due = nil
    case .exchanging, .open: due = cursor
    case .polling(let end): due = end
    case .between:
      if let deadline {
        due = deadline.time
      } else {
        due = upcomingEvent(at: now).map(anchor(of:))
      }
    }
  }

  /// Returns the number of the next connection event in which a side sends a PDU or a procedure takes effect.
  private func upcomingEvent(at now: Int64) -> Int? {
    var next: Int?
    func consider(_ event: Int) { next = min(next ?? event, event) }
    if let termination { consider(termination.event) }
    if let current { consider(max(current.event, lastEvent + 1)) }
    if hasData {
      var event = nextEvent(notBefore: max(wantedSince, now - Self.patience))
      let skip = Int(parameters.latency) + 1
      // A peripheral without data listens only to every (latency + 1)th event.
      if peripheral.queue.isEmpty, skip > 1, event > lastEvent + 1 {
        event = lastEvent + (event - lastEvent + skip - 1) / skip * skip
      }
      consider(event)
    }
    return next
  }

  private func anchor(of event: Int) -> Int64 { anchor &+ Int64(event - base) &* interval }

  /// Returns the number of the first future connection event that does not start before `time`.
  private func nextEvent(notBefore time: Int64) -> Int {
    let time = max(time, cursor)
    let later = time > anchor ? Int((time - anchor + interval - 1) / interval) : 0
    return max(lastEvent + 1, base + later)
  }

  /// Returns the start, in ns, of the last connection event at or before `time`.
  private func anchorBefore(_ time: Int64) -> Int64 { time <= anchor ? anchor : time - (time - anchor) % interval }

  // MARK: Events

  private mutating func startEvent(at now: Int64) -> [Action] {
    if let deadline {
      return deadline.time <= now
        ? close(central: termination?.by == .central ? .terminatedByLocalHost : deadline.reason, deadline.reason) : []
    }
    guard let event = upcomingEvent(at: now) else { return [] }
    var actions: [Action] = []
    let start = anchor(of: event)
    while let current, current.event <= event {
      self.current = nil
      if let failure = apply(current.procedure, at: event) { return actions + close(central: failure, failure) }
      actions.append(.done(current.procedure, by: current.side))
      startNextProcedure(from: event)
    }
    if let termination, termination.event <= event {
      // The side that ends the link reports its own request. The other side reports the received reason.
      let mine = ControllerErrorCode.terminatedByLocalHost
      return actions
        + (termination.by == .central ? close(central: mine, termination.reason) : close(central: termination.reason, mine))
    }
    cursor = start
    lastEvent = event
    eventEnd = start + interval - Int64(guardTime) * 1000
    exchangesInEvent = 0
    exchangeBatch()
    return actions
  }

  private mutating func close(central: ControllerErrorCode, _ peripheral: ControllerErrorCode) -> [Action] {
    phase = .closed
    self.central.queue = PacketQueue()
    self.peripheral.queue = PacketQueue()
    return [.closed(central: central, peripheral: peripheral)]
  }

  private mutating func startNextProcedure(from event: Int) {
    guard current == nil, encryption == nil, let (procedure, side) = waiting.popFirst() else { return }
    current = (procedure, side, event + procedure.events)
  }

  /// Returns the reason for which both sides end the link. Nil if the link goes on.
  private mutating func apply(_ procedure: Procedure, at event: Int) -> ControllerErrorCode? {
    switch procedure {
    case .featureExchange, .versionExchange: break
    case .encryptionRequest(let request): encryption = request
    case .encryptionStart(let hasSameKey):
      // The first encrypted packet fails its integrity check (Vol 6 Part B §5.1.3.1).
      guard hasSameKey else { return .micFailure }
      encryption = nil
      isEncrypted = true
    case .encryptionRefusal:
      // A link that paused its encryption cannot go on without it (Vol 6 Part B §5.1.3.2).
      guard !isEncrypted else { return .pinOrKeyMissing }
      encryption = nil
    case .dataLength(let centralBytes, let peripheralBytes):
      central.maxBytes = min(max(centralBytes, 27), 251)
      peripheral.maxBytes = min(max(peripheralBytes, 27), 251)
    case .phy(let centralCoding, let peripheralCoding):
      central.coding = centralCoding
      peripheral.coding = peripheralCoding
    case .connectionUpdate(let new):
      anchor = anchor(of: event)
      base = event
      parameters = new
    }
    return nil
  }

  /// Whether a side has queued data and may send it.
  private var hasData: Bool { encryption == nil && !(central.queue.isEmpty && peripheral.queue.isEmpty) }
}

extension LinkLayer {
  /// Applies the limits that a device sets for its links.
  /// - Parameter number: The number of the connection among all connections to the device, counted from 1.
  mutating func limit(to limits: LinkLimits, connection number: Int) {
    if number <= limits.cuts ?? .max { cutAfterBytes = limits.cutAfterBytes }
    packetsPerEvent = limits.packetsPerEvent
    packetErrorRate = limits.packetErrorRate
    guardTime = limits.guardTime
    interFrameSpace = limits.interFrameSpace
    pollingTime = limits.pollingTime
    hasIntegrityCheck = limits.isEncrypted
    guard let firmware = limits.firmware else { return }
    // The firmware's drops depend on the arrival time of each packet.
    batchLimit = 1
    if firmware.whenFull == .hold { room = firmware.buffers }
  }
}

/// The exchange of PDUs inside a connection event (Vol 6 Part B §4.5.6).
extension LinkLayer {
  /// Exchanges up to half of the queued packets, starting at `cursor`, while the event lasts.
  /// The remaining packets keep the event open until the hosts have received the acknowledgements.
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

  /// The phase after the last possible exchange: an open event, polling, or the pause between two events.
  var afterData: Phase {
    let end = min(eventEnd, cursor + Int64(pollingTime) * 1000)
    guard pollingTime > 0, end > cursor, !isBroken, deadline == nil, exchangesInEvent < packetsPerEvent ?? .max else { return .between }
    return hasExchange ? .open : .polling(until: end)
  }

  /// Reopens the connection event for data that a host queued while the sides exchanged empty packets.
  mutating func goOn(at now: Int64) {
    let step = airTime(0, central) + airTime(0, peripheral)
    let before = cursor
    if now > cursor { cursor += (now - cursor + step - 1) / step * step }
    guard hasExchange else { return cursor = before }
    lastHeard = cursor
    phase = .open
    due = cursor
  }

  /// Whether a side has queued data that fits in the rest of the event. The first exchange of an event always fits.
  var hasExchange: Bool {
    guard hasData else { return false }
    return exchangesInEvent == 0 || cursor + airTime(central) + airTime(peripheral) <= eventEnd
  }

  /// Returns the duration, in ns, of a side's next PDU and of the inter-frame space after the PDU.
  private func airTime(_ transmitter: Transmitter) -> Int64 { airTime(transmitter.queue.nextCount(limit: transmitter.limit), transmitter) }

  private func airTime(_ bytes: Int, _ transmitter: Transmitter) -> Int64 {
    Int64(AirTime.pdu(bytes: bytes, transmitter.coding, encrypted: isEncrypted || hasIntegrityCheck) + interFrameSpace) * 1000
  }

  /// Exchanges one PDU of each side. Returns false if a missed packet or a loss of radio contact ends the event.
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
      if isTaken { central.unacknowledged = fromCentral?.bytes.count }
      return missed()
    }
    lastHeard = cursor
    // The peripheral does not acknowledge a PDU that it has no room for, and the central repeats it (Vol 6 Part B §4.5.9).
    if let fromCentral, isTaken { acknowledge(fromCentral, of: .central) }
    if let fromPeripheral {
      deliver(fromPeripheral, to: .central)
      acknowledge(fromPeripheral, of: .peripheral)
    }
    if let limit = cutAfterBytes, carriedBytes >= limit {
      cut(at: cursor)
      return false
    }
    return true
  }

  /// Reserves room at the peripheral for the L2CAP frame that a PDU starts. Returns false if the peripheral has no room.
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
    carriedBytes += pdu.bytes.count
    results.append(.received(by: side, Array(pdu.bytes), isStart: pdu.isStart))
  }

  private mutating func acknowledge(_ pdu: PacketQueue.PDU, of side: Side) {
    self[side].unacknowledged = nil
    if self[side].queue.advance(pdu.bytes.count) { results.append(.completed(by: side, 1)) }
  }

  /// Combines the `completed` actions in `results` into at most one for each side, after all other actions.
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

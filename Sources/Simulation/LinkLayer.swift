import Bluetooth
import DequeModule
import Peripherals

/// The link layer of one connection, both ends of it, as a pure state machine (Vol 6 Part B §4.5 and §5.1): it is told what the hosts queue
/// and what time it is, and answers with what happened. It has no timer; `due` says when it wants to be woken.
///
/// Time is in nanoseconds on any clock. It only asks to be woken where something can happen: an idle link costs nothing, however short its
/// interval, because connection events in which nothing is said are counted by arithmetic. Inside an event, PDUs are exchanged a few at a
/// time, so that the hosts can refill the queues while the event goes on, as they do while a real one is on the air.
struct LinkLayer {
  enum Side: Sendable {
    case central, peripheral
    var other: Side { self == .central ? .peripheral : .central }
  }

  /// Vol 6 Part B §4.5.2.
  struct Parameters: Equatable, Sendable {
    var interval: ConnectionInterval
    /// Connection events that the peripheral may skip when it has nothing to say.
    var latency: UInt16
    var supervisionTimeout: Centiseconds
  }

  /// What takes LL control PDUs and a number of connection events. One is under way at a time; others wait.
  enum Procedure: Equatable, Sendable {
    case featureExchange
    case versionExchange
    /// Largest LL payload that each side will send from then on.
    case dataLength(central: Int, peripheral: Int)
    /// What each side will send with from then on.
    case phy(central: AirTime.Coding, peripheral: AirTime.Coding)
    case connectionUpdate(Parameters)

    /// Events from the first control PDU to the end: a request and its response are one event apart; an instant is at least 6 events after
    /// the indication that names it (Vol 6 Part B §5.5).
    var events: Int {
      switch self {
      case .featureExchange, .versionExchange, .dataLength: 1
      case .connectionUpdate: 6
      case .phy: 8
      }
    }
  }

  /// What happened, in order.
  enum Action: Equatable, Sendable {
    /// One LL data PDU arrived at `side`; `isStart` says that it begins an L2CAP frame.
    case received(by: Side, [UInt8], isStart: Bool)
    /// The peer acknowledged this many of the packets that `side` sent.
    case completed(by: Side, Int)
    case done(Procedure)
    /// The last action: why each side lost the link.
    case closed(central: ControllerErrorCode, peripheral: ControllerErrorCode)
  }

  /// One direction.
  struct Transmitter {
    var coding = AirTime.Coding.le1M
    var maxOctets = 27
    var queue = PacketQueue()
    /// The peer has the first PDU of the queue, of this size, but we missed the acknowledgement and will repeat it as it was.
    var unacknowledged: Int?

    var limit: Int { unacknowledged ?? maxOctets }
  }

  enum Phase {
    /// No connection event is open.
    case between
    /// PDUs are on the air until `cursor`; `results` is what they will have done.
    case exchanging(eventGoesOn: Bool)
    /// An event is open at `cursor`; the hosts have seen the results so far.
    case open
    /// An event is open, and nobody has anything to say: until then, or until somebody has.
    case polling(until: Int64)
    case closed
  }

  /// When to call `wake` next; nil when nothing will happen by itself.
  var due: Int64?
  private(set) var parameters: Parameters
  /// T_IFS in µs.
  var interFrameSpace = AirTime.interFrameSpace
  /// Data PDUs have a MIC.
  var isEncrypted = false
  /// How long an event goes on with empty packets after the last one with data, µs: what the hosts answer meanwhile does not wait for the next event.
  var pollingTime = 0
  /// Left unused at the end of each event by the central's scheduler, µs.
  var guardTime = 0
  /// Exchanges that the peripheral takes in one event.
  var packetsPerEvent: Int?
  /// Frames that the peripheral's host can still take; nil: as many as come. What begins one without room is not acknowledged.
  var room: Int?
  /// PDUs of one wake-up at most: what has arrived is not held back longer than these take.
  var batchLimit = 8
  /// Probability that a PDU with data is missed, which ends the event; at 1 nothing at all is heard.
  var packetErrorRate = 0.0
  /// The link is cut, as by walking away, when this many payload octets have been carried in both directions together.
  var cutAfterOctets: Int?

  var random: SeededRandom
  var central = Transmitter()
  var peripheral = Transmitter()
  var phase = Phase.between

  // Connection event n, for n ≥ base, starts at anchor + (n − base) · interval.
  private var anchor: Int64
  private var base = 0
  /// The last event in which something was exchanged; −1 at first.
  private var lastEvent = -1
  /// Nothing before this time can still be sent into.
  var cursor: Int64
  var exchangesInEvent = 0
  /// Something was missed, which ended the event.
  var isBroken = false
  var eventEnd: Int64 = 0
  var results: [Action] = []
  /// When the queues became non-empty: the next event must not be before.
  private var wantedSince: Int64 = 0
  var lastHeard: Int64
  var carriedOctets = 0

  private var waiting: Deque<Procedure> = []
  private var current: (procedure: Procedure, event: Int)?
  private var termination: (by: Side, reason: ControllerErrorCode, event: Int)?
  /// Set when nothing is heard any more: the time at which both sides notice, and what they call it.
  var deadline: (time: Int64, reason: ControllerErrorCode)?

  /// A timer that fires this late (a stopped process) does not have its events made up for.
  private static let patience: Int64 = 200_000_000

  /// - Parameter firstAnchor: when connection event 0 starts.
  init(parameters: Parameters, firstAnchor: Int64, random: SeededRandom) {
    self.parameters = parameters
    self.random = random
    anchor = firstAnchor
    cursor = firstAnchor
    lastHeard = firstAnchor
  }

  /// ns.
  private var interval: Int64 { parameters.interval.nanoseconds }

  func coding(of side: Side) -> AirTime.Coding { side == .central ? central.coding : peripheral.coding }
  func maxOctets(of side: Side) -> Int { side == .central ? central.maxOctets : peripheral.maxOctets }
  /// Packets of `side` that wait or are not acknowledged.
  func queued(by side: Side) -> Int { side == .central ? central.queue.count : peripheral.queue.count }
  var isClosed: Bool { if case .closed = phase { true } else { false } }

  // MARK: What the hosts ask for

  /// - Parameter isStart: whether the packet starts an L2CAP frame.
  mutating func send(by side: Side, _ packet: [UInt8], isStart: Bool, at now: Int64) {
    guard !isClosed else { return }
    if central.queue.isEmpty && peripheral.queue.isEmpty {
      wantedSince = now
      // Whatever was said in the idle events before was heard.
      lastHeard = max(lastHeard, anchorBefore(now))
    }
    switch side {
    case .central: central.queue.append(packet, isStart: isStart)
    case .peripheral: peripheral.queue.append(packet, isStart: isStart)
    }
    switch phase {
    case .between: plan(at: now)
    case .polling: goOn(at: now)
    case .exchanging, .open, .closed: break
    }
  }

  mutating func start(_ procedure: Procedure, at now: Int64) {
    guard !isClosed else { return }
    waiting.append(procedure)
    startNextProcedure(from: nextEvent(notBefore: now))
    if case .between = phase { plan(at: now) }
  }

  /// LL_TERMINATE_IND goes out in the next event; what is still queued is lost.
  mutating func terminate(by side: Side, reason: ControllerErrorCode, at now: Int64) {
    guard !isClosed, termination == nil else { return }
    termination = (side, reason, nextEvent(notBefore: now))
    if case .between = phase { plan(at: now) }
  }

  /// Out of range: nothing is heard from now on, and after the supervision timeout both sides notice.
  mutating func cut(at now: Int64) {
    guard !isClosed, deadline == nil else { return }
    let heard = max(lastHeard, anchorBefore(now))
    deadline = (heard &+ parameters.supervisionTimeout.nanoseconds, .connectionTimeout)
    if case .between = phase { plan(at: now) }
  }

  /// The peripheral never heard of the connection: it fails after six intervals (Vol 6 Part B §4.5.2).
  mutating func failEstablishment() {
    deadline = (anchor &+ 6 * interval, .connectionFailedToBeEstablished)
    due = deadline?.time
  }

  // MARK: Time

  /// - Returns: what happened since; then look at `due` again, after the hosts have had the time to react.
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

  /// The next event in which something is to be said or decided.
  private func upcomingEvent(at now: Int64) -> Int? {
    var next: Int?
    func consider(_ event: Int) { next = min(next ?? event, event) }
    if let termination { consider(termination.event) }
    if let current { consider(max(current.event, lastEvent + 1)) }
    if !peripheral.queue.isEmpty || !central.queue.isEmpty {
      var event = nextEvent(notBefore: max(wantedSince, now - Self.patience))
      let skip = Int(parameters.latency) + 1
      // A peripheral with nothing to say listens to every (latency + 1)th event only.
      if peripheral.queue.isEmpty, skip > 1, event > lastEvent + 1 {
        event = lastEvent + (event - lastEvent + skip - 1) / skip * skip
      }
      consider(event)
    }
    return next
  }

  private func anchor(of event: Int) -> Int64 { anchor &+ Int64(event - base) &* interval }

  /// The first event that is still to come and does not start before `time`.
  private func nextEvent(notBefore time: Int64) -> Int {
    let time = max(time, cursor)
    let later = time > anchor ? Int((time - anchor + interval - 1) / interval) : 0
    return max(lastEvent + 1, base + later)
  }

  /// The start of the last event at or before `time`.
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
      apply(current.procedure, at: event)
      actions.append(.done(current.procedure))
      self.current = nil
      startNextProcedure(from: event)
    }
    if let termination, termination.event <= event {
      // The side that ends the link reports that it did; the other one reports the reason that it was told.
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
    guard current == nil, let procedure = waiting.popFirst() else { return }
    current = (procedure, event + procedure.events)
  }

  private mutating func apply(_ procedure: Procedure, at event: Int) {
    switch procedure {
    case .featureExchange, .versionExchange: break
    case .dataLength(let centralOctets, let peripheralOctets):
      central.maxOctets = min(max(centralOctets, 27), 251)
      peripheral.maxOctets = min(max(peripheralOctets, 27), 251)
    case .phy(let centralCoding, let peripheralCoding):
      central.coding = centralCoding
      peripheral.coding = peripheralCoding
    case .connectionUpdate(let new):
      anchor = anchor(of: event)
      base = event
      parameters = new
    }
  }
}

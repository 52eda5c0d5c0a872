package import BluetoothLE

/// The error with which a channel in memory ends.
package struct LinkLost: Error, Equatable {
  package let reason: String
  package init(_ reason: String) { self.reason = reason }
}

/// One end of an ATT channel in memory. PDUs arrive in order, one loop turn later, or after `delay`.
@LoopActor
package final class MemoryChannel: Channel {
  package var handler: (@LoopActor (ChannelEvent) -> Void)? {
    didSet {
      guard let handler else { return }
      let kept = early
      early = []
      for event in kept { handler(event) }
    }
  }
  /// The delay in one direction.
  package var delay = Duration.zero
  /// Whether the channel is writable. While false, `waitUntilWritable` does not return.
  package var isWritable = true {
    didSet {
      guard isWritable else { return }
      let waiting = writers
      writers = []
      for wait in waiting { wait.resume(returning: ()) }
    }
  }
  /// The number of callers that wait for `isWritable`.
  package var blockedWriters: Int { writers.count }
  package private(set) var isClosed = false

  private weak var other: MemoryChannel?
  private var early: [ChannelEvent] = []
  private var writers: [Wait<Void>] = []

  package static func pair() -> (MemoryChannel, MemoryChannel) {
    let ends = (MemoryChannel(), MemoryChannel())
    ends.0.other = ends.1
    ends.1.other = ends.0
    return ends
  }

  private init() {}

  package func send(_ pdu: [UInt8]) { post(.received(pdu)) }

  package func waitUntilWritable(until deadline: LoopClock.Instant?) async throws -> Bool {
    if isClosed { throw LinkLost("the channel is closed") }
    guard !isWritable else { return true }
    let wait = Wait<Void>()
    writers.append(wait)
    return try await wait.value(until: deadline) != nil
  }

  package func close() {
    lose(LinkLost("closed by this side"), peer: LinkLost("closed by the other side"))
  }

  /// Ends both ends, as a lost link does. Data that were sent before still arrive.
  package func lose(_ error: any Error) { lose(error, peer: error) }

  /// Reports to the other end that the transport lost PDUs.
  package func drop(_ count: Int) { post(.dropped(count)) }

  private func lose(_ error: any Error, peer: any Error) {
    guard !isClosed else { return }
    post(.closed(peer))
    receive(.closed(error))
  }

  private func post(_ event: ChannelEvent) {
    guard !isClosed, let other else { return }
    EventLoop.shared.schedule(after: delay) { other.receive(event) }
  }

  private func receive(_ event: ChannelEvent) {
    guard !isClosed else { return }
    if case .closed(let error) = event {
      isClosed = true
      for wait in writers { wait.resume(throwing: error) }
      writers = []
    }
    if let handler { handler(event) } else { early.append(event) }
  }
}

/// The peer of a client under test. It answers by the first bytes of a request, as the tables of hostile peers ask.
@LoopActor
package final class ScriptedPeer {
  package struct Rule {
    let prefix: [UInt8]
    let answers: [Answer]
    var times: Int?

    /// - Parameter times: How often the rule applies. Nil means always.
    package init(_ prefix: [UInt8], _ answers: [Answer], times: Int? = 1) {
      self.prefix = prefix
      self.answers = answers
      self.times = times
    }
  }

  package enum Answer {
    case pdu([UInt8])
    /// The matching response with the request's parameters.
    case echo
    case close
  }

  package let channel: MemoryChannel
  package var rules: [Rule]
  /// Answers requests that match no rule.
  package var fallback: ([UInt8]) -> [UInt8]?
  /// All received PDUs, in order.
  package private(set) var received: [[UInt8]] = []
  package private(set) var closed: (any Error)?

  package init(_ channel: MemoryChannel, rules: [Rule] = [], fallback: @escaping ([UInt8]) -> [UInt8]? = { _ in nil }) {
    self.channel = channel
    self.rules = rules
    self.fallback = fallback
    channel.handler = { self.handle($0) }
  }

  package func push(_ pdu: [UInt8]) { channel.send(pdu) }

  private func handle(_ event: ChannelEvent) {
    switch event {
    case .received(let pdu):
      received.append(pdu)
      answer(pdu)
    case .dropped, .exhausted: break
    case .closed(let error): closed = error
    }
  }

  private func answer(_ pdu: [UInt8]) {
    guard let index = rules.firstIndex(where: { pdu.starts(with: $0.prefix) && $0.times != 0 }) else {
      if let reply = fallback(pdu) { channel.send(reply) }
      return
    }
    if let times = rules[index].times { rules[index].times = times - 1 }
    for answer in rules[index].answers {
      switch answer {
      case .pdu(let bytes): channel.send(bytes)
      case .echo: channel.send([(pdu.first ?? 0) + 1] + pdu.dropFirst())
      case .close: channel.lose(LinkLost("the peer dropped the link"))
      }
    }
  }
}

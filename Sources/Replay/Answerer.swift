import ATT

/// Decides what the device of a recorded link answers: what it answered then, in the order of then as far as the client keeps to it; else
/// what the recording tells without guessing.
package struct Answerer: Sendable {
  package enum Decision: Sendable, Equatable {
    /// What followed this request of the recording. - Parameter response: in place of the recorded one, which had another form.
    case play(Int, response: [UInt8]?)
    /// What nothing followed.
    case answer([UInt8])
    case nothing
    /// - Parameter next: the host's next PDU of the recording.
    case unknown(next: [UInt8]?)
  }

  let link: Recording.Link
  private let others: [Recording.Link]
  private var isUsed: [Bool]
  /// The request after the last one that was played.
  private var cursor = 0
  /// Where no unused one is before.
  private var firstUnused = 0
  package private(set) var mtu = BearerState.defaultMTU

  /// Made when they are needed: a client that does as the recorded one did needs neither.
  private(set) lazy var database = RecordedDatabase([link] + others)
  private(set) lazy var readings = RecordedReadings(link)

  /// Of the attribute read last: its handle and value, for who reads on.
  var opened: (handle: Int, value: [UInt8], isWhole: Bool)?
  /// Client Characteristic Configurations as they were written.
  var configurations: [Int: [UInt8]] = [:]

  /// - Parameter others: links to the same device.
  package init(_ link: Recording.Link, others: [Recording.Link] = []) {
    self.link = link
    self.others = others
    isUsed = [Bool](repeating: false, count: link.requests.count)
  }

  /// - Parameter pdu: of the client.
  package mutating func answer(_ pdu: [UInt8]) -> Decision {
    guard let first = pdu.first else { return .nothing }
    switch ATT.Opcode(rawValue: first) {
    case .confirmation, .response, .error, .unsolicited: return follow(first)
    case .request, .command, .unknown: break
    }
    if let index = find(pdu) { return play(index) }
    if let request = try? Request(parsing: pdu), let decision = answer(request) { return decision }
    return .unknown(next: next)
  }

  /// What the host owes to a request of the peer: it may be another answer than then, and is no question.
  private mutating func follow(_ opcode: UInt8) -> Decision {
    guard cursor < link.requests.count, !isUsed[cursor], link.requests[cursor].pdu.first == opcode else { return .nothing }
    return play(cursor)
  }

  /// When the host goes on in the recording; nil at its end.
  var nextTime: Int64? { (cursor..<link.requests.count).first { !isUsed[$0] }.map { link.requests[$0].time } }

  /// The next question of the recording, behind the last one that was played.
  private var next: [UInt8]? {
    (cursor..<link.requests.count).first { !isUsed[$0] && Self.isQuestion(link.requests[$0].pdu) }.map { link.requests[$0].pdu }
  }

  /// What the host did in the recording before the next values came: its first write, else its first question.
  /// - Returns: the index of a request; nil when no values follow.
  mutating func beforeNextValues() -> Int? {
    var (write, question): (Int?, Int?) = (nil, nil)
    for index in cursor..<link.requests.count where !isUsed[index] {
      let pdu = link.requests[index].pdu
      // A Prepare Write of no octets, and what an attribute is, a program asks by itself beside commands.
      var isAside = pdu.first == 0x16 && pdu.count == 5 || pdu.first == 0x04
      // Values may still come while a subscription ends.
      if case .request(.write(let handle, [0, 0]))? = try? PDU(parsing: pdu) {
        isAside = database.types[handle.number] == .clientCharacteristicConfiguration
      }
      if !isAside, Self.isQuestion(pdu) { question = question ?? index }
      if !isAside, [0x12, 0x16, 0x52, 0xD2].contains(pdu.first) { write = write ?? index }
      if link.requests[index].bringsValue, let found = write ?? question { return found }
    }
    return nil
  }

  private static func isQuestion(_ pdu: [UInt8]) -> Bool {
    guard let first = pdu.first else { return false }
    return switch ATT.Opcode(rawValue: first) {
    case .request, .command, .unknown: true
    case .confirmation, .response, .error, .unsolicited: false
    }
  }

  /// The same PDU in the recording: first behind the last one that was played.
  private mutating func find(_ pdu: [UInt8]) -> Int? {
    for range in [cursor..<link.requests.count, firstUnused..<max(firstUnused, cursor)] {
      for index in range where !isUsed[index] && link.requests[index].pdu == pdu && isAsThen(index) { return index }
    }
    return nil
  }

  /// A list or a value is cut to the ATT_MTU: with another one it has another form.
  private func isAsThen(_ index: Int) -> Bool {
    let item = link.requests[index]
    guard item.mtu != mtu, let first = item.pdu.first else { return true }
    return switch ATT.Opcode(rawValue: first) {
    case .request(.exchangeMTU), .request(.write), .request(.prepareWrite), .request(.executeWrite), .command: true
    default: false
    }
  }

  mutating func use(_ index: Int) {
    guard isUsed.indices.contains(index) else { return }
    isUsed[index] = true
    while firstUnused < isUsed.count, isUsed[firstUnused] { firstUnused += 1 }
  }

  func wasUsed(_ index: Int) -> Bool { isUsed.indices.contains(index) && isUsed[index] }

  /// Goes on in the recording behind a request. - Parameter response: see `Decision.play`.
  mutating func play(_ index: Int, response: [UInt8]? = nil) -> Decision {
    use(index)
    cursor = index + 1
    if response == nil { note(link.requests[index]) }
    return .play(index, response: response)
  }

  /// What a request as recorded has changed.
  private mutating func note(_ item: Recording.Request) {
    guard let octets = item.response, let request = try? Request(parsing: item.pdu) else { return }
    switch (request, try? Response(parsing: octets)) {
    case (.exchangeMTU(let client), .exchangeMTU(let server)?): setMTU(client, server)
    case (.write(let handle, let value), .write?): configurations[handle.number] = value
    default: break
    }
  }

  mutating func setMTU(_ client: UInt16, _ server: UInt16) { mtu = Recording.mtu(client, server) }
}

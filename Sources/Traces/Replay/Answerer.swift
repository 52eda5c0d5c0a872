package import BluetoothLE

/// A state machine that decides the answers of a recorded device. It plays recorded answers, in order while the client acts as recorded.
/// For any other request, a strict answerer gives only answers that the recording proves. Others read and discover in any order, as far as the
/// recording shows, and only writes move through the recording.
package struct Answerer: Sendable {
  package enum Decision: Sendable, Equatable {
    /// The device plays the packets that followed the recorded request with this zero-based index.
    /// - Parameter response: The response in place of the recorded one, which has another form. Nil plays the recorded response.
    case play(Int, response: [UInt8]?)
    /// The device sends this response alone.
    case answer([UInt8])
    case nothing
    /// The recording has no answer.
    /// - Parameter next: The host's next request or command in the recording. Nil if the recording has no further one.
    case unknown(next: [UInt8]?)
  }

  private(set) var link: Recording.Link
  private let others: [Recording.Link]
  /// The other links with which the answerer has not continued.
  private var othersLeft: [Recording.Link]
  private let isStrict: Bool
  private var isUsed: [Bool]
  /// The zero-based index of the recorded request after the last request that the answerer played.
  private var cursor = 0
  /// The zero-based index of the first recorded request that the answerer has not played.
  private var firstUnused = 0
  package private(set) var mtu = BearerState.defaultMTU

  /// The attributes of the device, as far as the recording shows them.
  private(set) lazy var database = RecordedDatabase([link] + others)
  private(set) lazy var readings = RecordedReadings([link])
  private lazy var otherReadings = RecordedReadings(others)

  /// The attribute that the client read last, whose value answers Read Blob Requests. Nil before the first read.
  var opened: (handle: Int, value: [UInt8], isWhole: Bool)?
  /// The CCCD values that the client has written so far, by attribute handle.
  var configurations: [Int: [UInt8]] = [:]

  /// Creates an answerer that replays a recorded link.
  /// - Parameter others: Other recorded links to the same device, which can show further attributes.
  package init(_ link: Recording.Link, others: [Recording.Link] = [], isStrict: Bool = true) {
    (self.link, self.others, othersLeft, self.isStrict) = (link, others, others, isStrict)
    isUsed = [Bool](repeating: false, count: link.requests.count)
  }

  /// Decides the answer to a PDU of the client.
  package mutating func answer(_ pdu: [UInt8]) -> Decision {
    guard let first = pdu.first else { return .nothing }
    switch ATTOpcode(rawValue: first) {
    case .confirmation, .response, .error, .unsolicited: return follow(first)
    case .request, .command, .unknown: break
    }
    let isRead = Self.isRead(pdu)
    let found =
      !isStrict && isRead ? nextQuestion.flatMap { link.requests[$0].pdu == pdu && isAsThen($0) && !isLost($0) ? $0 : nil } : find(pdu)
    if let index = found ?? (isStrict || isRead ? nil : adopt(pdu)) { return play(index) }
    if let request = try? Request(parsing: pdu), let decision = answer(request) { return decision }
    if !isStrict, isRead, let index = find(pdu), let response = link.requests[index].response {
      use(index)
      return .answer(response)
    }
    return .unknown(next: nextQuestion.map { link.requests[$0].pdu })
  }

  /// Returns whether a PDU asks for attributes or values and changes nothing on the device.
  private static func isRead(_ pdu: [UInt8]) -> Bool { pdu.first.map { $0 <= 0x10 || $0 == 0x20 } ?? false }

  /// The zero-based index of the next recorded question that the answerer has not played. Nil after the last one.
  private var nextQuestion: Int? { (cursor..<link.requests.count).first { !isUsed[$0] && Self.isQuestion(link.requests[$0].pdu) } }

  /// Returns whether the packets after a recorded request lack its response, although the device sent it: another request follows, or the host
  /// answered the device first.
  private func isLost(_ index: Int) -> Bool {
    let (request, later) = (link.requests[index], link.requests[(index + 1)...])
    if request.response == nil { return later.contains(where: \.isRequest) }
    return later.first.map { !Self.isQuestion($0.pdu) } ?? false && !request.following.contains { $0.kind.isResponse }
  }

  /// Continues with another recorded link to the device, from its first request with this PDU. Returns the request's new index.
  private mutating func adopt(_ pdu: [UInt8]) -> Int? {
    for (index, other) in othersLeft.enumerated() {
      guard let first = other.requests.firstIndex(where: { $0.pdu == pdu }) else { continue }
      othersLeft.remove(at: index)
      defer { link.requests += other.requests[first...] }
      isUsed += [Bool](repeating: false, count: other.requests.count - first)
      return link.requests.count
    }
    return nil
  }

  /// The time of the recorded host's next action, in nanoseconds, if the device does not wait for this action: a read or a confirmation. Once
  /// the client has subscribed, also a subscription. A strict answerer skips only requests that commands send on their own. Nil before any other
  /// write, and at the end of the recording.
  var skipTime: Int64? {
    mutating get {
      guard cursor < link.requests.count else { return nil }
      let pdu = link.requests[cursor].pdu
      if isStrict { return Self.isAside(pdu) ? link.requests[cursor].time : nil }
      if !isUsed[cursor], Self.isQuestion(pdu), !Self.isRead(pdu) {
        guard !configurations.isEmpty, case .request(.write(let handle, _))? = try? PDU(parsing: pdu),
          database.types[handle.number] == .clientCharacteristicConfiguration
        else { return nil }
      }
      return link.requests[cursor].time
    }
  }

  /// Skips the recorded host's next action. Returns its zero-based index. Nil if the device waits for the action.
  mutating func skip() -> Int? {
    guard skipTime != nil else { return nil }
    if isStrict { use(cursor) }
    defer { cursor += 1 }
    return cursor
  }

  /// The handles of the attributes that the recorded host read or wrote, in ascending order, at most 32.
  var knownHandles: [Int] {
    mutating get {
      let written = link.requests.lazy.map(\.pdu).filter { [0x12, 0x52].contains($0.first) && $0.count >= 3 }.map { Int($0.uint16(at: 1)) }
      return Array(Set(readings.all.keys).union(otherReadings.all.keys).union(written).sorted().prefix(32))
    }
  }

  /// The error for a request whose answer the recording lacks.
  package func refusal(of pdu: [UInt8]) -> (code: ErrorCode, response: [UInt8])? {
    guard let opcode = pdu.first, case .request? = pdu.first.map({ ATTOpcode(rawValue: $0) }) else { return nil }
    let handle: AttributeHandle =
      pdu.count >= 3 && opcode != 0x02 && opcode != 0x18 ? AttributeHandle(clamping: Int(pdu.uint16(at: 1))) : AttributeHandle(clamping: 0)
    let isSearch = [0x04, 0x06, 0x08, 0x10].contains(opcode)
    let code: ErrorCode = isSearch ? .attributeNotFound : opcode == 0x0C ? .attributeNotLong : .unlikelyError
    return (code, [0x01, opcode, UInt8(handle.rawValue & 0xFF), UInt8(handle.rawValue >> 8), code.rawValue])
  }

  /// Plays the packets that followed the host's recorded response to the device. The host's actual response may differ.
  private mutating func follow(_ opcode: UInt8) -> Decision {
    guard cursor < link.requests.count, !isUsed[cursor], link.requests[cursor].pdu.first == opcode else { return .nothing }
    return play(cursor)
  }

  /// The time of the host's next PDU in the recording, in nanoseconds since the first record. Nil after the last PDU.
  var nextTime: Int64? { (cursor..<link.requests.count).first { !isUsed[$0] }.map { link.requests[$0].time } }

  /// Returns whether programs send this request on their own, beside commands: an empty Prepare Write, or a Find Information Request.
  private static func isAside(_ pdu: [UInt8]) -> Bool { pdu.first == 0x16 && pdu.count == 5 || pdu.first == 0x04 }

  /// Finds the host's first unplayed write before the next recorded notification or indication, or else its first unplayed request.
  /// - Returns: The zero-based index of a recorded request. Nil if no notification or indication follows.
  mutating func beforeNextValues() -> Int? {
    var (write, question): (Int?, Int?) = (nil, nil)
    for index in cursor..<link.requests.count where !isUsed[index] {
      let pdu = link.requests[index].pdu
      var isAside = Self.isAside(pdu)
      // Values may still arrive while a subscription ends.
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
    return switch ATTOpcode(rawValue: first) {
    case .request, .command, .unknown: true
    case .confirmation, .response, .error, .unsolicited: false
    }
  }

  /// Returns the zero-based index of an unplayed recorded request with this PDU, preferably from `cursor` on. Nil if there is none.
  private mutating func find(_ pdu: [UInt8]) -> Int? {
    for range in [cursor..<link.requests.count, firstUnused..<max(firstUnused, cursor)] {
      for index in range where !isUsed[index] && link.requests[index].pdu == pdu && isAsThen(index) { return index }
    }
    return nil
  }

  /// Returns whether the recorded answer to a request fits the current ATT_MTU. Devices cut lists and values to the ATT_MTU.
  private func isAsThen(_ index: Int) -> Bool {
    let item = link.requests[index]
    guard item.mtu != mtu, let first = item.pdu.first else { return true }
    return switch ATTOpcode(rawValue: first) {
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

  /// Plays the recorded request with this zero-based index. `response` replaces the recorded response if it is not nil.
  mutating func play(_ index: Int, response: [UInt8]? = nil) -> Decision {
    use(index)
    cursor = index + 1
    if response == nil { note(link.requests[index]) }
    return .play(index, response: response)
  }

  /// Applies the changes that a recorded request made to the MTU or a CCCD.
  private mutating func note(_ item: Recording.Request) {
    guard let bytes = item.response, let request = try? Request(parsing: item.pdu) else { return }
    switch (request, try? Response(parsing: bytes)) {
    case (.exchangeMTU(let client), .exchangeMTU(let server)?): setMTU(client, server)
    case (.write(let handle, let value), .write?): configurations[handle.number] = value
    default: break
    }
  }

  mutating func setMTU(_ client: UInt16, _ server: UInt16) { mtu = Recording.mtu(client, server) }
}

/// Methods that answer, from the known attributes, requests that the recording lacks in the same form.
extension Answerer {
  /// Answers a request. Returns nil if the recording does not have the answer.
  mutating func answer(_ request: Request) -> Decision? {
    if let range = request.range, !range.isValid { return refuse(request, range.start.number, .invalidHandle) }
    switch request {
    case .exchangeMTU(let client):
      if database.serverMTU == nil, let code = database.mtuRefusal { return refuse(request, 0, code) }
      // If the host never asked, the MTU stays at its default.
      let server = database.serverMTU ?? UInt16(BearerState.defaultMTU)
      setMTU(client, server)
      return .answer(Response.exchangeMTU(serverRxMTU: server).bytes)
    case .findInformation(let range): return information(request, range)
    case .findByTypeValue(let range, let type, let value): return services(request, range, UUID(UInt32(type)), value)
    case .readByGroupType(let range, let type): return groups(request, range, type)
    case .readByType(let range, let type): return values(request, range, type)
    case .read(let handle): return read(request, handle.number) { .read(Array($0.prefix($1 - 1))) }
    case .readBlob(let handle, let offset): return blob(request, handle.number, Int(offset))
    case .write(let handle, let value): return write(handle.number, value)
    // A question about the commands that follow. Recordings of other programs may lack it, and the commands are answered separately.
    case .prepareWrite(let handle, 0, let value) where value.isEmpty: return refuse(request, handle.number, .requestNotSupported)
    case .readMultiple, .readMultipleVariable, .prepareWrite, .executeWrite: return nil
    }
  }

  private func refuse(_ request: Request, _ handle: Int, _ code: ErrorCode) -> Decision {
    .answer(Response.error(request: request.opcode, handle: AttributeHandle(clamping: handle), code: code).bytes)
  }

  /// Describes the request in a PDU for an error message, with the type of the attribute if the recording shows it.
  package mutating func asked(_ pdu: [UInt8]) -> ReplayError.Asked {
    let handle: AttributeHandle? =
      switch try? PDU(parsing: pdu) {
      case .request(.read(let handle)), .request(.readBlob(let handle, _)), .request(.write(let handle, _)),
        .request(.prepareWrite(let handle, _, _)), .command(.write(let handle, _)):
        handle
      default: nil
      }
    return .attribute(pdu, handle.flatMap { database.attribute($0.number) })
  }

  // MARK: Discovery

  private mutating func information(_ request: Request, _ range: HandleRange) -> Decision? {
    var items: [HandleType] = []
    var next = range.start.number
    for handle in database.handles[database.firstIndex(next)...] {
      guard handle <= range.end.number, let type = database.types[handle], isKnown(nil, next, handle - 1) else { break }
      let isShort = type.short != nil
      // One response has one form (Vol 3 Part F §3.4.3.2).
      guard items.first.map({ ($0.type.short != nil) == isShort }) ?? true, 2 + (items.count + 1) * (isShort ? 4 : 18) <= mtu else { break }
      items.append(HandleType(AttributeHandle(clamping: handle), type))
      next = handle + 1
    }
    if !items.isEmpty { return .answer(Response.findInformation(items).bytes) }
    return isKnown(nil, next, range.end.number, isLast: true) ? refuse(request, range.start.number, .attributeNotFound) : nil
  }

  private mutating func groups(_ request: Request, _ range: HandleRange, _ type: UUID) -> Decision? {
    guard type == .primaryService || type == .secondaryService else { return refuse(request, range.start.number, .unsupportedGroupType) }
    var items: [HandleGroup] = []
    var next = range.start.number
    for group in database.groups(type, in: range) {
      guard isKnown(type, next, group.handle.number - 1), items.first.map({ $0.value.count == group.value.count }) ?? true,
        2 + (items.count + 1) * (4 + group.value.count) <= mtu
      else { break }
      items.append(group)
      next = group.endHandle.number + 1
    }
    if !items.isEmpty { return .answer(Response.readByGroupType(items).bytes) }
    guard database.groups(type, in: range).isEmpty, isKnown(type, next, range.end.number, isLast: true) else { return nil }
    return refuse(request, range.start.number, .attributeNotFound)
  }

  private mutating func services(_ request: Request, _ range: HandleRange, _ type: UUID, _ value: [UInt8]) -> Decision? {
    guard type == .primaryService else { return nil }
    var items: [HandleRange] = []
    var next = range.start.number
    for group in database.groups(type, in: range) {
      guard isKnown(type, next, group.handle.number - 1), 1 + (items.count + 1) * 4 <= mtu else { break }
      if group.value == value { items.append(HandleRange(group.handle, group.endHandle)) }
      next = group.endHandle.number + 1
    }
    if !items.isEmpty { return .answer(Response.findByTypeValue(items).bytes) }
    return isKnown(type, next, range.end.number, isLast: true) ? refuse(request, range.start.number, .attributeNotFound) : nil
  }

  /// Returns whether the recording shows all attributes of a type from handle `start` to `end`. A nil type stands for all types.
  /// After a discovery, returns true for types that clients may skip: secondary services, includes and the Database Hash.
  /// - Parameter isLast: Whether the answer would be that there are no attributes. Otherwise only a strict answerer must know all.
  private mutating func isKnown(_ type: UUID?, _ start: Int, _ end: Int, isLast: Bool = false) -> Bool {
    if !isStrict, !isLast { return true }
    if type == .secondaryService || type == .include || type == .databaseHash, database.isDiscovered { return true }
    return database.isComplete(type, start, end)
  }

  // MARK: Values

  private mutating func values(_ request: Request, _ range: HandleRange, _ type: UUID) -> Decision? {
    let within = database.handles[database.firstIndex(range.start.number)..<database.firstIndex(range.end.number + 1)]
    guard let first = within.first(where: { database.types[$0] == type }) else {
      // Clients that cache attributes request the hash. Without it, they discover again.
      let isSought = type != .characteristic && range.end.number <= database.sought[type] ?? 0
      guard isSought || type == .databaseHash || isKnown(type, range.start.number, range.end.number, isLast: true) else { return nil }
      return refuse(request, range.start.number, .attributeNotFound)
    }
    guard isKnown(type, range.start.number, first - 1) else { return nil }
    guard type == .characteristic || type == .include || type == .clientCharacteristicConfiguration else {
      return read(request, first) { .readByType([HandleValue(AttributeHandle(clamping: first), Array($0.prefix(min($1 - 4, 253))))]) }
    }
    var items: [HandleValue] = []
    var next = first
    for handle in within where handle >= first && database.types[handle] == type {
      guard isKnown(type, next, handle - 1) else { break }
      let value = type == .clientCharacteristicConfiguration ? configurations[handle] ?? [0, 0] : database.declarations[handle] ?? []
      guard items.first.map({ $0.value.count == value.count }) ?? true, 2 + (items.count + 1) * (2 + value.count) <= mtu else { break }
      items.append(HandleValue(AttributeHandle(clamping: handle), value))
      next = handle + 1
    }
    return items.isEmpty ? nil : .answer(Response.readByType(items).bytes)
  }

  /// Answers a read with the result of a recorded read of the same attribute.
  /// - Parameter response: A function that makes a response from a value, cut to an ATT_MTU in bytes.
  private mutating func read(_ request: Request, _ handle: Int, _ response: (_ value: [UInt8], _ mtu: Int) -> Response) -> Decision? {
    let type = database.types[handle]
    if type == .clientCharacteristicConfiguration { return open(handle, configurations[handle] ?? [0, 0], true, response) }
    if let value = database.declarations[handle] { return open(handle, value, true, response) }
    let all = readings.all[handle] ?? []
    let unused = all.filter { reading in !reading.requests.contains { wasUsed($0) } }
    // The recorded host may have paired after a refusal.
    let fresh = isStrict ? unused.first : unused.first { (try? $0.outcome.get()) != nil } ?? unused.first
    // Values that never change may be read again.
    let isFixed = type.map { $0.isDescriptor || $0 == .databaseHash } ?? false
    guard let reading = fresh ?? (isFixed ? all.last : isStrict ? nil : all.last ?? otherReadings.all[handle]?.last) else {
      // A session requests descriptions of a value on its own, and continues if they are refused.
      if case .read = request, all.isEmpty, let short = type?.short, [0x2901, 0x2904, 0x2905].contains(short) {
        return refuse(request, handle, .readNotPermitted)
      }
      return all.isEmpty && database.isComplete(nil, handle, handle) && type == nil ? refuse(request, handle, .invalidHandle) : nil
    }
    let bytes: [UInt8]
    switch reading.outcome {
    case .failure(let refusal):
      bytes = Response.error(request: request.opcode, handle: AttributeHandle(clamping: handle), code: refusal.code).bytes
    case .success(let value):
      // The rest of a value that was not read to its end is unknown.
      bytes = response(value, mtu).bytes
      guard reading.isWhole || value.count >= mtu - 1 || !isStrict else { return nil }
      opened = (handle, value, reading.isWhole)
    }
    guard fresh != nil, let first = reading.requests.first else { return .answer(bytes) }
    for index in reading.requests.dropFirst() { use(index) }
    guard isStrict else {
      use(first)
      return .answer(bytes)
    }
    return play(first, response: bytes)
  }

  private mutating func open(_ handle: Int, _ value: [UInt8], _ isWhole: Bool, _ response: ([UInt8], Int) -> Response) -> Decision {
    opened = (handle, value, isWhole)
    return .answer(response(value, mtu).bytes)
  }

  private mutating func blob(_ request: Request, _ handle: Int, _ offset: Int) -> Decision? {
    if opened?.handle != handle, let last = readings.all[handle]?.last(where: { reading in reading.requests.contains { wasUsed($0) } }),
      case .success(let value) = last.outcome
    {
      opened = (handle, value, last.isWhole)
    }
    guard let opened, opened.handle == handle else { return nil }
    guard offset <= opened.value.count else { return opened.isWhole ? refuse(request, handle, .invalidOffset) : nil }
    let rest = opened.value.dropFirst(offset)
    guard opened.isWhole || rest.count >= mtu - 1 || !isStrict && !rest.isEmpty else { return nil }
    return .answer(Response.readBlob(Array(rest.prefix(mtu - 1))).bytes)
  }

  /// Accepts a write that subscribes or unsubscribes as recorded. Returns nil for any other write, whose effect is unknown.
  private mutating func write(_ handle: Int, _ value: [UInt8]) -> Decision? {
    guard value.count == 2 else { return nil }
    let isSubscription = database.types[handle] == .clientCharacteristicConfiguration
    let isKnown = isSubscription && (value == [0, 0] || database.accepted[handle]?.contains(value) ?? false)
    guard isKnown || database.configuresServiceChanged(handle) else { return nil }
    configurations[handle] = value
    return .answer(Response.write.bytes)
  }
}

/// The attribute values that the host read on one link, with an entry for each read.
struct RecordedReadings: Sendable {
  struct Reading: Sendable {
    /// The zero-based indices of the link's requests that returned the value.
    var requests: [Int]
    var outcome: Result<[UInt8], Refusal>
    /// Whether the value is complete. False if the device may have cut the value to the ATT_MTU.
    var isWhole: Bool
  }

  /// The Error Response to a read.
  struct Refusal: Error, Sendable { let code: ErrorCode }

  private(set) var all: [Int: [Reading]] = [:]

  init(_ links: [Recording.Link]) {
    for (index, item) in links.lazy.map({ $0.requests.enumerated() }).joined() {
      guard let bytes = item.response, let request = try? Request(parsing: item.pdu), let response = try? Response(parsing: bytes) else {
        continue
      }
      learn(index, request, response, mtu: item.mtu)
    }
  }

  private mutating func learn(_ index: Int, _ request: Request, _ response: Response, mtu: Int) {
    switch (request, response) {
    case (.read(let handle), .read(let value)): add(index, handle, .success(value), isWhole: value.count < mtu - 1)
    case (.read(let handle), .error(_, _, let code)): add(index, handle, .failure(Refusal(code: code)), isWhole: true)
    case (.readByType(_, let type), .readByType(let items)) where type != .characteristic && type != .include:
      // A value is cut to the available space, at most 253 bytes.
      for item in items { add(index, item.handle, .success(item.value), isWhole: item.value.count < min(mtu - 4, 253)) }
    case (.readByType, .error(_, let handle, let code)) where code != .attributeNotFound && handle.isValid:
      add(index, handle, .failure(Refusal(code: code)), isWhole: true)
    case (.readBlob(let handle, let offset), .readBlob(let part)): extend(index, handle, Int(offset), part, isWhole: part.count < mtu - 1)
    case (.readBlob(let handle, let offset), .error(_, _, .attributeNotLong)),
      (.readBlob(let handle, let offset), .error(_, _, .invalidOffset)):
      extend(index, handle, Int(offset), [], isWhole: true)
    default: break
    }
  }

  private mutating func add(_ index: Int, _ handle: AttributeHandle, _ outcome: Result<[UInt8], Refusal>, isWhole: Bool) {
    all[handle.number, default: []].append(Reading(requests: [index], outcome: outcome, isWhole: isWhole))
  }

  private mutating func extend(_ index: Int, _ handle: AttributeHandle, _ offset: Int, _ part: [UInt8], isWhole: Bool) {
    guard let last = all[handle.number]?.indices.last, case .success(let value)? = all[handle.number]?[last].outcome, value.count == offset,
      value.count + part.count <= 0xFFFF
    else { return }
    all[handle.number]?[last].outcome = .success(value + part)
    all[handle.number]?[last].isWhole = isWhole
    all[handle.number]?[last].requests.append(index)
  }
}

extension Request {
  /// The range of handles in which the request searches. Nil for other requests.
  package var range: HandleRange? {
    switch self {
    case .findInformation(let range), .findByTypeValue(let range, _, _), .readByType(let range, _), .readByGroupType(let range, _): range
    default: nil
    }
  }
}

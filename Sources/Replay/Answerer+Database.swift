import ATT
import Bluetooth

/// Answers to what was not asked in this form, from what is known of the device.
extension Answerer {
  /// - Returns: nil when the recording does not tell.
  mutating func answer(_ request: Request) -> Decision? {
    switch request {
    case .exchangeMTU(let client):
      if database.serverMTU == nil, let code = database.mtuRefusal { return refuse(request, 0, code) }
      // Where nobody asked it stayed what it is, and stays so.
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
    // A question about the commands that follow, which a recording of another program's need not have: they are answered by themselves.
    case .prepareWrite(let handle, 0, let value) where value.isEmpty: return refuse(request, handle.number, .requestNotSupported)
    case .readMultiple, .readMultipleVariable, .prepareWrite, .executeWrite: return nil
    }
  }

  private func refuse(_ request: Request, _ handle: Int, _ code: ErrorCode) -> Decision {
    .answer(Response.error(request: request.opcode, handle: AttributeHandle(clamping: handle), code: code).bytes)
  }

  /// What a PDU asks for, with what is known of the attribute.
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
    guard range.isValid else { return refuse(request, range.start.number, .invalidHandle) }
    var items: [HandleType] = []
    var next = range.start.number
    for handle in database.handles[database.firstIndex(next)...] {
      guard handle <= range.end.number, let type = database.types[handle] else { break }
      guard database.isComplete(nil, next, handle - 1) else { return items.isEmpty ? nil : .answer(Response.findInformation(items).bytes) }
      let isShort = type.short != nil
      // One form in one response (Vol 3 Part F §3.4.3.2).
      if let first = items.first, (first.type.short != nil) != isShort { return .answer(Response.findInformation(items).bytes) }
      guard 2 + (items.count + 1) * (isShort ? 4 : 18) <= mtu else { return .answer(Response.findInformation(items).bytes) }
      items.append(HandleType(AttributeHandle(clamping: handle), type))
      next = handle + 1
    }
    if !items.isEmpty { return .answer(Response.findInformation(items).bytes) }
    return database.isComplete(nil, next, range.end.number) ? refuse(request, range.start.number, .attributeNotFound) : nil
  }

  private mutating func groups(_ request: Request, _ range: HandleRange, _ type: UUID) -> Decision? {
    guard range.isValid else { return refuse(request, range.start.number, .invalidHandle) }
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
    guard database.groups(type, in: range).isEmpty, isKnown(type, next, range.end.number) else { return nil }
    return refuse(request, range.start.number, .attributeNotFound)
  }

  private mutating func services(_ request: Request, _ range: HandleRange, _ type: UUID, _ value: [UInt8]) -> Decision? {
    guard range.isValid else { return refuse(request, range.start.number, .invalidHandle) }
    guard type == .primaryService else { return nil }
    var items: [HandleRange] = []
    var next = range.start.number
    for group in database.groups(type, in: range) {
      guard isKnown(type, next, group.handle.number - 1), 1 + (items.count + 1) * 4 <= mtu else { break }
      if group.value == value { items.append(HandleRange(group.handle, group.endHandle)) }
      next = group.endHandle.number + 1
    }
    if !items.isEmpty { return .answer(Response.findByTypeValue(items).bytes) }
    return isKnown(type, next, range.end.number) ? refuse(request, range.start.number, .attributeNotFound) : nil
  }

  /// Whether all attributes of a type are known. Secondary services, includes and the Database Hash are few: a client that did not ask for them, but
  /// for services, did without.
  private mutating func isKnown(_ type: UUID, _ start: Int, _ end: Int) -> Bool {
    if type == .secondaryService || type == .include || type == .databaseHash, database.isDiscovered { return true }
    return database.isComplete(type, start, end)
  }

  // MARK: Values

  private mutating func values(_ request: Request, _ range: HandleRange, _ type: UUID) -> Decision? {
    guard range.isValid else { return refuse(request, range.start.number, .invalidHandle) }
    let within = database.handles[database.firstIndex(range.start.number)..<database.firstIndex(range.end.number + 1)]
    guard let first = within.first(where: { database.types[$0] == type }) else {
      // The hash is asked for by who keeps what he has found: without it he looks again.
      let isSought = type != .characteristic && range.end.number <= database.sought[type] ?? 0
      guard isSought || type == .databaseHash || isKnown(type, range.start.number, range.end.number) else { return nil }
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

  /// - Parameter response: of a value, cut to an ATT_MTU.
  private mutating func read(_ request: Request, _ handle: Int, _ response: (_ value: [UInt8], _ mtu: Int) -> Response) -> Decision? {
    let type = database.types[handle]
    if type == .clientCharacteristicConfiguration { return open(handle, configurations[handle] ?? [0, 0], true, response) }
    if let value = database.declarations[handle] { return open(handle, value, true, response) }
    let all = readings.all[handle] ?? []
    let fresh = all.first { reading in !reading.requests.contains { wasUsed($0) } }
    // What never changes may be read again.
    let isFixed = type.map { $0.isDescriptor || $0 == .databaseHash } ?? false
    guard let reading = fresh ?? (isFixed ? all.last : nil) else {
      // A session asks by itself what describes a value, and does without where it is refused.
      if case .read = request, all.isEmpty, let short = type?.short, [0x2901, 0x2904, 0x2905].contains(short) {
        return refuse(request, handle, .readNotPermitted)
      }
      return all.isEmpty && database.isComplete(nil, handle, handle) && type == nil ? refuse(request, handle, .invalidHandle) : nil
    }
    let octets: [UInt8]
    switch reading.outcome {
    case .failure(let refusal):
      octets = Response.error(request: request.opcode, handle: AttributeHandle(clamping: handle), code: refusal.code).bytes
    case .success(let value):
      // Of a value that was not read to its end nobody knows more.
      octets = response(value, mtu).bytes
      guard reading.isWhole || value.count >= mtu - 1 else { return nil }
      opened = (handle, value, reading.isWhole)
    }
    guard fresh != nil, let first = reading.requests.first else { return .answer(octets) }
    for index in reading.requests.dropFirst() { use(index) }
    return play(first, response: octets)
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
    guard opened.isWhole || rest.count >= mtu - 1 else { return nil }
    return .answer(Response.readBlob(Array(rest.prefix(mtu - 1))).bytes)
  }

  /// Subscriptions only: a device may do anything when another value is written.
  private mutating func write(_ handle: Int, _ value: [UInt8]) -> Decision? {
    guard value.count == 2 else { return nil }
    let isSubscription = database.types[handle] == .clientCharacteristicConfiguration
    let isKnown = isSubscription && (value == [0, 0] || database.accepted[handle]?.contains(value) ?? false)
    guard isKnown || database.configuresServiceChanged(handle) else { return nil }
    configurations[handle] = value
    return .answer(Response.write.bytes)
  }
}

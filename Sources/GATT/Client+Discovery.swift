import ATT
import Bluetooth

extension Client {
  /// The whole database of the peer; found once and kept. What the peer says has changed since is asked for again, and nothing else.
  ///
  /// Asks over all handles instead of service by service, as `DatabaseDiscovery` plans it: 5 services with 4 characteristics each take 4 round
  /// trips when they fit.
  /// - Throws: GATTError, ATTError, what the channel ended with: never a partial table. CancellationError.
  package func discover() async throws -> AttributeTable {
    if let table, stale.isEmpty { return table }
    discoveries += 1
    defer { discoveries -= 1 }
    if table == nil {
      stale = []
      databaseHash = .notRead
      let services = try await discoverServices(.all, beside: [])
      if let (first, second) = Self.overlap(services) { throw GATTError.servicesOverlap(first, second) }
      table = AttributeTable(services: services)
    }
    while let range = stale.first, let known = table {
      let found = try await discoverServices(range, beside: known.services)
      guard let now = table else { break }
      let services = (now.services.filter { !range.contains($0.handle) } + found).sorted { $0.handle < $1.handle }
      stale.removeAll { $0 == range }
      // What was there already is not what it was: all is asked for.
      table = Self.overlap(services) == nil ? AttributeTable(services: services) : nil
    }
    guard let table else { return try await discover() }
    try await follow(table)
    return table
  }

  private static func overlap(_ services: [Service]) -> (Service, Service)? {
    zip(services, services.dropFirst()).first { $1.handle <= $0.endHandle }
  }

  /// The services that begin in the range, and everything in them.
  private func discoverServices(_ range: HandleRange, beside others: [Service]) async throws -> [Service] {
    var discovery = DatabaseDiscovery(range)
    var includes: [Include] = []
    while let procedure = discovery.nextProcedure(mtu: mtu) {
      switch procedure {
      case .includes(let range):
        includes = try await findIncludedServices(range, known: others + discovery.services)
        discovery.finish(procedure)
      default: try await ask(procedure, &discovery)
      }
      if discovery.requests % 4096 == 0 { noteProgress(discovery.requests) }
    }
    var services = discovery.services
    if !discovery.hasIncludes, let seen = discovery.includes, Self.overlap(services) == nil {
      includes = try await findIncludedServices(HandleRange(seen.lowerBound, seen.upperBound), known: others + services)
    }
    place(includes, in: &services)
    place(discovery.characteristics, in: &services)
    place(discovery.types, in: &services)
    if Self.overlap(services) == nil { try await readExtendedProperties(&services) }
    return services
  }

  /// One request of a discovery procedure, its answer judged and taken.
  func ask(_ procedure: DatabaseDiscovery.Procedure, _ discovery: inout DatabaseDiscovery) async throws {
    let mtu = mtu
    switch procedure {
    case .services(let type, let range):
      // Many servers know no secondary services and refuse the group type: that ends this procedure as well (Part G §4.4 names no procedure).
      let ends: [ErrorCode] = type == .primaryService ? [.attributeNotFound] : [.attributeNotFound, .unsupportedGroupType]
      guard let response = try await answer(.readByGroupType(range, type: type), tolerating: ends),
        case .readByGroupType(let groups) = response
      else { return discovery.finish(procedure) }
      try judge(response) { () throws(MalformedPacket) in try discovery.take(groups, of: type, in: range, mtu: mtu) }
    case .characteristics(let range):
      guard let response = try await answer(.readByType(range, type: .characteristic), tolerating: [.attributeNotFound]),
        case .readByType(let items) = response
      else { return discovery.finish(procedure) }
      try judge(response) { () throws(MalformedPacket) in try discovery.take(items, characteristicsIn: range, mtu: mtu) }
    case .configurations(let range):
      // They are readable by rule. A peer that refuses is asked for every descriptor instead, so an error only ends this.
      let response = try await bearer.request(.readByType(range, type: .clientCharacteristicConfiguration))
      guard case .readByType(let items) = response else { return discovery.finish(procedure) }
      try judge(response) { () throws(MalformedPacket) in try discovery.take(items, configurationsIn: range) }
    case .types(let range):
      do {
        guard let response = try await answer(.findInformation(range), tolerating: [.attributeNotFound]),
          case .findInformation(let items) = response
        else { return discovery.finish(procedure) }
        try judge(response) { () throws(MalformedPacket) in try discovery.take(items, in: range) }
      } catch GATTError.errorResponse where discovery.canDoWithoutTypes() {}
    case .includes: break
    }
  }

  func judge(_ response: Response, _ check: () throws(MalformedPacket) -> Void) throws {
    do { try check() } catch { throw ATTError.violation(response.opcode, response.bytes, error.reason) }
  }

  func noteProgress(_ requests: Int) { onNote?(.discovering(requests: requests)) }
}

extension Characteristic {
  /// Without descriptors; it reaches to the last handle.
  /// - Parameter before: the characteristic before it.
  init(declaration item: HandleValue, after before: Characteristic?) throws(MalformedPacket) {
    var reader = ByteReader(item.value)
    let properties = Properties(rawValue: try reader.uint8("Characteristic Properties"))
    let valueHandle = AttributeHandle(rawValue: try reader.uint16("Characteristic Value Handle"))
    let type = reader.rest()
    guard type.count != 4, let uuid = UUID(littleEndian: type) else {
      throw MalformedPacket("a characteristic UUID of \(type.count) octets, 2 or 16 wanted", at: 1)
    }
    guard valueHandle > item.handle else {
      throw MalformedPacket("the value (\(valueHandle)) must follow its declaration (\(item.handle))", at: 5)
    }
    if let before, before.valueHandle >= item.handle {
      throw MalformedPacket("the declaration \(item.handle) stands before the value of the one before it", at: 2)
    }
    self.init(uuid: uuid, handle: item.handle, valueHandle: valueHandle, endHandle: 0xFFFF, properties: properties)
  }
}

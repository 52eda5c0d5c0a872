import ATT
import Bluetooth

extension Client {
  /// Discovers the peer's whole database once and caches it. After a Service Changed indication, asks only for the changed range.
  ///
  /// Asks over all handles instead of service by service (see `DatabaseDiscovery`): 5 services of 4 characteristics take 4 round trips.
  /// Keeps irregular entries as far as possible, and reports each in a note.
  /// - Throws: GATTError, ATTError, the error that closed the channel, CancellationError. `incomplete` then has the partial result.
  package func discover() async throws -> AttributeTable {
    if let table, stale.isEmpty { return table }
    discoveries += 1
    defer { discoveries -= 1 }
    if table == nil {
      stale = []
      databaseHash = .notRead
      table = AttributeTable(services: try await discoverServices(.all, beside: []))
    }
    while let range = stale.first, let known = table {
      let found = try await discoverServices(range, beside: known.services)
      guard let now = table else { break }
      let services = (now.services.filter { !range.contains($0.handle) } + found).sorted { $0.handle < $1.handle }
      stale.removeAll { $0 == range }
      // Old and new services overlap: discard everything and start again.
      let isApart = zip(services, services.dropFirst()).allSatisfy { $0.endHandle < $1.handle }
      table = isApart ? AttributeTable(services: services) : nil
    }
    guard let table else { return try await discover() }
    try await follow(table)
    return table
  }

  /// Discovers the services that start in the range, and their contents.
  private func discoverServices(_ range: HandleRange, beside others: [Service]) async throws -> [Service] {
    var discovery = DatabaseDiscovery(range)
    var includes: [Include] = []
    incomplete = nil
    do {
      while let procedure = discovery.nextProcedure(mtu: mtu) {
        if case .includes(let range) = procedure {
          try await findIncludedServices(range, known: others + discovery.services) { includes.append($0) }
          discovery.finish(procedure)
        } else {
          try await ask(procedure, &discovery)
        }
        if discovery.requests % 4096 == 0 { noteProgress(discovery.requests) }
      }
      if !discovery.hasIncludes, let seen = discovery.includes {
        let range = HandleRange(seen.lowerBound, seen.upperBound)
        try await findIncludedServices(range, known: others + discovery.services) { includes.append($0) }
      }
      var services = discovery.assemble(includes)
      note(discovery.takeIrregular())
      try await readExtendedProperties(&services)
      return services
    } catch {
      incomplete = AttributeTable(services: (others + discovery.assemble(includes)).sorted { $0.handle < $1.handle })
      note(discovery.takeIrregular())
      throw error
    }
  }

  /// Sends one request of a discovery procedure and stores the answer.
  private func ask(_ procedure: DatabaseDiscovery.Procedure, _ discovery: inout DatabaseDiscovery) async throws {
    let mtu = mtu
    switch procedure {
    case .services(let type, let range):
      guard let found = try await groups(range, of: type) else { return discovery.finish(procedure) }
      discovery.take(found, of: type, in: range, mtu: mtu)
    case .characteristics(let range):
      guard let found = try await declarations(range, of: .characteristic) else { return discovery.finish(procedure) }
      discovery.take(found, characteristicsIn: range, mtu: mtu)
    case .configurations(let range):
      // The specification makes them readable. If the peer refuses anyway, discovery asks for every descriptor instead.
      let response = try await bearer.request(.readByType(range, type: .clientCharacteristicConfiguration))
      guard case .readByType(let items) = response else { return discovery.finish(procedure) }
      discovery.take(items, configurationsIn: range)
    case .types(let range):
      do {
        guard let found = try await types(range) else { return discovery.finish(procedure) }
        discovery.take(found, in: range)
      } catch GATTError.errorResponse where discovery.canDoWithoutTypes() {}
    case .includes: break
    }
    note(discovery.takeIrregular())
  }

  /// Sends one request for service declarations. Nil if the range has no more.
  func groups(_ range: HandleRange, of type: UUID) async throws -> [HandleGroup]? {
    // Many servers refuse the group type of secondary services, which also ends this procedure (Part G §4.4 names no procedure).
    let ends: [ErrorCode] = type == .primaryService ? [.attributeNotFound] : [.attributeNotFound, .unsupportedGroupType]
    let response = try await answer(.readByGroupType(range, type: type), tolerating: ends)
    if case .readByGroupType(let groups)? = response { return groups } else { return nil }
  }

  /// Sends one request for declarations of a type. Nil if the range has no more.
  func declarations(_ range: HandleRange, of type: UUID) async throws -> [HandleValue]? {
    let response = try await answer(.readByType(range, type: type), tolerating: [.attributeNotFound])
    if case .readByType(let items)? = response { return items } else { return nil }
  }

  /// Sends one request for handles and attribute types. Nil if the range has no more.
  func types(_ range: HandleRange) async throws -> [HandleType]? {
    let response = try await answer(.findInformation(range), tolerating: [.attributeNotFound])
    if case .findInformation(let items)? = response { return items } else { return nil }
  }

  func noteProgress(_ requests: Int) { onNote?(.discovering(requests: requests)) }
}

extension Characteristic {
  /// Parses a characteristic declaration, without descriptors and with 0xFFFF as end handle. A declaration that is too short, or whose
  /// UUID has an invalid length, gives nil.
  init?(declaration item: HandleValue) {
    guard item.value.count >= 3, let uuid = UUID(littleEndian: item.value.dropFirst(3)) else { return nil }
    let valueHandle = AttributeHandle(rawValue: UInt16(item.value[1]) | UInt16(item.value[2]) << 8)
    self.init(
      uuid: uuid, handle: item.handle, valueHandle: valueHandle, endHandle: 0xFFFF, properties: Properties(rawValue: item.value[0]))
  }

  /// Whether the value has the handle right after the declaration, which is usual.
  var followsDeclaration: Bool { valueHandle.number == handle.number + 1 }
}

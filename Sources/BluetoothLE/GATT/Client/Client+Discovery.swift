// SPDX-License-Identifier: Apache-2.0
extension Client {
  /// Discovers the peer's whole database once and caches it. After a Service Changed indication, asks only for the changed range.
  ///
  /// Each request covers the handles of all services, so that 5 services with 4 characteristics each take 4 round trips.
  /// Reports irregular entries in notes, and keeps those that are usable.
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
        if discovery.requests % 4096 == 0 { onNote?(.discovering(requests: discovery.requests)) }
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

  /// Sends one request of a discovery procedure and stores the entries of the response in `discovery`.
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

  /// Sends one request for service declarations in a range. Returns nil if the range contains none.
  func groups(_ range: HandleRange, of type: UUID) async throws -> [HandleGroup]? {
    // Many servers refuse the group type of secondary services, which also ends this procedure (Part G §4.4 names no procedure).
    let ends: [ErrorCode] = type == .primaryService ? [.attributeNotFound] : [.attributeNotFound, .unsupportedGroupType]
    let response = try await answer(.readByGroupType(range, type: type), tolerating: ends)
    if case .readByGroupType(let groups)? = response { return groups } else { return nil }
  }

  /// Sends one request for declarations of a type in a range. Returns nil if the range contains none.
  func declarations(_ range: HandleRange, of type: UUID) async throws -> [HandleValue]? {
    let response = try await answer(.readByType(range, type: type), tolerating: [.attributeNotFound])
    if case .readByType(let items)? = response { return items } else { return nil }
  }

  /// Sends one request for the handles and types of attributes in a range. Returns nil if the range contains no attributes.
  func types(_ range: HandleRange) async throws -> [HandleType]? {
    let response = try await answer(.findInformation(range), tolerating: [.attributeNotFound])
    if case .findInformation(let items)? = response { return items } else { return nil }
  }

  // MARK: Discovers included services, and reads Characteristic Extended Properties

  /// Finds included services (Vol 3 Part G §4.5.1). Reads 128-bit UUIDs, which include declarations lack, from the service declarations.
  /// - Parameter known: the discovered services, whose UUIDs the client does not read again.
  func findIncludedServices(_ range: HandleRange, known: [Service] = [], onFound: Found<Include>) async throws {
    var found: Set<Include> = []
    var current = ProcedureRange(range)
    while let asked = current.range, let items = try await declarations(asked, of: .include) {
      for item in items {
        let declared = Include(declaration: item)
        let isKnown = declared.map { !found.insert($0).inserted } ?? false
        guard admit(.include, item.handle, declared?.uuid, current.take(item.handle), unless: isKnown) else { continue }
        guard var include = declared, found.count <= 0xFFFF else {
          note(.include, item.handle, declared?.uuid, declared == nil ? .malformed(item.value) : .tooMany)
          continue
        }
        // Only 16-bit UUIDs are part of the declaration (§3.2).
        if ![4, 6].contains(item.value.count) { note(.include, item.handle, include.uuid, .uuidLength(item.value.count - 4)) }
        if !HandleRange(include.startHandle, include.endHandle).isValid {
          note(.include, item.handle, include.uuid, .endsBefore(include.endHandle))
        }
        if include.uuid == nil { include.uuid = try await uuid(of: include, known) }
        try await onFound(include)
      }
      note(.include, items.first?.handle ?? 0, nil, current.advance())
    }
  }

  /// Finds the UUID of an included service. Nil if the peer does not provide it.
  private func uuid(of include: Include, _ known: [Service]) async throws -> UUID? {
    if let service = known.first(where: { $0.handle == include.startHandle }) { return service.uuid }
    guard include.startHandle.isValid, let value = try await valueUnlessRefused(include.startHandle) else { return nil }
    let uuid = value.count == 4 ? nil : UUID(littleEndian: value)
    if uuid == nil { note(.service, include.startHandle, nil, .malformed(value)) }
    if value.count == 2, let uuid { onNote?(.includeWithoutUUID(include.handle, uuid)) }
    return uuid
  }

  private func valueUnlessRefused(_ handle: AttributeHandle) async throws -> [UInt8]? {
    do {
      if case .read(let value)? = try await answer(.read(handle)) { return value }
    } catch GATTError.errorResponse(let code, to: _, on: _) where code != .databaseOutOfSync {}
    return nil
  }

  func readExtendedProperties(_ services: inout [Service]) async throws {
    for service in services.indices {
      for index in services[service].characteristics.indices {
        let item = services[service].characteristics[index]
        guard item.properties.contains(.extendedProperties),
          let descriptor = item.descriptors.first(where: { $0.uuid == .characteristicExtendedProperties })
        else { continue }
        // If the peer refuses to read the bits, assume none.
        guard let value = try await valueUnlessRefused(descriptor.handle) else { continue }
        guard value.count == 2 else {
          note(.attribute, descriptor.handle, descriptor.uuid, .malformed(value))
          continue
        }
        services[service].characteristics[index].extendedProperties = UInt16(value[0]) | UInt16(value[1]) << 8
      }
    }
  }

  /// Discovers only the characteristic whose value has this handle, for devices that fail during full discovery.
  /// Reads the declaration right before the value, and descriptors up to the Client Characteristic Configuration (Vol 3 Part G §3.3).
  /// - Returns: nil if the responses do not show a characteristic with this value handle.
  /// - Throws: ATTError, the error that closed the channel, CancellationError.
  package func characteristic(at handle: AttributeHandle) async throws -> Characteristic? {
    guard handle > 1 else { return nil }
    var found: [HandleType] = []
    var asked = ProcedureRange(HandleRange(handle.previous, 0xFFFF))
    search: while let range = asked.range {
      let response = try await bearer.request(.findInformation(range))
      guard case .findInformation(let items) = response else { break }
      for item in items {
        // Discovery reports broken rules.
        if asked.take(item.handle) != nil { return nil }
        // The next service, include or characteristic.
        if item.handle > handle, (0x2800...0x2803).contains(item.type.short ?? 0) { break search }
        found.append(item)
        if item.handle > handle, item.type == .clientCharacteristicConfiguration { break search }
      }
      if asked.advance() != nil { return nil }
    }
    guard found.count > 1, found[0] == HandleType(handle.previous, .characteristic), found[1].handle == handle,
      case .read(let declaration) = try await bearer.request(.read(handle.previous)), declaration.count >= 3,
      UInt16(declaration[1]) | UInt16(declaration[2]) << 8 == handle.rawValue
    else { return nil }
    var item = Characteristic(
      uuid: found[1].type, handle: handle.previous, valueHandle: handle, endHandle: found[found.count - 1].handle,
      properties: Properties(rawValue: declaration[0]))
    item.descriptors = found.dropFirst(2).map { Descriptor(uuid: $0.type, handle: $0.handle) }
    return item
  }

  // MARK: The Database Hash characteristic (Vol 3 Part G §7.3)

  enum DatabaseHash: Equatable {
    case notRead
    /// The peer has no Database Hash, or refuses to send it.
    case none
    case known([UInt8])
  }

  /// The database and hash to reuse on the next link. Nil before discovery, after Service Changed, or if the peer has no Database Hash.
  package var knownDatabase: KnownDatabase? {
    guard case .known(let hash) = databaseHash, let table, stale.isEmpty else { return nil }
    return KnownDatabase(table: table, hash: hash)
  }

  /// Uses the database of an earlier link instead of discovery, if the peer still has the same hash.
  /// - Returns: false if discovery is necessary.
  /// - Throws: the error that closed the link, CancellationError.
  package func takeOver(_ known: KnownDatabase) async throws -> Bool {
    guard try await readDatabaseHash() == .known(known.hash) else { return false }
    table = known.table
    stale = []
    databaseHash = .known(known.hash)
    if followsServiceChanges { try await subscribeToServiceChanged() }
    return true
  }

  /// Subscribes to Service Changed and reads the Database Hash after discovery. Does nothing if `followsServiceChanges` is false.
  func follow(_ table: AttributeTable) async throws {
    guard followsServiceChanges else { return }
    try await subscribeToServiceChanged()
    guard databaseHash == .notRead else { return }
    // Read the hash after the subscription: from here on, the peer indicates a change.
    let hash = table.characteristics.contains { $0.uuid == .databaseHash } ? try await readDatabaseHash() : .none
    if self.table != nil, stale.isEmpty { databaseHash = hash }
  }

  /// Reads the Database Hash by UUID, because its handle may have changed (Vol 3 Part G §7.3). Returns `.none` for an invalid answer.
  private func readDatabaseHash() async throws -> DatabaseHash {
    do {
      guard case .readByType(let items) = try await bearer.request(.readByType(.all, type: .databaseHash)), items.count == 1,
        let value = items.first?.value, value.count == 16
      else { return .none }
      return .known(value)
    } catch ATTError.violation where closed == nil {
      return .none
    }
  }

  // MARK: Changes of services during a connection (Vol 3 Part G §7.1, §2.5.2)

  /// The peer's Service Changed characteristic, as discovery last found it. Nil if discovery has never found it.
  var serviceChanged: Characteristic? { table?.characteristics.first { $0.uuid == .serviceChanged } ?? lastServiceChanged }

  /// Subscribes to Service Changed indications, if the peer has the characteristic. Ignores a refusal by the peer.
  func subscribeToServiceChanged() async throws {
    guard let item = serviceChanged else { return }
    if item == lastServiceChanged {
      // The characteristic did not move. Do not write again: a peer that indicates after each write would cause an endless loop.
      if serviceChangedSubscription?.isGone == true { serviceChangedSubscription = assumeSubscribed(item, .indication) }
      return
    }
    lastServiceChanged = item
    serviceChangedSubscription = nil
    do { serviceChangedSubscription = try await subscribe(item, kind: .indication, keepingValues: false) } catch GATTError.errorResponse
      where closed == nil
    {}
  }

  /// Removes the services in the range of a Service Changed indication from `table`. `discover` then requests only the removed services.
  func servicesChanged(_ value: [UInt8]) {
    let range = Self.changedRange(value) ?? .all
    forget(range)
    onNote?(.servicesChanged(range))
  }

  /// Returns the handles in a value of Service Changed. Nil for an invalid value.
  static func changedRange(_ value: [UInt8]) -> HandleRange? {
    var reader = ByteReader(value)
    guard value.count == 4, let start = try? reader.uint16("Start of Affected Attribute Handle Range"),
      let end = try? reader.uint16("End of Affected Attribute Handle Range")
    else { return nil }
    let range = HandleRange(AttributeHandle(rawValue: start), AttributeHandle(rawValue: end))
    return range.isValid ? range : nil
  }

  /// Drops all services that overlap a handle range from `table`, and ends the subscriptions in the range of these services.
  func forget(_ range: HandleRange) {
    databaseHash = .notRead
    guard var known = table else {
      stale.append(range)
      descriptorValues = [:]
      return forgetSubscriptions(in: range)
    }
    var range = range
    var before = range
    // Repeat for overlapping services: a later one may extend the range into an earlier one.
    repeat {
      before = range
      for service in known.services where service.handle <= range.end && range.start <= service.endHandle {
        range.start = min(range.start, service.handle)
        range.end = max(range.end, service.endHandle)
      }
    } while range != before
    known.services.removeAll { range.contains($0.handle) }
    descriptorValues = descriptorValues.filter { !range.contains($0.key) }
    stale.append(range)
    table = known.services.isEmpty ? nil : known
    if table == nil { stale = [] }
    forgetSubscriptions(in: range)
  }
}

extension Characteristic {
  /// Parses a characteristic declaration. The result has no descriptors and the end handle 0xFFFF.
  /// Returns nil if the declaration is too short or its UUID has an invalid length.
  package init?(declaration item: HandleValue) {
    guard item.value.count >= 3, let uuid = UUID(littleEndian: item.value.dropFirst(3)) else { return nil }
    let valueHandle = AttributeHandle(rawValue: UInt16(item.value[1]) | UInt16(item.value[2]) << 8)
    self.init(
      uuid: uuid, handle: item.handle, valueHandle: valueHandle, endHandle: 0xFFFF, properties: Properties(rawValue: item.value[0]),
      hasLongUUID: uuid.isLong(in: item.value.dropFirst(3)))
  }

  /// Whether the value's handle is the declaration's handle plus 1.
  var followsDeclaration: Bool { valueHandle.number == handle.number + 1 }
}

extension Include {
  /// Parses an include declaration. Returns nil for less than 4 bytes. The result's `uuid` is nil if the declaration contains no UUID.
  package init?(declaration item: HandleValue) {
    guard item.value.count >= 4 else { return nil }
    func word(_ index: Int) -> AttributeHandle { AttributeHandle(rawValue: UInt16(item.value[index]) | UInt16(item.value[index + 1]) << 8) }
    self.init(handle: item.handle, startHandle: word(0), endHandle: word(2), uuid: UUID(littleEndian: item.value.dropFirst(4)))
  }
}

/// A discovered database and its Database Hash. On a later link to the same peer, an equal hash proves that the database is unchanged.
package struct KnownDatabase: Hashable, Sendable {
  package let table: AttributeTable
  /// The 16-byte Database Hash.
  package let hash: [UInt8]
}

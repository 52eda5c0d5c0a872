package import ATT
package import Bluetooth
import Text

extension Client {
  /// The whole database of the peer; found once and kept until it says that its services have changed.
  ///
  /// Sweeps over all handles instead of asking service by service, as `Survey` plans them: 5 services with 4 characteristics each take 4 round trips when they fit.
  /// - Throws: GATTError, ATTError, what the channel ended with: never a partial table. CancellationError.
  package func discover() async throws -> AttributeTable {
    if let table { return table }
    var survey = Survey()
    var includes: [Include] = []
    while let question = survey.nextQuestion(mtu: mtu) {
      switch question {
      case .includes(let range):
        includes = try await findIncludedServices(range, known: survey.services)
        survey.end(question)
      default: try await ask(question, &survey)
      }
      if survey.requests % 4096 == 0 { noteProgress(survey.requests) }
    }
    var services = survey.services
    for (service, next) in zip(services, services.dropFirst()) where next.handle <= service.endHandle {
      throw GATTError.servicesOverlap(service, next)
    }
    if !survey.hasIncludes, let seen = survey.includes {
      includes = try await findIncludedServices(HandleRange(seen.lowerBound, seen.upperBound), known: services)
    }
    place(includes, in: &services)
    place(survey.characteristics, in: &services)
    place(survey.types, in: &services)
    try await readExtendedProperties(&services)
    let found = AttributeTable(services: services)
    table = found
    return found
  }

  private func ask(_ question: Survey.Question, _ survey: inout Survey) async throws {
    let mtu = mtu
    switch question {
    case .services(let type, let range):
      // Many servers know no secondary services and refuse the group type: that ends this sweep as well (Part G §4.4 names no procedure).
      let ends: Set<ErrorCode> = type == .primaryService ? [.attributeNotFound] : [.attributeNotFound, .unsupportedGroupType]
      guard let response = try await answer(.readByGroupType(range, type: type), tolerating: ends),
        case .readByGroupType(let groups) = response
      else { return survey.end(question) }
      try judge(response) { () throws(MalformedPacket) in try survey.take(groups, of: type, in: range, mtu: mtu) }
    case .characteristics(let range):
      guard let response = try await answer(.readByType(range, type: .characteristic), tolerating: [.attributeNotFound]),
        case .readByType(let items) = response
      else { return survey.end(question) }
      try judge(response) { () throws(MalformedPacket) in try survey.take(items, characteristicsIn: range, mtu: mtu) }
    case .configurations(let range):
      // They are readable by rule. A peer that refuses is asked for every descriptor instead, so an error only ends this.
      let response = try await bearer.request(.readByType(range, type: .clientCharacteristicConfiguration))
      guard case .readByType(let items) = response else { return survey.end(question) }
      try judge(response) { () throws(MalformedPacket) in try survey.take(items, configurationsIn: range) }
    case .types(let range):
      do {
        guard let response = try await answer(.findInformation(range), tolerating: [.attributeNotFound]),
          case .findInformation(let items) = response
        else { return survey.end(question) }
        try judge(response) { () throws(MalformedPacket) in try survey.take(items, in: range) }
      } catch GATTError.errorResponse where survey.canDoWithoutTypes() {}
    case .includes: break
    }
  }

  // MARK: Procedures

  /// §4.4.1
  package func discoverPrimaryServices(_ range: HandleRange = .all) async throws -> [Service] {
    try await discoverServices(.primaryService, range)
  }

  /// §4.4.2: the services with this UUID.
  /// - Parameter inFull: asks for the 128-bit form although there is a shorter one: servers compare octets, and some declare their services so.
  package func discoverPrimaryServices(_ uuid: UUID, _ range: HandleRange = .all, inFull: Bool = false) async throws -> [Service] {
    var services: [Service] = []
    try await sweep(range) {
      .findByTypeValue($0, type: 0x2800, value: inFull ? uuid.littleEndianBytes : uuid.attBytes)
    } take: { response, sweep throws(MalformedPacket) in
      guard case .findByTypeValue(let ranges) = response else { return }
      for found in ranges {
        try sweep.take(found.start, through: found.end)
        services.append(Service(uuid: uuid, handle: found.start, endHandle: min(found.end, range.end), isPrimary: true))
      }
    }
    return services
  }

  private func discoverServices(
    _ type: UUID, _ range: HandleRange = .all, ends: Set<ErrorCode> = [.attributeNotFound]
  ) async throws -> [Service] {
    var services: [Service] = []
    try await sweep(range, ends: ends) {
      .readByGroupType($0, type: type)
    } take: { response, sweep throws(MalformedPacket) in
      guard case .readByGroupType(let groups) = response else { return }
      for group in groups {
        guard group.value.count != 4, let uuid = UUID(littleEndian: group.value) else {
          throw MalformedPacket("a service UUID of \(group.value.count) octets, 2 or 16 wanted", at: 1)
        }
        try sweep.take(group.handle, through: group.endHandle)
        services.append(
          Service(uuid: uuid, handle: group.handle, endHandle: min(group.endHandle, range.end), isPrimary: type == .primaryService))
      }
    }
    return services
  }

  /// §4.5.1. A declaration with a 128-bit UUID does not carry it: it is read from the included service.
  /// - Parameter known: services whose UUIDs need not be read.
  package func findIncludedServices(_ range: HandleRange = .all, known: [Service] = []) async throws -> [Include] {
    var includes: [Include] = []
    var current = Sweep(range)
    while let asked = current.nextRange() {
      guard let response = try await answer(.readByType(asked, type: .include), tolerating: [.attributeNotFound]) else { break }
      guard case .readByType(let items) = response else { break }
      let first = includes.count
      try judge(response) { () throws(MalformedPacket) in
        for item in items {
          try current.take(item.handle, through: item.handle)
          var reader = ByteReader(item.value)
          let start = AttributeHandle(rawValue: try reader.uint16("Included Service Attribute Handle"))
          let end = AttributeHandle(rawValue: try reader.uint16("End Group Handle"))
          guard HandleRange(start, end).isValid else {
            throw MalformedPacket("an included service from \(start) to \(end)", at: 4)
          }
          var uuid: UUID?
          if !reader.isAtEnd { uuid = UUID(littleEndian: try reader.bytes(2, "Service UUID")) }
          try reader.finish("Include declaration")
          includes.append(Include(handle: item.handle, startHandle: start, endHandle: end, uuid: uuid))
        }
      }
      for index in includes.indices.dropFirst(first) where includes[index].uuid == nil {
        let start = includes[index].startHandle
        if let service = known.first(where: { $0.handle == start }) {
          includes[index].uuid = service.uuid
        } else {
          let response = try await answer(.read(start), tolerating: [.invalidHandle, .readNotPermitted])
          guard case .read(let value)? = response else { continue }
          guard value.count != 4, let uuid = UUID(littleEndian: value) else {
            throw ATTError.violation(
              .response(.read), Response.read(value).bytes, "a service declaration holds a UUID of 2 or 16 octets")
          }
          if value.count == 2 { onNote?(.includeWithoutUUID(includes[index].handle, uuid)) }
          includes[index].uuid = uuid
        }
      }
    }
    return includes
  }

  /// §4.6.1, the declarations only; `endHandle` is the last before the next one, or the end of the range.
  package func discoverCharacteristics(_ range: HandleRange = .all) async throws -> [Characteristic] {
    var found: [Characteristic] = []
    try await sweep(range) {
      .readByType($0, type: .characteristic)
    } take: { response, sweep throws(MalformedPacket) in
      guard case .readByType(let items) = response else { return }
      for item in items {
        try sweep.take(item.handle, through: item.handle)
        var characteristic = try Characteristic(declaration: item, after: found.last)
        characteristic.endHandle = max(range.end, characteristic.valueHandle)
        if let last = found.indices.last { found[last].endHandle = item.handle.previous }
        found.append(characteristic)
      }
    }
    return found
  }

  /// §4.7.1: every attribute of the range.
  package func discoverDescriptors(_ range: HandleRange) async throws -> [Descriptor] {
    var found: [Descriptor] = []
    try await sweep(range) {
      .findInformation($0)
    } take: { response, sweep throws(MalformedPacket) in
      guard case .findInformation(let items) = response else { return }
      for item in items {
        try sweep.take(item.handle, through: item.handle)
        found.append(Descriptor(uuid: item.type, handle: item.handle))
      }
    }
    return found
  }

  // MARK: Steps of the whole

  private func readExtendedProperties(_ services: inout [Service]) async throws {
    for service in services.indices {
      for index in services[service].characteristics.indices {
        let item = services[service].characteristics[index]
        guard item.properties.contains(.extendedProperties),
          let descriptor = item.descriptors.first(where: { $0.uuid == .characteristicExtendedProperties })
        else { continue }
        // A peer that hides the bits has none for us.
        let response = try await answer(
          .read(descriptor.handle),
          tolerating: [.readNotPermitted, .insufficientAuthentication, .insufficientEncryption, .insufficientAuthorization])
        guard case .read(let value)? = response else { continue }
        guard value.count == 2 else {
          throw ATTError.violation(
            .response(.read), Response.read(value).bytes, "Characteristic Extended Properties have 2 octets, not \(value.count)")
        }
        services[service].characteristics[index].extendedProperties = UInt16(value[0]) | UInt16(value[1]) << 8
      }
    }
  }

  private func place(_ types: [AttributeHandle: UUID], in services: inout [Service]) {
    let all = types.map { Descriptor(uuid: $0.value, handle: $0.key) }.sorted { $0.handle < $1.handle }
    for service in services.indices {
      for index in services[service].characteristics.indices {
        let item = services[service].characteristics[index]
        services[service].characteristics[index].descriptors = all.within(item.valueHandle, item.endHandle) { $0.handle }
      }
    }
  }

  private func place(_ includes: [Include], in services: inout [Service]) {
    for include in includes {
      guard let index = services.lastIndex(where: { ($0.handle...$0.endHandle).contains(include.handle) }) else {
        note(.strayInclude, .strayInclude(include.handle))
        continue
      }
      services[index].includes.append(include)
    }
  }

  private func place(_ characteristics: [Characteristic], in services: inout [Service]) {
    var index = services.startIndex
    for item in characteristics {
      while index < services.endIndex, services[index].endHandle < item.handle { index += 1 }
      guard index < services.endIndex, services[index].handle < item.handle, item.valueHandle <= services[index].endHandle else {
        note(.strayCharacteristic, .strayCharacteristic(item))
        continue
      }
      var item = item
      item.endHandle = min(item.endHandle, services[index].endHandle)
      services[index].characteristics.append(item)
    }
  }

  // MARK: Sweeping

  /// Asks until the range is through or an end code comes. Any other error, and any nonsense, throws: what was found till then is not a result.
  private func sweep(
    _ range: HandleRange, ends: Set<ErrorCode> = [.attributeNotFound], _ request: (HandleRange) -> Request,
    take: (Response, inout Sweep) throws(MalformedPacket) -> Void
  ) async throws {
    var current = Sweep(range)
    while let asked = current.nextRange() {
      guard let response = try await answer(request(asked), tolerating: ends) else { return }
      try judge(response) { () throws(MalformedPacket) in try take(response, &current) }
      if current.requests % 4096 == 0 { noteProgress(current.requests) }
    }
  }

  private func judge(_ response: Response, _ check: () throws(MalformedPacket) -> Void) throws {
    do { try check() } catch { throw ATTError.violation(response.opcode, response.bytes, error.reason) }
  }

  private func noteProgress(_ requests: Int) { onNote?(.discovering(requests: requests)) }
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

extension Array {
  /// The elements with handles after `lower`, up to and with `upper`; the array is in the order of handles.
  fileprivate func within(_ lower: AttributeHandle, _ upper: AttributeHandle, _ handle: (Element) -> AttributeHandle) -> [Element] {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if handle(self[middle]) <= lower { low = middle + 1 } else { high = middle }
    }
    return Array(self[low...].prefix { handle($0) <= upper })
  }
}

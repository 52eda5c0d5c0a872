// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
package import BluetoothLEText

/// A writer of the file that describes a real device. Snapshots of the device and of the simulated device give the same file, except for
/// comments.
package struct PeripheralFileWriter {
  private typealias Member = (key: String, value: JSONTree.Kind)
  private typealias Permissions = AttributeDatabase.Permissions

  private let snapshot: DeviceSnapshot
  /// The highest handle so far. The file has ascending handles only.
  private var last: AttributeHandle = 0
  /// The parts of the device that the file lacks, each as a sentence.
  package private(set) var gaps: [String]

  package init(_ snapshot: DeviceSnapshot) { (self.snapshot, gaps) = (snapshot, snapshot.gaps) }

  /// Returns the whole file, an object with all handles.
  package mutating func file() -> JSONTree.Kind {
    var members: [Member] = [("name", .string(name)), ("address", .string("\(snapshot.peer.address)/\(snapshot.peer.type.rawValue)"))]
    for (key, data) in [("advertisement", snapshot.advertisement), ("scan_response", snapshot.scanResponse)] {
      guard let data, !data.isEmpty else { continue }
      if data.count <= AdvertisementTemplate.maximumLength {
        members.append((key, .string(Hex.encode(data))))
      } else {
        gaps.append("The \(key.replacing("_", with: " ")) is too long for the file, \(data.count) bytes: \(Hex.encode(data))")
      }
    }
    if let mtu = snapshot.mtu { members.append(("mtu", .number("\(mtu)"))) }
    if let pairing = snapshot.pairing { members.append(("security", Self.security(pairing.method, pairing.security))) }
    members.append(("complete", .bool(true)))
    // Includes refer to the services that the file has.
    var services: [(service: Service, members: [Member])] = []
    for service in snapshot.table.services where take(service.handle, "service \(service.uuid)") {
      services.append((service, self.service(service)))
    }
    let handles = Set(services.map(\.service.handle))
    let list = services.map { service, members in JSONTree.Kind(including(service, handles, members)) }
    members.append(("services", JSONTree.Kind(list)))
    if !gaps.isEmpty { members.insert(("comment", .string(gaps.joined(separator: " "))), at: 2) }
    return JSONTree.Kind(members)
  }

  /// The Device Name (2A00) if the device showed it, else the advertised name, else the address.
  private var name: String {
    let own = snapshot.table.characteristics.first { $0.uuid == UUID(0x2A00) }.flatMap { snapshot.outcomes[$0.valueHandle]?.value }
    let names = [own.flatMap { String(validating: DisplayText.withoutTrailingNULs($0), as: UTF8.self) }, snapshot.name?.raw]
    return names.lazy.compactMap { $0 }.first { (1...248).contains($0.utf8.count) } ?? "\(snapshot.peer.address)"
  }

  private static func security(_ method: PairingMethod, _ key: LinkSecurity) -> JSONTree.Kind {
    let ability: IOCapability? =
      switch method {
      case .justWorks: nil
      case .numericComparison: .displayYesNo
      case .passkeyEntry(displayedBy: .peripheral): .displayOnly
      case .passkeyEntry: .keyboardOnly
      }
    var members: [Member] = ability.map { [("io", .string($0.name))] } ?? []
    if !key.isSecureConnections { members.append(("sc", .bool(false))) }
    if key.keySize < 16 { members.append(("key_size", .number("\(key.keySize)"))) }
    return JSONTree.Kind(members)
  }

  /// Takes the next handle. Returns false, and notes the gap, if the file cannot have the handle.
  private mutating func take(_ handle: AttributeHandle, _ attribute: String) -> Bool {
    guard handle > last else {
      gaps.append("The file lacks \(attribute): its handle \(handle) is out of order.")
      return false
    }
    last = handle
    return true
  }

  // MARK: Services

  private mutating func service(_ service: Service) -> [Member] {
    var members: [Member] = [("uuid", Self.text(service.uuid, service.hasLongUUID))]
    if !service.isPrimary { members.append(("primary", .bool(false))) }
    members.append(("handle", .string("\(service.handle)")))
    for include in includes(of: service) { last = include.handle }
    var characteristics: [JSONTree.Kind] = []
    for item in service.characteristics where take(item.handle, "characteristic \(item.uuid)") {
      guard take(item.valueHandle, "the value of characteristic \(item.uuid)") else { continue }
      characteristics.append(characteristic(item))
    }
    if service.endHandle > last {
      members.append(("end_handle", .string("\(service.endHandle)")))
      last = service.endHandle
    }
    if !characteristics.isEmpty { members.append(("characteristics", JSONTree.Kind(characteristics))) }
    return members
  }

  /// The include declarations at the places where the file can have them: before the characteristics, in ascending order.
  private func includes(of service: Service) -> [Include] {
    var before = service.handle
    return service.includes.filter { include in
      guard include.handle > before, include.handle < service.characteristics.first?.handle ?? .last else { return false }
      before = include.handle
      return true
    }
  }

  /// Adds the includes of a service to its members.
  private mutating func including(_ service: Service, _ handles: Set<AttributeHandle>, _ members: [Member]) -> [Member] {
    let includes = includes(of: service).filter { $0.startHandle != service.handle && handles.contains($0.startHandle) }
    for include in service.includes where !includes.contains(include) {
      gaps.append("The file lacks the include declaration \(include.handle).")
    }
    guard !includes.isEmpty else { return members }
    let list = includes.map { JSONTree.Kind([("service", .string("\($0.startHandle)")), ("handle", .string("\($0.handle)"))]) }
    let place = members.firstIndex { $0.key == "characteristics" } ?? members.count
    return members[..<place] + [("includes", JSONTree.Kind(list))] + members[place...]
  }

  private mutating func characteristic(_ item: Characteristic) -> JSONTree.Kind {
    var (properties, descriptors, comments) = (item.properties, [] as [JSONTree.Kind], [] as [String])
    var (hasConfiguration, isExtended) = (false, false)
    for descriptor in item.descriptors {
      let isConfiguration = descriptor.uuid == .clientCharacteristicConfiguration
      // The server has no meaning for them.
      let isForeign =
        isConfiguration && (hasConfiguration || !item.sendsValues)
        || descriptor.uuid == .characteristicExtendedProperties && (isExtended || !properties.contains(.extendedProperties))
      guard !isForeign, take(descriptor.handle, "descriptor \(descriptor.uuid)") else {
        if isForeign {
          comments.append("The file lacks descriptor \(descriptor.uuid) (\(descriptor.handle)), which the properties exclude.")
        }
        continue
      }
      hasConfiguration = hasConfiguration || isConfiguration
      isExtended = isExtended || descriptor.uuid == .characteristicExtendedProperties
      let members: [Member] = [("uuid", .string("\(descriptor.uuid)")), ("handle", .string("\(descriptor.handle)"))]
      descriptors.append(
        JSONTree.Kind(
          members + attribute(descriptor.handle, isConfiguration ? [.read, .write] : .read, hasValue: !isConfiguration, [])))
    }
    if properties.contains(.extendedProperties), !isExtended {
      properties.remove(.extendedProperties)
      comments.append("The device also has the extended_properties property, but no descriptor 2900.")
    }
    var members: [Member] = [
      ("uuid", Self.text(item.uuid, item.hasLongUUID)), ("properties", JSONTree.Kind(properties.names.map { .string($0) })),
      ("handle", .string("\(item.handle)")),
    ]
    if item.valueHandle != item.handle.next { members.append(("value_handle", .string("\(item.valueHandle)"))) }
    members += attribute(item.valueHandle, Permissions(properties), hasValue: true, comments, reacts: true)
    // Without a descriptor, clients cannot subscribe.
    if item.sendsValues, !hasConfiguration { members.append(("unasked", .bool(true))) }
    if !descriptors.isEmpty { members.append(("descriptors", JSONTree.Kind(descriptors))) }
    return JSONTree.Kind(members)
  }

  private static func text(_ uuid: UUID, _ isLong: Bool) -> JSONTree.Kind { .string(isLong ? uuid.fullDescription : "\(uuid)") }

  // MARK: Values and permissions

  /// Returns the members for the value of an attribute, and for its permissions if they differ from `usual`.
  /// - Parameter reacts: Whether the attribute can have reactions, which only characteristics have.
  private func attribute(
    _ handle: AttributeHandle, _ usual: Permissions, hasValue: Bool, _ comments: [String], reacts: Bool = false
  ) -> [Member] {
    guard let outcome = snapshot.outcomes[handle] else {
      return comments.isEmpty ? [] : [("comment", .string(comments.joined(separator: " ")))]
    }
    var (permissions, members, comments) = (usual, [] as [Member], comments)
    let secureError = reacts ? outcome.secureReadRefusal : nil
    let readError = Self.readError(outcome, secureError, &permissions)
    let writeError = Self.writeError(outcome, &permissions)
    if hasValue, let value = outcome.value, !value.isEmpty {
      members.append(("value", Self.literal(value)))
      if let earlier = outcome.earlier { comments.append("The value changes. It was \(Hex.encode(earlier)) before.") }
      if outcome.isCut { comments.append("The end of the value is unknown.") }
    }
    if permissions != usual { members.append(("permissions", JSONTree.Kind(Self.names(of: permissions).map { .string($0) }))) }
    for (key, error) in [("read_error", readError), ("write_error", writeError)] {
      if let error { members.append((key, .string("0x" + Hex.encode(error.rawValue)))) }
    }
    if let secureError {
      members.append(("read_reactions", JSONTree.Kind([JSONTree.Kind([("error", .string("0x" + Hex.encode(secureError.rawValue)))])])))
    } else if let code = outcome.laterReadRefusal {
      comments.append("The device refused a later read with the error 0x\(Hex.encode(code.rawValue)).")
    }
    if !comments.isEmpty { members.append(("comment", .string(comments.joined(separator: " ")))) }
    return members
  }

  /// Adds the permissions that explain the outcome of reads. Returns the error that the permissions do not explain.
  private static func readError(
    _ outcome: DeviceSnapshot.Outcome, _ secureError: ErrorCode?, _ permissions: inout Permissions
  ) -> ErrorCode? {
    guard let code = outcome.readRefusal else {
      if outcome.value != nil { permissions.insert(.read) }
      return nil
    }
    if code == .readNotPermitted {
      permissions.remove(.read)
      return nil
    }
    // Authorization is no property of the link, unless a pairing brought it.
    guard outcome.value != nil || secureError != nil || code.isOfSecurity && code != .insufficientAuthorization else { return code }
    // Most devices refuse with Insufficient Authentication before any pairing. It is enough to pair unless the outcome shows more.
    let level = outcome.level ?? .unencrypted
    let needsAuthentication =
      code == .insufficientAuthentication && secureError == nil && (outcome.value == nil ? level > .unencrypted : level >= .authenticated)
    permissions.formUnion(needsAuthentication ? [.read, .readAuthenticated] : [.read, .readEncrypted])
    return code == (needsAuthentication ? .insufficientAuthentication : .insufficientEncryption) ? nil : code
  }

  /// Adds the permissions that explain the outcome of writes. Returns the error that the permissions do not explain.
  private static func writeError(_ outcome: DeviceSnapshot.Outcome, _ permissions: inout Permissions) -> ErrorCode? {
    guard let code = outcome.writeRefusal else { return nil }
    if code == .writeNotPermitted {
      permissions.remove(.write)
      return nil
    }
    guard outcome.acceptsWrites || code != .insufficientAuthorization else { return code }
    permissions.formUnion([.write, .writeEncrypted])
    return code == .insufficientEncryption ? nil : code
  }

  private static func names(of permissions: Permissions) -> [String] {
    var (rest, names) = (permissions, [] as [String])
    for (name, permission) in Permissions.names.reversed()
    where permissions.isSuperset(of: permission) && !rest.isDisjoint(with: permission) {
      names.insert(name, at: 0)
      rest.subtract(permission)
    }
    return names
  }

  /// Returns text of at least four printable characters as text, and other values in hex.
  private static func literal(_ value: [UInt8]) -> JSONTree.Kind {
    guard value.count >= 4, value.allSatisfy({ (0x20...0x7E).contains($0) }) else { return .string(Hex.encode(value)) }
    return JSONTree.Kind([("utf8", .string(String(decoding: value, as: UTF8.self)))])
  }
}

extension DeviceSnapshot.Outcome {
  /// The error of reads after the link became as secure as the first error demanded. Nil unless there is one.
  fileprivate var secureReadRefusal: ErrorCode? { value == nil && readRefusal?.isOfSecurity ?? false ? laterReadRefusal : nil }
}

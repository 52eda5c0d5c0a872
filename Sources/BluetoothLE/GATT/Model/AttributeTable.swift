// SPDX-License-Identifier: Apache-2.0
/// The discovered attributes of a peer.
package struct AttributeTable: Hashable, Sendable {
  /// The services in ascending order of handles.
  package var services: [Service]

  package var characteristics: [Characteristic] { services.flatMap(\.characteristics) }

  /// Finds the characteristic that has this handle, and its service. Returns nil if no characteristic covers the handle.
  package func characteristic(owning handle: AttributeHandle) -> (Characteristic, Service)? {
    var around: (Characteristic, Service)?
    for service in services where (service.handle...max(service.handle, service.endHandle)).contains(handle) {
      for item in service.characteristics where (item.handle...max(item.handle, item.endHandle)).contains(handle) {
        if item.has(handle) { return (item, service) }
        around = (item, service)
      }
    }
    // Some devices have values outside of their services.
    for service in services { for item in service.characteristics where item.has(handle) { return (item, service) } }
    return around
  }

  /// Finds the attribute with this handle. Returns `.handle` for declarations and unknown handles.
  package func attribute(at handle: AttributeHandle) -> Attribute {
    guard let (item, service) = characteristic(owning: handle) else { return .handle(handle) }
    if item.valueHandle == handle { return .characteristic(item, service) }
    if let descriptor = item.descriptors.first(where: { $0.handle == handle }) { return .descriptor(descriptor, of: item, service) }
    return .handle(handle)
  }

  /// Returns a selector for the attribute: `battery_level`, `ffe1[2]`, `ffe1@2902`. Returns nil for a declaration or an unknown handle.
  package func name(at handle: AttributeHandle) -> String? {
    func part(_ uuid: UUID, _ index: Int?) -> String {
      let name = AssignedNumbers.snakeName(of: uuid).flatMap { $0.isEmpty ? nil : $0 } ?? uuid.description
      return index.map { "\(name)[\($0)]" } ?? name
    }
    guard let (item, _) = characteristic(owning: handle) else { return nil }
    let name = part(item.uuid, index(of: item))
    if item.valueHandle == handle { return name }
    guard let descriptor = item.descriptors.first(where: { $0.handle == handle }) else { return nil }
    let others = item.descriptors.filter { $0.uuid == descriptor.uuid }
    return name + "@" + part(descriptor.uuid, others.count > 1 ? (others.firstIndex { $0.handle == handle } ?? 0) + 1 : nil)
  }

  /// Returns the number of a characteristic among those with its UUID, from 1, as in `2a6e[1]`. Returns nil for a unique UUID.
  package func index(of item: Characteristic) -> Int? {
    var (count, index): (Int, Int?) = (0, nil)
    // Once per received value: without a copy of the list.
    for service in services {
      for other in service.characteristics where other.uuid == item.uuid {
        count += 1
        if other.handle == item.handle { index = count }
      }
    }
    return count > 1 ? index : nil
  }

  /// Finds the attribute that `selector` matches.
  /// - Parameter userDescriptions: The known user descriptions (2901), by the handle of the value. They count if no name and no UUID fits.
  /// - Throws: `GATTError.notFound` with the reason, `GATTError.ambiguous` with the matching attributes; `GATTError.invalidSelector` for
  ///   a text that is only a user description, and not a known one.
  package func resolve(_ selector: Selector, userDescriptions: [AttributeHandle: String] = [:]) throws(GATTError) -> Attribute {
    var found = try candidates(for: selector)
    if found.isEmpty, !userDescriptions.isEmpty {
      let text = selector.description.trimmed.lowercased()
      found = userDescriptions.filter { $0.value.trimmed.lowercased() == text }.keys.sorted().map { attribute(at: $0) }
    }
    guard let first = found.first else {
      if case .userDescription(let fault) = selector.main { throw .invalidSelector(selector.description, fault) }
      throw .notFound(selector, missing(selector))
    }
    guard found.count > 1 else { return first }
    throw .ambiguous(selector, found.map { GATTError.Candidate(attribute: $0, selector: self.selector(of: $0)) })
  }

  /// Finds the services that a part of a selector matches, such as both services of `180f` or only that of `180f[2]`.
  package func services(_ part: Selector.Part) -> [Service] {
    let found = part.pick(services) { $0.uuid }
    guard let index = part.index else { return found }
    return found.indices.contains(index - 1) ? [found[index - 1]] : []
  }

  /// Builds the selector that matches only this attribute: `181a[2]/2a6e`, `ffe0/ffe1[2]@2902`.
  package func selector(of attribute: Attribute) -> String {
    func part(_ uuid: UUID, _ handle: AttributeHandle, _ all: [(uuid: UUID, handle: AttributeHandle)]) -> String {
      let alike = all.filter { $0.uuid == uuid }
      return alike.count > 1 ? "\(uuid)[\((alike.firstIndex { $0.handle == handle } ?? 0) + 1)]" : "\(uuid)"
    }
    func path(_ item: Characteristic, _ service: Service) -> String {
      part(service.uuid, service.handle, services.map { ($0.uuid, $0.handle) }) + "/"
        + part(item.uuid, item.handle, service.characteristics.map { ($0.uuid, $0.handle) })
    }
    return switch attribute {
    case .characteristic(let item, let service): path(item, service)
    case .descriptor(let descriptor, of: let item, let service):
      path(item, service) + "@" + part(descriptor.uuid, descriptor.handle, item.descriptors.map { ($0.uuid, $0.handle) })
    case .handle(let handle): "\(handle)"
    }
  }

  private func candidates(for selector: Selector) throws(GATTError) -> [Attribute] {
    var found: [Attribute]
    switch selector.main {
    case .handle(let handle):
      guard selector.descriptor != nil else { return [attribute(at: handle)] }
      found = characteristic(owning: handle).map { [.characteristic($0.0, $0.1)] } ?? []
    case .uuid(let part):
      var within = services
      if let service = selector.service {
        within = try Self.pick(service.pick(services) { $0.uuid }, service, selector)
        if within.isEmpty { return [] }
      }
      let all = within.flatMap { service in service.characteristics.map { ($0, service) } }
      found = part.pick(all) { $0.0.uuid }.map { .characteristic($0.0, $0.1) }
      if found.isEmpty, selector.descriptor == nil {
        found = all.flatMap { item, service in part.pick(item.descriptors) { $0.uuid }.map { .descriptor($0, of: item, service) }
        }
      }
      if found.isEmpty, selector.service == nil, part.abbreviation != nil, part.index == nil {
        let readable = all.filter { $0.1.uuid == part.uuid && $0.0.properties.contains(.read) }
        // The name of a service stands for its only readable characteristic.
        if readable.count == 1 { found = readable.map { .characteristic($0.0, $0.1) } }
      }
      found = try Self.pick(found, part, selector)
    case .userDescription: return []
    }
    guard let part = selector.descriptor else { return found }
    let descriptors: [Attribute] = found.flatMap { attribute -> [Attribute] in
      guard case .characteristic(let item, let service) = attribute else { return [] }
      return part.pick(item.descriptors) { $0.uuid }.map { .descriptor($0, of: item, service) }
    }
    return try Self.pick(descriptors, part, selector)
  }

  private static func pick<T>(_ items: [T], _ part: Selector.Part, _ selector: Selector) throws(GATTError) -> [T] {
    guard let index = part.index, !items.isEmpty else { return items }
    guard index <= items.count else { throw .notFound(selector, .only(items.count, of: "\(part)")) }
    return [items[index - 1]]
  }

  private func missing(_ selector: Selector) -> GATTError.Missing {
    if case .uuid(let part) = selector.main, selector.service == nil, let service = part.pick(services, { $0.uuid }).first {
      return .isService(service)
    }
    if selector.isAbbreviated { return .attribute }
    if let part = selector.service, case .uuid(let main) = selector.main {
      if let item = characteristics.first(where: { $0.uuid == part.uuid }), item.descriptors.contains(where: { $0.uuid == main.uuid }) {
        return .isCharacteristic("\(part.uuid)@\(main.uuid)")
      }
      guard services.contains(where: { $0.uuid == part.uuid }) else { return .service(part.uuid) }
      if let other = services.first(where: { $0.characteristics.contains { $0.uuid == main.uuid } }), selector.descriptor == nil {
        return .elsewhere("\(other.uuid)/\(main.uuid)")
      }
    }
    if let part = selector.descriptor { return .descriptor(part.uuid) }
    return .attribute
  }
}

extension Characteristic {
  fileprivate func has(_ handle: AttributeHandle) -> Bool {
    valueHandle == handle || self.handle == handle || descriptors.contains { $0.handle == handle }
  }
}

/// The attribute that a selector matches on one peer.
package enum Attribute: Hashable, Sendable, CustomStringConvertible {
  case characteristic(Characteristic, Service)
  case descriptor(Descriptor, of: Characteristic, Service)
  /// A declaration, or a handle that discovery did not find.
  case handle(AttributeHandle)

  /// The handle to read and write, which for a characteristic is the handle of its value.
  package var handle: AttributeHandle {
    switch self {
    case .characteristic(let item, _): item.valueHandle
    case .descriptor(let item, _, _): item.handle
    case .handle(let handle): handle
    }
  }

  /// The UUID of the attribute's type. Nil for `.handle`.
  package var uuid: UUID? {
    switch self {
    case .characteristic(let item, _): item.uuid
    case .descriptor(let item, _, _): item.uuid
    case .handle: nil
    }
  }

  /// The characteristic to which the attribute's value belongs. Nil for `.descriptor` and `.handle`.
  package var characteristic: Characteristic? { if case .characteristic(let item, _) = self { item } else { nil } }

  package var properties: Properties? { characteristic?.properties }

  /// The path and handle of the attribute, such as `ffe0/ffe1 (handle 0x0010)`.
  package var description: String {
    let place = "(handle \(handle))"
    return switch self {
    case .characteristic(let item, let service): "\(service.uuid)/\(item.uuid) \(place)"
    case .descriptor(let item, let owner, let service): "\(service.uuid)/\(owner.uuid)@\(item.uuid) \(place)"
    case .handle: "handle \(handle)"
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
/// Assignment of characteristics, includes and descriptors to services.
extension DatabaseDiscovery {
  /// Assembles the services with their contents. Reports misplaced entries, and assigns each to the most likely service.
  mutating func assemble(_ includes: [Include]) -> [Service] {
    var services = services.filter { whole.contains($0.handle) }
    settleEnds(&services)
    place(includes, in: &services)
    let anchors = placeCharacteristics(in: &services)
    placeDescriptors(anchors, in: &services)
    return services
  }

  private mutating func settleEnds(_ services: inout [Service]) {
    var behind = AttributeHandle.last
    for index in services.indices.reversed() {
      let handle = services[index].handle
      if index + 1 < services.count, services[index + 1].handle > handle { behind = services[index + 1].handle.previous }
      if services[index].endHandle < handle { services[index].endHandle = behind }
    }
    var furthest = services.first
    for service in services.dropFirst() {
      if let other = furthest, service.handle <= other.endHandle {
        note(.service, service.handle, service.uuid, .overlaps(other.uuid, HandleRange(other.handle, other.endHandle)))
      }
      if service.endHandle > furthest?.endHandle ?? 0 { furthest = service }
    }
  }

  private mutating func place(_ includes: [Include], in services: inout [Service]) {
    var owners = Owners()
    for include in includes.sorted(by: { $0.handle < $1.handle }) where whole.contains(include.handle) {
      guard let owner = owner(.include, include.handle, include.uuid, &owners, services) else { continue }
      services[owner.index].includes.append(include)
    }
  }

  private mutating func owner(
    _ kind: IrregularEntry.Kind, _ handle: AttributeHandle, _ uuid: UUID?, _ owners: inout Owners, _ services: [Service]
  ) -> (index: Int, isWithin: Bool)? {
    let owner = owners.owner(of: handle, services)
    if owner?.isWithin != true {
      let service = owner.map { services[$0.index] }
      note(kind, handle, uuid, .outsideServices(service?.uuid, service?.handle))
    }
    return owner
  }

  /// Assigns the characteristics to services, and determines their end handles and value handles.
  /// - Returns: the handles of characteristics and values, ascending. A descriptor belongs to the last returned handle before its own.
  private mutating func placeCharacteristics(in services: inout [Service]) -> [Anchor] {
    let items = characteristics.filter { whole.contains($0.handle) }
    var anchors: [Anchor] = []
    var owners = Owners()
    var next = 0
    for var item in items {
      guard let owner = owner(.characteristic, item.handle, item.uuid, &owners, services) else { continue }
      while next < items.count, items[next].handle <= item.handle { next += 1 }
      var end = owner.isWithin ? services[owner.index].endHandle : .last
      if next < items.count { end = min(end, items[next].handle.previous) }
      if owners.next < services.count { end = min(end, services[owners.next].handle.previous) }
      item.endHandle = max(item.handle, end)
      if owner.isWithin || !item.followsDeclaration { settleValue(&item, services[owner.index]) }
      let index = services[owner.index].characteristics.count
      for handle in Set([item.followsDeclaration ? item.valueHandle : item.handle, item.valueHandle]) where handle.isValid {
        anchors.append((handle, owner.index, index))
      }
      services[owner.index].characteristics.append(item)
    }
    return anchors.sorted(by: <)
  }

  private mutating func settleValue(_ item: inout Characteristic, _ service: Service) {
    let value = item.valueHandle
    let place: IrregularEntry.ValuePlace
    if !value.isValid {
      place = .atNoHandle
    } else if value <= item.handle {
      place = .beforeDeclaration
    } else if value > service.endHandle {
      place = .outsideService
    } else if value > item.endHandle {
      place = .behindNextDeclaration
    } else {
      return
    }
    // If the next handle has the characteristic's own type, the value is there.
    let next = item.handle.next
    let found = next != value && types[next] == item.uuid && types[value] != item.uuid ? next : nil
    note(.characteristic, item.handle, item.uuid, .value(value, place, found: found))
    if let found { item.valueHandle = found }
  }

  private mutating func placeDescriptors(_ anchors: [Anchor], in services: inout [Service]) {
    let all = types.map { HandleType($0.key, $0.value) } + conflicting
    let values = Set(services.flatMap { $0.characteristics.map(\.valueHandle) })
    var (anchor, service) = (0, 0)
    for item in all.sorted(by: { $0.handle < $1.handle }) where whole.contains(item.handle) {
      switch item.type {
      case .include: continue
      case .primaryService, .secondaryService, .characteristic:
        if !declared.contains(item.handle) { note(item.type == .characteristic ? .characteristic : .service, item.handle, nil, .unlisted) }
        continue
      default: break
      }
      if values.contains(item.handle) { continue }
      while anchor < anchors.count, anchors[anchor].handle < item.handle { anchor += 1 }
      while service < services.count, services[service].handle < item.handle { service += 1 }
      guard anchor > 0, service == 0 || anchors[anchor - 1].handle > services[service - 1].handle else {
        note(.attribute, item.handle, item.type, .noCharacteristic)
        continue
      }
      let owner = anchors[anchor - 1]
      let home = services[owner.service]
      if item.handle > home.endHandle { note(.attribute, item.handle, item.type, .outsideServices(home.uuid, home.handle)) }
      services[owner.service].characteristics[owner.characteristic].descriptors.append(Descriptor(uuid: item.type, handle: item.handle))
    }
  }

  private typealias Anchor = (handle: AttributeHandle, service: Int, characteristic: Int)

  /// Finds the services that contain handles, for ascending handles. If services overlap, chooses the service that starts last.
  private struct Owners {
    /// The index, counted from 0, of the first service that starts at or after the last requested handle.
    private(set) var next = 0
    private var open: [Int] = []

    /// Finds the service that contains the handle, or else the last service before it, or else the first. Returns nil without services.
    mutating func owner(of handle: AttributeHandle, _ services: [Service]) -> (index: Int, isWithin: Bool)? {
      while next < services.count, services[next].handle < handle {
        open.append(next)
        next += 1
      }
      while let last = open.last, services[last].endHandle < handle { open.removeLast() }
      if let last = open.last { return (last, true) }
      return services.isEmpty ? nil : (max(0, next - 1), false)
    }
  }
}

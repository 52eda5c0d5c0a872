import ATT
import GATT

/// A row of a device's tree.
enum TreeRow: Equatable {
  case service(Service, isFolded: Bool)
  case include(Include)
  /// A characteristic of a service.
  /// - Parameter isFolded: Whether the descriptors of the characteristic are hidden.
  case characteristic(Characteristic, Service, isFolded: Bool)
  case descriptor(Descriptor, of: Characteristic, Service)

  /// The handle of the row's attribute. For a characteristic, the handle of its value.
  var handle: AttributeHandle {
    switch self {
    case .service(let service, _): service.handle
    case .include(let include): include.handle
    case .characteristic(let item, _, _): item.valueHandle
    case .descriptor(let item, _, _): item.handle
    }
  }

  var depth: Int {
    switch self {
    case .service: 0
    case .include, .characteristic: 1
    case .descriptor: 2
    }
  }

  var characteristic: Characteristic? { if case .characteristic(let item, _, _) = self { item } else { nil } }

  /// The attribute to read and write. Nil for services and declarations.
  var attribute: Attribute? {
    switch self {
    case .service, .include: nil
    case .characteristic(let item, let service, _): .characteristic(item, service)
    case .descriptor(let item, let owner, let service): .descriptor(item, of: owner, service)
    }
  }

  static func rows(_ table: AttributeTable?, isFolded: (AttributeHandle) -> Bool, isUnfolded: (AttributeHandle) -> Bool) -> [TreeRow] {
    var rows: [TreeRow] = []
    for service in table?.services ?? [] {
      let isFolded = isFolded(service.handle)
      rows.append(.service(service, isFolded: isFolded))
      if isFolded { continue }
      rows += service.includes.map { .include($0) }
      for item in service.characteristics {
        let isOpen = isUnfolded(item.valueHandle)
        rows.append(.characteristic(item, service, isFolded: !isOpen))
        if isOpen { rows += item.descriptors.map { .descriptor($0, of: item, service) } }
      }
    }
    return rows
  }
}

import BluetoothLE
import Presentation

/// A row of the tree that shows the attributes of a device.
enum TreeRow: Equatable {
  case service(Service, isFolded: Bool)
  case include(Include)
  /// A characteristic with its service.
  /// - Parameter isFolded: Whether the tree hides the descriptors of the characteristic.
  case characteristic(Characteristic, Service, isFolded: Bool)
  case descriptor(Descriptor, of: Characteristic, Service)

  /// The handle of the row's attribute. For a characteristic, the handle of its value, not of its declaration.
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

  /// The attribute that the user can read and write in this row. Nil for services and includes.
  var attribute: Attribute? {
    switch self {
    case .service, .include: nil
    case .characteristic(let item, let service, _): .characteristic(item, service)
    case .descriptor(let item, let owner, let service): .descriptor(item, of: owner, service)
    }
  }
}

/// The attributes of a device as rows of a tree, with the cursor and the folded rows.
struct AttributeTree: Equatable {
  private(set) var table: AttributeTable?
  /// The handle of the row under the cursor. Nil puts the cursor on the first row.
  var cursor: AttributeHandle?
  /// The zero-based index of the first visible row.
  private(set) var top = 0
  private var folded: Set<AttributeHandle> = []
  private var unfolded: Set<AttributeHandle> = []

  /// The rows of the tree in order, without the children of folded rows.
  var rows: [TreeRow] { rows(isFolded: folded.contains, isUnfolded: unfolded.contains) }

  private func rows(isFolded: (AttributeHandle) -> Bool, isUnfolded: (AttributeHandle) -> Bool) -> [TreeRow] {
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

  /// Returns the zero-based index of the row under the cursor. Returns 0 if `rows` does not contain that row.
  func index(in rows: [TreeRow]) -> Int { rows.firstIndex { $0.handle == cursor } ?? 0 }

  /// The row under the cursor. Nil in an empty tree.
  var current: TreeRow? {
    let rows = rows
    return rows.isEmpty ? nil : rows[index(in: rows)]
  }

  /// Replaces the attribute table after a discovery. Keeps the cursor if its attribute still exists.
  mutating func update(_ table: AttributeTable) {
    self.table = table
    if let cursor, table.attribute(at: cursor) == .handle(cursor) { self.cursor = nil }
  }

  /// Restores the cursor, the folded rows and the scroll position of an earlier tree. Keeps the current attribute table.
  mutating func restore(_ earlier: Self) {
    let table = table
    self = earlier
    self.table = table
  }

  mutating func move(by distance: Int) {
    let rows = rows
    guard !rows.isEmpty else { return }
    var target = max(0, min(rows.count - 1, index(in: rows) + distance))
    // If a device uses a handle twice, the cursor is on its first row.
    while rows.indices.contains(target), rows.firstIndex(where: { $0.handle == rows[target].handle }) != target {
      target += distance.signum()
    }
    if rows.indices.contains(target) { cursor = rows[target].handle }
  }

  /// Moves the cursor from a row to its parent, for example from a characteristic to its service.
  mutating func moveToParent(of row: TreeRow) {
    let rows = rows
    guard let index = rows.firstIndex(where: { $0.handle == row.handle }) else { return }
    cursor = rows[..<index].last { $0.depth < row.depth }?.handle ?? cursor
  }

  /// Folds or unfolds a row with children.
  /// - Parameter wanted: Whether to fold the row. Nil folds an unfolded row and unfolds a folded one.
  mutating func fold(_ row: TreeRow, _ wanted: Bool?) {
    switch row {
    case .service(let service, let isFolded):
      if wanted ?? !isFolded { folded.insert(service.handle) } else { folded.remove(service.handle) }
    case .characteristic(let item, _, let isFolded):
      if wanted ?? !isFolded { unfolded.remove(item.valueHandle) } else { unfolded.insert(item.valueHandle) }
    case .include, .descriptor: return
    }
  }

  /// Moves the cursor to an attribute. Unfolds the service and the characteristic that contain the attribute.
  mutating func reveal(_ handle: AttributeHandle) {
    cursor = handle
    guard let (item, service) = table?.characteristic(owning: handle) else { return }
    folded.remove(service.handle)
    if handle != item.valueHandle { unfolded.insert(item.valueHandle) }
  }

  /// Moves the cursor to the next row whose name, UUID or handle contains the text. Also searches folded rows.
  /// After the last row, continues at the first row. Prefers an attribute to its service, unless the search continues below the cursor.
  /// Returns false if no row matches.
  /// - Parameters:
  ///   - afterCursor: Whether the search starts below the row under the cursor, not at that row.
  ///   - values: The known values. They include the names that the device gives its characteristics.
  mutating func find(_ text: String, afterCursor: Bool, values: CharacteristicFacts.Values) -> Bool {
    let all = rows(isFolded: { _ in false }, isUnfolded: { _ in true })
    guard !text.isEmpty, !all.isEmpty else { return false }
    let wanted = text.lowercased()
    let start = index(in: all)
    let found = ((afterCursor ? 1 : 0)...all.count).lazy.map { all[(start + $0) % all.count] }.filter {
      Self.names(of: $0, values).contains { $0.lowercased().contains(wanted) }
    }
    guard let row = afterCursor ? found.first : found.first(where: { $0.attribute != nil }) ?? found.first else { return false }
    reveal(row.handle)
    return true
  }

  private static func names(of row: TreeRow, _ values: CharacteristicFacts.Values) -> [String] {
    func named(_ uuid: UUID) -> [String] { [uuid.description] + (AssignedNumbers.name(of: uuid).map { [$0] } ?? []) }
    let names =
      switch row {
      case .service(let service, _): named(service.uuid)
      case .include(let include): include.uuid.map(named) ?? []
      case .characteristic(let item, _, _):
        named(item.uuid) + (CharacteristicFacts(characteristic: item, values: values).userDescription.map { [$0] } ?? [])
      case .descriptor(let item, _, _): named(item.uuid)
      }
    return names + ["\(row.handle)"]
  }

  /// Scrolls the tree until the row under the cursor is visible, on a screen with room for `rows` rows.
  mutating func scroll(rows: Int, of all: [TreeRow]) { top = BrowserLayout.top(top, showing: index(in: all), of: all.count, rows: rows) }
}

import ATT
import Bluetooth
import GAP
import GATT
import Presentation
import Text

/// A device with a connection (pending, open or closed), and the known facts about its attributes.
struct BrowserPeer {
  enum State: Equatable {
    case connecting
    /// The time of the connection in nanoseconds since 1970-01-01T00:00:00Z.
    case connected(Int64)
    /// The reason for the loss. Nil if the user disconnected.
    case closed(String?)
  }

  /// A value that the user typed before.
  struct Written: Equatable {
    let format: String
    let text: String
    let mode: WriteMode
  }

  let address: PeerAddress
  var name: UntrustedText?
  var state = State.connecting
  var mtu: Int?
  var link = LinkParameters()
  var table: AttributeTable? { didSet { rowCache = nil } }
  var values: CharacteristicFacts.Values = [:]
  /// The arrival time of each value, in nanoseconds since 1970-01-01T00:00:00Z.
  var times: [AttributeHandle: Int64] = [:]
  var histories: [AttributeHandle: SampleHistory] = [:]
  /// The subscribed characteristics, by the handle of the value.
  var subscribed: Set<AttributeHandle> = []
  /// The written values by attribute handle, the newest last.
  var written: [AttributeHandle: [Written]] = [:]
  /// The attributes whose latest action was a write, for the command line to copy.
  var wroteLast: Set<AttributeHandle> = []
  /// The number of reads and writes that wait for the device.
  var pending = 0

  /// The handle of the row under the cursor.
  var cursor: AttributeHandle?
  /// The index of the first visible row.
  var top = 0
  private var folded: Set<AttributeHandle> = []
  private var unfolded: Set<AttributeHandle> = []
  private var rowCache: [TreeRow]?

  init(_ address: PeerAddress, name: UntrustedText?) {
    self.address = address
    self.name = name
  }

  var isConnected: Bool { if case .connected = state { true } else { false } }

  // MARK: The tree

  /// The visible rows of the tree.
  var rows: [TreeRow] {
    mutating get {
      if let rowCache { return rowCache }
      let rows = TreeRow.rows(table, isFolded: { folded.contains($0) }, isUnfolded: { unfolded.contains($0) })
      rowCache = rows
      return rows
    }
  }

  var current: TreeRow? {
    mutating get {
      let rows = rows
      return rows.first { $0.handle == cursor } ?? rows.first
    }
  }

  mutating func move(by distance: Int) {
    let rows = rows
    guard !rows.isEmpty else { return }
    let index = rows.firstIndex { $0.handle == cursor } ?? 0
    var target = max(0, min(rows.count - 1, index + distance))
    // If a device uses a handle twice, the cursor is on its first row.
    while rows.indices.contains(target), rows.firstIndex(where: { $0.handle == rows[target].handle }) != target {
      target += distance.signum()
    }
    if rows.indices.contains(target) { cursor = rows[target].handle }
  }

  /// Folds or unfolds a row of the tree.
  /// - Parameter wanted: Whether to fold the row. Nil toggles it.
  mutating func fold(_ row: TreeRow, _ wanted: Bool?) {
    switch row {
    case .service(let service, let isFolded):
      if wanted ?? !isFolded { folded.insert(service.handle) } else { folded.remove(service.handle) }
    case .characteristic(let item, _, let isFolded):
      if wanted ?? !isFolded { unfolded.remove(item.valueHandle) } else { unfolded.insert(item.valueHandle) }
    case .include, .descriptor: return
    }
    rowCache = nil
  }

  /// The position of the cursor and the folded rows.
  struct Place: Equatable {
    fileprivate let cursor: AttributeHandle?
    fileprivate let top: Int
    fileprivate let folded: Set<AttributeHandle>
    fileprivate let unfolded: Set<AttributeHandle>
  }

  var place: Place {
    get { Place(cursor: cursor, top: top, folded: folded, unfolded: unfolded) }
    set {
      (cursor, top) = (newValue.cursor, newValue.top)
      guard (folded, unfolded) != (newValue.folded, newValue.unfolded) else { return }
      (folded, unfolded) = (newValue.folded, newValue.unfolded)
      rowCache = nil
    }
  }

  /// Returns the parent of a row.
  mutating func parent(of row: TreeRow) -> TreeRow? {
    let rows = rows
    guard let index = rows.firstIndex(where: { $0.handle == row.handle }) else { return nil }
    return rows[..<index].last { $0.depth < row.depth }
  }

  /// Moves the cursor to an attribute, and unfolds the rows that hide it.
  mutating func reveal(_ handle: AttributeHandle) {
    guard let (item, service) = table?.characteristic(owning: handle) else {
      cursor = handle
      return
    }
    folded.remove(service.handle)
    if handle != item.valueHandle { unfolded.insert(item.valueHandle) }
    rowCache = nil
    cursor = handle
  }

  func facts(_ item: Characteristic) -> CharacteristicFacts { CharacteristicFacts(characteristic: item, values: values) }

  // MARK: Received values

  mutating func take(_ value: Result<[UInt8], any Error>, of handle: AttributeHandle, at time: Int64) {
    values[handle] = value
    times[handle] = time
    guard case .success(let octets) = value, let table, case .characteristic(let item, _) = table.attribute(at: handle),
      let number = NumberInValue.of(octets, facts(item))
    else { return }
    histories[handle, default: SampleHistory()].add(number.value, at: time)
  }

  /// Returns the characteristic that an attribute is or belongs to.
  func characteristic(_ handle: AttributeHandle) -> Characteristic? { table?.characteristic(owning: handle)?.0 }
}

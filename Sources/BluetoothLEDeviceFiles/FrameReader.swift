// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// A reader of the frames in a device file. A frame can refer only to earlier frames, so no frame contains itself.
struct FrameReader {
  static let maximumFrames = 256
  /// The maximum number of pieces of a frame, including the outer frame.
  static let maximumPieces = 256

  /// A part of a frame, before the reader knows its offset and size.
  private enum Item {
    case bytes([UInt8], FileEntry)
    /// A member of `fields`, and the value that an inner frame sets for it. The value is nil if no inner frame sets one.
    case field(FileEntry, fixed: FileEntry?)
    /// The place where an outer frame contains the items of an inner frame.
    case body(FileEntry)
  }

  private var items: [String: [Item]] = [:]
  /// The frames that contain no place for an inner frame, by name. The reader builds each frame once.
  private var built: [String: Frame] = [:]
  private var names: [String] = []
  private let spent = Spent()

  /// A counter of the pieces in all frames of a file, which all copies of a reader share.
  private final class Spent { var pieces = 0 }
  static let maximumTotal = 49_152

  private static let keys = ["in", "with", "header", "fields", "trailer"]

  mutating func define(_ name: String, _ entry: FileEntry) throws(FileEntryError) {
    try entry.checkName(name)
    let items = try read(entry)
    // Report an error in a frame at its own place, even if no command uses it.
    if !items.contains(where: { if case .body = $0 { true } else { false } }) { built[name] = try build(items, name, entry) }
    self.items[name] = items
    names.append(name)
  }

  /// Reads an inline frame, or finds a frame by its name.
  /// - Parameter called: The name for an inline frame.
  func frame(_ entry: FileEntry, called: String) throws(FileEntryError) -> Frame {
    guard case .string = entry.tree.kind else { return try build(try read(entry), called, entry) }
    let name = try entry.string()
    if let frame = built[name] { return frame }
    return try build(try named(entry), name, entry)
  }

  private func named(_ entry: FileEntry) throws(FileEntryError) -> [Item] {
    guard let items = items[try entry.string()] else {
      throw entry.error(
        names.isEmpty ? "Unknown frame. No earlier frame is defined." : "Unknown frame. Use \(names.prefix(20).joined(separator: ", ")).")
    }
    return items
  }

  // MARK: Items

  private func read(_ entry: FileEntry) throws(FileEntryError) -> [Item] {
    let fields = try entry.object(Self.keys)
    var items: [Item] = []
    if let value = fields["header"] { items.append(.bytes(try value.bytes(limit: Frame.maximumLength), value)) }
    for item in try fields["fields"]?.bounded() ?? [] {
      let isBody = try item.members().contains { $0.key == "body" }
      if isBody, let value = try item.object(["body"])["body"], try !value.bool() { throw value.error("Use true.") }
      items.append(isBody ? .body(item) : .field(item, fixed: nil))
    }
    if let value = fields["trailer"] { items.append(.bytes(try value.bytes(limit: Frame.maximumLength), value)) }
    let bodies = items.filter { if case .body = $0 { true } else { false } }
    if case .body(let second)? = bodies.dropFirst().first { throw second.error("A frame can have only one body.") }
    guard let around = fields["in"] else {
      if let value = fields["with"] { throw value.error("\"with\" needs the key \"in\": the name of the outer frame.") }
      return items
    }
    var fixed: [String: FileEntry] = [:]
    for (key, value) in try fields["with"]?.namedMembers(limit: 64) ?? [] { fixed[key] = value }
    return try put(items, around, fixed)
  }

  private func put(_ inner: [Item], _ around: FileEntry, _ fixed: [String: FileEntry]) throws(FileEntryError) -> [Item] {
    var all: [Item] = []
    var hasBody = false
    var unused = fixed
    for item in try named(around) {
      switch item {
      case .body:
        hasBody = true
        all += inner
      case .bytes: all.append(item)
      case .field(let entry, let earlier):
        var own = earlier
        if case .string(let name)? = entry.tree["name"]?.kind {
          unused[name] = nil
          own = fixed[name] ?? earlier
        }
        all.append(.field(entry, fixed: own))
      }
    }
    guard hasBody else { throw around.error("The outer frame has no {\"body\": true}.") }
    if let (name, entry) = unused.min(by: { $0.key < $1.key }) {
      throw entry.error("The outer frame has no field \(DisplayText.quote(name)).")
    }
    guard all.count <= Self.maximumPieces else { throw around.error("More than \(Self.maximumPieces) fields.") }
    try spend(all.count, around)
    return all
  }

  // MARK: Pieces

  private func spend(_ count: Int, _ entry: FileEntry) throws(FileEntryError) {
    spent.pieces += count
    guard spent.pieces <= Self.maximumTotal else { throw entry.error("More than \(Self.maximumTotal) fields in the frames of this file.") }
  }

  private func build(_ items: [Item], _ name: String, _ entry: FileEntry) throws(FileEntryError) -> Frame {
    try spend(items.count, entry)
    var builder = FrameBuilder(name: name)
    for item in items {
      switch item {
      case .bytes(let bytes, let entry): try builder.add(.bytes(bytes), entry)
      case .field(let entry, let fixed): try builder.add(entry, fixed)
      case .body(let entry): throw entry.error("A frame with a body can only be an outer frame (\"in\").")
      }
    }
    return try builder.finished(entry)
  }
}

import Text

/// Reads the frames of a device file. A frame refers only to those before it, so that none contains itself.
struct FrameReader {
  static let maximumFrames = 256
  /// Pieces of a frame, with those of the frame around it.
  static let maximumPieces = 256

  /// What a frame is made of, before its places and sizes are known.
  private enum Item {
    case octets([UInt8], FileEntry)
    /// A member of `fields`, and what it is by what a frame inside says.
    case field(FileEntry, fixed: FileEntry?)
    /// Where the fields go of a frame that is in this one.
    case body(FileEntry)
  }

  private var items: [String: [Item]] = [:]
  /// Of those without a body, by name: used as often as somebody likes, built once.
  private var built: [String: Frame] = [:]
  private var names: [String] = []
  private let spent = Spent()

  /// A small file can ask for a great deal: frames in frames, in every answer of every command.
  private final class Spent { var pieces = 0 }
  static let maximumTotal = 49_152

  private static let keys = ["in", "with", "header", "fields", "trailer"]

  mutating func define(_ name: String, _ entry: FileEntry) throws(FileEntryError) {
    try entry.checkName(name)
    let items = try read(entry)
    // What is wrong with a frame is said where it stands, also when nothing uses it.
    if !items.contains(where: { if case .body = $0 { true } else { false } }) { built[name] = try build(items, name, entry) }
    self.items[name] = items
    names.append(name)
  }

  /// By its name, or as it stands here.
  /// - Parameter called: what it is called when it has no name.
  func frame(_ entry: FileEntry, called: String) throws(FileEntryError) -> Frame {
    guard case .string = entry.tree.kind else { return try build(try read(entry), called, entry) }
    let name = try entry.string()
    if let frame = built[name] { return frame }
    return try build(try named(entry), name, entry)
  }

  private func named(_ entry: FileEntry) throws(FileEntryError) -> [Item] {
    guard let items = items[try entry.string()] else {
      throw entry.error(
        "no such frame before this one; there " + (names.isEmpty ? "is none" : "are \(names.prefix(20).joined(separator: ", "))"))
    }
    return items
  }

  // MARK: Items

  private func read(_ entry: FileEntry) throws(FileEntryError) -> [Item] {
    let fields = try entry.object(Self.keys)
    var items: [Item] = []
    if let value = fields["header"] { items.append(.octets(try value.octets(limit: Frame.maximumLength), value)) }
    for item in try fields["fields"]?.bounded() ?? [] {
      let isBody = try item.members().contains { $0.key == "body" }
      items.append(isBody ? .body(item) : .field(item, fixed: nil))
    }
    if let value = fields["trailer"] { items.append(.octets(try value.octets(limit: Frame.maximumLength), value)) }
    let bodies = items.filter { if case .body = $0 { true } else { false } }
    if case .body(let second)? = bodies.dropFirst().first { throw second.error("a frame has one body") }
    guard let around = fields["in"] else {
      if let value = fields["with"] { throw value.error("with says what fields of the frame around it are, which in names") }
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
      case .octets: all.append(item)
      case .field(let entry, let earlier):
        var own = earlier
        if case .string(let name)? = entry.tree["name"]?.kind {
          unused[name] = nil
          own = fixed[name] ?? earlier
        }
        all.append(.field(entry, fixed: own))
      }
    }
    guard hasBody else { throw around.error("that frame has no {\"body\": true} where this one's fields could be") }
    if let (name, entry) = unused.min(by: { $0.key < $1.key }) {
      throw entry.error("the frame around has no field \(DisplayText.quote(name))")
    }
    guard all.count <= Self.maximumPieces else { throw around.error("more than \(Self.maximumPieces) fields") }
    try spend(all.count, around)
    return all
  }

  // MARK: Pieces

  private func spend(_ count: Int, _ entry: FileEntry) throws(FileEntryError) {
    spent.pieces += count
    guard spent.pieces <= Self.maximumTotal else { throw entry.error("more than \(Self.maximumTotal) fields in the frames of this file") }
  }

  private func build(_ items: [Item], _ name: String, _ entry: FileEntry) throws(FileEntryError) -> Frame {
    try spend(items.count, entry)
    var builder = FrameBuilder(name: name)
    for item in items {
      switch item {
      case .octets(let octets, let entry): try builder.add(.octets(octets), entry)
      case .field(let entry, let fixed): try builder.add(entry, fixed)
      case .body(let entry): throw entry.error("a frame with a body is only for others to be in")
      }
    }
    return try builder.finished(entry)
  }
}

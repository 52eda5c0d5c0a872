package import Bluetooth
import Synchronization
import Text

/// The fields of a characteristic value, a declaration or a descriptor, in their order.
package struct CharacteristicDescription: Sendable {
  let fields: [FieldDescription]
  /// Whether the fields repeat until the value ends. The first field is then the length of each repetition.
  let repeats: Bool

  /// Looks up the description of an attribute type.
  /// Nil for types that the Bluetooth SIG has not specified, and for values without structure in GATT.
  package init?(_ uuid: UUID) {
    guard let short = uuid.short else { return nil }
    let known = Self.recent.withLock { recent in
      if let known = recent[short] { return known }
      let found = Self(key: Hex.encode(short))
      if recent.count == 64 { recent = [:] }
      recent[short] = .some(found)
      return found
    }
    guard let known else { return nil }
    self = known
  }

  /// The last lookups, including failed ones: thousands of notifications may belong to a few characteristics.
  private static let recent = Mutex<[UInt16: Self?]>([:])

  init(fields: [FieldDescription]) {
    self.fields = fields
    repeats = false
  }

  /// Returns the common sign of a unit: `°C` for 272f. Nil for other UUIDs and for units without a sign.
  package static func unit(_ uuid: UUID) -> String? {
    guard let short = uuid.short, short >> 8 == 0x27 else { return nil }
    let key = Hex.encode(short) + " "
    return units.split(separator: "\n").first { $0.hasPrefix(key) }.map { String($0.dropFirst(key.utf8.count)) }
  }

  private init?(key: String) {
    guard let record = Self.record(key) else { return nil }
    let lines = record.split(separator: "\n")
    var fields: [FieldDescription] = []
    for line in lines.dropFirst() {
      if line.hasPrefix("  ") {
        guard let last = fields.indices.last, fields[last].add(line: String(line.dropFirst(2))) else { return nil }
      } else {
        guard let field = FieldDescription(line: String(line.dropFirst())) else { return nil }
        fields.append(field)
      }
    }
    guard !fields.isEmpty else { return nil }
    self.fields = fields
    repeats = lines.first?.hasSuffix(" repeat") ?? false
  }

  /// All keys of the table, for tests. Declarations start with 28, descriptors with 29.
  package static var all: [UUID] {
    table.split(separator: "\n").compactMap { $0.hasPrefix(" ") ? nil : UUID(String($0.prefix(4))) }
  }

  /// Finds the record whose first line starts with `key`, by binary search in the table.
  private static func record(_ key: String) -> String? {
    let text = table.utf8.span
    let key = Array(key.utf8)
    let newline = UInt8(ascii: "\n")
    let blank = UInt8(ascii: " ")
    // The first line of a record at or after the start of a line.
    func record(at place: Int) -> Int {
      var place = place
      while place < text.count, text[place] == blank {
        while place < text.count, text[place] != newline { place += 1 }
        place += 1
      }
      return min(place, text.count)
    }
    var low = 0
    var high = text.count
    while low < high {
      var start = low + (high - low) / 2
      while start > low, text[start - 1] != newline || text[start] == blank { start -= 1 }
      var order = 0
      for (index, octet) in key.enumerated() where order == 0 {
        guard start + index < text.count else { return nil }
        order = Int(octet) - Int(text[start + index])
      }
      var end = start
      while end < text.count, text[end] != newline { end += 1 }
      end = record(at: end + 1)
      if order < 0 {
        high = start
      } else if order > 0 {
        low = end
      } else {
        var octets: [UInt8] = []
        for index in start..<end { octets.append(text[index]) }
        return String(decoding: octets, as: UTF8.self)
      }
    }
    return nil
  }
}

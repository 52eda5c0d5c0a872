// SPDX-License-Identifier: Apache-2.0
/// The names of the numbers that the Bluetooth SIG assigns. The user's own names for UUIDs and companies take precedence.
package enum AssignedNumbers {
  /// Returns the name of a SIG-assigned, common vendor or user-named UUID, such as `Battery Level` for 2a19. Returns nil for other UUIDs.
  package static func name(of uuid: UUID) -> String? {
    if let own = OwnNames.current?.uuids[uuid] { return own }
    if let short = uuid.short { return search(shortUUIDs, hex(short)) }
    return search(longUUIDs, Array(Hex.encode(uuid.littleEndianBytes.reversed()).utf8))
  }

  /// Returns the name of a UUID in snake case, which `uuid(named:)` accepts: `battery_level` for 2a19. Nil for a UUID without a name.
  package static func snakeName(of uuid: UUID) -> String? { name(of: uuid).map { snake($0) } }

  /// Converts a name to snake case: `heart_rate` for `Heart Rate`.
  package static func snake(_ name: String) -> String { String(decoding: snake(Array(name.utf8)[...]), as: UTF8.self) }

  /// Finds the UUID with a name, in any case and with any separators: `battery_level`, `Battery Level`. The word `service` at the end of a
  /// service's name is optional. A name that a characteristic and a service share (`device_time`) means the characteristic.
  /// Punctuation in the text that is not in the name makes it another name, so that nothing is found.
  package static func uuid(named text: String) -> UUID? {
    guard let uuid = find(text) else { return nil }
    if isPlain(text.trimmed) { return uuid }
    guard let name = name(of: uuid) else { return nil }
    return name == text || text.allSatisfy { isPlain("\($0)") || name.contains($0) } ? uuid : nil
  }

  /// Returns whether a text consists of letters and digits, with blanks, `_` or `-` between them.
  package static func isPlain(_ text: String) -> Bool {
    func isLetter(_ byte: UInt8?) -> Bool {
      byte.map { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 > 0x7F } ?? false
    }
    return isLetter(text.utf8.first) && isLetter(text.utf8.last) && text.utf8.allSatisfy { isLetter($0) || " _-".utf8.contains($0) }
  }

  private static func find(_ text: String) -> UUID? {
    if let own = OwnNames.current?.uuid(named: text) { return own }
    let wanted = snake(Array(text.utf8)[...])
    guard !wanted.isEmpty else { return nil }
    let alone = wanted.count > service.count && wanted.suffix(service.count) == service[...] ? Array(wanted.dropLast(service.count)) : nil
    var best: UUID?
    for table in [shortUUIDs, longUUIDs] {
      let text = table.utf8.span
      var start = 0
      while start < text.count {
        var (key, end) = (start, start)
        while end < text.count, text[end] != UInt8(ascii: "\n") {
          if key == start, text[end] == UInt8(ascii: " ") { key = end }
          end += 1
        }
        defer { start = end + 1 }
        let isService = key - start == 4 && text[start] == UInt8(ascii: "1") && text[start + 1] == UInt8(ascii: "8")
        guard !isService || best == nil else { continue }
        guard
          reads(text, key..<end, wanted)
            || isService && (reads(text, key..<end, wanted + service) || alone.map { reads(text, key..<end, $0) } ?? false)
        else { continue }
        guard let uuid = UUID(String(decoding: (start..<key).map { text[$0] }, as: UTF8.self)) else { continue }
        if !isService { return uuid }
        best = uuid
      }
    }
    return best
  }

  /// The names of all UUIDs in the form of `snakeName`, for spelling suggestions. Each access takes about a millisecond.
  package static var snakeNames: [(name: String, uuid: UUID)] {
    let own = (OwnNames.current?.uuids ?? [:]).map { (snake($0.value), $0.key) }
    return own
      + [shortUUIDs, longUUIDs].flatMap { $0.split(separator: "\n") }.compactMap { line in
        guard let end = line.firstIndex(of: " "), let uuid = UUID(line[..<end]) else { return nil }
        return (snake(String(line[line.index(after: end)...])), uuid)
      }
  }

  /// Returns the name that two to four neighboring words form: `battery_level` for `Battery` and `Level`. Nil if they form no name.
  package static func snakeName(in words: [String]) -> String? {
    let ranges = words.indices.flatMap { start in (2...4).map { start..<start + $0 }.filter { $0.upperBound <= words.count } }
    return ranges.lazy.compactMap { uuid(named: words[$0].joined(separator: " ")) }.first.flatMap { snakeName(of: $0) }
  }

  /// Returns whether a part of the text, converted to snake case, equals `wanted`.
  private static func reads(_ text: Span<UInt8>, _ part: Range<Int>, _ wanted: [UInt8]) -> Bool {
    var at = 0
    var isApart = false
    for index in part {
      let letter: UInt8
      switch text[index] {
      case 0x30...0x39, 0x61...0x7A: letter = text[index]
      case 0x41...0x5A: letter = text[index] | 0x20
      default:
        isApart = at > 0
        continue
      }
      if isApart {
        guard at < wanted.count, wanted[at] == 0x5F else { return false }
        (at, isApart) = (at + 1, false)
      }
      guard at < wanted.count, wanted[at] == letter else { return false }
      at += 1
    }
    return at == wanted.count
  }

  /// Returns the name of a company: `Apple, Inc.` for 0x004C. Returns nil for an unassigned identifier.
  package static func company(_ id: UInt16) -> String? { OwnNames.current?.companies[id] ?? search(companies, hex(id)) }

  /// Finds the identifiers of companies whose names start with `text`, in any case and with any separators: 004c for `apple`. A complete
  /// name means only its own company.
  package static func companies(named text: String) -> [UInt16] {
    let wanted = snake(Array(text.utf8)[...])
    if let own = OwnNames.current?.company(named: text) { return [own] }
    if wanted.isEmpty { return [] }
    // Prefer names that start with these words; otherwise, names that start with these letters.
    var words = OwnNames.current?.companies(named: text) ?? []
    var letters: [UInt16] = []
    for line in companies.utf8.split(separator: UInt8(ascii: "\n")) {
      guard let end = line.firstIndex(of: UInt8(ascii: " ")),
        let id = Hex.number(String(decoding: line[..<end], as: UTF8.self)).flatMap({ UInt16(exactly: $0) })
      else { continue }
      let name = snake(Array(line[line.index(after: end)...])[...])
      if name == wanted { return [id] }
      if name.starts(with: wanted + [0x5F]) { words.append(id) } else if name.starts(with: wanted) { letters.append(id) }
    }
    return words.isEmpty ? letters : Array(Set(words)).sorted()
  }

  /// Returns the first word, in lower case, of the company name most similar to `text`. Returns nil if no name is similar.
  package static func companyNamed(like text: String) -> String? {
    let wanted = snake(text)
    let names = companies.split(separator: "\n").compactMap { line in
      line.firstIndex(of: " ").map { snake(String(line[line.index(after: $0)...])).prefix { $0 != "_" } }
    }
    // Among this many names, a word with another first letter is similar by chance.
    return SpellingSuggestion.nearest(to: wanted, among: names.filter { $0.first == wanted.first }.map(String.init))
  }

  /// Returns the name of an appearance's sub-category: `Keyboard` for 0x03C1. Without an assigned sub-category, returns the category.
  package static func appearance(_ value: UInt16) -> String? { search(appearances, hex(value)) ?? search(appearances, hex(value & ~0x3F)) }

  // MARK: Search

  private static let service = Array("_service".utf8)

  private static func hex(_ number: UInt16) -> [UInt8] { Array(Hex.encode(number).utf8) }

  /// Returns the text after `key` and a space in the line of `key`. Nil if no line has the key.
  private static func search(_ table: String, _ key: [UInt8]) -> String? {
    guard let line = SortedTable.record(key, in: table) else { return nil }
    return String(decoding: line.dropFirst(key.count + 1).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  /// Converts a name to lower case, and each run of characters other than ASCII letters and digits to one underscore.
  private static func snake(_ name: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    for byte in name {
      switch byte {
      case 0x30...0x39, 0x61...0x7A: result.append(byte)
      case 0x41...0x5A: result.append(byte | 0x20)
      default: if let last = result.last, last != 0x5F { result.append(0x5F) }
      }
    }
    if result.last == 0x5F { result.removeLast() }
    return result
  }
}

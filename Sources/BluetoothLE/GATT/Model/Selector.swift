// SPDX-License-Identifier: Apache-2.0
/// A user's name for an attribute: `0x0012`, `ffe1`, `ffe0/ffe1`, `ffe1[2]`, `ffe1@2901`, `battery_level`, and combinations.
package struct Selector: Hashable, Sendable, CustomStringConvertible {
  /// A UUID and an optional index, such as `ffe1[2]`. The index counts the matches from 1 in the order of handles.
  package struct Part: Hashable, Sendable, CustomStringConvertible {
    /// The UUID. All bits are 0 for an abbreviation that is not itself a UUID.
    package let uuid: UUID
    package let index: Int?
    /// The prefix of a UUID (`7a1e0002`) or of a name (`batt`), or a service's name (`battery`). Nil for the whole UUID or name.
    package let abbreviation: String?

    package var description: String { abbreviation ?? "\(uuid)" }

    /// Returns the items with exactly this UUID. If there are none, returns the items whose UUID or name has the abbreviation as prefix.
    package func pick<T>(_ items: [T], _ uuid: (T) -> UUID) -> [T] {
      let exact = items.filter { uuid($0) == self.uuid }
      guard exact.isEmpty, let abbreviation else { return exact }
      return items.filter {
        uuid($0).fullDescription.hasPrefix(abbreviation) || AssignedNumbers.snakeName(of: uuid($0))?.hasPrefix(abbreviation) ?? false
      }
    }
  }

  package enum Main: Hashable, Sendable {
    case handle(AttributeHandle)
    case uuid(Part)
    /// A text that is neither, for the reason in `Fault`. It may be the user description (2901) of a characteristic.
    case userDescription(Fault)
  }

  package let service: Part?
  package let main: Main
  package let descriptor: Part?
  /// The selector as the user typed it.
  package let description: String

  /// The reason why a text is not a selector.
  package enum Fault: Hashable, Sendable {
    case tooManyParts
    case handleInService
    /// The handle is not in the range 0x0001…0xFFFF.
    case noHandle
    /// The index in brackets is not a decimal number of at least 1.
    case wrongIndex
    case emptyPart
    /// The text is neither a UUID nor a name that the Bluetooth SIG assigned.
    case unknownName(String)
  }

  /// Parses the text of a selector.
  /// - Parameter abbreviating: whether to accept the prefix of a UUID or name.
  /// - Throws: GATTError.invalidSelector.
  package init(_ text: String, abbreviating: Bool = true) throws(GATTError) {
    description = text
    let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let path = (halves.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
    guard let name = path.last, path.count <= 2 else { throw .invalidSelector(text, .tooManyParts) }
    descriptor = halves.count == 2 ? try Self.part(halves[1], text, abbreviating) : nil
    service = path.count == 2 ? try Self.part(path[0], text, abbreviating) : nil
    if let handle = try Self.handle(name, text) {
      guard service == nil else { throw .invalidSelector(text, .handleInService) }
      main = .handle(handle)
    } else {
      main = .uuid(try Self.part(name, text, abbreviating, mayMeanService: true))
    }
  }

  /// Parses an attribute as users type it: a selector, or the user description (2901) of a characteristic, which only the peer knows.
  /// - Throws: GATTError.invalidSelector for an empty text, a wrong handle, and hex digits that are no UUID.
  package init(typed text: String) throws(GATTError) {
    do throws(GATTError) { self = try Selector(text) } catch {
      guard case .invalidSelector(_, let fault) = error, fault != .noHandle, fault != .handleInService, !text.trimmed.isEmpty,
        !Self.mayBeValue(text)
      else { throw error }
      (service, main, descriptor, description) = (nil, .userDescription(fault), nil, text)
    }
  }

  /// Whether a text is more probably a misplaced value or a time, such as `567b3c`, `ff01:56` and `2s`, than a user description.
  private static func mayBeValue(_ text: String) -> Bool {
    // A comma that should separate commands.
    if text.hasSuffix(",") { return true }
    guard text.contains(where: \.isNumber) else { return false }
    let isTime = text.first?.isNumber == true && ["s", "ms", "m", "h"].contains(text.drop { $0.isNumber || $0 == "." })
    return isTime || text.allSatisfy { $0.isHexDigit || $0 == ":" }
  }

  /// Whether the text can be the user description of a characteristic, because it is no handle and has no UUID.
  var mayBeUserDescription: Bool {
    switch main {
    case .handle: false
    case .uuid(let part): part.abbreviation != nil || UUID(description) == nil && service == nil && descriptor == nil
    case .userDescription: true
    }
  }

  /// Parses the service in `180a/*`, which names all readable characteristics of a service. Returns nil for other text.
  /// - Throws: GATTError.invalidSelector.
  package static func service(inAllOf text: String, abbreviating: Bool = true) throws(GATTError) -> Part? {
    text.hasSuffix("/*") ? try part(text.dropLast(2), text, abbreviating) : nil
  }

  /// Whether the selector contains the prefix of a UUID or name.
  package var isAbbreviated: Bool {
    if case .uuid(let part) = main, part.abbreviation != nil { return true }
    return service?.abbreviation != nil || descriptor?.abbreviation != nil
  }

  /// The handle, if the selector consists only of a handle. Nil for any other selector, which needs discovery.
  package var plainHandle: AttributeHandle? { if case .handle(let handle) = main, descriptor == nil { handle } else { nil } }

  /// The UUID, if the selector consists only of a whole UUID. Nil for other selectors and for the declaration types 0x2800…0x2803.
  package var plainUUID: UUID? {
    guard case .uuid(let part) = main, service == nil, descriptor == nil, part.index == nil, part.abbreviation == nil else { return nil }
    return (0x2800...0x2803).contains(part.uuid.short ?? 0) ? nil : part.uuid
  }

  /// Converts the prefix of a UUID (5 to 23 characters) or of a name (at least 3 letters) to the form used in comparisons.
  /// Returns nil for other text.
  private static func abbreviation(_ text: String) -> String? {
    let pattern = "00000000-0000-0000-0000-000000000000"
    if (5..<24).contains(text.utf8.count), zip(text, pattern).allSatisfy({ $1 == "-" ? $0 == "-" : $0.isASCII && $0.isHexDigit }) {
      return text.lowercased()
    }
    guard AssignedNumbers.isPlain(text.hasSuffix("_") ? String(text.dropLast()) : text) else { return nil }
    let name = AssignedNumbers.snake(text)
    return name.utf8.count >= 3 && AssignedNumbers.snakeNames.contains { $0.name.hasPrefix(name) } ? name : nil
  }

  private static func handle(_ text: Substring, _ whole: String) throws(GATTError) -> AttributeHandle? {
    guard text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
    let digits = text.dropFirst(2)
    // A prefix marks a handle of up to four digits. A longer number can only be a UUID.
    guard digits.utf8.count <= 4 else {
      if UUID(text) != nil { return nil }
      throw .invalidSelector(whole, .noHandle)
    }
    guard let number = Hex.number(digits), let value = UInt16(exactly: number), value != 0 else {
      throw .invalidSelector(whole, .noHandle)
    }
    return AttributeHandle(rawValue: value)
  }

  /// - Parameter mayMeanService: Whether the name of a service, such as `battery`, is also an abbreviation of a characteristic.
  private static func part(
    _ text: Substring, _ whole: String, _ abbreviating: Bool, mayMeanService: Bool = false
  ) throws(GATTError) -> Part {
    var name = text
    var index: Int?
    if let open = text.firstIndex(of: "[") {
      let digits = text[text.index(after: open)...].dropLast()
      guard text.hasSuffix("]"), (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int(digits), number > 0
      else { throw .invalidSelector(whole, .wrongIndex) }
      index = number
      name = text[..<open]
    }
    guard !name.isEmpty else { throw .invalidSelector(whole, .emptyPart) }
    if let uuid = UUID(name) ?? AssignedNumbers.uuid(named: String(name)) {
      // Eight digits are a 32-bit UUID, but more often the start of a longer one.
      let isLong = name.utf8.count == 8 && uuid.short == nil && Hex.number(name) != nil
      let isService = mayMeanService && (0x1800..<0x1900).contains(uuid.short ?? 0) && UUID(name) == nil
      return Part(uuid: uuid, index: index, abbreviation: abbreviating && (isLong || isService) ? AssignedNumbers.snake(String(name)) : nil)
    }
    if abbreviating, let beginning = abbreviation(String(name)) {
      return Part(uuid: UUID(high: 0, low: 0), index: index, abbreviation: beginning)
    }
    throw .invalidSelector(whole, .unknownName(String(name)))
  }
}

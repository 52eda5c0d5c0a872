package import ATT
package import Bluetooth
import Text

/// How users name an attribute: `0x0012`, `ffe1`, `ffe0/ffe1`, `ffe1[2]`, `ffe1@2901`, `battery_level`, and combinations.
package struct Selector: Hashable, Sendable, CustomStringConvertible {
  /// A type, and which of several: `ffe1[2]`, counted from 1 in the order of handles.
  package struct Part: Hashable, Sendable {
    package let uuid: UUID
    package let index: Int?
  }

  package enum Main: Hashable, Sendable {
    case handle(AttributeHandle)
    case uuid(Part)
  }

  package let service: Part?
  package let main: Main
  package let descriptor: Part?
  /// As typed.
  package let description: String

  /// Why a text names no attribute.
  package enum Fault: Hashable, Sendable {
    case tooManyParts
    case handleInService
    /// Not 0x0001…0xFFFF.
    case noHandle
    /// `[N]` without a number from 1.
    case wrongIndex
    case emptyPart
    /// Neither a UUID nor a name that the Bluetooth SIG assigned.
    case unknownName(String)
  }

  /// - Throws: GATTError.invalidSelector.
  package init(_ text: String) throws(GATTError) {
    description = text
    let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let path = (halves.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
    guard let name = path.last, path.count <= 2 else { throw .invalidSelector(text, .tooManyParts) }
    descriptor = halves.count == 2 ? try Self.part(halves[1], text) : nil
    service = path.count == 2 ? try Self.part(path[0], text) : nil
    if let handle = try Self.handle(name, text) {
      guard service == nil else { throw .invalidSelector(text, .handleInService) }
      main = .handle(handle)
    } else {
      main = .uuid(try Self.part(name, text))
    }
  }

  /// The handle when the selector is nothing but one, so that nothing has to be discovered.
  package var plainHandle: AttributeHandle? {
    if case .handle(let handle) = main, descriptor == nil { handle } else { nil }
  }

  /// The UUID when the selector is nothing but one, of something that has a value of its own (not a declaration).
  package var plainUUID: UUID? {
    guard case .uuid(let part) = main, service == nil, descriptor == nil, part.index == nil else { return nil }
    return (0x2800...0x2803).contains(part.uuid.short ?? 0) ? nil : part.uuid
  }

  private static func handle(_ text: Substring, _ whole: String) throws(GATTError) -> AttributeHandle? {
    guard text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
    let digits = text.dropFirst(2)
    // A prefix makes a handle of up to four digits; a longer number can only be a UUID.
    guard digits.utf8.count <= 4 else {
      if UUID(text) != nil { return nil }
      throw .invalidSelector(whole, .noHandle)
    }
    guard let number = Hex.number(digits), let value = UInt16(exactly: number), value != 0 else {
      throw .invalidSelector(whole, .noHandle)
    }
    return AttributeHandle(rawValue: value)
  }

  private static func part(_ text: Substring, _ whole: String) throws(GATTError) -> Part {
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
    if let uuid = UUID(name) ?? AssignedNumbers.uuid(named: String(name)) { return Part(uuid: uuid, index: index) }
    throw .invalidSelector(whole, .unknownName(String(name)))
  }
}

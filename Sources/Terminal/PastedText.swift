/// A filter that finds pasted text between the marks of a terminal, and holds it until the end mark.
struct PastedText {
  private static let begin = Array("\u{1B}[200~".utf8)
  private static let end = Array("\u{1B}[201~".utf8)
  /// The maximum number of bytes of a paste. The filter drops further bytes.
  static let limit = 1 << 18

  /// The received bytes that may be the start of a begin mark.
  private var held: [UInt8] = []
  /// The number of bytes of `held` that readline already got. The filter passes an escape without a following byte as a key.
  private var given = 0
  /// The received begin mark and the text after it. Nil outside a paste.
  private var pasted: [UInt8]?
  private var isTooLong = false

  /// Filters bytes from the terminal.
  /// - Returns: The bytes that readline gets now.
  mutating func pass(_ keys: some Sequence<UInt8>) -> [UInt8] {
    var passed: [UInt8] = []
    for key in keys { if pasted == nil { outside(key, &passed) } else { inside(key, &passed) } }
    if held.count == 1, given == 0 {
      passed += held
      given = 1
    }
    return passed
  }

  private mutating func outside(_ key: UInt8, _ passed: inout [UInt8]) {
    if !Self.begin.starts(with: held + [key]) {
      passed += held.dropFirst(given)
      (held, given) = ([], 0)
      guard key == Self.begin[0] else { return passed.append(key) }
    }
    held.append(key)
    guard held.count == Self.begin.count else { return }
    pasted = Array(held.dropFirst(given))
    (held, given) = ([], 0)
  }

  private mutating func inside(_ key: UInt8, _ passed: inout [UInt8]) {
    guard var text = pasted else { return }
    pasted = nil
    text.append(key)
    if key == Self.end.last, text.suffix(Self.end.count).elementsEqual(Self.end) {
      if !isTooLong { passed += text }
      isTooLong = false
      return
    }
    if text.count >= Self.limit {
      // Pass on the text so far. Of the rest only the end matters.
      if !isTooLong { passed += text + Self.end }
      isTooLong = true
      text = Array(text.suffix(Self.end.count))
    }
    pasted = text
  }
}

/// Finds pasted text among the keys of a terminal that marks it. Readline must get a paste as a whole, because it waits for the end mark.
struct PastedText {
  private static let begin = Array("\u{1B}[200~".utf8)
  private static let end = Array("\u{1B}[201~".utf8)
  /// The maximum number of bytes of a paste. The filter drops the rest.
  static let limit = 1 << 18

  /// The received bytes that may begin a mark.
  private var held: [UInt8] = []
  /// The number of bytes of `held` that readline already has. An escape without a following byte is a key.
  private var given = 0
  /// The text after the begin mark, including that mark, until the end mark arrives.
  private var pasted: [UInt8]?
  private var isTooLong = false

  /// Filters received bytes.
  /// - Returns: The bytes to pass to readline now.
  mutating func pass(_ keys: some Sequence<UInt8>) -> [UInt8] {
    var passed: [UInt8] = []
    for key in keys {
      if pasted == nil { outside(key, &passed) } else { inside(key, &passed) }
    }
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

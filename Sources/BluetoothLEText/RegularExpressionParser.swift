// SPDX-License-Identifier: Apache-2.0
/// A parser for regular expressions: `.` `[a-f^]` `\d \w \s \b` and their opposites, `\n \r \t \xHH`, `^ $`, `( )` `(?: )`, `|`,
/// `* + ? {2} {2,} {2,5}`. A `?` after a repetition (shortest match) has no effect.
struct RegularExpressionParser {
  private typealias Failure = RegularExpression.Failure
  private typealias Step = RegularExpression.Step
  private typealias Scalars = RegularExpression.Scalars

  private let scalars: [UnicodeScalar]
  private let ignoresCase: Bool
  private var position = 0

  init(_ pattern: String, _ ignoresCase: Bool) {
    scalars = Array(pattern.unicodeScalars)
    self.ignoresCase = ignoresCase
  }

  mutating func parsed() throws(RegularExpression.Failure) -> [RegularExpression.Step] {
    guard scalars.count <= RegularExpression.limit else { throw failure("more than \(RegularExpression.limit) characters") }
    let steps = try alternatives(depth: 1)
    guard position == scalars.count else { throw failure("unmatched )") }
    return steps + [.matches]
  }

  private func failure(_ reason: String) -> Failure { Failure(offset: position, reason: reason) }

  private var current: UnicodeScalar? { position < scalars.count ? scalars[position] : nil }

  private mutating func take(_ scalar: UnicodeScalar) -> Bool {
    guard current == scalar else { return false }
    position += 1
    return true
  }

  /// Returns steps with jump targets shifted by `distance` steps, for appending the steps to another list.
  private static func moved(_ steps: [Step], by distance: Int) -> [Step] {
    steps.map { step in
      switch step {
      case .fork(let one, let other): .fork(one + distance, other + distance)
      case .jump(let to): .jump(to + distance)
      case .scalar, .begins, .ends, .edge, .matches: step
      }
    }
  }

  private func checked(_ steps: [Step]) throws(Failure) -> [Step] {
    guard steps.count < RegularExpression.limit else { throw failure("too long after expanding its repetitions") }
    return steps
  }

  private mutating func alternatives(depth: Int) throws(Failure) -> [Step] {
    guard depth <= RegularExpression.maximumDepth else {
      throw failure("more than \(RegularExpression.maximumDepth) nested groups")
    }
    var branches = [try sequence(depth)]
    while take("|") {
      branches.append(try sequence(depth))
      guard branches.count < RegularExpression.limit else { throw failure("too many alternatives") }
    }
    // From last to first: each is either taken or skipped.
    var steps = branches.removeLast()
    for branch in branches.reversed() {
      let rest = branch.count + 2
      steps = try checked([.fork(1, rest)] + Self.moved(branch, by: 1) + [.jump(rest + steps.count)] + Self.moved(steps, by: rest))
    }
    return steps
  }

  private mutating func sequence(_ depth: Int) throws(Failure) -> [Step] {
    var steps: [Step] = []
    while let scalar = current, scalar != "|", scalar != ")" {
      let piece = try repeated(try atom(scalar, depth))
      steps = try checked(steps + Self.moved(piece, by: steps.count))
    }
    return steps
  }

  // MARK: Repetitions

  private mutating func repeated(_ atom: [Step]) throws(Failure) -> [Step] {
    let bounds: (least: Int, most: Int?)
    if take("*") {
      bounds = (0, nil)
    } else if take("+") {
      bounds = (1, nil)
    } else if take("?") {
      bounds = (0, 1)
    } else if let counted = try count() {
      bounds = counted
    } else {
      return atom
    }
    _ = take("?")
    if let current, "*+?{".unicodeScalars.contains(current) { throw failure("two repetitions in a row. Group the first with ( ).") }
    let copies = max(bounds.least, bounds.most ?? 0)
    guard copies * atom.count < RegularExpression.limit else { throw failure("too long after expanding its repetitions") }
    var steps: [Step] = []
    for _ in 0..<bounds.least { steps += Self.moved(atom, by: steps.count) }
    guard let most = bounds.most else {
      let start = steps.count
      return steps + [.fork(start + 1, start + atom.count + 2)] + Self.moved(atom, by: start + 1) + [.jump(start)]
    }
    let end = steps.count + (most - bounds.least) * (atom.count + 1)
    for _ in bounds.least..<most { steps += [.fork(steps.count + 1, end)] + Self.moved(atom, by: steps.count + 1) }
    return steps
  }

  /// Parses the bounds `{2}`, `{2,}` or `{2,5}` of a repetition, the second nil for no limit. Returns nil without an opening brace.
  private mutating func count() throws(Failure) -> (Int, Int?)? {
    guard take("{") else { return nil }
    guard let least = number() else { throw failure("no number after {. Write {2,5} for a repetition, or \\{ for the character.") }
    var most: Int? = least
    if take(",") { most = number() }
    guard take("}") else { throw failure("no } after the repetition") }
    guard most ?? least >= least else { throw failure("the first number must be the smaller one") }
    return (least, most)
  }

  private mutating func number() -> Int? {
    var value: Int?
    while let digit = current.flatMap({ Int(String($0)) }), value ?? 0 < 10_000 {
      value = (value ?? 0) * 10 + digit
      position += 1
    }
    return value
  }

  // MARK: Atoms

  private mutating func atom(_ scalar: UnicodeScalar, _ depth: Int) throws(Failure) -> [Step] {
    switch scalar {
    case "(": return try group(depth)
    case "[": return [.scalar(try set())]
    case "{": throw failure("nothing to repeat before {. Write \\{ for the character.")
    case "*", "+", "?": throw failure("nothing to repeat before \(scalar). Write \\\(scalar) for the character.")
    default: break
    }
    position += 1
    switch scalar {
    case "^": return [.begins]
    case "$": return [.ends]
    case ".": return [.scalar(Scalars(ranges: [0x0A...0x0A], isInverted: true))]
    case "\\":
      if take("b") { return [.edge(true)] }
      if take("B") { return [.edge(false)] }
      return [.scalar(spread(try escape()))]
    default: return [.scalar(spread(one(scalar.value)))]
    }
  }

  private mutating func group(_ depth: Int) throws(Failure) -> [Step] {
    position += 1
    if take("?"), !take(":") { throw failure("unsupported group after (?. Only (?: ) is possible.") }
    let steps = try alternatives(depth: depth + 1)
    guard take(")") else { throw failure("unclosed (") }
    return steps
  }

  private func one(_ value: UInt32) -> Scalars { Scalars(ranges: [value...value]) }

  /// Returns a set that also has the other case of its ASCII letters, if the expression ignores case.
  private func spread(_ set: Scalars) -> Scalars {
    guard ignoresCase else { return set }
    var result = set
    for range in set.ranges {
      for (letters, distance) in [(UInt32(0x41)...0x5A, 32), (0x61...0x7A, -32)] where range.overlaps(letters) {
        let part = range.clamped(to: letters)
        result.ranges.append(UInt32(Int(part.lowerBound) + distance)...UInt32(Int(part.upperBound) + distance))
      }
    }
    return result
  }

  /// Parses an escape after its backslash.
  private mutating func escape() throws(Failure) -> Scalars {
    guard let scalar = current else { throw failure("backslash at the end") }
    position += 1
    func opposite(_ set: Scalars) -> Scalars { Scalars(ranges: set.ranges, isInverted: true) }
    switch scalar {
    case "d": return RegularExpression.digit
    case "D": return opposite(RegularExpression.digit)
    case "w": return RegularExpression.word
    case "W": return opposite(RegularExpression.word)
    case "s": return RegularExpression.space
    case "S": return opposite(RegularExpression.space)
    case "n": return one(0x0A)
    case "r": return one(0x0D)
    case "t": return one(0x09)
    case "0": return one(0)
    case "x":
      guard position + 2 <= scalars.count, let code = Hex.number(String(String.UnicodeScalarView(scalars[position..<position + 2]))) else {
        throw failure("\\x needs two hex digits")
      }
      position += 2
      return one(UInt32(truncatingIfNeeded: code))
    case "1"..."9":
      position -= 1
      throw failure("references to groups are not supported")
    case let scalar where scalar.isASCII && scalar.properties.isAlphabetic:
      position -= 1
      throw failure("unknown escape \\\(scalar)")
    default: return one(scalar.value)
    }
  }

  /// Parses a set in brackets, such as `[a-f]`.
  private mutating func set() throws(Failure) -> Scalars {
    let start = position
    position += 1
    var set = Scalars(isInverted: take("^"))
    var isFirst = true
    while let scalar = current, scalar != "]" || isFirst {
      isFirst = false
      position += 1
      let low = scalar == "\\" ? try escape() : Scalars(ranges: [scalar.value...scalar.value])
      guard current == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
        if low.isInverted { throw failure("\\D, \\W and \\S are not allowed in [ ]") }
        set.ranges += low.ranges
        continue
      }
      position += 1
      let last = scalars[position]
      position += 1
      let high = last == "\\" ? try escape() : Scalars(ranges: [last.value...last.value])
      guard let from = low.only, let to = high.only, from <= to else {
        throw failure("a range must start with the smaller character")
      }
      set.ranges.append(from...to)
    }
    guard take("]") else {
      position = start
      throw failure("unclosed [")
    }
    return spread(set)
  }
}

import Bluetooth

/// A decompressor for the DEFLATE format (RFC 1951). It works in steps, so that a caller can stop it at any length.
struct Inflate: Sendable {
  /// The decompressed bytes so far.
  private(set) var output: [UInt8] = []
  /// The index of the first input byte that the decompressor has not used.
  var end: Int { position - bitCount / 8 }

  private let input: ArraySlice<UInt8>
  private let limit: Int
  private var position: Int
  /// The bits that follow in the stream, least significant first.
  private var bits: UInt64 = 0
  private var bitCount = 0
  private var block = Block.none
  private var isLast = false
  private var (literals, distances) = (Codes(), Codes())

  private enum Block { case none, stored(Int), compressed }

  /// Creates a decompressor.
  /// - Parameter limit: The maximum number of decompressed bytes.
  init(_ input: ArraySlice<UInt8>, limit: Int) { (self.input, self.limit, position) = (input, limit, input.startIndex) }

  /// Decompresses until the output has `target` bytes or a few more. Returns false at the end of the stream.
  mutating func run(to target: Int) throws(MalformedPacket) -> Bool {
    while output.count < target {
      guard output.count <= limit else { throw problem("it expands to more than \(limit >> 20) MiB") }
      switch block {
      case .none:
        if isLast { return false }
        try takeHeader()
      case .stored(0): block = .none
      case .stored(let left):
        output.append(UInt8(truncatingIfNeeded: try take(8)))
        block = .stored(left - 1)
      case .compressed: try takeSymbol()
      }
    }
    return true
  }

  private func problem(_ text: String) -> MalformedPacket { MalformedPacket("compressed data: \(text)", at: end - input.startIndex) }

  // MARK: Bits

  private mutating func refill() {
    while bitCount <= 48, position < input.endIndex {
      bits |= UInt64(input[position]) << UInt64(bitCount)
      (position, bitCount) = (position + 1, bitCount + 8)
    }
  }

  private mutating func take(_ count: Int) throws(MalformedPacket) -> Int {
    if bitCount < count { refill() }
    guard bitCount >= count else { throw problem("they end early") }
    defer { (bits, bitCount) = (bits >> UInt64(count), bitCount - count) }
    return Int(bits & (1 << UInt64(count) - 1))
  }

  private mutating func takeCode(_ codes: borrowing Codes) throws(MalformedPacket) -> Int {
    if bitCount < 15 { refill() }
    let entry = codes.entries[Int(truncatingIfNeeded: bits) & (codes.entries.count - 1)]
    let length = Int(entry & 15)
    guard length > 0 else { throw problem("invalid code") }
    _ = try take(length)
    return Int(entry >> 4)
  }

  // MARK: Blocks

  private mutating func takeHeader() throws(MalformedPacket) {
    isLast = try take(1) == 1
    switch try take(2) {
    case 0:
      _ = try take(bitCount % 8)
      let length = try take(16)
      guard try take(16) == length ^ 0xFFFF else { throw problem("invalid length of a stored block") }
      block = .stored(length)
    case 1:
      let lengths = [(144, 8), (112, 9), (24, 7), (8, 8)].flatMap { [UInt8](repeating: $1, count: $0) }
      (literals, distances) = (try codes(lengths[...]), try codes([UInt8](repeating: 5, count: 30)[...]))
      block = .compressed
    case 2:
      try takeCodes()
      block = .compressed
    default: throw problem("invalid block")
    }
  }

  /// Reads the lengths of a block's codes, which are compressed themselves (RFC 1951 §3.2.7).
  private mutating func takeCodes() throws(MalformedPacket) {
    let (literals, distances, count) = (try take(5) + 257, try take(5) + 1, try take(4) + 4)
    var first = [UInt8](repeating: 0, count: 19)
    for place in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15].prefix(count) { first[place] = UInt8(try take(3)) }
    let meta = try codes(first[...])
    var lengths: [UInt8] = []
    while lengths.count < literals + distances {
      let symbol = try takeCode(meta)
      switch symbol {
      case 16:
        guard let last = lengths.last else { throw problem("no length to repeat") }
        lengths += [UInt8](repeating: last, count: try take(2) + 3)
      case 17: lengths += [UInt8](repeating: 0, count: try take(3) + 3)
      case 18: lengths += [UInt8](repeating: 0, count: try take(7) + 11)
      default: lengths.append(UInt8(symbol))
      }
    }
    guard lengths.count == literals + distances else { throw problem("too many lengths") }
    (self.literals, self.distances) = (try codes(lengths[..<literals]), try codes(lengths[literals...]))
  }

  private func codes(_ lengths: ArraySlice<UInt8>) throws(MalformedPacket) -> Codes {
    guard let codes = Codes(lengths) else { throw problem("invalid lengths of codes") }
    return codes
  }

  private static let lengths = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]

  private mutating func takeSymbol() throws(MalformedPacket) {
    let symbol = try takeCode(literals)
    if symbol < 256 { return output.append(UInt8(symbol)) }
    guard symbol > 256 else { return block = .none }
    // 256 is the end of the block. Each group of four lengths has one more extra bit than the one before, and so do pairs of distances.
    guard symbol < 286 else { throw problem("invalid length") }
    let extra = symbol < 265 || symbol == 285 ? 0 : (symbol - 261) / 4
    let length = Self.lengths[symbol - 257] + (try take(extra))
    let code = try takeCode(distances)
    guard code < 30 else { throw problem("invalid distance") }
    let distance = code < 4 ? code + 1 : (2 + code % 2) << (code / 2 - 1) + 1 + (try take(code / 2 - 1))
    guard distance <= output.count else { throw problem("distance \(distance) is before the start") }
    for _ in 0..<length { output.append(output[output.count - distance]) }
  }

  /// The Huffman codes of a block.
  private struct Codes: Sendable {
    /// A table with an entry for each value of the next bits: the symbol, then four bits for the length of its code. 0 if the bits are no code.
    var entries: [UInt16] = [0]

    init() {}

    /// Creates the canonical codes for the lengths of all symbols (RFC 1951 §3.2.2). Returns nil for more codes than the lengths allow.
    init?(_ lengths: ArraySlice<UInt8>) {
      let longest = Int(lengths.max() ?? 0)
      entries = [UInt16](repeating: 0, count: 1 << longest)
      var code = 0
      for length in 0...longest where length > 0 {
        code <<= 1
        for (symbol, its) in lengths.enumerated() where its == length {
          guard code < 1 << length else { return nil }
          // The stream has the bits of a code in reverse order.
          let start = (0..<length).reduce(0) { $0 << 1 | code >> $1 & 1 }
          for index in stride(from: start, to: entries.count, by: 1 << length) { entries[index] = UInt16(symbol << 4 | length) }
          code += 1
        }
      }
    }
  }
}

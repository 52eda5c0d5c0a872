import TestSupport

/// Makes hostile inputs of good ones: the same from the same seed.
struct Mutator {
  private var random: SplitMix64
  private let seeds: [[UInt8]]
  private let words: [[UInt8]]
  /// Octets that an input may have.
  private let limit: Int

  /// - Parameters:
  ///   - seeds: at least one.
  ///   - words: what the language has words for.
  init(seeds: [[UInt8]], words: [String], seed: UInt64, limit: Int = 4096) {
    self.seeds = seeds
    self.words = words.map { Array($0.utf8) }
    self.limit = limit
    random = SplitMix64(seed: seed)
  }

  mutating func next() -> [UInt8] {
    var bytes = pick(seeds)
    if bytes.count > limit {
      let start = below(bytes.count - limit)
      bytes = Array(bytes[start..<start + limit])
    }
    for _ in 0...below(6) { mutate(&bytes) }
    return bytes
  }

  private mutating func below(_ count: Int) -> Int { count <= 0 ? 0 : Int(random.next() % UInt64(count)) }

  private mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }

  private mutating func mutate(_ bytes: inout [UInt8]) {
    let place = below(bytes.count + 1)
    switch below(9) {
    case 0 where place < bytes.count: bytes[place] = UInt8(truncatingIfNeeded: random.next())
    case 1 where place < bytes.count: bytes[place] ^= 1 << UInt8(below(8))
    case 2 where place < bytes.count: bytes.removeSubrange(place..<min(bytes.count, place + 1 + below(16)))
    case 3: bytes.removeSubrange(place...)
    case 4 where place < bytes.count:
      let part = bytes[place..<min(bytes.count, place + 1 + below(64))]
      bytes.insert(contentsOf: part, at: below(bytes.count + 1))
    case 5:
      let other = pick(seeds)
      let start = below(other.count + 1)
      bytes.insert(contentsOf: other[start..<min(other.count, start + below(200))], at: place)
    case 6: bytes.insert(contentsOf: Array("\(Int64(bitPattern: random.next()))".utf8), at: place)
    case 7: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
    default: if !words.isEmpty { bytes.insert(contentsOf: pick(words), at: place) }
    }
    if bytes.count > 2 * limit { bytes.removeSubrange(limit...) }
  }
}

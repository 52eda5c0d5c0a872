/// Calls `decode` on every strict prefix of every seed, and on `count` seeded mutations (flips, insertions, cuts, splices).
/// Every call must return or throw: a trap ends the test process.
package func hostile(_ seeds: [[UInt8]], mutations count: Int = 100_000, seed: UInt64 = 1, decode: ([UInt8]) -> Void) {
  for bytes in seeds { for length in 0..<bytes.count { decode(Array(bytes.prefix(length))) } }
  guard !seeds.isEmpty else { return }
  var random = SplitMix64(seed: seed)
  for _ in 0..<count {
    var bytes = seeds[Int(random.next() % UInt64(seeds.count))]
    for _ in 0...(random.next() % 4) {
      let position = bytes.isEmpty ? 0 : Int(random.next() % UInt64(bytes.count))
      let value = UInt8(truncatingIfNeeded: random.next())
      switch random.next() % 5 {
      case 0 where !bytes.isEmpty: bytes[position] = value
      case 1 where !bytes.isEmpty: bytes[position] ^= 1 << (value & 7)
      case 2: bytes.insert(value, at: position)
      case 3 where !bytes.isEmpty: bytes.removeSubrange(position..<min(bytes.count, position + Int(value % 4) + 1))
      default: bytes += seeds[Int(random.next() % UInt64(seeds.count))].prefix(Int(value % 16))
      }
    }
    decode(bytes)
  }
}

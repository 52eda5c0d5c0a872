/// The air's chance: seeded, so that the same air gives the same reports, delays and losses on every run (SplitMix64).
struct AirRandom: RandomNumberGenerator {
  private var state: UInt64

  /// Different streams of one seed have nothing to do with each other: what one device draws does not move another's.
  init(seed: UInt64, stream: UInt64) { state = seed &* 0xD134_2543_DE82_EF95 ^ stream &* 0x2545_F491_4F6C_DD1D }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// 0 ≤ x < 1.
  mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}

// SPDX-License-Identifier: Apache-2.0
/// A SplitMix64 random number generator. The same seed and stream give the same numbers on every run.
package struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  /// Creates one of the independent random number streams of a seed. Drawing from one stream does not change the others.
  package init(seed: UInt64, stream: UInt64) { state = seed &* 0xD134_2543_DE82_EF95 ^ stream &* 0x2545_F491_4F6C_DD1D }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Draws a number from 0 to below 1.
  package mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}

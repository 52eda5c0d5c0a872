// SPDX-License-Identifier: Apache-2.0
#if compiler(>=6.3)
  /// A span of initialized bytes at the start of reserved memory. Appending beyond the reserved capacity traps.
  typealias ByteOutput = OutputSpan<UInt8>
#else
  /// The array to which encoders append bytes. Swift 6.2 cannot append to an array through an `OutputSpan`.
  typealias ByteOutput = [UInt8]

  // These replace functions of Swift 6.3's library. Here the closures cannot throw, and only the initializer reserves memory.
  extension [UInt8] {
    init(capacity: Int, initializingWith fill: (inout ByteOutput) -> Void) {
      self = []
      reserveCapacity(capacity)
      fill(&self)
    }

    @inline(__always)
    mutating func append(addingCapacity capacity: Int, initializingWith fill: (inout ByteOutput) -> Void) { fill(&self) }
  }
#endif

// SPDX-License-Identifier: Apache-2.0
/// The order in which a packet carries the bytes of a number.
package enum ByteOrder: String, Hashable, Sendable, CaseIterable {
  case little
  case big

  /// Returns the unsigned number in at most eight bytes.
  package func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    self == .big ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

// SPDX-License-Identifier: Apache-2.0
/// The set of commands that a controller supports, as the 64-byte bit field of Read Local Supported Commands (Vol 4 Part E §6.27).
package struct SupportedCommands: Sendable, Equatable {
  package private(set) var bytes: [UInt8]

  /// Creates a set from a bit field.
  /// - Parameter bytes: The bit field. Missing bytes count as zeros, and bytes after the 64th have no effect.
  package init(bytes: some Sequence<UInt8> = EmptyCollection()) {
    self.bytes = Array(bytes.prefix(64))
    self.bytes += [UInt8](repeating: 0, count: 64 - self.bytes.count)
  }

  /// Creates a set of commands.
  /// - Parameter opcodes: The opcodes that commands declare. An opcode without a bit has no effect.
  package init(_ opcodes: some Sequence<Opcode>) {
    self.init()
    for opcode in opcodes { if let (byte, bit) = opcode.supportedBit { bytes[byte] |= 1 << UInt8(bit) } }
  }

  /// Returns whether the controller supports a command. False for a command without a bit.
  package func contains<C: Command>(_: C.Type) -> Bool {
    guard let (byte, bit) = C.opcode.supportedBit else { return false }
    return bytes[byte] & 1 << UInt8(bit) != 0
  }

  /// Whether scans use the extended commands. The controller must support these commands. The kernel has the same rule.
  package var scansExtended: Bool { contains(LESetExtendedScanParameters.self) && contains(LESetExtendedScanEnable.self) }

  /// Whether advertising uses the extended commands, with the same rule as `scansExtended`.
  package var advertisesExtended: Bool {
    contains(LESetExtendedAdvertisingParameters.self) && contains(LESetExtendedAdvertisingData.self)
      && contains(LESetExtendedAdvertisingEnable.self)
  }
}

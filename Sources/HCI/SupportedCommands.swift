/// The bit field of Read Local Supported Commands (Vol 4 Part E §6.27), 64 bytes.
package struct SupportedCommands: Sendable, Equatable {
  package private(set) var octets: [UInt8]

  /// Creates a set.
  /// - Parameter octets: the bit field, cut or filled with zeros to 64 bytes.
  package init(octets: some Sequence<UInt8> = EmptyCollection()) {
    self.octets = Array(octets.prefix(64))
    self.octets += [UInt8](repeating: 0, count: 64 - self.octets.count)
  }

  /// Creates a set of commands.
  /// - Parameter opcodes: the opcodes as declared by commands.
  package init(_ opcodes: some Sequence<Opcode>) {
    self.init()
    for opcode in opcodes {
      if let (octet, bit) = opcode.supportedBit { octets[octet] |= 1 << UInt8(bit) }
    }
  }

  /// Returns whether the controller supports a command. False for a command without a bit.
  package func contains<C: Command>(_: C.Type) -> Bool {
    guard let (octet, bit) = C.opcode.supportedBit else { return false }
    return octets[octet] & 1 << UInt8(bit) != 0
  }

  /// Whether a scan uses the extended commands. The kernel has the same rule.
  package var scansExtended: Bool { contains(LESetExtendedScanParameters.self) && contains(LESetExtendedScanEnable.self) }
}

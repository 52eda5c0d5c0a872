/// The bit field of Read Local Supported Commands (Vol 4 Part E §6.27), 64 octets.
package struct SupportedCommands: Sendable, Equatable {
  package private(set) var octets: [UInt8]

  /// - Parameter octets: cut or filled with zeros to 64.
  package init(octets: some Sequence<UInt8> = EmptyCollection()) {
    self.octets = Array(octets.prefix(64))
    self.octets += [UInt8](repeating: 0, count: 64 - self.octets.count)
  }

  /// - Parameter opcodes: as commands declare them.
  package init(_ opcodes: some Sequence<Opcode>) {
    self.init()
    for opcode in opcodes {
      if let (octet, bit) = opcode.supportedBit { octets[octet] |= 1 << UInt8(bit) }
    }
  }

  /// False for a command without a bit.
  package func contains<C: Command>(_: C.Type) -> Bool {
    guard let (octet, bit) = C.opcode.supportedBit else { return false }
    return octets[octet] & 1 << UInt8(bit) != 0
  }

  /// Whether scanning takes the extended commands: the kernel's own rule.
  package var scansExtended: Bool { contains(LESetExtendedScanParameters.self) && contains(LESetExtendedScanEnable.self) }
}

import Bluetooth
import Text

/// HCI command opcode: OGF in the upper 6 bits, OCF in the lower 10 (Vol 4 Part E §5.4.1).
package struct Opcode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// "No command": controllers use it to give command credits.
  package static let none = Self(rawValue: 0x0000)
  package static let disconnect = Self(rawValue: 0x0406)
  package static let readRemoteVersion = Self(rawValue: 0x041D)
  package static let setEventMask = Self(rawValue: 0x0C01)
  package static let reset = Self(rawValue: 0x0C03)
  package static let readLocalVersion = Self(rawValue: 0x1001)
  package static let readLocalSupportedCommands = Self(rawValue: 0x1002)
  package static let readLocalSupportedFeatures = Self(rawValue: 0x1003)
  package static let readBufferSize = Self(rawValue: 0x1005)
  package static let readBDADDR = Self(rawValue: 0x1009)
  package static let readRSSI = Self(rawValue: 0x1405)
  package static let leSetEventMask = Self(rawValue: 0x2001)
  package static let leReadBufferSize = Self(rawValue: 0x2002)
  package static let leReadLocalSupportedFeatures = Self(rawValue: 0x2003)
  package static let leSetRandomAddress = Self(rawValue: 0x2005)
  package static let leSetScanParameters = Self(rawValue: 0x200B)
  package static let leSetScanEnable = Self(rawValue: 0x200C)
  package static let leCreateConnection = Self(rawValue: 0x200D)
  package static let leCreateConnectionCancel = Self(rawValue: 0x200E)
  package static let leConnectionUpdate = Self(rawValue: 0x2013)
  package static let leReadRemoteFeatures = Self(rawValue: 0x2016)
  package static let leRemoteConnectionParameterRequestReply = Self(rawValue: 0x2020)
  package static let leRemoteConnectionParameterRequestNegativeReply = Self(rawValue: 0x2021)
  package static let leSetDataLength = Self(rawValue: 0x2022)
  package static let leReadSuggestedDefaultDataLength = Self(rawValue: 0x2023)
  package static let leWriteSuggestedDefaultDataLength = Self(rawValue: 0x2024)
  package static let leReadMaximumDataLength = Self(rawValue: 0x202F)
  package static let leReadPHY = Self(rawValue: 0x2030)
  package static let leSetDefaultPHY = Self(rawValue: 0x2031)
  package static let leSetPHY = Self(rawValue: 0x2032)
  package static let leSetExtendedScanParameters = Self(rawValue: 0x2041)
  package static let leSetExtendedScanEnable = Self(rawValue: 0x2042)
  package static let leExtendedCreateConnection = Self(rawValue: 0x2043)
  package static let leReadBufferSizeV2 = Self(rawValue: 0x2060)

  /// The specification's name; "HCI command" for an opcode that is not in the table.
  package var name: String { Self.table[rawValue]?.name ?? "HCI command" }

  /// `LE Set Scan Enable (0x200c)`.
  package var description: String { "\(name) (0x\(Hex.encode([UInt8(rawValue >> 8), UInt8(truncatingIfNeeded: rawValue)])))" }

  /// Octet and bit in the Supported Commands configuration (Vol 4 Part E §6.27); nil when there is none or it is not in the table.
  var supportedBit: (octet: Int, bit: Int)? { Self.table[rawValue]?.bit }

  private static let table: [UInt16: (name: String, bit: (octet: Int, bit: Int)?)] = [
    0x0000: ("No command", nil),
    0x0406: ("Disconnect", (0, 5)),
    0x041D: ("Read Remote Version Information", (2, 7)),
    0x0C01: ("Set Event Mask", (5, 6)),
    0x0C03: ("Reset", (5, 7)),
    0x1001: ("Read Local Version Information", (14, 3)),
    0x1002: ("Read Local Supported Commands", nil),
    0x1003: ("Read Local Supported Features", (14, 5)),
    0x1005: ("Read Buffer Size", (14, 7)),
    0x1009: ("Read BD_ADDR", (15, 1)),
    0x1405: ("Read RSSI", (15, 5)),
    0x2001: ("LE Set Event Mask", (25, 0)),
    0x2002: ("LE Read Buffer Size", (25, 1)),
    0x2003: ("LE Read Local Supported Features", (25, 2)),
    0x2005: ("LE Set Random Address", (25, 4)),
    0x200B: ("LE Set Scan Parameters", (26, 2)),
    0x200C: ("LE Set Scan Enable", (26, 3)),
    0x200D: ("LE Create Connection", (26, 4)),
    0x200E: ("LE Create Connection Cancel", (26, 5)),
    0x2013: ("LE Connection Update", (27, 2)),
    0x2016: ("LE Read Remote Features", (27, 5)),
    0x2020: ("LE Remote Connection Parameter Request Reply", (33, 4)),
    0x2021: ("LE Remote Connection Parameter Request Negative Reply", (33, 5)),
    0x2022: ("LE Set Data Length", (33, 6)),
    0x2023: ("LE Read Suggested Default Data Length", (33, 7)),
    0x2024: ("LE Write Suggested Default Data Length", (34, 0)),
    0x202F: ("LE Read Maximum Data Length", (35, 3)),
    0x2030: ("LE Read PHY", (35, 4)),
    0x2031: ("LE Set Default PHY", (35, 5)),
    0x2032: ("LE Set PHY", (35, 6)),
    0x2041: ("LE Set Extended Scan Parameters", (37, 5)),
    0x2042: ("LE Set Extended Scan Enable", (37, 6)),
    0x2043: ("LE Extended Create Connection", (37, 7)),
    0x2060: ("LE Read Buffer Size [v2]", (41, 5)),
  ]
}

/// The bit field of Read Local Supported Commands (Vol 4 Part E §6.27), 64 octets.
package struct SupportedCommands: Sendable, Equatable {
  package private(set) var octets: [UInt8]

  /// - Parameter octets: cut or filled with zeros to 64.
  package init(octets: some Sequence<UInt8> = EmptyCollection()) {
    self.octets = Array(octets.prefix(64))
    self.octets += [UInt8](repeating: 0, count: 64 - self.octets.count)
  }

  package init(_ opcodes: some Sequence<Opcode>) {
    self.init()
    for opcode in opcodes {
      if let (octet, bit) = opcode.supportedBit { octets[octet] |= 1 << UInt8(bit) }
    }
  }

  /// False for opcodes without a bit.
  package func contains(_ opcode: Opcode) -> Bool {
    guard let (octet, bit) = opcode.supportedBit else { return false }
    return octets[octet] & 1 << UInt8(bit) != 0
  }

  /// Whether scanning takes the extended commands: the kernel's own rule.
  package var scansExtended: Bool { contains(.leSetExtendedScanParameters) && contains(.leSetExtendedScanEnable) }
}

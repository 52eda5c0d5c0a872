// SPDX-License-Identifier: Apache-2.0
extension CRC {
  /// The CRC algorithms of 8, 16 and 32 bits that devices use, with the catalogue's parameters and check values (reveng.sourceforge.io).
  package static let all = eight + sixteen + thirtyTwo

  private static let eight = [
    CRC("CRC-8/SMBUS", 8, polynomial: 0x07, check: 0xF4),
    CRC("CRC-8/I-432-1", 8, polynomial: 0x07, finalXOR: 0x55, check: 0xA1),
    CRC("CRC-8/ROHC", 8, polynomial: 0x07, initial: 0xFF, isReflected: true, check: 0xD0),
    CRC("CRC-8/MAXIM-DOW", 8, polynomial: 0x31, isReflected: true, check: 0xA1),
    CRC("CRC-8/NRSC-5", 8, polynomial: 0x31, initial: 0xFF, check: 0xF7),
    CRC("CRC-8/DARC", 8, polynomial: 0x39, isReflected: true, check: 0x15),
    CRC("CRC-8/SAE-J1850", 8, polynomial: 0x1D, initial: 0xFF, finalXOR: 0xFF, check: 0x4B),
    CRC("CRC-8/TECH-3250", 8, polynomial: 0x1D, initial: 0xFF, isReflected: true, check: 0x97),
    CRC("CRC-8/AUTOSAR", 8, polynomial: 0x2F, initial: 0xFF, finalXOR: 0xFF, check: 0xDF),
    CRC("CRC-8/CDMA2000", 8, polynomial: 0x9B, initial: 0xFF, check: 0xDA),
    CRC("CRC-8/LTE", 8, polynomial: 0x9B, check: 0xEA),
    CRC("CRC-8/WCDMA", 8, polynomial: 0x9B, isReflected: true, check: 0x25),
    CRC("CRC-8/DVB-S2", 8, polynomial: 0xD5, check: 0xBC),
    CRC("CRC-8/BLUETOOTH", 8, polynomial: 0xA7, isReflected: true, check: 0x26),
  ]

  private static let sixteen = [
    CRC("CRC-16/ARC", 16, polynomial: 0x8005, isReflected: true, check: 0xBB3D),
    CRC("CRC-16/MODBUS", 16, polynomial: 0x8005, initial: 0xFFFF, isReflected: true, check: 0x4B37),
    CRC("CRC-16/USB", 16, polynomial: 0x8005, initial: 0xFFFF, isReflected: true, finalXOR: 0xFFFF, check: 0xB4C8),
    CRC("CRC-16/MAXIM-DOW", 16, polynomial: 0x8005, isReflected: true, finalXOR: 0xFFFF, check: 0x44C2),
    CRC("CRC-16/UMTS", 16, polynomial: 0x8005, check: 0xFEE8),
    CRC("CRC-16/CMS", 16, polynomial: 0x8005, initial: 0xFFFF, check: 0xAEE7),
    CRC("CRC-16/XMODEM", 16, polynomial: 0x1021, check: 0x31C3),
    CRC("CRC-16/IBM-3740", 16, polynomial: 0x1021, initial: 0xFFFF, check: 0x29B1),
    CRC("CRC-16/SPI-FUJITSU", 16, polynomial: 0x1021, initial: 0x1D0F, check: 0xE5CC),
    CRC("CRC-16/GENIBUS", 16, polynomial: 0x1021, initial: 0xFFFF, finalXOR: 0xFFFF, check: 0xD64E),
    CRC("CRC-16/GSM", 16, polynomial: 0x1021, finalXOR: 0xFFFF, check: 0xCE3C),
    CRC("CRC-16/KERMIT", 16, polynomial: 0x1021, isReflected: true, check: 0x2189),
    CRC("CRC-16/IBM-SDLC", 16, polynomial: 0x1021, initial: 0xFFFF, isReflected: true, finalXOR: 0xFFFF, check: 0x906E),
    CRC("CRC-16/MCRF4XX", 16, polynomial: 0x1021, initial: 0xFFFF, isReflected: true, check: 0x6F91),
    CRC("CRC-16/DNP", 16, polynomial: 0x3D65, isReflected: true, finalXOR: 0xFFFF, check: 0xEA82),
    CRC("CRC-16/T10-DIF", 16, polynomial: 0x8BB7, check: 0xD0DB),
  ]

  private static let thirtyTwo = [
    CRC("CRC-32/ISO-HDLC", 32, polynomial: 0x04C1_1DB7, initial: .max, isReflected: true, finalXOR: .max, check: 0xCBF4_3926),
    CRC("CRC-32/BZIP2", 32, polynomial: 0x04C1_1DB7, initial: .max, finalXOR: .max, check: 0xFC89_1918),
    CRC("CRC-32/MPEG-2", 32, polynomial: 0x04C1_1DB7, initial: .max, check: 0x0376_E6E7),
    CRC("CRC-32/CKSUM", 32, polynomial: 0x04C1_1DB7, finalXOR: .max, check: 0x765E_7680),
    CRC("CRC-32/JAMCRC", 32, polynomial: 0x04C1_1DB7, initial: .max, isReflected: true, check: 0x340B_C6D9),
    CRC("CRC-32/ISCSI", 32, polynomial: 0x1EDC_6F41, initial: .max, isReflected: true, finalXOR: .max, check: 0xE306_9283),
  ]

  /// The alternative names of algorithms, in upper case, each with the catalogue's name.
  package static let aliases: [(alias: String, name: String)] = [
    ("CRC-8", "CRC-8/SMBUS"), ("CRC-8/ITU", "CRC-8/I-432-1"), ("CRC-8/MAXIM", "CRC-8/MAXIM-DOW"),
    ("CRC-8/EBU", "CRC-8/TECH-3250"),
    ("CRC-16", "CRC-16/ARC"), ("CRC-16/IBM", "CRC-16/ARC"), ("CRC-16/LHA", "CRC-16/ARC"), ("CRC-16/MAXIM", "CRC-16/MAXIM-DOW"),
    ("CRC-16/BUYPASS", "CRC-16/UMTS"), ("CRC-16/CCITT-FALSE", "CRC-16/IBM-3740"), ("CRC-16/AUTOSAR", "CRC-16/IBM-3740"),
    ("CRC-16/AUG-CCITT", "CRC-16/SPI-FUJITSU"), ("CRC-16/CCITT", "CRC-16/KERMIT"), ("CRC-16/CCITT-TRUE", "CRC-16/KERMIT"),
    ("CRC-16/X-25", "CRC-16/IBM-SDLC"), ("CRC-16/ACORN", "CRC-16/XMODEM"),
    ("CRC-32", "CRC-32/ISO-HDLC"), ("CRC-32C", "CRC-32/ISCSI"), ("CRC-32/CASTAGNOLI", "CRC-32/ISCSI"),
  ]
}

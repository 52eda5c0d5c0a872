package import Bluetooth

// Vol 4 Part E §7.8: scanning, with the legacy and with the extended commands.

/// How one PHY is scanned (§7.8.10 and §7.8.64).
package struct ScanTiming: Sendable, Equatable {
  package var isActive: Bool
  /// 0.625 ms units, 4…0x4000 (legacy) or 0xFFFF (extended).
  package var interval: UInt16
  /// 0.625 ms units, at most `interval`.
  package var window: UInt16

  package init(isActive: Bool, interval: UInt16, window: UInt16) {
    self.isActive = isActive
    self.interval = interval
    self.window = window
  }

  init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    isActive = try reader.uint8("scan type") != 0
    interval = try reader.uint16("scan interval")
    window = try reader.uint16("scan window")
  }

  func encode(into writer: inout ByteWriter) {
    writer.uint8(isActive ? 1 : 0)
    writer.uint16(interval)
    writer.uint16(window)
  }
}

/// §7.8.10.
package struct LESetScanParameters: Command {
  package static let opcode = Opcode(0x200B, "LE Set Scan Parameters", bit: (26, 2))
  package typealias Return = NoReturnParameters

  package var timing: ScanTiming
  package var ownAddressType: UInt8
  /// Bit 0: the filter accept list only.
  package var filterPolicy: UInt8

  package init(_ timing: ScanTiming, ownAddressType: UInt8, filterPolicy: UInt8) {
    self.timing = timing
    self.ownAddressType = ownAddressType
    self.filterPolicy = filterPolicy
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    timing = try ScanTiming(parsing: &reader)
    ownAddressType = try reader.uint8("own address type")
    filterPolicy = try reader.uint8("filter policy")
  }

  package func encode(into writer: inout ByteWriter) {
    timing.encode(into: &writer)
    writer.uint8(ownAddressType)
    writer.uint8(filterPolicy)
  }
}

/// §7.8.11.
package struct LESetScanEnable: Command {
  package static let opcode = Opcode(0x200C, "LE Set Scan Enable", bit: (26, 3))
  package typealias Return = NoReturnParameters

  package var isOn: Bool
  package var filterDuplicates: Bool

  package init(_ isOn: Bool, filterDuplicates: Bool) {
    self.isOn = isOn
    self.filterDuplicates = filterDuplicates
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    isOn = try reader.uint8("enable") != 0
    filterDuplicates = try reader.uint8("filter duplicates") != 0
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(isOn ? 1 : 0)
    writer.uint8(filterDuplicates ? 1 : 0)
  }
}

/// §7.8.64.
package struct LESetExtendedScanParameters: Command {
  package static let opcode = Opcode(0x2041, "LE Set Extended Scan Parameters", bit: (37, 5))
  package typealias Return = NoReturnParameters

  package var ownAddressType: UInt8
  /// Bit 0: the filter accept list only.
  package var filterPolicy: UInt8
  package var phys: PHYMask
  /// One for each bit of `phys`, in the order of the bits.
  package var timings: [ScanTiming]

  package init(ownAddressType: UInt8, filterPolicy: UInt8, phys: PHYMask, _ timings: [ScanTiming]) {
    self.ownAddressType = ownAddressType
    self.filterPolicy = filterPolicy
    self.phys = phys
    self.timings = timings
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    ownAddressType = try reader.uint8("own address type")
    filterPolicy = try reader.uint8("filter policy")
    phys = PHYMask(rawValue: try reader.uint8("scanning PHYs"))
    timings = []
    for _ in 0..<phys.rawValue.nonzeroBitCount { timings.append(try ScanTiming(parsing: &reader)) }
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(ownAddressType)
    writer.uint8(filterPolicy)
    writer.uint8(phys.rawValue)
    for timing in timings { timing.encode(into: &writer) }
  }
}

/// §7.8.65.
package struct LESetExtendedScanEnable: Command {
  package static let opcode = Opcode(0x2042, "LE Set Extended Scan Enable", bit: (37, 6))
  package typealias Return = NoReturnParameters

  package var isOn: Bool
  /// 0 off, 1 on, 2 anew in each period.
  package var filterDuplicates: UInt8
  /// 10 ms units; 0 is for ever.
  package var duration: UInt16
  /// 1.28 s units; 0 is once.
  package var period: UInt16

  package init(_ isOn: Bool, filterDuplicates: UInt8, duration: UInt16, period: UInt16) {
    self.isOn = isOn
    self.filterDuplicates = filterDuplicates
    self.duration = duration
    self.period = period
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    isOn = try reader.uint8("enable") != 0
    filterDuplicates = try reader.uint8("filter duplicates")
    duration = try reader.uint16("duration")
    period = try reader.uint16("period")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(isOn ? 1 : 0)
    writer.uint8(filterDuplicates)
    writer.uint16(duration)
    writer.uint16(period)
  }
}

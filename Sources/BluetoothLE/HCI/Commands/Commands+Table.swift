// SPDX-License-Identifier: Apache-2.0
// Written by scripts/update hci from Commands.txt.

/// The scan parameters of one PHY (Vol 4 Part E §7.8.10 and §7.8.64).
package struct ScanTiming: Sendable, Equatable {
  /// Whether the controller sends scan requests.
  package var isActive: Bool
  /// The time between the starts of scan windows. 4–0x4000, with the extended commands 4–0xFFFF.
  package var interval: Slots
  /// The duration of a scan window, at most the interval.
  package var window: Slots

  package init(isActive: Bool, interval: Slots, window: Slots) {
    self.isActive = isActive
    self.interval = interval
    self.window = window
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    isActive = try reader.uint8("scan type") != 0
    interval = try reader.time("scan interval")
    window = try reader.time("scan window")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(isActive ? 1 : 0)
    writer.uint16(interval.rawValue)
    writer.uint16(window.rawValue)
  }
}

extension LEExtendedCreateConnection {
  /// The parameters for connecting on one PHY (Vol 4 Part E §7.8.66).
  package struct Initiating: Sendable, Equatable {
    /// The time from the start of one scan window to the next.
    package var scanInterval: Slots
    /// The duration of a scan window, at most the interval.
    package var scanWindow: Slots
    /// The requested connection parameters.
    package var parameters: ConnectionParameters

    package init(scanInterval: Slots, scanWindow: Slots, parameters: ConnectionParameters) {
      self.scanInterval = scanInterval
      self.scanWindow = scanWindow
      self.parameters = parameters
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      scanInterval = try reader.time("scan interval")
      scanWindow = try reader.time("scan window")
      parameters = try ConnectionParameters(parsing: &reader)
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint16(scanInterval.rawValue)
      writer.uint16(scanWindow.rawValue)
      parameters.encode(into: &writer)
    }
  }
}

extension LESetExtendedAdvertisingEnable {
  /// A set to enable or disable, with its limits (Vol 4 Part E §7.8.56).
  package struct Entry: Sendable, Equatable {
    /// The host's number for the advertising set, 0–0xEF.
    package var advertisingHandle: UInt8
    /// The time for which the set advertises. 0 means without limit.
    package var duration: Centiseconds
    /// The number of advertising events that the set sends. 0 means without limit.
    package var maxEvents: UInt8

    package init(advertisingHandle: UInt8, duration: Centiseconds = 0, maxEvents: UInt8 = 0) {
      self.advertisingHandle = advertisingHandle
      self.duration = duration
      self.maxEvents = maxEvents
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      advertisingHandle = try reader.uint8("advertising handle")
      duration = try reader.time("duration")
      maxEvents = try reader.uint8("max extended advertising events")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint8(advertisingHandle)
      writer.uint16(duration.rawValue)
      writer.uint8(maxEvents)
    }
  }
}

/// A report of the LE Advertising Report event (Vol 4 Part E §7.7.65.2).
package struct LegacyAdvertisingReport: Sendable, Equatable {
  /// The event type: 0 ADV_IND, 1 ADV_DIRECT_IND, 2 ADV_SCAN_IND, 3 ADV_NONCONN_IND, 4 SCAN_RSP.
  package var eventType: UInt8
  /// The address type.
  package var addressType: UInt8
  /// The address.
  package var address: Address
  /// The advertising data, at most 31 bytes according to the specification.
  package var data: [UInt8]
  /// The RSSI in dBm. 127 means not available.
  package var rssi: Int8

  package init(eventType: UInt8, addressType: UInt8, address: Address, data: [UInt8], rssi: Int8) {
    self.eventType = eventType
    self.addressType = addressType
    self.address = address
    self.data = data
    self.rssi = rssi
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    eventType = try reader.uint8("advertising report: event type")
    addressType = try reader.uint8("advertising report: address type")
    address = try reader.address("advertising report: address")
    data = try reader.bytes(Int(try reader.uint8("advertising report: data length")), "advertising report: data")
    rssi = try reader.int8("advertising report: RSSI")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(eventType)
    writer.uint8(addressType)
    writer.address(address)
    writer.counted(data)
    writer.int8(rssi)
  }
}

/// A report of the LE Extended Advertising Report event (Vol 4 Part E §7.7.65.13).
package struct ExtendedAdvertisingReport: Sendable, Equatable {
  /// The event type: bit 0 connectable, 1 scannable, 2 directed, 3 scan response, 4 legacy PDU, 5–6 data status. Other bits are reserved.
  package var eventType: UInt16
  /// The type of the sender's address. 0 and 2 are public, 1 and 3 are random, 0xFF is anonymous.
  package var addressType: UInt8
  /// The address.
  package var address: Address
  /// The primary PHY.
  package var primaryPHY: UInt8
  /// The secondary PHY. 1 is 1M, 2 is 2M, 3 is coded. 0 means no packets on the secondary channels.
  package var secondaryPHY: UInt8
  /// The Advertising Set ID. 0xFF means none.
  package var sid: UInt8
  /// The transmit power in dBm. 127 means not available.
  package var txPower: Int8
  /// The RSSI in dBm. 127 means not available.
  package var rssi: Int8
  /// The periodic advertising interval in units of 1.25 ms. 0 means none.
  package var periodicInterval: UInt16
  /// The direct address type.
  package var directAddressType: UInt8
  /// The direct address.
  package var directAddress: Address
  /// The advertising data of this report, at most 229 bytes.
  package var data: [UInt8]

  package init(
    eventType: UInt16, addressType: UInt8, address: Address, primaryPHY: UInt8, secondaryPHY: UInt8, sid: UInt8, txPower: Int8, rssi: Int8,
    periodicInterval: UInt16, directAddressType: UInt8, directAddress: Address, data: [UInt8]
  ) {
    self.eventType = eventType
    self.addressType = addressType
    self.address = address
    self.primaryPHY = primaryPHY
    self.secondaryPHY = secondaryPHY
    self.sid = sid
    self.txPower = txPower
    self.rssi = rssi
    self.periodicInterval = periodicInterval
    self.directAddressType = directAddressType
    self.directAddress = directAddress
    self.data = data
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    eventType = try reader.uint16("extended report: event type")
    addressType = try reader.uint8("extended report: address type")
    address = try reader.address("extended report: address")
    primaryPHY = try reader.uint8("extended report: primary PHY")
    secondaryPHY = try reader.uint8("extended report: secondary PHY")
    sid = try reader.uint8("extended report: SID")
    txPower = try reader.int8("extended report: TX power")
    rssi = try reader.int8("extended report: RSSI")
    periodicInterval = try reader.uint16("extended report: periodic interval")
    directAddressType = try reader.uint8("extended report: direct address type")
    directAddress = try reader.address("extended report: direct address")
    data = try reader.bytes(Int(try reader.uint8("extended report: data length")), "extended report: data")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint16(eventType)
    writer.uint8(addressType)
    writer.address(address)
    writer.uint8(primaryPHY)
    writer.uint8(secondaryPHY)
    writer.uint8(sid)
    writer.int8(txPower)
    writer.int8(rssi)
    writer.uint16(periodicInterval)
    writer.uint8(directAddressType)
    writer.address(directAddress)
    writer.counted(data)
  }
}

/// A report of the LE Directed Advertising Report event (Vol 4 Part E §7.7.65.11).
package struct DirectedAdvertisingReport: Sendable, Equatable {
  /// The event type, always 1.
  package var eventType: UInt8
  /// The address type.
  package var addressType: UInt8
  /// The address.
  package var address: Address
  /// The direct address type.
  package var directAddressType: UInt8
  /// The direct address.
  package var directAddress: Address
  /// The RSSI.
  package var rssi: Int8

  package init(eventType: UInt8, addressType: UInt8, address: Address, directAddressType: UInt8, directAddress: Address, rssi: Int8) {
    self.eventType = eventType
    self.addressType = addressType
    self.address = address
    self.directAddressType = directAddressType
    self.directAddress = directAddress
    self.rssi = rssi
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    eventType = try reader.uint8("directed report: event type")
    addressType = try reader.uint8("directed report: address type")
    address = try reader.address("directed report: address")
    directAddressType = try reader.uint8("directed report: direct address type")
    directAddress = try reader.address("directed report: direct address")
    rssi = try reader.int8("directed report: RSSI")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(eventType)
    writer.uint8(addressType)
    writer.address(address)
    writer.uint8(directAddressType)
    writer.address(directAddress)
    writer.int8(rssi)
  }
}

/// The command Inquiry Cancel (Vol 4 Part E §7.1.2).
package struct InquiryCancel: Command {
  package static let opcode = Opcode(0x0402, "Inquiry Cancel", bit: (0, 1))
  package typealias Return = NoReturnParameters

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}
}

/// The command Disconnect (Vol 4 Part E §7.1.6).
package struct Disconnect: Command {
  package static let opcode = Opcode(0x0406, "Disconnect", bit: (0, 5))
  package typealias Return = AnsweredByStatus

  /// The controller's number for the link.
  package var handle: ConnectionHandle
  /// The reason that the peer receives.
  package var reason: ControllerErrorCode

  package init(handle: ConnectionHandle, reason: ControllerErrorCode) {
    self.handle = handle
    self.reason = reason
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
    reason = ControllerErrorCode(rawValue: try reader.uint8("reason"))
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    writer.uint8(reason.rawValue)
  }
}

/// The command Read Remote Version Information (Vol 4 Part E §7.1.23).
package struct ReadRemoteVersion: Command {
  package static let opcode = Opcode(0x041D, "Read Remote Version Information", bit: (2, 7))
  package typealias Return = AnsweredByStatus

  /// The controller's number for the link.
  package var handle: ConnectionHandle

  package init(handle: ConnectionHandle) {
    self.handle = handle
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
  }
}

/// The command Set Event Mask (Vol 4 Part E §7.3.1).
package struct SetEventMask: Command {
  package static let opcode = Opcode(0x0C01, "Set Event Mask", bit: (5, 6))
  package typealias Return = NoReturnParameters

  /// The events that the controller sends. With few exceptions, bit n is event code n + 1.
  package var mask: UInt64

  package init(_ mask: UInt64) {
    self.mask = mask
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    mask = try reader.uint64("event mask")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint64(mask)
  }
}

/// The command Reset (Vol 4 Part E §7.3.2).
package struct Reset: Command {
  package static let opcode = Opcode(0x0C03, "Reset", bit: (5, 7))
  package typealias Return = NoReturnParameters

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}
}

/// The command Read Local Version Information (Vol 4 Part E §7.4.1).
package struct ReadLocalVersion: Command {
  package static let opcode = Opcode(0x1001, "Read Local Version Information", bit: (14, 3))

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of Read Local Version Information.
  package struct Return: ReturnParameters {
    /// The number of the Core Specification's version. 6 is 4.0, 13 is 5.4.
    package var hciVersion: UInt8
    /// The revision of the HCI implementation, which the manufacturer defines.
    package var hciSubversion: UInt16
    /// The version of the Link Manager Protocol or Link Layer, with the same numbers as `hciVersion`.
    package var lmpVersion: UInt8
    /// The company identifier of the manufacturer.
    package var company: UInt16
    /// The revision of the Link Manager or Link Layer implementation, which the manufacturer defines.
    package var lmpSubversion: UInt16

    package init(hciVersion: UInt8, hciSubversion: UInt16, lmpVersion: UInt8, company: UInt16, lmpSubversion: UInt16) {
      self.hciVersion = hciVersion
      self.hciSubversion = hciSubversion
      self.lmpVersion = lmpVersion
      self.company = company
      self.lmpSubversion = lmpSubversion
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      hciVersion = try reader.uint8("HCI version")
      hciSubversion = try reader.uint16("HCI subversion")
      lmpVersion = try reader.uint8("LMP version")
      company = try reader.uint16("company")
      lmpSubversion = try reader.uint16("LMP subversion")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint8(hciVersion)
      writer.uint16(hciSubversion)
      writer.uint8(lmpVersion)
      writer.uint16(company)
      writer.uint16(lmpSubversion)
    }
  }
}

/// The command Read Local Supported Commands (Vol 4 Part E §7.4.2).
package struct ReadLocalSupportedCommands: Command {
  package static let opcode = Opcode(0x1002, "Read Local Supported Commands", bit: nil)

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of Read Local Supported Commands.
  package struct Return: ReturnParameters {
    /// The commands that the controller supports.
    package var commands: SupportedCommands

    package init(_ commands: SupportedCommands) {
      self.commands = commands
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      commands = SupportedCommands(bytes: try reader.slice(64, "supported commands"))
    }

    package func encode(into writer: inout ByteWriter) {
      writer.append(commands.bytes)
    }
  }
}

/// The command Read Local Supported Features (Vol 4 Part E §7.4.3).
package struct ReadLocalSupportedFeatures: Command {
  package static let opcode = Opcode(0x1003, "Read Local Supported Features", bit: (14, 5))

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of Read Local Supported Features.
  package struct Return: ReturnParameters {
    /// The LMP features of the controller, a bit mask (Vol 2 Part C §3.3).
    package var features: UInt64

    package init(_ features: UInt64) {
      self.features = features
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      features = try reader.uint64("LMP features")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint64(features)
    }
  }
}

/// The command Read Buffer Size (Vol 4 Part E §7.4.5).
package struct ReadBufferSize: Command {
  package static let opcode = Opcode(0x1005, "Read Buffer Size", bit: (14, 7))

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of Read Buffer Size.
  package struct Return: ReturnParameters {
    /// The maximum data length of an ACL packet, in bytes.
    package var aclLength: UInt16
    /// The maximum data length of a synchronous packet, in bytes.
    package var synchronousLength: UInt8
    /// The number of ACL packets that the controller buffers.
    package var aclCount: UInt16
    /// The number of synchronous packets that the controller buffers.
    package var synchronousCount: UInt16

    package init(aclLength: UInt16, synchronousLength: UInt8, aclCount: UInt16, synchronousCount: UInt16) {
      self.aclLength = aclLength
      self.synchronousLength = synchronousLength
      self.aclCount = aclCount
      self.synchronousCount = synchronousCount
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      aclLength = try reader.uint16("ACL length")
      synchronousLength = try reader.uint8("synchronous length")
      aclCount = try reader.uint16("ACL count")
      synchronousCount = try reader.uint16("synchronous count")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint16(aclLength)
      writer.uint8(synchronousLength)
      writer.uint16(aclCount)
      writer.uint16(synchronousCount)
    }
  }
}

/// The command Read BD_ADDR (Vol 4 Part E §7.4.6).
package struct ReadBDADDR: Command {
  package static let opcode = Opcode(0x1009, "Read BD_ADDR", bit: (15, 1))

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of Read BD_ADDR.
  package struct Return: ReturnParameters {
    /// The public address. Zero means that the controller has none.
    package var address: Address

    package init(_ address: Address) {
      self.address = address
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      address = try reader.address("BD_ADDR")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.address(address)
    }
  }
}

/// The command Read RSSI (Vol 4 Part E §7.5.4).
package struct ReadRSSI: Command {
  package static let opcode = Opcode(0x1405, "Read RSSI", bit: (15, 5))

  /// The controller's number for the link.
  package var handle: ConnectionHandle

  package init(handle: ConnectionHandle) {
    self.handle = handle
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
  }

  /// The return parameters of Read RSSI.
  package struct Return: ReturnParameters {
    /// The controller's number for the link.
    package var handle: ConnectionHandle
    /// The RSSI in dBm, or 127 if it is not available.
    package var rssi: Int8

    package init(handle: ConnectionHandle, rssi: Int8) {
      self.handle = handle
      self.rssi = rssi
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      handle = try reader.handle()
      rssi = try reader.int8("RSSI")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.handle(handle)
      writer.int8(rssi)
    }
  }
}

/// The command LE Set Event Mask (Vol 4 Part E §7.8.1).
package struct LESetEventMask: Command {
  package static let opcode = Opcode(0x2001, "LE Set Event Mask", bit: (25, 0))
  package typealias Return = NoReturnParameters

  /// The LE Meta subevents that the controller sends. Bit n is subevent n + 1.
  package var mask: UInt64

  package init(_ mask: UInt64) {
    self.mask = mask
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    mask = try reader.uint64("LE event mask")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint64(mask)
  }
}

/// The command LE Read Buffer Size (Vol 4 Part E §7.8.2).
package struct LEReadBufferSize: Command {
  package static let opcode = Opcode(0x2002, "LE Read Buffer Size", bit: (25, 1))

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of LE Read Buffer Size.
  package struct Return: ReturnParameters {
    /// The maximum data length of an LE ACL packet, in bytes. 0 means that Read Buffer Size reports the buffers.
    package var aclLength: UInt16
    /// The number of LE ACL packets that the controller buffers. 0 means that Read Buffer Size reports the buffers.
    package var aclCount: UInt8

    package init(aclLength: UInt16, aclCount: UInt8) {
      self.aclLength = aclLength
      self.aclCount = aclCount
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      aclLength = try reader.uint16("LE ACL length")
      aclCount = try reader.uint8("LE ACL count")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint16(aclLength)
      writer.uint8(aclCount)
    }
  }
}

/// The command LE Read Local Supported Features (Vol 4 Part E §7.8.3).
package struct LEReadLocalSupportedFeatures: Command {
  package static let opcode = Opcode(0x2003, "LE Read Local Supported Features", bit: (25, 2))

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of LE Read Local Supported Features.
  package struct Return: ReturnParameters {
    /// The LE features of the controller.
    package var features: LEFeatures

    package init(_ features: LEFeatures) {
      self.features = features
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      features = LEFeatures(rawValue: try reader.uint64("LE features"))
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint64(features.rawValue)
    }
  }
}

/// The command LE Set Random Address (Vol 4 Part E §7.8.4).
package struct LESetRandomAddress: Command {
  package static let opcode = Opcode(0x2005, "LE Set Random Address", bit: (25, 4))
  package typealias Return = NoReturnParameters

  /// The random address for the controller to use.
  package var address: Address

  package init(_ address: Address) {
    self.address = address
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    address = try reader.address("random address")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.address(address)
  }
}

/// The command LE Set Advertising Parameters (Vol 4 Part E §7.8.5).
package struct LESetAdvertisingParameters: Command {
  package static let opcode = Opcode(0x2006, "LE Set Advertising Parameters", bit: (25, 5))
  package typealias Return = NoReturnParameters

  /// The shortest advertising interval, 20 ms to 10.24 s.
  package var intervalMin: Slots
  /// The longest advertising interval, 20 ms to 10.24 s.
  package var intervalMax: Slots
  /// The PDU: 0 ADV_IND, 1 ADV_DIRECT_IND at high duty cycle, 2 ADV_SCAN_IND, 3 ADV_NONCONN_IND, 4 ADV_DIRECT_IND at low duty cycle.
  package var type: UInt8
  /// The type of the host's own address. 0 is public, 1 is random. 2 and 3 are resolvable if possible, otherwise as 0 and 1.
  package var ownAddressType: UInt8
  /// The device that directed advertisements invite.
  package var peer: PeerAddress
  /// The advertising channels: bit 0 is 37, bit 1 is 38, bit 2 is 39.
  package var channelMap: UInt8
  /// The devices from which the controller takes scan requests (bit 0) and connections (bit 1): all, or the filter accept list.
  package var filterPolicy: UInt8

  package init(
    intervalMin: Slots, intervalMax: Slots, type: UInt8 = 0, ownAddressType: UInt8 = 0, peer: PeerAddress, channelMap: UInt8 = 7,
    filterPolicy: UInt8 = 0
  ) {
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.type = type
    self.ownAddressType = ownAddressType
    self.peer = peer
    self.channelMap = channelMap
    self.filterPolicy = filterPolicy
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    intervalMin = try reader.time("interval min")
    intervalMax = try reader.time("interval max")
    type = try reader.uint8("advertising type")
    ownAddressType = try reader.uint8("own address type")
    peer = try reader.peerAddress()
    channelMap = try reader.uint8("channel map")
    filterPolicy = try reader.uint8("filter policy")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint16(intervalMin.rawValue)
    writer.uint16(intervalMax.rawValue)
    writer.uint8(type)
    writer.uint8(ownAddressType)
    writer.peerAddress(peer)
    writer.uint8(channelMap)
    writer.uint8(filterPolicy)
  }
}

/// The command LE Read Advertising Physical Channel TX Power (Vol 4 Part E §7.8.6).
package struct LEReadAdvertisingPhysicalChannelTXPower: Command {
  package static let opcode = Opcode(0x2007, "LE Read Advertising Physical Channel TX Power", bit: (25, 6))

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of LE Read Advertising Physical Channel TX Power.
  package struct Return: ReturnParameters {
    /// The transmit power in dBm.
    package var txPower: Int8

    package init(_ txPower: Int8) {
      self.txPower = txPower
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      txPower = try reader.int8("TX power")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.int8(txPower)
    }
  }
}

/// The command LE Set Advertising Data (Vol 4 Part E §7.8.7).
package struct LESetAdvertisingData: Command {
  package static let opcode = Opcode(0x2008, "LE Set Advertising Data", bit: (25, 7))
  package typealias Return = NoReturnParameters

  /// The advertising data, at most 31 bytes.
  package var data: [UInt8]

  package init(_ data: [UInt8]) {
    self.data = data
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    data = try reader.padded("advertising data")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.padded(data)
  }
}

/// The command LE Set Scan Response Data (Vol 4 Part E §7.8.8).
package struct LESetScanResponseData: Command {
  package static let opcode = Opcode(0x2009, "LE Set Scan Response Data", bit: (26, 0))
  package typealias Return = NoReturnParameters

  /// The answer to scan requests, at most 31 bytes.
  package var data: [UInt8]

  package init(_ data: [UInt8]) {
    self.data = data
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    data = try reader.padded("scan response data")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.padded(data)
  }
}

/// The command LE Set Advertising Enable (Vol 4 Part E §7.8.9).
package struct LESetAdvertisingEnable: Command {
  package static let opcode = Opcode(0x200A, "LE Set Advertising Enable", bit: (26, 1))
  package typealias Return = NoReturnParameters

  /// Whether the controller advertises after this command.
  package var isOn: Bool

  package init(_ isOn: Bool) {
    self.isOn = isOn
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    isOn = try reader.uint8("enable") != 0
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(isOn ? 1 : 0)
  }
}

/// The command LE Set Scan Parameters (Vol 4 Part E §7.8.10).
package struct LESetScanParameters: Command {
  package static let opcode = Opcode(0x200B, "LE Set Scan Parameters", bit: (26, 2))
  package typealias Return = NoReturnParameters

  /// The scan type, interval and window.
  package var timing: ScanTiming
  /// The type of the host's own address. 0 is public, 1 is random. 2 and 3 are resolvable if possible, otherwise as 0 and 1.
  package var ownAddressType: UInt8
  /// The scanning filter policy. With bit 0, the controller reports only devices on the filter accept list.
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

/// The command LE Set Scan Enable (Vol 4 Part E §7.8.11).
package struct LESetScanEnable: Command {
  package static let opcode = Opcode(0x200C, "LE Set Scan Enable", bit: (26, 3))
  package typealias Return = NoReturnParameters

  /// Whether the controller scans after this command.
  package var isOn: Bool
  /// Whether the controller reports each device once.
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

/// The command LE Create Connection (Vol 4 Part E §7.8.12).
package struct LECreateConnection: Command {
  package static let opcode = Opcode(0x200D, "LE Create Connection", bit: (26, 4))
  package typealias Return = AnsweredByStatus

  /// The time from the start of one scan window to the next.
  package var scanInterval: Slots
  /// The duration of a scan window, at most the interval.
  package var scanWindow: Slots
  /// The initiator filter policy. 0 connects to `peer`, 1 to any device on the filter accept list.
  package var filterPolicy: UInt8
  /// The device to connect to.
  package var peer: PeerAddress
  /// The type of the host's own address. 0 is public, 1 is random. 2 and 3 are resolvable if possible, otherwise as 0 and 1.
  package var ownAddressType: UInt8
  /// The requested connection parameters.
  package var parameters: ConnectionParameters

  package init(
    scanInterval: Slots, scanWindow: Slots, filterPolicy: UInt8 = 0, peer: PeerAddress, ownAddressType: UInt8,
    parameters: ConnectionParameters
  ) {
    self.scanInterval = scanInterval
    self.scanWindow = scanWindow
    self.filterPolicy = filterPolicy
    self.peer = peer
    self.ownAddressType = ownAddressType
    self.parameters = parameters
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    scanInterval = try reader.time("scan interval")
    scanWindow = try reader.time("scan window")
    filterPolicy = try reader.uint8("filter policy")
    peer = try reader.peerAddress()
    ownAddressType = try reader.uint8("own address type")
    parameters = try ConnectionParameters(parsing: &reader)
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint16(scanInterval.rawValue)
    writer.uint16(scanWindow.rawValue)
    writer.uint8(filterPolicy)
    writer.peerAddress(peer)
    writer.uint8(ownAddressType)
    parameters.encode(into: &writer)
  }
}

/// The command LE Create Connection Cancel (Vol 4 Part E §7.8.13).
package struct LECreateConnectionCancel: Command {
  package static let opcode = Opcode(0x200E, "LE Create Connection Cancel", bit: (26, 5))
  package typealias Return = NoReturnParameters

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}
}

/// The command LE Connection Update (Vol 4 Part E §7.8.18).
package struct LEConnectionUpdate: Command {
  package static let opcode = Opcode(0x2013, "LE Connection Update", bit: (27, 2))
  package typealias Return = AnsweredByStatus

  /// The controller's number for the link.
  package var handle: ConnectionHandle
  /// The requested connection parameters.
  package var parameters: ConnectionParameters

  package init(handle: ConnectionHandle, _ parameters: ConnectionParameters) {
    self.handle = handle
    self.parameters = parameters
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
    parameters = try ConnectionParameters(parsing: &reader)
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    parameters.encode(into: &writer)
  }
}

/// The command LE Read Remote Features (Vol 4 Part E §7.8.21).
package struct LEReadRemoteFeatures: Command {
  package static let opcode = Opcode(0x2016, "LE Read Remote Features", bit: (27, 5))
  package typealias Return = AnsweredByStatus

  /// The controller's number for the link.
  package var handle: ConnectionHandle

  package init(handle: ConnectionHandle) {
    self.handle = handle
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
  }
}

/// The command LE Enable Encryption (Vol 4 Part E §7.8.24).
package struct LEEnableEncryption: Command {
  package static let opcode = Opcode(0x2019, "LE Enable Encryption", bit: (28, 0))
  package typealias Return = AnsweredByStatus

  /// The controller's number for the link.
  package var handle: ConnectionHandle
  /// The random number of the key from LE legacy pairing, otherwise 0.
  package var random: UInt64
  /// The encrypted diversifier of the key from LE legacy pairing, otherwise 0.
  package var ediv: UInt16
  /// The Long Term Key, or the Short Term Key during LE legacy pairing.
  package var longTermKey: UInt128

  package init(handle: ConnectionHandle, random: UInt64, ediv: UInt16, longTermKey: UInt128) {
    self.handle = handle
    self.random = random
    self.ediv = ediv
    self.longTermKey = longTermKey
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
    random = try reader.uint64("random")
    ediv = try reader.uint16("ediv")
    longTermKey = try reader.uint128("long term key")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    writer.uint64(random)
    writer.uint16(ediv)
    writer.uint128(longTermKey)
  }
}

/// The command LE Long Term Key Request Reply (Vol 4 Part E §7.8.25).
package struct LELongTermKeyRequestReply: Command {
  package static let opcode = Opcode(0x201A, "LE Long Term Key Request Reply", bit: (28, 1))
  package typealias Return = HandleReturned

  /// The controller's number for the link.
  package var handle: ConnectionHandle
  /// The Long Term Key, or the Short Term Key during LE legacy pairing.
  package var key: UInt128

  package init(handle: ConnectionHandle, _ key: UInt128) {
    self.handle = handle
    self.key = key
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
    key = try reader.uint128("long term key")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    writer.uint128(key)
  }
}

/// The command LE Long Term Key Request Negative Reply (Vol 4 Part E §7.8.26).
package struct LELongTermKeyRequestNegativeReply: Command {
  package static let opcode = Opcode(0x201B, "LE Long Term Key Request Negative Reply", bit: (28, 2))
  package typealias Return = HandleReturned

  /// The controller's number for the link.
  package var handle: ConnectionHandle

  package init(handle: ConnectionHandle) {
    self.handle = handle
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
  }
}

/// The command LE Remote Connection Parameter Request Reply (Vol 4 Part E §7.8.31).
package struct LERemoteConnectionParameterRequestReply: Command {
  package static let opcode = Opcode(0x2020, "LE Remote Connection Parameter Request Reply", bit: (33, 4))
  package typealias Return = HandleReturned

  /// The controller's number for the link.
  package var handle: ConnectionHandle
  /// The requested connection parameters.
  package var parameters: ConnectionParameters

  package init(handle: ConnectionHandle, _ parameters: ConnectionParameters) {
    self.handle = handle
    self.parameters = parameters
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
    parameters = try ConnectionParameters(parsing: &reader)
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    parameters.encode(into: &writer)
  }
}

/// The command LE Remote Connection Parameter Request Negative Reply (Vol 4 Part E §7.8.32).
package struct LERemoteConnectionParameterRequestNegativeReply: Command {
  package static let opcode = Opcode(0x2021, "LE Remote Connection Parameter Request Negative Reply", bit: (33, 5))
  package typealias Return = HandleReturned

  /// The controller's number for the link.
  package var handle: ConnectionHandle
  /// The reason that the peer receives.
  package var reason: ControllerErrorCode

  package init(handle: ConnectionHandle, reason: ControllerErrorCode) {
    self.handle = handle
    self.reason = reason
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
    reason = ControllerErrorCode(rawValue: try reader.uint8("reason"))
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    writer.uint8(reason.rawValue)
  }
}

/// The command LE Set Data Length (Vol 4 Part E §7.8.33).
package struct LESetDataLength: Command {
  package static let opcode = Opcode(0x2022, "LE Set Data Length", bit: (33, 6))
  package typealias Return = HandleReturned

  /// The controller's number for the link.
  package var handle: ConnectionHandle
  /// The largest payload of a sent packet, 27–251 bytes.
  package var txOctets: UInt16
  /// The longest time to send a packet, 328–17,040 µs.
  package var txTime: UInt16

  package init(handle: ConnectionHandle, txOctets: UInt16, txTime: UInt16) {
    self.handle = handle
    self.txOctets = txOctets
    self.txTime = txTime
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
    txOctets = try reader.uint16("TX octets")
    txTime = try reader.uint16("TX time")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    writer.uint16(txOctets)
    writer.uint16(txTime)
  }
}

/// The command LE Read Suggested Default Data Length (Vol 4 Part E §7.8.34).
package struct LEReadSuggestedDefaultDataLength: Command {
  package static let opcode = Opcode(0x2023, "LE Read Suggested Default Data Length", bit: (33, 7))

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of LE Read Suggested Default Data Length.
  package struct Return: ReturnParameters {
    /// The largest payload of a sent packet, 27–251 bytes.
    package var txOctets: UInt16
    /// The longest time to send a packet, 328–17,040 µs.
    package var txTime: UInt16

    package init(txOctets: UInt16, txTime: UInt16) {
      self.txOctets = txOctets
      self.txTime = txTime
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      txOctets = try reader.uint16("TX octets")
      txTime = try reader.uint16("TX time")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint16(txOctets)
      writer.uint16(txTime)
    }
  }
}

/// The command LE Write Suggested Default Data Length (Vol 4 Part E §7.8.35).
package struct LEWriteSuggestedDefaultDataLength: Command {
  package static let opcode = Opcode(0x2024, "LE Write Suggested Default Data Length", bit: (34, 0))
  package typealias Return = NoReturnParameters

  /// The largest payload of a sent packet, 27–251 bytes.
  package var txOctets: UInt16
  /// The longest time to send a packet, 328–17,040 µs.
  package var txTime: UInt16

  package init(txOctets: UInt16, txTime: UInt16) {
    self.txOctets = txOctets
    self.txTime = txTime
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    txOctets = try reader.uint16("TX octets")
    txTime = try reader.uint16("TX time")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint16(txOctets)
    writer.uint16(txTime)
  }
}

/// The command LE Read Maximum Data Length (Vol 4 Part E §7.8.46).
package struct LEReadMaximumDataLength: Command {
  package static let opcode = Opcode(0x202F, "LE Read Maximum Data Length", bit: (35, 3))

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of LE Read Maximum Data Length.
  package struct Return: ReturnParameters {
    /// The largest payload that the controller sends, 27–251 bytes.
    package var txOctets: UInt16
    /// The longest time in which the controller sends a packet, 328–17,040 µs.
    package var txTime: UInt16
    /// The largest payload that the controller receives, 27–251 bytes.
    package var rxOctets: UInt16
    /// The longest time in which the controller receives a packet, 328–17,040 µs.
    package var rxTime: UInt16

    package init(txOctets: UInt16, txTime: UInt16, rxOctets: UInt16, rxTime: UInt16) {
      self.txOctets = txOctets
      self.txTime = txTime
      self.rxOctets = rxOctets
      self.rxTime = rxTime
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      txOctets = try reader.uint16("TX octets")
      txTime = try reader.uint16("TX time")
      rxOctets = try reader.uint16("RX octets")
      rxTime = try reader.uint16("RX time")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint16(txOctets)
      writer.uint16(txTime)
      writer.uint16(rxOctets)
      writer.uint16(rxTime)
    }
  }
}

/// The command LE Read PHY (Vol 4 Part E §7.8.47).
package struct LEReadPHY: Command {
  package static let opcode = Opcode(0x2030, "LE Read PHY", bit: (35, 4))

  /// The controller's number for the link.
  package var handle: ConnectionHandle

  package init(handle: ConnectionHandle) {
    self.handle = handle
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
  }

  /// The return parameters of LE Read PHY.
  package struct Return: ReturnParameters {
    /// The controller's number for the link.
    package var handle: ConnectionHandle
    /// The PHY for sending. 1 is 1M, 2 is 2M, 3 is coded. Other values are reserved.
    package var tx: UInt8
    /// The PHY for receiving. 1 is 1M, 2 is 2M, 3 is coded. Other values are reserved.
    package var rx: UInt8

    package init(handle: ConnectionHandle, tx: UInt8, rx: UInt8) {
      self.handle = handle
      self.tx = tx
      self.rx = rx
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      handle = try reader.handle()
      tx = try reader.uint8("TX PHY")
      rx = try reader.uint8("RX PHY")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.handle(handle)
      writer.uint8(tx)
      writer.uint8(rx)
    }
  }
}

/// The command LE Set Default PHY (Vol 4 Part E §7.8.48).
package struct LESetDefaultPHY: Command {
  package static let opcode = Opcode(0x2031, "LE Set Default PHY", bit: (35, 5))
  package typealias Return = NoReturnParameters

  /// The directions without a preference. Bit 0 means sending, bit 1 means receiving.
  package var allPHYs: UInt8
  /// The PHYs that the host prefers for sending.
  package var tx: PHYMask
  /// The PHYs that the host prefers for receiving.
  package var rx: PHYMask

  package init(allPHYs: UInt8, tx: PHYMask, rx: PHYMask) {
    self.allPHYs = allPHYs
    self.tx = tx
    self.rx = rx
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    allPHYs = try reader.uint8("all PHYs")
    tx = PHYMask(rawValue: try reader.uint8("TX PHYs"))
    rx = PHYMask(rawValue: try reader.uint8("RX PHYs"))
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(allPHYs)
    writer.uint8(tx.rawValue)
    writer.uint8(rx.rawValue)
  }
}

/// The command LE Set PHY (Vol 4 Part E §7.8.49).
package struct LESetPHY: Command {
  package static let opcode = Opcode(0x2032, "LE Set PHY", bit: (35, 6))
  package typealias Return = AnsweredByStatus

  /// The controller's number for the link.
  package var handle: ConnectionHandle
  /// The directions without a preference. Bit 0 means sending, bit 1 means receiving.
  package var allPHYs: UInt8
  /// The PHYs that the host prefers for sending.
  package var tx: PHYMask
  /// The PHYs that the host prefers for receiving.
  package var rx: PHYMask
  /// The preferred coding of the coded PHY. 0 is any, 1 is S=2, 2 is S=8.
  package var options: UInt16

  package init(handle: ConnectionHandle, allPHYs: UInt8 = 0, tx: PHYMask, rx: PHYMask, options: UInt16 = 0) {
    self.handle = handle
    self.allPHYs = allPHYs
    self.tx = tx
    self.rx = rx
    self.options = options
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    handle = try reader.handle()
    allPHYs = try reader.uint8("all PHYs")
    tx = PHYMask(rawValue: try reader.uint8("TX PHYs"))
    rx = PHYMask(rawValue: try reader.uint8("RX PHYs"))
    options = try reader.uint16("PHY options")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.handle(handle)
    writer.uint8(allPHYs)
    writer.uint8(tx.rawValue)
    writer.uint8(rx.rawValue)
    writer.uint16(options)
  }
}

/// The command LE Set Advertising Set Random Address (Vol 4 Part E §7.8.52).
package struct LESetAdvertisingSetRandomAddress: Command {
  package static let opcode = Opcode(0x2035, "LE Set Advertising Set Random Address", bit: (36, 1))
  package typealias Return = NoReturnParameters

  /// The host's number for the advertising set, 0–0xEF.
  package var advertisingHandle: UInt8
  /// The random address of the set.
  package var address: Address

  package init(advertisingHandle: UInt8, _ address: Address) {
    self.advertisingHandle = advertisingHandle
    self.address = address
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    advertisingHandle = try reader.uint8("advertising handle")
    address = try reader.address("random address")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(advertisingHandle)
    writer.address(address)
  }
}

/// The command LE Set Extended Advertising Parameters (Vol 4 Part E §7.8.53).
package struct LESetExtendedAdvertisingParameters: Command {
  package static let opcode = Opcode(0x2036, "LE Set Extended Advertising Parameters", bit: (36, 2))

  /// The host's number for the advertising set, 0–0xEF.
  package var advertisingHandle: UInt8
  /// Bit 0 connectable, 1 scannable, 2 directed, 3 directed at high duty cycle, 4 legacy PDUs, 5 anonymous, 6 with transmit power.
  package var properties: UInt16
  /// The shortest advertising interval in units of 0.625 ms, 0x20–0xFFFFFF.
  package var intervalMin: UInt32
  /// The longest advertising interval in units of 0.625 ms, 0x20–0xFFFFFF.
  package var intervalMax: UInt32
  /// The advertising channels: bit 0 is 37, bit 1 is 38, bit 2 is 39.
  package var channelMap: UInt8
  /// The type of the host's own address. 0 is public, 1 is random. 2 and 3 are resolvable if possible, otherwise as 0 and 1.
  package var ownAddressType: UInt8
  /// The device that directed advertisements invite.
  package var peer: PeerAddress
  /// The devices from which the controller takes scan requests (bit 0) and connections (bit 1): all, or the filter accept list.
  package var filterPolicy: UInt8
  /// The wanted transmit power in dBm. 127 means no preference.
  package var txPower: Int8
  /// The PHY of the advertising channels. 1 is 1M, 3 is coded.
  package var primaryPHY: UInt8
  /// The number of advertising events that the controller may skip before it sends the secondary PDU.
  package var secondaryMaxSkip: UInt8
  /// The PHY of the secondary PDU. 1 is 1M, 2 is 2M, 3 is coded.
  package var secondaryPHY: UInt8
  /// The Advertising Set ID, 0–15.
  package var sid: UInt8
  /// Whether the controller sends LE Scan Request Received events.
  package var reportsScanRequests: Bool

  package init(
    advertisingHandle: UInt8, properties: UInt16, intervalMin: UInt32, intervalMax: UInt32, channelMap: UInt8 = 7,
    ownAddressType: UInt8 = 0, peer: PeerAddress, filterPolicy: UInt8 = 0, txPower: Int8 = 127, primaryPHY: UInt8 = 1,
    secondaryMaxSkip: UInt8 = 0, secondaryPHY: UInt8 = 1, sid: UInt8 = 0, reportsScanRequests: Bool = false
  ) {
    self.advertisingHandle = advertisingHandle
    self.properties = properties
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.channelMap = channelMap
    self.ownAddressType = ownAddressType
    self.peer = peer
    self.filterPolicy = filterPolicy
    self.txPower = txPower
    self.primaryPHY = primaryPHY
    self.secondaryMaxSkip = secondaryMaxSkip
    self.secondaryPHY = secondaryPHY
    self.sid = sid
    self.reportsScanRequests = reportsScanRequests
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    advertisingHandle = try reader.uint8("advertising handle")
    properties = try reader.uint16("event properties")
    intervalMin = try reader.uint24("primary interval min")
    intervalMax = try reader.uint24("primary interval max")
    channelMap = try reader.uint8("primary channel map")
    ownAddressType = try reader.uint8("own address type")
    peer = try reader.peerAddress()
    filterPolicy = try reader.uint8("filter policy")
    txPower = try reader.int8("TX power")
    primaryPHY = try reader.uint8("primary PHY")
    secondaryMaxSkip = try reader.uint8("secondary max skip")
    secondaryPHY = try reader.uint8("secondary PHY")
    sid = try reader.uint8("SID")
    reportsScanRequests = try reader.uint8("scan request notification enable") != 0
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(advertisingHandle)
    writer.uint16(properties)
    writer.uint24(intervalMin)
    writer.uint24(intervalMax)
    writer.uint8(channelMap)
    writer.uint8(ownAddressType)
    writer.peerAddress(peer)
    writer.uint8(filterPolicy)
    writer.int8(txPower)
    writer.uint8(primaryPHY)
    writer.uint8(secondaryMaxSkip)
    writer.uint8(secondaryPHY)
    writer.uint8(sid)
    writer.uint8(reportsScanRequests ? 1 : 0)
  }

  /// The return parameters of LE Set Extended Advertising Parameters.
  package struct Return: ReturnParameters {
    /// The transmit power that the controller chose, in dBm.
    package var selectedTXPower: Int8

    package init(selectedTXPower: Int8) {
      self.selectedTXPower = selectedTXPower
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      selectedTXPower = try reader.int8("selected TX power")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.int8(selectedTXPower)
    }
  }
}

/// The command LE Set Extended Advertising Data (Vol 4 Part E §7.8.54).
package struct LESetExtendedAdvertisingData: Command {
  package static let opcode = Opcode(0x2037, "LE Set Extended Advertising Data", bit: (36, 3))
  package typealias Return = NoReturnParameters

  /// The host's number for the advertising set, 0–0xEF.
  package var advertisingHandle: UInt8
  /// The fragment: 0 a middle one, 1 the first, 2 the last, 3 complete data. 4 keeps the data and only changes their identifier.
  package var operation: UInt8
  /// Whether the controller may send the data in several PDUs as it likes: 0 it may, 1 it should not.
  package var fragmentPreference: UInt8
  /// The advertising data of this fragment, at most 251 bytes.
  package var data: [UInt8]

  package init(advertisingHandle: UInt8, operation: UInt8 = 3, fragmentPreference: UInt8 = 1, _ data: [UInt8]) {
    self.advertisingHandle = advertisingHandle
    self.operation = operation
    self.fragmentPreference = fragmentPreference
    self.data = data
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    advertisingHandle = try reader.uint8("advertising handle")
    operation = try reader.uint8("operation")
    fragmentPreference = try reader.uint8("fragment preference")
    data = try reader.bytes(Int(try reader.uint8("advertising data length")), "advertising data")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(advertisingHandle)
    writer.uint8(operation)
    writer.uint8(fragmentPreference)
    writer.counted(data)
  }
}

/// The command LE Set Extended Scan Response Data (Vol 4 Part E §7.8.55).
package struct LESetExtendedScanResponseData: Command {
  package static let opcode = Opcode(0x2038, "LE Set Extended Scan Response Data", bit: (36, 4))
  package typealias Return = NoReturnParameters

  /// The host's number for the advertising set, 0–0xEF.
  package var advertisingHandle: UInt8
  /// The fragment: 0 a middle one, 1 the first, 2 the last, 3 complete data. 4 keeps the data and only changes their identifier.
  package var operation: UInt8
  /// Whether the controller may send the data in several PDUs as it likes: 0 it may, 1 it should not.
  package var fragmentPreference: UInt8
  /// The scan response data of this fragment, at most 251 bytes.
  package var data: [UInt8]

  package init(advertisingHandle: UInt8, operation: UInt8 = 3, fragmentPreference: UInt8 = 1, _ data: [UInt8]) {
    self.advertisingHandle = advertisingHandle
    self.operation = operation
    self.fragmentPreference = fragmentPreference
    self.data = data
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    advertisingHandle = try reader.uint8("advertising handle")
    operation = try reader.uint8("operation")
    fragmentPreference = try reader.uint8("fragment preference")
    data = try reader.bytes(Int(try reader.uint8("scan response data length")), "scan response data")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(advertisingHandle)
    writer.uint8(operation)
    writer.uint8(fragmentPreference)
    writer.counted(data)
  }
}

/// The command LE Set Extended Advertising Enable (Vol 4 Part E §7.8.56).
package struct LESetExtendedAdvertisingEnable: Command {
  package static let opcode = Opcode(0x2039, "LE Set Extended Advertising Enable", bit: (36, 5))
  package typealias Return = NoReturnParameters

  /// Whether the sets advertise after this command.
  package var isOn: Bool
  /// The sets, at most 63. To disable, an empty list means all sets.
  package var sets: [Entry]

  package init(_ isOn: Bool, sets: [Entry]) {
    self.isOn = isOn
    self.sets = sets
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    isOn = try reader.uint8("enable") != 0
    sets = []
    for _ in 0..<(try reader.uint8("num sets")) { sets.append(try LESetExtendedAdvertisingEnable.Entry(parsing: &reader)) }
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(isOn ? 1 : 0)
    writer.uint8(UInt8(clamping: sets.count))
    for entry in sets { entry.encode(into: &writer) }
  }
}

/// The command LE Read Maximum Advertising Data Length (Vol 4 Part E §7.8.57).
package struct LEReadMaximumAdvertisingDataLength: Command {
  package static let opcode = Opcode(0x203A, "LE Read Maximum Advertising Data Length", bit: (36, 6))

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of LE Read Maximum Advertising Data Length.
  package struct Return: ReturnParameters {
    /// The maximum length of the advertising data and of the scan response, 31–1,650 bytes.
    package var length: UInt16

    package init(_ length: UInt16) {
      self.length = length
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      length = try reader.uint16("max advertising data length")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint16(length)
    }
  }
}

/// The command LE Read Number of Supported Advertising Sets (Vol 4 Part E §7.8.58).
package struct LEReadNumberOfSupportedAdvertisingSets: Command {
  package static let opcode = Opcode(0x203B, "LE Read Number of Supported Advertising Sets", bit: (36, 7))

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}

  /// The return parameters of LE Read Number of Supported Advertising Sets.
  package struct Return: ReturnParameters {
    /// The number of advertising sets that the controller supports at the same time.
    package var count: UInt8

    package init(_ count: UInt8) {
      self.count = count
    }

    package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
      count = try reader.uint8("num supported advertising sets")
    }

    package func encode(into writer: inout ByteWriter) {
      writer.uint8(count)
    }
  }
}

/// The command LE Remove Advertising Set (Vol 4 Part E §7.8.59).
package struct LERemoveAdvertisingSet: Command {
  package static let opcode = Opcode(0x203C, "LE Remove Advertising Set", bit: (37, 0))
  package typealias Return = NoReturnParameters

  /// The host's number for the advertising set, 0–0xEF.
  package var advertisingHandle: UInt8

  package init(advertisingHandle: UInt8) {
    self.advertisingHandle = advertisingHandle
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    advertisingHandle = try reader.uint8("advertising handle")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(advertisingHandle)
  }
}

/// The command LE Clear Advertising Sets (Vol 4 Part E §7.8.60).
package struct LEClearAdvertisingSets: Command {
  package static let opcode = Opcode(0x203D, "LE Clear Advertising Sets", bit: (37, 1))
  package typealias Return = NoReturnParameters

  package init() {}

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {}

  package func encode(into writer: inout ByteWriter) {}
}

/// The command LE Set Extended Scan Parameters (Vol 4 Part E §7.8.64).
package struct LESetExtendedScanParameters: Command {
  package static let opcode = Opcode(0x2041, "LE Set Extended Scan Parameters", bit: (37, 5))
  package typealias Return = NoReturnParameters

  /// The type of the host's own address. 0 is public, 1 is random. 2 and 3 are resolvable if possible, otherwise as 0 and 1.
  package var ownAddressType: UInt8
  /// The scanning filter policy. With bit 0, the controller reports only devices on the filter accept list.
  package var filterPolicy: UInt8
  /// The PHYs to scan on.
  package var phys: PHYMask
  /// The scan parameters of each PHY in `phys`, in the order of the bits.
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
    for entry in timings { entry.encode(into: &writer) }
  }
}

/// The command LE Set Extended Scan Enable (Vol 4 Part E §7.8.65).
package struct LESetExtendedScanEnable: Command {
  package static let opcode = Opcode(0x2042, "LE Set Extended Scan Enable", bit: (37, 6))
  package typealias Return = NoReturnParameters

  /// Whether the controller scans after this command.
  package var isOn: Bool
  /// The duplicate filter. 0 reports everything, 1 each device once, 2 each device once in each period.
  package var filterDuplicates: UInt8
  /// The duration of the scan. 0 means until the host disables the scan.
  package var duration: Centiseconds
  /// The time from one scan to the next, in units of 1.28 s. 0 means a single scan.
  package var period: UInt16

  package init(_ isOn: Bool, filterDuplicates: UInt8, duration: Centiseconds, period: UInt16) {
    self.isOn = isOn
    self.filterDuplicates = filterDuplicates
    self.duration = duration
    self.period = period
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    isOn = try reader.uint8("enable") != 0
    filterDuplicates = try reader.uint8("filter duplicates")
    duration = try reader.time("duration")
    period = try reader.uint16("period")
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(isOn ? 1 : 0)
    writer.uint8(filterDuplicates)
    writer.uint16(duration.rawValue)
    writer.uint16(period)
  }
}

/// The command LE Extended Create Connection (Vol 4 Part E §7.8.66).
package struct LEExtendedCreateConnection: Command {
  package static let opcode = Opcode(0x2043, "LE Extended Create Connection", bit: (37, 7))
  package typealias Return = AnsweredByStatus

  /// The initiator filter policy. 0 connects to `peer`, 1 to any device on the filter accept list.
  package var filterPolicy: UInt8
  /// The type of the host's own address. 0 is public, 1 is random. 2 and 3 are resolvable if possible, otherwise as 0 and 1.
  package var ownAddressType: UInt8
  /// The device to connect to.
  package var peer: PeerAddress
  /// The PHYs to connect on.
  package var phys: PHYMask
  /// The initiating parameters of each PHY in `phys`, in the order of the bits.
  package var initiating: [Initiating]

  package init(filterPolicy: UInt8 = 0, ownAddressType: UInt8, peer: PeerAddress, phys: PHYMask, initiating: [Initiating]) {
    self.filterPolicy = filterPolicy
    self.ownAddressType = ownAddressType
    self.peer = peer
    self.phys = phys
    self.initiating = initiating
  }

  package init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    filterPolicy = try reader.uint8("filter policy")
    ownAddressType = try reader.uint8("own address type")
    peer = try reader.peerAddress()
    phys = PHYMask(rawValue: try reader.uint8("initiating PHYs"))
    initiating = []
    for _ in 0..<phys.rawValue.nonzeroBitCount { initiating.append(try LEExtendedCreateConnection.Initiating(parsing: &reader)) }
  }

  package func encode(into writer: inout ByteWriter) {
    writer.uint8(filterPolicy)
    writer.uint8(ownAddressType)
    writer.peerAddress(peer)
    writer.uint8(phys.rawValue)
    for entry in initiating { entry.encode(into: &writer) }
  }
}

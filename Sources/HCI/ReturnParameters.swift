package import Bluetooth

/// What a Command Complete event returns, by command. All but `failed`, `none` and `other` mean status Success.
package enum ReturnParameters: Sendable, Equatable {
  /// No octets at all.
  case none
  /// Success with nothing else of interest.
  case success
  /// A status that is not Success. What follows it is not looked at: many controllers send one octet only.
  case failed(ControllerErrorCode)
  case localVersion(LocalVersion)
  case supportedCommands(SupportedCommands)
  case localFeatures(UInt64)
  /// Lengths in octets.
  case bufferSize(aclLength: UInt16, synchronousLength: UInt8, aclCount: UInt16, synchronousCount: UInt16)
  case address(Address)
  /// dBm, 127 when not available.
  case rssi(handle: UInt16, Int8)
  /// Zero length or count: the LE buffers are those of Read Buffer Size.
  case leBufferSize(aclLength: UInt16, aclCount: UInt8)
  case leBufferSizeV2(aclLength: UInt16, aclCount: UInt8, isoLength: UInt16, isoCount: UInt8)
  case leFeatures(LEFeatures)
  case handle(UInt16)
  case suggestedDataLength(txOctets: UInt16, txTime: UInt16)
  case maximumDataLength(txOctets: UInt16, txTime: UInt16, rxOctets: UInt16, rxTime: UInt16)
  /// PHY octets as in LE Read PHY; unknown values survive.
  case phy(handle: UInt16, tx: UInt8, rx: UInt8)
  /// Of a command that is not in the table: everything, with what is probably the status.
  case other([UInt8])

  package struct LocalVersion: Sendable, Equatable {
    /// Core version: 6 is 4.0, 13 is 5.4.
    package var hciVersion: UInt8
    package var hciSubversion: UInt16
    package var lmpVersion: UInt8
    package var company: UInt16
    package var lmpSubversion: UInt16

    package init(hciVersion: UInt8, hciSubversion: UInt16, lmpVersion: UInt8, company: UInt16, lmpSubversion: UInt16) {
      self.hciVersion = hciVersion
      self.hciSubversion = hciSubversion
      self.lmpVersion = lmpVersion
      self.company = company
      self.lmpSubversion = lmpSubversion
    }
  }

  package var status: ControllerErrorCode {
    switch self {
    case .failed(let status): status
    case .other(let octets): ControllerErrorCode(rawValue: octets.first ?? 0)
    default: .success
    }
  }

  /// Octets after the known ones are allowed here: later versions of the specification add fields.
  init(_ opcode: Opcode, _ octets: [UInt8]) throws(MalformedPacket) {
    guard let status = octets.first else {
      guard Self.isKnown(opcode) else {
        self = .none
        return
      }
      throw MalformedPacket("\(opcode): no status", at: 0)
    }
    guard Self.isKnown(opcode) else {
      self = .other(octets)
      return
    }
    guard status == 0 else {
      self = .failed(ControllerErrorCode(rawValue: status))
      return
    }
    var reader = ByteReader(octets[1...])
    switch opcode {
    case .readLocalVersion:
      self = .localVersion(
        LocalVersion(
          hciVersion: try reader.uint8("HCI version"), hciSubversion: try reader.uint16("HCI subversion"),
          lmpVersion: try reader.uint8("LMP version"), company: try reader.uint16("company"),
          lmpSubversion: try reader.uint16("LMP subversion")))
    case .readLocalSupportedCommands: self = .supportedCommands(SupportedCommands(octets: try reader.slice(64, "supported commands")))
    case .readLocalSupportedFeatures: self = .localFeatures(try reader.uint64("LMP features"))
    case .readBufferSize:
      self = .bufferSize(
        aclLength: try reader.uint16("ACL length"), synchronousLength: try reader.uint8("synchronous length"),
        aclCount: try reader.uint16("ACL count"), synchronousCount: try reader.uint16("synchronous count"))
    case .readBDADDR: self = .address(try reader.address("BD_ADDR"))
    case .readRSSI: self = .rssi(handle: try reader.uint16("handle"), try reader.int8("RSSI"))
    case .leReadBufferSize: self = .leBufferSize(aclLength: try reader.uint16("LE ACL length"), aclCount: try reader.uint8("LE ACL count"))
    case .leReadBufferSizeV2:
      self = .leBufferSizeV2(
        aclLength: try reader.uint16("LE ACL length"), aclCount: try reader.uint8("LE ACL count"),
        isoLength: try reader.uint16("ISO length"), isoCount: try reader.uint8("ISO count"))
    case .leReadLocalSupportedFeatures: self = .leFeatures(LEFeatures(rawValue: try reader.uint64("LE features")))
    case .leSetDataLength, .leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply:
      self = .handle(try reader.uint16("handle"))
    case .leReadSuggestedDefaultDataLength:
      self = .suggestedDataLength(txOctets: try reader.uint16("TX octets"), txTime: try reader.uint16("TX time"))
    case .leReadMaximumDataLength:
      self = .maximumDataLength(
        txOctets: try reader.uint16("TX octets"), txTime: try reader.uint16("TX time"), rxOctets: try reader.uint16("RX octets"),
        rxTime: try reader.uint16("RX time"))
    case .leReadPHY:
      self = .phy(handle: try reader.uint16("handle"), tx: try reader.uint8("TX PHY"), rx: try reader.uint8("RX PHY"))
    default: self = .success
    }
  }

  private static func isKnown(_ opcode: Opcode) -> Bool {
    opcode != .none && opcode.supportedBit != nil || opcode == .readLocalSupportedCommands
  }

  func encode(into writer: inout ByteWriter) {
    switch self {
    case .none: return
    case .other(let octets):
      writer.append(octets)
      return
    default: writer.uint8(status.rawValue)
    }
    switch self {
    case .none, .success, .failed, .other: break
    case .localVersion(let version):
      writer.uint8(version.hciVersion)
      writer.uint16(version.hciSubversion)
      writer.uint8(version.lmpVersion)
      writer.uint16(version.company)
      writer.uint16(version.lmpSubversion)
    case .supportedCommands(let commands): writer.append(commands.octets)
    case .localFeatures(let features): writer.uint64(features)
    case .bufferSize(let aclLength, let synchronousLength, let aclCount, let synchronousCount):
      writer.uint16(aclLength)
      writer.uint8(synchronousLength)
      writer.uint16(aclCount)
      writer.uint16(synchronousCount)
    case .address(let address): writer.address(address)
    case .rssi(let handle, let rssi):
      writer.uint16(handle)
      writer.int8(rssi)
    case .leBufferSize(let aclLength, let aclCount):
      writer.uint16(aclLength)
      writer.uint8(aclCount)
    case .leBufferSizeV2(let aclLength, let aclCount, let isoLength, let isoCount):
      writer.uint16(aclLength)
      writer.uint8(aclCount)
      writer.uint16(isoLength)
      writer.uint8(isoCount)
    case .leFeatures(let features): writer.uint64(features.rawValue)
    case .handle(let handle): writer.uint16(handle)
    case .suggestedDataLength(let txOctets, let txTime):
      writer.uint16(txOctets)
      writer.uint16(txTime)
    case .maximumDataLength(let txOctets, let txTime, let rxOctets, let rxTime):
      for value in [txOctets, txTime, rxOctets, rxTime] { writer.uint16(value) }
    case .phy(let handle, let tx, let rx):
      writer.uint16(handle)
      writer.uint8(tx)
      writer.uint8(rx)
    }
  }
}

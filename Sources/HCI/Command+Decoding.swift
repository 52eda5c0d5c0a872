import Bluetooth

extension Command {
  /// - Parameter reader: the parameters; read to the end.
  init(_ opcode: Opcode, parsing reader: inout ByteReader) throws(MalformedPacket) {
    switch opcode {
    case .reset: self = .reset
    case .readLocalVersion: self = .readLocalVersion
    case .readLocalSupportedCommands: self = .readLocalSupportedCommands
    case .readLocalSupportedFeatures: self = .readLocalSupportedFeatures
    case .readBufferSize: self = .readBufferSize
    case .readBDADDR: self = .readBDADDR
    case .leReadBufferSize: self = .leReadBufferSize
    case .leReadBufferSizeV2: self = .leReadBufferSizeV2
    case .leReadLocalSupportedFeatures: self = .leReadLocalSupportedFeatures
    case .leCreateConnectionCancel: self = .leCreateConnectionCancel
    case .leReadSuggestedDefaultDataLength: self = .leReadSuggestedDefaultDataLength
    case .leReadMaximumDataLength: self = .leReadMaximumDataLength
    case .setEventMask: self = .setEventMask(try reader.uint64("event mask"))
    case .leSetEventMask: self = .leSetEventMask(try reader.uint64("LE event mask"))
    case .disconnect:
      self = .disconnect(handle: try reader.uint16("handle"), reason: ControllerErrorCode(rawValue: try reader.uint8("reason")))
    case .leRemoteConnectionParameterRequestNegativeReply:
      self = .leRemoteConnectionParameterRequestNegativeReply(
        handle: try reader.uint16("handle"), reason: ControllerErrorCode(rawValue: try reader.uint8("reason")))
    case .readRemoteVersion: self = .readRemoteVersion(handle: try reader.uint16("handle"))
    case .readRSSI: self = .readRSSI(handle: try reader.uint16("handle"))
    case .leReadRemoteFeatures: self = .leReadRemoteFeatures(handle: try reader.uint16("handle"))
    case .leReadPHY: self = .leReadPHY(handle: try reader.uint16("handle"))
    case .leSetRandomAddress: self = .leSetRandomAddress(try reader.address("random address"))
    case .leSetScanParameters:
      let timing = try ScanTiming(parsing: &reader)
      self = .leSetScanParameters(
        timing, ownAddressType: try reader.uint8("own address type"), filterPolicy: try reader.uint8("filter policy"))
    case .leSetScanEnable:
      self = .leSetScanEnable(try reader.uint8("enable") != 0, filterDuplicates: try reader.uint8("filter duplicates") != 0)
    case .leCreateConnection:
      let scanInterval = try reader.uint16("scan interval")
      let scanWindow = try reader.uint16("scan window")
      let filterPolicy = try reader.uint8("filter policy")
      let peer = try reader.peerAddress()
      let own = try reader.uint8("own address type")
      self = .leCreateConnection(
        LECreateConnection(
          scanInterval: scanInterval, scanWindow: scanWindow, filterPolicy: filterPolicy, peer: peer, ownAddressType: own,
          parameters: try ConnectionParameters(parsing: &reader)))
    case .leConnectionUpdate:
      self = .leConnectionUpdate(handle: try reader.uint16("handle"), try ConnectionParameters(parsing: &reader))
    case .leRemoteConnectionParameterRequestReply:
      self = .leRemoteConnectionParameterRequestReply(handle: try reader.uint16("handle"), try ConnectionParameters(parsing: &reader))
    case .leSetDataLength:
      self = .leSetDataLength(
        handle: try reader.uint16("handle"), txOctets: try reader.uint16("TX octets"), txTime: try reader.uint16("TX time"))
    case .leWriteSuggestedDefaultDataLength:
      self = .leWriteSuggestedDefaultDataLength(txOctets: try reader.uint16("TX octets"), txTime: try reader.uint16("TX time"))
    case .leSetDefaultPHY:
      self = .leSetDefaultPHY(
        allPHYs: try reader.uint8("all PHYs"), tx: PHYMask(rawValue: try reader.uint8("TX PHYs")),
        rx: PHYMask(rawValue: try reader.uint8("RX PHYs")))
    case .leSetPHY:
      self = .leSetPHY(
        handle: try reader.uint16("handle"), allPHYs: try reader.uint8("all PHYs"), tx: PHYMask(rawValue: try reader.uint8("TX PHYs")),
        rx: PHYMask(rawValue: try reader.uint8("RX PHYs")), options: try reader.uint16("PHY options"))
    case .leSetExtendedScanParameters:
      let own = try reader.uint8("own address type")
      let policy = try reader.uint8("filter policy")
      let phys = PHYMask(rawValue: try reader.uint8("scanning PHYs"))
      var timings: [ScanTiming] = []
      for _ in 0..<phys.rawValue.nonzeroBitCount { timings.append(try ScanTiming(parsing: &reader)) }
      self = .leSetExtendedScanParameters(ownAddressType: own, filterPolicy: policy, phys: phys, timings)
    case .leSetExtendedScanEnable:
      self = .leSetExtendedScanEnable(
        try reader.uint8("enable") != 0, filterDuplicates: try reader.uint8("filter duplicates"), duration: try reader.uint16("duration"),
        period: try reader.uint16("period"))
    case .leExtendedCreateConnection:
      let policy = try reader.uint8("filter policy")
      let own = try reader.uint8("own address type")
      let peer = try reader.peerAddress()
      let phys = PHYMask(rawValue: try reader.uint8("initiating PHYs"))
      var initiating: [LEExtendedCreateConnection.Initiating] = []
      for _ in 0..<phys.rawValue.nonzeroBitCount {
        initiating.append(
          LEExtendedCreateConnection.Initiating(
            scanInterval: try reader.uint16("scan interval"), scanWindow: try reader.uint16("scan window"),
            parameters: try ConnectionParameters(parsing: &reader)))
      }
      self = .leExtendedCreateConnection(
        LEExtendedCreateConnection(filterPolicy: policy, ownAddressType: own, peer: peer, phys: phys, initiating: initiating))
    default:
      self = .other(opcode, reader.rest())
    }
    try reader.finish("HCI command")
  }
}

extension ByteReader {
  /// Address type octet and address.
  mutating func peerAddress() throws(MalformedPacket) -> PeerAddress {
    let position = offset
    let type = try uint8("peer address type")
    let address = try address("peer address")
    guard let peer = PeerAddress(hciType: type, address) else { throw MalformedPacket("peer address type \(type)", at: position) }
    return peer
  }
}

import Bluetooth
import HCI

extension VirtualController {
  func execute(_ command: Command) {
    let opcode = command.opcode
    guard supportedOpcodes.contains(opcode) else { return refuseUnknown(opcode) }
    switch command {
    case .reset:
      reset()
      complete(opcode)
    case .setEventMask(let mask):
      eventMask = mask
      complete(opcode)
    case .leSetEventMask(let mask):
      leEventMask = mask
      complete(opcode)
    case .readLocalVersion:
      // 13 is Core 5.4, 8 is Core 4.2; 0xFFFF is nobody's company.
      let version: UInt8 = configuration.extended ? 13 : 8
      complete(
        opcode, .localVersion(.init(hciVersion: version, hciSubversion: 1, lmpVersion: version, company: 0xFFFF, lmpSubversion: 1)))
    case .readLocalSupportedCommands: complete(opcode, .supportedCommands(SupportedCommands(supportedOpcodes)))
    // LE Supported (Controller), BR/EDR Not Supported (Vol 2 Part C §3.3).
    case .readLocalSupportedFeatures: complete(opcode, .localFeatures(1 << 38 | 1 << 37))
    case .readBDADDR: complete(opcode, .address(address))
    case .leReadBufferSize:
      complete(opcode, .leBufferSize(aclLength: bufferLength, aclCount: UInt8(clamping: configuration.buffers)))
    case .leReadBufferSizeV2:
      complete(
        opcode, .leBufferSizeV2(aclLength: bufferLength, aclCount: UInt8(clamping: configuration.buffers), isoLength: 0, isoCount: 0))
    case .leReadLocalSupportedFeatures: complete(opcode, .leFeatures(localFeatures))
    case .leSetRandomAddress(let address):
      guard !scanner.isEnabled, initiator == nil else { return refuse(opcode, .commandDisallowed) }
      randomAddress = address
      complete(opcode)
    case .leReadMaximumDataLength:
      let (octets, time) = (UInt16(configuration.dataLength), Self.time(octets: configuration.dataLength))
      complete(opcode, .maximumDataLength(txOctets: octets, txTime: time, rxOctets: octets, rxTime: time))
    case .leReadSuggestedDefaultDataLength:
      complete(
        opcode, .suggestedDataLength(txOctets: UInt16(suggestedDataLength), txTime: Self.time(octets: suggestedDataLength)))
    case .leWriteSuggestedDefaultDataLength(let txOctets, let txTime):
      guard Self.isDataLength(txOctets, txTime) else { return refuse(opcode, .invalidParameters) }
      suggestedDataLength = Int(txOctets)
      complete(opcode)
    case .leSetDefaultPHY(let allPHYs, let tx, let rx):
      guard let (tx, rx) = preferences(allPHYs: allPHYs, tx: tx, rx: rx) else { return refuse(opcode, .unsupportedFeature) }
      (defaultTxPHYs, defaultRxPHYs) = (tx, rx)
      complete(opcode)
    case .leSetScanParameters, .leSetScanEnable, .leSetExtendedScanParameters, .leSetExtendedScanEnable: scan(command)
    case .leCreateConnection, .leExtendedCreateConnection, .leCreateConnectionCancel: initiate(command)
    default: executeOnLink(command)
    }
  }

  private func refuseUnknown(_ opcode: Opcode) { status(opcode, .unknownCommand) }

  private var bufferLength: UInt16 { UInt16(clamping: configuration.bufferLength) }

  private var localFeatures: LEFeatures {
    var features: LEFeatures = [.extendedReject, .peripheralInitiatedFeatures]
    if configuration.dataLength > 27 { features.insert(.dataLengthExtension) }
    if configuration.phys.contains(.le2M) { features.insert(.phy2M) }
    if configuration.phys.contains(.coded) { features.insert(.phyCoded) }
    if configuration.extended { features.formUnion([.extendedAdvertising, .channelSelection2]) }
    return features
  }

  static func opcodes(of configuration: Configuration) -> Set<Opcode> {
    var opcodes: Set<Opcode> = [
      .reset, .setEventMask, .disconnect, .readRemoteVersion, .readLocalVersion, .readLocalSupportedCommands, .readLocalSupportedFeatures,
      .readBDADDR, .readRSSI, .leSetEventMask, .leReadBufferSize, .leReadLocalSupportedFeatures, .leSetRandomAddress,
      .leSetScanParameters, .leSetScanEnable, .leCreateConnection, .leCreateConnectionCancel, .leConnectionUpdate, .leReadRemoteFeatures,
    ]
    if configuration.dataLength > 27 {
      opcodes.formUnion([
        .leSetDataLength, .leReadSuggestedDefaultDataLength, .leWriteSuggestedDefaultDataLength, .leReadMaximumDataLength,
      ])
    }
    if configuration.phys.count > 1 { opcodes.formUnion([.leReadPHY, .leSetDefaultPHY, .leSetPHY]) }
    if configuration.extended {
      opcodes.formUnion([.leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection, .leReadBufferSizeV2])
    }
    return opcodes
  }

  /// Legacy and extended commands exclude each other until Reset. Returns false after refusing.
  func use(_ set: CommandSet, for opcode: Opcode) -> Bool {
    if let commandSet, commandSet != set {
      violate("\(opcode): legacy and extended commands mixed")
      refuse(opcode, .commandDisallowed)
      return false
    }
    commandSet = set
    return true
  }

  /// Own_Address_Type: 0 and 2 public, 1 and 3 random, which must have been set.
  func isOwnAddress(_ type: UInt8) -> Bool { type == 0 || type == 2 || (type == 1 || type == 3) && randomAddress != nil }

  /// What the host prefers, by direction; nil when it names a PHY that this controller does not have, or none.
  func preferences(allPHYs: UInt8, tx: PHYMask, rx: PHYMask) -> (tx: PHYMask, rx: PHYMask)? {
    let own = PHYMask(configuration.phys)
    let tx = allPHYs & 1 != 0 ? own : tx
    let rx = allPHYs & 2 != 0 ? own : rx
    guard !tx.isEmpty, !rx.isEmpty, own.isSuperset(of: tx), own.isSuperset(of: rx) else { return nil }
    return (tx, rx)
  }

  /// Air time of a data PDU with MIC on 1M, µs: what the time fields of data length commands and events mean.
  static func time(octets: Int) -> UInt16 { UInt16(clamping: (octets + 14) * 8) }

  static func isDataLength(_ octets: UInt16, _ time: UInt16) -> Bool { (27...251).contains(octets) && (328...17_040).contains(time) }
}

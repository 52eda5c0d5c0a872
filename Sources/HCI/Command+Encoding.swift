import Bluetooth

extension Command {
  /// H4 form. The length field holds at most 255 octets of parameters; more (only possible with `other`) is cut.
  package var encoded: [UInt8] {
    let parameters = parameters.prefix(255)
    var writer = ByteWriter(capacity: parameters.count + 4)
    writer.uint8(Packet.commandIndicator)
    writer.uint16(opcode.rawValue)
    writer.uint8(UInt8(parameters.count))
    writer.append(parameters)
    return writer.bytes
  }

  private var parameters: [UInt8] {
    var writer = ByteWriter(capacity: 44)
    switch self {
    case .reset, .readLocalVersion, .readLocalSupportedCommands, .readLocalSupportedFeatures, .readBufferSize, .readBDADDR,
      .leReadBufferSize,
      .leReadBufferSizeV2, .leReadLocalSupportedFeatures, .leCreateConnectionCancel, .leReadSuggestedDefaultDataLength,
      .leReadMaximumDataLength:
      break
    case .setEventMask(let mask), .leSetEventMask(let mask):
      writer.uint64(mask)
    case .disconnect(let handle, let reason), .leRemoteConnectionParameterRequestNegativeReply(let handle, let reason):
      writer.uint16(handle)
      writer.uint8(reason.rawValue)
    case .readRemoteVersion(let handle), .readRSSI(let handle), .leReadRemoteFeatures(let handle), .leReadPHY(let handle):
      writer.uint16(handle)
    case .leSetRandomAddress(let address):
      writer.address(address)
    case .leSetScanParameters(let timing, let ownAddressType, let filterPolicy):
      timing.encode(into: &writer)
      writer.uint8(ownAddressType)
      writer.uint8(filterPolicy)
    case .leSetScanEnable(let enable, let filterDuplicates):
      writer.uint8(enable ? 1 : 0)
      writer.uint8(filterDuplicates ? 1 : 0)
    case .leCreateConnection(let create):
      writer.uint16(create.scanInterval)
      writer.uint16(create.scanWindow)
      writer.uint8(create.filterPolicy)
      writer.uint8(create.peer.type.hciValue)
      writer.address(create.peer.address)
      writer.uint8(create.ownAddressType)
      create.parameters.encode(into: &writer)
    case .leConnectionUpdate(let handle, let parameters), .leRemoteConnectionParameterRequestReply(let handle, let parameters):
      writer.uint16(handle)
      parameters.encode(into: &writer)
    case .leSetDataLength(let handle, let txOctets, let txTime):
      writer.uint16(handle)
      writer.uint16(txOctets)
      writer.uint16(txTime)
    case .leWriteSuggestedDefaultDataLength(let txOctets, let txTime):
      writer.uint16(txOctets)
      writer.uint16(txTime)
    case .leSetDefaultPHY(let allPHYs, let tx, let rx):
      writer.uint8(allPHYs)
      writer.uint8(tx.rawValue)
      writer.uint8(rx.rawValue)
    case .leSetPHY(let handle, let allPHYs, let tx, let rx, let options):
      writer.uint16(handle)
      writer.uint8(allPHYs)
      writer.uint8(tx.rawValue)
      writer.uint8(rx.rawValue)
      writer.uint16(options)
    case .leSetExtendedScanParameters(let ownAddressType, let filterPolicy, let phys, let timings):
      writer.uint8(ownAddressType)
      writer.uint8(filterPolicy)
      writer.uint8(phys.rawValue)
      for timing in timings { timing.encode(into: &writer) }
    case .leSetExtendedScanEnable(let enable, let filterDuplicates, let duration, let period):
      writer.uint8(enable ? 1 : 0)
      writer.uint8(filterDuplicates)
      writer.uint16(duration)
      writer.uint16(period)
    case .leExtendedCreateConnection(let create):
      writer.uint8(create.filterPolicy)
      writer.uint8(create.ownAddressType)
      writer.uint8(create.peer.type.hciValue)
      writer.address(create.peer.address)
      writer.uint8(create.phys.rawValue)
      for one in create.initiating {
        writer.uint16(one.scanInterval)
        writer.uint16(one.scanWindow)
        one.parameters.encode(into: &writer)
      }
    case .other(_, let octets):
      writer.append(octets)
    }
    return writer.bytes
  }
}

extension Command.ScanTiming {
  func encode(into writer: inout ByteWriter) {
    writer.uint8(isActive ? 1 : 0)
    writer.uint16(interval)
    writer.uint16(window)
  }

  init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    isActive = try reader.uint8("scan type") != 0
    interval = try reader.uint16("scan interval")
    window = try reader.uint16("scan window")
  }
}

extension ConnectionParameters {
  func encode(into writer: inout ByteWriter) {
    for value in [intervalMin, intervalMax, latency, supervisionTimeout, minCELength, maxCELength] { writer.uint16(value) }
  }

  init(parsing reader: inout ByteReader) throws(MalformedPacket) {
    self.init(
      intervalMin: try reader.uint16("minimum connection interval"), intervalMax: try reader.uint16("maximum connection interval"),
      latency: try reader.uint16("latency"), supervisionTimeout: try reader.uint16("supervision timeout"),
      minCELength: try reader.uint16("minimum connection event length"),
      maxCELength: try reader.uint16("maximum connection event length"))
  }
}

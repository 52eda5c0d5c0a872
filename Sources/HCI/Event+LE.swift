import Bluetooth

extension Event {
  /// Parses an LE Meta event (Vol 4 Part E §7.7.65). - Parameter reader: the event's parameters, starting with the subevent code.
  init(leMeta reader: inout ByteReader) throws(MalformedPacket) {
    guard !reader.isAtEnd else {
      self = .leOther(subevent: nil, [])
      return
    }
    let subevent = try reader.uint8("LE Meta: subevent")
    switch subevent {
    case 0x01, 0x0A, 0x29:
      self = .leConnectionComplete(try ConnectionComplete(ConnectionComplete.Form(rawValue: subevent) ?? .plain, parsing: &reader))
    case 0x02: self = .leAdvertisingReports(try AdvertisingReports(parsing: &reader))
    case 0x03:
      self = .leConnectionUpdateComplete(
        status: try reader.status(), handle: try reader.handle(), interval: try reader.time("interval"),
        latency: try reader.uint16("latency"), supervisionTimeout: try reader.time("supervision timeout"))
    case 0x04:
      self = .leReadRemoteFeaturesComplete(
        status: try reader.status(), handle: try reader.handle(), features: LEFeatures(rawValue: try reader.uint64("LE features")))
    case 0x06:
      self = .leRemoteConnectionParameterRequest(
        handle: try reader.handle(), intervalMin: try reader.time("minimum interval"), intervalMax: try reader.time("maximum interval"),
        latency: try reader.uint16("latency"), supervisionTimeout: try reader.time("supervision timeout"))
    case 0x07:
      self = .leDataLengthChange(
        handle: try reader.handle(), maxTxOctets: try reader.uint16("TX octets"), maxTxTime: try reader.uint16("TX time"),
        maxRxOctets: try reader.uint16("RX octets"), maxRxTime: try reader.uint16("RX time"))
    case 0x0B: self = .leDirectedAdvertisingReports(try AdvertisingReports(parsing: &reader))
    case 0x0C:
      self = .lePHYUpdateComplete(
        status: try reader.status(), handle: try reader.handle(), tx: try reader.uint8("TX PHY"), rx: try reader.uint8("RX PHY"))
    case 0x0D: self = .leExtendedAdvertisingReports(try AdvertisingReports(parsing: &reader))
    default: self = .leOther(subevent: subevent, reader.rest())
    }
  }

  func encodeLEMeta(into writer: inout ByteWriter) {
    switch self {
    case .leConnectionComplete(let complete):
      writer.uint8(complete.form.rawValue)
      complete.encode(into: &writer)
    case .leAdvertisingReports(let reports):
      writer.uint8(0x02)
      reports.encode(into: &writer)
    case .leConnectionUpdateComplete(let status, let handle, let interval, let latency, let supervisionTimeout):
      writer.uint8(0x03)
      writer.uint8(status.rawValue)
      writer.handle(handle)
      for value in [interval.rawValue, latency, supervisionTimeout.rawValue] { writer.uint16(value) }
    case .leReadRemoteFeaturesComplete(let status, let handle, let features):
      writer.uint8(0x04)
      writer.uint8(status.rawValue)
      writer.handle(handle)
      writer.uint64(features.rawValue)
    case .leRemoteConnectionParameterRequest(let handle, let intervalMin, let intervalMax, let latency, let supervisionTimeout):
      writer.uint8(0x06)
      writer.handle(handle)
      for value in [intervalMin.rawValue, intervalMax.rawValue, latency, supervisionTimeout.rawValue] { writer.uint16(value) }
    case .leDataLengthChange(let handle, let maxTxOctets, let maxTxTime, let maxRxOctets, let maxRxTime):
      writer.uint8(0x07)
      writer.handle(handle)
      for value in [maxTxOctets, maxTxTime, maxRxOctets, maxRxTime] { writer.uint16(value) }
    case .leDirectedAdvertisingReports(let reports):
      writer.uint8(0x0B)
      reports.encode(into: &writer)
    case .lePHYUpdateComplete(let status, let handle, let tx, let rx):
      writer.uint8(0x0C)
      writer.uint8(status.rawValue)
      writer.handle(handle)
      writer.uint8(tx)
      writer.uint8(rx)
    case .leExtendedAdvertisingReports(let reports):
      writer.uint8(0x0D)
      reports.encode(into: &writer)
    case .leOther(let subevent, let octets):
      if let subevent { writer.uint8(subevent) }
      writer.append(octets)
    case .disconnectionComplete, .readRemoteVersionComplete, .commandComplete, .commandStatus, .hardwareError, .numberOfCompletedPackets,
      .other:
      break
    }
  }
}

extension Event.ConnectionComplete {
  fileprivate init(_ form: Form, parsing reader: inout ByteReader) throws(MalformedPacket) {
    self.form = form
    status = try reader.status()
    handle = try reader.handle()
    role = try reader.uint8("role")
    let position = reader.offset
    let type = try reader.uint8("peer address type")
    let address = try reader.address("peer address")
    if let known = PeerAddress(hciType: type, address) {
      peer = known
    } else if status != .success {
      // In failure events, these fields may have any content. Only the status counts.
      peer = PeerAddress(address, .random)
    } else {
      throw MalformedPacket("LE Connection Complete: invalid peer address type \(type)", at: position)
    }
    if form != .plain {
      localResolvableAddress = try reader.address("local resolvable address")
      peerResolvableAddress = try reader.address("peer resolvable address")
    }
    interval = try reader.time("interval")
    latency = try reader.uint16("latency")
    supervisionTimeout = try reader.time("supervision timeout")
    clockAccuracy = try reader.uint8("clock accuracy")
    if form == .enhancedV2 {
      advertisingHandle = try reader.uint8("advertising handle")
      syncHandle = try reader.uint16("sync handle")
    }
  }

  fileprivate func encode(into writer: inout ByteWriter) {
    writer.uint8(status.rawValue)
    writer.handle(handle)
    writer.uint8(role)
    writer.uint8(peer.type.hciValue)
    writer.address(peer.address)
    if form != .plain {
      writer.address(localResolvableAddress)
      writer.address(peerResolvableAddress)
    }
    writer.uint16(interval.rawValue)
    writer.uint16(latency)
    writer.uint16(supervisionTimeout.rawValue)
    writer.uint8(clockAccuracy)
    if form == .enhancedV2 {
      writer.uint8(advertisingHandle)
      writer.uint16(syncHandle)
    }
  }
}

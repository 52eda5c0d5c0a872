package import BluetoothLE

extension DecodedPacket {
  /// Decodes a frame of an LE link according to its channel.
  package static func carried(by frame: L2CAPFrame) -> (layer: PacketLayer, packet: DecodedPacket) {
    switch frame.channel {
    case .att: (.att, DecodedPacket(att: frame.payload))
    case .signalling: (.signalling, DecodedPacket(signalling: frame.payload))
    case .securityManager: (.smp, DecodedPacket(securityManager: frame.payload))
    default:
      (
        .l2cap,
        DecodedPacket(
          "L2CAP frame",
          [PacketField("channel", .mask(UInt64(frame.channel.rawValue), bytes: 2)), PacketField("data", .bytes(frame.payload))])
      )
    }
  }

  /// Decodes one command of the LE signaling channel (Vol 3 Part A §4).
  package init(signalling bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    var head: [PacketField] = []
    let problem = PacketFormat("code:x8 identifier:u8 length:u16").read(&reader, "signalling", into: &head)
    guard problem == nil, let code = head[0].value.number.flatMap({ UInt8(exactly: $0) }) else {
      self.init("LE signalling", head, problem: problem)
      return
    }
    let known = Self.signals[code]
    self.init(known?.name ?? "Signal 0x\(Hex.encode([code]))", Array(head[1...]))
    guard head[2].value.number == Int64(reader.remaining) else {
      self.problem = MalformedPacket("\(name): length \(head[2].value.number ?? 0), but \(reader.remaining.counted("byte")) left", at: 2)
      fields.append(PacketField("octets", .bytes(reader.rest())))
      return
    }
    read(known?.format, &reader, else: "data")
  }

  /// Decodes a PDU of the Security Manager (Vol 3 Part H §3.5).
  package init(securityManager bytes: [UInt8]) {
    guard let code = bytes.first else {
      self.init("Security Manager", problem: MalformedPacket("Security Manager: no code", at: 0))
      return
    }
    var reader = ByteReader(bytes)
    _ = try? reader.uint8("code")
    let known = Self.pairing[code]
    self.init(known?.name ?? "Security Manager code 0x\(Hex.encode([code]))")
    read(known?.format, &reader, else: "data")
  }
}

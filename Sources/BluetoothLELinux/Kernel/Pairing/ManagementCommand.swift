/// A command of the management channel that concerns keys, a pairing or the peripheral role.
enum ManagementCommand: Equatable {
  /// Read Controller Information.
  case readInformation
  case setBondable(Bool)
  case setSecureConnections(Bool)
  case setIOCapability(IOCapability)
  /// Replaces all long term keys of the adapter.
  case loadLongTermKeys([Bond])
  /// Replaces all identity resolving keys of the adapter.
  case loadIdentityKeys([Bond])
  /// Pair Device. The kernel answers at the end of the pairing.
  case pair(PeerAddress, IOCapability)
  case cancelPairing(PeerAddress)
  /// Removes the keys of a device.
  case unpair(PeerAddress, disconnects: Bool)
  /// User Confirmation Reply, or its negative form.
  case confirm(PeerAddress, Bool)
  /// User Passkey Reply. Nil is its negative form.
  case enter(PeerAddress, SixDigits?)
  case disconnect(PeerAddress)
  /// Read Advertising Features.
  case readAdvertisingFeatures
  /// Add Extended Advertising Parameters. The kernel advertises only after `addAdvertisingData`.
  case addAdvertising(instance: UInt8, Advertising)
  /// Add Extended Advertising Data.
  case addAdvertisingData(instance: UInt8, Advertising)
  case removeAdvertising(instance: UInt8)

  var opcode: UInt16 {
    switch self {
    case .readInformation: 0x0004
    case .setBondable: 0x0009
    case .loadLongTermKeys: 0x0013
    case .disconnect: 0x0014
    case .setIOCapability: 0x0018
    case .pair: 0x0019
    case .cancelPairing: 0x001A
    case .unpair: 0x001B
    case .confirm(_, let isSame): isSame ? 0x001C : 0x001D
    case .enter(_, let passkey): passkey == nil ? 0x001F : 0x001E
    case .setSecureConnections: 0x002D
    case .loadIdentityKeys: 0x0030
    case .readAdvertisingFeatures: 0x003D
    case .removeAdvertising: 0x003F
    case .addAdvertising: 0x0054
    case .addAdvertisingData: 0x0055
    }
  }

  var parameters: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .readInformation, .readAdvertisingFeatures: break
    case .setBondable(let isOn), .setSecureConnections(let isOn): writer.uint8(isOn ? 1 : 0)
    case .setIOCapability(let capability): writer.uint8(capability.rawValue)
    case .cancelPairing(let peer), .confirm(let peer, _), .disconnect(let peer): writer.managed(peer)
    case .pair(let peer, let ability):
      writer.managed(peer)
      writer.uint8(ability.rawValue)
    case .unpair(let peer, let disconnects):
      writer.managed(peer)
      writer.uint8(disconnects ? 1 : 0)
    case .enter(let peer, let passkey):
      writer.managed(peer)
      if let passkey { writer.uint32(passkey.number) }
    case .loadLongTermKeys(let bonds):
      let keys = bonds.flatMap { bond in bond.keys.map { (bond.identity, $0) } }
      writer.uint16(UInt16(clamping: keys.count))
      for (peer, key) in keys {
        writer.managed(peer)
        writer.uint8((key.security.isSecureConnections ? 2 : 0) | (key.security.isAuthenticated ? 1 : 0))
        writer.uint8(key.role == .central ? 1 : 0)
        writer.uint8(key.security.keySize)
        writer.uint16(key.ediv)
        writer.uint64(key.rand)
        writer.uint128(key.key)
      }
    case .loadIdentityKeys(let bonds):
      let keys = bonds.compactMap { bond in bond.irk.map { (bond.identity, $0) } }
      writer.uint16(UInt16(clamping: keys.count))
      for (peer, key) in keys {
        writer.managed(peer)
        writer.uint128(key)
      }
    case .addAdvertising(let instance, let advertising):
      writer.uint8(instance)
      // Connectable, the interval is valid, and for extended PDUs the 1M PHY.
      writer.uint32((advertising.isConnectable ? 1 : 0) | 1 << 14 | (advertising.isExtended ? 1 << 7 : 0))
      // Duration and timeout: none.
      writer.uint32(0)
      for _ in 0..<2 { writer.uint32(UInt32(clamping: advertising.interval.wholeNanoseconds / 625_000)) }
      // No preference for a transmission power.
      writer.uint8(0x7F)
    case .addAdvertisingData(let instance, let advertising):
      writer.uint8(instance)
      writer.uint8(UInt8(clamping: advertising.data.count))
      writer.uint8(UInt8(clamping: advertising.scanResponse.count))
      writer.append(advertising.data)
      writer.append(advertising.scanResponse)
    case .removeAdvertising(let instance): writer.uint8(instance)
    }
    return writer.bytes
  }
}

extension ByteWriter {
  /// Writes an address and its type in the form of the management channel.
  fileprivate mutating func managed(_ peer: PeerAddress) {
    address(peer.address)
    uint8(peer.type == .public ? 1 : 2)
  }
}

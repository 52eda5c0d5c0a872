/// A command of the management channel that concerns keys or a pairing.
enum ManagementCommand: Equatable {
  /// Read Controller Information.
  case readInformation
  case setBondable(Bool)
  case setSecureConnections(Bool)
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

  var opcode: UInt16 {
    switch self {
    case .readInformation: 0x0004
    case .setBondable: 0x0009
    case .loadLongTermKeys: 0x0013
    case .pair: 0x0019
    case .cancelPairing: 0x001A
    case .unpair: 0x001B
    case .confirm(_, let isSame): isSame ? 0x001C : 0x001D
    case .enter(_, let passkey): passkey == nil ? 0x001F : 0x001E
    case .setSecureConnections: 0x002D
    case .loadIdentityKeys: 0x0030
    }
  }

  var parameters: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .readInformation: break
    case .setBondable(let isOn), .setSecureConnections(let isOn): writer.uint8(isOn ? 1 : 0)
    case .cancelPairing(let peer), .confirm(let peer, _): writer.managed(peer)
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

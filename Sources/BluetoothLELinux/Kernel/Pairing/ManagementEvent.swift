/// An event of the management channel that concerns a command of this process, a pairing or the peripheral role.
enum ManagementEvent: Equatable {
  case answer(command: UInt16, ManagementChannel.Answer)
  /// Device Connected.
  case connected(PeerAddress)
  /// Device Disconnected. The reason is a number of the management channel, not of the controller.
  case disconnected(PeerAddress, reason: UInt8)
  /// New Long Term Key. The key is nil for a debug key. `isLasting` is false if the devices do not bond.
  case longTermKey(PeerAddress, LongTermKey?, isLasting: Bool)
  /// New Identity Resolving Key of the device that had the address `of`.
  case identityKey(UInt128, PeerAddress, of: Address)
  /// User Confirmation Request. Without a number, the user only confirms that the devices pair.
  case confirmation(PeerAddress, SixDigits?)
  case passkeyRequest(PeerAddress)
  /// Passkey Notify: the user enters this passkey on the peer.
  case passkeyDisplay(PeerAddress, SixDigits)
  case authenticationFailed(PeerAddress, status: UInt8)

  /// Parses a packet of the management channel.
  /// - Returns: The index of the adapter with the event. Nil for another event.
  static func parse(_ packet: [UInt8]) throws(MalformedPacket) -> (adapter: UInt16, event: ManagementEvent)? {
    var reader = ByteReader(packet)
    let code = try reader.uint16("management event")
    let index = try reader.uint16("management index")
    _ = try reader.uint16("management length")
    return try event(code, &reader).map { (index, $0) }
  }

  private static func event(_ code: UInt16, _ reader: inout ByteReader) throws(MalformedPacket) -> ManagementEvent? {
    switch code {
    case 0x0001, 0x0002:
      let command = try reader.uint16("management command")
      return .answer(
        command: command, ManagementChannel.Answer(status: try reader.uint8("management status"), parameters: reader.rest()))
    case 0x000A:
      let isLasting = try reader.uint8("store hint") != 0
      guard let peer = try reader.managedPeer() else { return nil }
      let type = try reader.uint8("type of a key")
      let isInitiator = try reader.uint8("role of a key") != 0
      let size = try reader.uint8("size of a key")
      guard 7...16 ~= size, type <= 4 else { throw MalformedPacket("key of type \(type) with \(size) bytes", at: reader.offset) }
      let security = LinkSecurity(keySize: size, isAuthenticated: type & 1 != 0, isSecureConnections: type & 2 != 0)
      let role: LinkRole? = security.isSecureConnections ? nil : isInitiator ? .central : .peripheral
      let ediv = try reader.uint16("EDIV")
      let rand = try reader.uint64("Rand")
      let key = LongTermKey(key: try reader.uint128("key"), ediv: ediv, rand: rand, role: role, security: security)
      return .longTermKey(peer, type == 4 ? nil : key, isLasting: isLasting)
    case 0x000B: return try reader.managedPeer().map { .connected($0) }
    case 0x000C:
      guard let peer = try reader.managedPeer() else { return nil }
      return .disconnected(peer, reason: try reader.uint8("reason"))
    case 0x000F:
      guard let peer = try reader.managedPeer() else { return nil }
      guard try reader.uint8("confirmation hint") != 0 else { return .confirmation(peer, try reader.digits()) }
      _ = try reader.uint32("number of six digits")
      return .confirmation(peer, nil)
    case 0x0010: return try reader.managedPeer().map { .passkeyRequest($0) }
    case 0x0011:
      guard let peer = try reader.managedPeer() else { return nil }
      return .authenticationFailed(peer, status: try reader.uint8("management status"))
    case 0x0017:
      guard let peer = try reader.managedPeer() else { return nil }
      return .passkeyDisplay(peer, try reader.digits())
    case 0x0018:
      _ = try reader.uint8("store hint")
      let address = try reader.address("resolvable private address")
      guard let identity = try reader.managedPeer() else { return nil }
      return .identityKey(try reader.uint128("identity resolving key"), identity, of: address)
    default: return nil
    }
  }
}

extension ByteReader {
  /// Reads an address and its type. Returns nil for a BR/EDR device.
  mutating func managedPeer() throws(MalformedPacket) -> PeerAddress? {
    let address = try address("address of a device")
    switch try uint8("address type of a device") {
    case 1: return PeerAddress(address, .public)
    case 2: return PeerAddress(address, .random)
    default: return nil
    }
  }

  fileprivate mutating func digits() throws(MalformedPacket) -> SixDigits {
    let number = try uint32("number of six digits")
    guard let digits = SixDigits(number) else { throw MalformedPacket("number of six digits: \(number)", at: offset) }
    return digits
  }
}

import Bluetooth
import HCI

extension Host {
  /// Resets the controller and reads its abilities. Idempotent.
  /// - Throws: ControllerError if the controller does not answer, lacks LE, or refuses an indispensable command.
  func start() async throws {
    guard !isStarted else { return }
    if let failure = controller.failure { throw failure }
    controller.open()
    try await controller.perform(Reset())
    var info = ControllerInfo()
    info.version = try await ask(ReadLocalVersion())
    if let returned = try await ask(ReadLocalSupportedCommands()) { info.supported = returned.commands }
    // LMP feature bit 38: LE Supported (Controller), Vol 2 Part C §3.2.
    if let features = try await ask(ReadLocalSupportedFeatures())?.features, features != 0, features & 1 << 38 == 0 {
      throw ControllerError(name, .withoutLE)
    }
    if let returned = try await ask(LEReadLocalSupportedFeatures()) { info.leFeatures = returned.features }
    try await readBuffers(&info)
    try await controller.perform(SetEventMask(Self.events))
    try await setLEEventMask(info)
    try await chooseAddress(&info)
    try await setDataLength(&info)
    adapterInfo = info
    sendQueue = SendQueue(length: info.aclLength, total: info.aclCount)
    isStarted = true
  }

  /// Performs a command. Returns nil if the controller refuses or its answer is malformed: it then counts as unsupported.
  private func ask<C: Command>(_ command: C) async throws -> C.Return? {
    do {
      return try await controller.perform(command)
    } catch let error as ControllerError {
      switch error.fault {
      case .refused, .unreadable: return nil
      case .silent, .starved, .hardware, .overflow, .withoutLE, .withoutBuffers, .notStarted, .closed: throw error
      }
    }
  }

  private func readBuffers(_ info: inout ControllerInfo) async throws {
    if let size = try await ask(LEReadBufferSize()), size.aclLength > 0, size.aclCount > 0 {
      (info.aclLength, info.aclCount) = (Int(size.aclLength), Int(size.aclCount))
      return
    }
    // The buffers are shared with Classic (Vol 4 Part E §4.1.1).
    let size = try await controller.perform(ReadBufferSize())
    guard size.aclLength > 0, size.aclCount > 0 else { throw ControllerError(name, .withoutBuffers) }
    (info.aclLength, info.aclCount) = (Int(size.aclLength), Int(size.aclCount))
  }

  /// The events of an LE host (Vol 4 Part E §7.3.1): Disconnection Complete, Encryption Change, Read Remote Version Information
  /// Complete, Hardware Error, Data Buffer Overflow, LE Meta. Events about commands and buffers cannot be masked.
  static let events: UInt64 = 1 << 4 | 1 << 7 | 1 << 11 | 1 << 15 | 1 << 25 | 1 << 61

  private func setLEEventMask(_ info: ControllerInfo) async throws {
    // Connection Complete, Advertising Report, Connection Update, Remote Features. The others need features of the controller.
    let basic: UInt64 = 0x0F
    var mask = basic
    if info.leFeatures.contains(.connectionParametersRequest), info.supported.contains(LERemoteConnectionParameterRequestReply.self) {
      mask |= 1 << 5
    }
    if info.leFeatures.contains(.dataLengthExtension) { mask |= 1 << 6 }
    if info.leFeatures.contains(.extendedScannerFilter) { mask |= 1 << 10 }
    if info.supported.contains(LESetPHY.self) { mask |= 1 << 11 }
    // In some controllers, the reports follow this feature and not the scan command.
    if info.leFeatures.contains(.extendedAdvertising) || info.supported.scansExtended { mask |= 1 << 12 }
    if try await ask(LESetEventMask(mask)) == nil { try await controller.perform(LESetEventMask(basic)) }
  }

  private func chooseAddress(_ info: inout ControllerInfo) async throws {
    if let address = try await ask(ReadBDADDR())?.address, address.rawValue != 0, address.rawValue != 0xFFFF_FFFF_FFFF {
      info.address = address
      info.ownAddress = PeerAddress(address, .public)
      return
    }
    // Static: the two upper bits set, the others neither all zero nor all one (Vol 6 Part B §1.3.2.1).
    let random = Address(rawValue: 0b11 << 46 | UInt64.random(in: 1..<(1 << 46) - 1))
    try await controller.perform(LESetRandomAddress(random))
    info.ownAddress = PeerAddress(random, .random)
  }

  /// Sets the default data length, so that new links start with the longest packets.
  private func setDataLength(_ info: inout ControllerInfo) async throws {
    guard info.leFeatures.contains(.dataLengthExtension) else { return }
    (info.maxTxOctets, info.maxTxTime) = (251, 2120)
    if info.supported.contains(LEReadMaximumDataLength.self), let most = try await ask(LEReadMaximumDataLength()) {
      info.setDataLength(octets: most.txOctets, time: most.txTime)
    }
    if info.supported.contains(LEWriteSuggestedDefaultDataLength.self) {
      _ = try await ask(LEWriteSuggestedDefaultDataLength(txOctets: info.maxTxOctets, txTime: info.maxTxTime))
    }
  }
}

import Bluetooth
import EventLoop
import HCI

extension HostCentral {
  /// Resets the controller and asks what it is and can. Idempotent.
  /// - Throws: BluetoothError(.adapter) when it does not answer or cannot do LE, `.hci` when it refuses what is indispensable.
  package func start() async throws {
    guard !isStarted else { return }
    if let failure = controller.failure { throw failure }
    controller.open()
    try await controller.perform(.reset)
    var info = ControllerInfo()
    if case .localVersion(let version)? = try await ask(.readLocalVersion) { info.version = version }
    if case .supportedCommands(let commands)? = try await ask(.readLocalSupportedCommands) { info.supported = commands }
    // LMP feature bit 38: LE Supported (Controller), Vol 2 Part C §3.2.
    if case .localFeatures(let features)? = try await ask(.readLocalSupportedFeatures), features != 0, features & 1 << 38 == 0 {
      throw BluetoothError(.adapter, "\(name) is a Bluetooth Classic controller without Low Energy")
    }
    if case .leFeatures(let features)? = try await ask(.leReadLocalSupportedFeatures) { info.leFeatures = features }
    try await readBuffers(&info)
    try await controller.perform(.setEventMask(Self.events))
    try await setLEEventMask(info)
    try await chooseAddress(&info)
    try await setDataLength(&info)
    adapterInfo = info
    sendQueue = SendQueue(length: info.aclLength, total: info.aclCount)
    isStarted = true
  }

  /// Nil when the controller refuses or answers nonsense: it then counts as not having it.
  private func ask(_ command: Command) async throws -> ReturnParameters? {
    do {
      return try await controller.perform(command)
    } catch let error as BluetoothError where error.kind == .hci || error.kind == .protocolViolation {
      return nil
    }
  }

  private func readBuffers(_ info: inout ControllerInfo) async throws {
    if case .leBufferSize(let length, let count)? = try await ask(.leReadBufferSize), length > 0, count > 0 {
      (info.aclLength, info.aclCount) = (Int(length), Int(count))
      return
    }
    // Shared with Classic (Vol 4 Part E §4.1.1).
    guard case .bufferSize(let length, _, let count, _) = try await controller.perform(.readBufferSize), length > 0, count > 0 else {
      throw BluetoothError(.adapter, "\(name) says that it has no buffers for data")
    }
    (info.aclLength, info.aclCount) = (Int(length), Int(count))
  }

  /// Those that an LE host meets: Disconnection Complete, Encryption Change, Read Remote Version Information Complete, Hardware Error, Data
  /// Buffer Overflow, LE Meta (Vol 4 Part E §7.3.1). What concerns commands and buffers cannot be masked.
  static let events: UInt64 = 1 << 4 | 1 << 7 | 1 << 11 | 1 << 15 | 1 << 25 | 1 << 61

  private func setLEEventMask(_ info: ControllerInfo) async throws {
    // Connection Complete, Advertising Report, Connection Update, Remote Features; then what needs features of the controller.
    let basic: UInt64 = 0x0F
    var mask = basic
    if info.leFeatures.contains(.connectionParametersRequest), info.supported.contains(.leRemoteConnectionParameterRequestReply) {
      mask |= 1 << 5
    }
    if info.leFeatures.contains(.dataLengthExtension) { mask |= 1 << 6 }
    if info.leFeatures.contains(.extendedScannerFilter) { mask |= 1 << 10 }
    if info.supported.contains(.leSetPHY) { mask |= 1 << 11 }
    // Reports follow this feature in some controllers, whatever the scan command.
    if info.leFeatures.contains(.extendedAdvertising) || info.supported.scansExtended { mask |= 1 << 12 }
    if try await ask(.leSetEventMask(mask)) == nil { try await controller.perform(.leSetEventMask(basic)) }
  }

  private func chooseAddress(_ info: inout ControllerInfo) async throws {
    if case .address(let address)? = try await ask(.readBDADDR), address.rawValue != 0, address.rawValue != 0xFFFF_FFFF_FFFF {
      info.address = address
      info.ownAddress = PeerAddress(address, .public)
      return
    }
    // Static: the two upper bits set, the others neither all zero nor all one (Vol 6 Part B §1.3.2.1).
    let random = Address(rawValue: 0b11 << 46 | UInt64.random(in: 1..<(1 << 46) - 1))
    try await controller.perform(.leSetRandomAddress(random))
    info.ownAddress = PeerAddress(random, .random)
  }

  /// New links then begin with the longest packets by themselves.
  private func setDataLength(_ info: inout ControllerInfo) async throws {
    guard info.leFeatures.contains(.dataLengthExtension) else { return }
    (info.maxTxOctets, info.maxTxTime) = (251, 2120)
    if info.supported.contains(.leReadMaximumDataLength),
      case .maximumDataLength(let octets, let time, _, _)? = try await ask(.leReadMaximumDataLength)
    {
      info.setDataLength(octets: octets, time: time)
    }
    if info.supported.contains(.leWriteSuggestedDefaultDataLength) {
      _ = try await ask(.leWriteSuggestedDefaultDataLength(txOctets: info.maxTxOctets, txTime: info.maxTxTime))
    }
  }
}

import Bluetooth
import HCI

/// The commands of this controller. Its Supported Commands follow from them.
extension VirtualController {
  typealias Commands = CommandTable<VirtualController>

  static func commands(of configuration: Configuration) -> Commands {
    var commands = Commands()
    enterGeneral(&commands)
    enterScanning(&commands)
    enterLinks(&commands)
    if configuration.dataLength > 27 { enterDataLength(&commands) }
    if configuration.phys.count > 1 { enterPHYs(&commands) }
    if configuration.extended {
      enterExtendedScanning(&commands)
      commands.on(LEExtendedCreateConnection.self) { (controller, create) throws(ControllerErrorCode) in try controller.create(create) }
    }
    return commands
  }

  private static func enterGeneral(_ commands: inout Commands) {
    commands.on(Reset.self) { controller, _ in controller.reset() }
    commands.on(SetEventMask.self) { controller, command in controller.eventMask = command.mask }
    commands.on(LESetEventMask.self) { controller, command in controller.leEventMask = command.mask }
    commands.reply(to: ReadLocalVersion.self) { controller, _ in
      // 13 is Core 5.4, 8 is Core 4.2. No company has the identifier 0xFFFF.
      let version: UInt8 = controller.configuration.extended ? 13 : 8
      return .init(hciVersion: version, hciSubversion: 1, lmpVersion: version, company: 0xFFFF, lmpSubversion: 1)
    }
    commands.reply(to: ReadLocalSupportedCommands.self) { controller, _ in .init(controller.commands.supported) }
    // LE Supported (Controller), BR/EDR Not Supported (Vol 2 Part C §3.3).
    commands.reply(to: ReadLocalSupportedFeatures.self) { _, _ in .init(1 << 38 | 1 << 37) }
    commands.reply(to: ReadBDADDR.self) { controller, _ in .init(controller.address) }
    commands.reply(to: LEReadBufferSize.self) { controller, _ in .init(aclLength: controller.bufferLength, aclCount: controller.bufferCount)
    }
    commands.reply(to: LEReadLocalSupportedFeatures.self) { controller, _ in .init(controller.localFeatures) }
    commands.on(LESetRandomAddress.self) { (controller, command) throws(ControllerErrorCode) in
      guard !controller.scanner.isEnabled, controller.initiator == nil else { throw .commandDisallowed }
      controller.randomAddress = command.address
    }
  }

  private static func enterDataLength(_ commands: inout Commands) {
    commands.reply(to: LEReadMaximumDataLength.self) { controller, _ in
      let (octets, time) = (UInt16(controller.configuration.dataLength), time(octets: controller.configuration.dataLength))
      return .init(txOctets: octets, txTime: time, rxOctets: octets, rxTime: time)
    }
    commands.reply(to: LEReadSuggestedDefaultDataLength.self) { controller, _ in
      .init(txOctets: UInt16(controller.suggestedDataLength), txTime: time(octets: controller.suggestedDataLength))
    }
    commands.on(LEWriteSuggestedDefaultDataLength.self) { (controller, command) throws(ControllerErrorCode) in
      guard isDataLength(command.txOctets, command.txTime) else { throw .invalidParameters }
      controller.suggestedDataLength = Int(command.txOctets)
    }
    commands.reply(to: LESetDataLength.self) { (controller, command) throws(ControllerErrorCode) in try controller.setDataLength(command) }
  }

  private static func enterPHYs(_ commands: inout Commands) {
    commands.reply(to: LEReadPHY.self) { (controller, command) throws(ControllerErrorCode) in
      let connection = try controller.connection(command.handle)
      return .init(handle: command.handle, tx: connection.phy(of: .central).rawValue, rx: connection.phy(of: .peripheral).rawValue)
    }
    commands.on(LESetDefaultPHY.self) { (controller, command) throws(ControllerErrorCode) in
      let preferences = try controller.preferences(allPHYs: command.allPHYs, tx: command.tx, rx: command.rx)
      (controller.defaultTxPHYs, controller.defaultRxPHYs) = preferences
    }
    commands.on(LESetPHY.self) { (controller, command) throws(ControllerErrorCode) in try controller.setPHY(command) }
  }

  private var bufferLength: UInt16 { UInt16(clamping: configuration.bufferLength) }
  private var bufferCount: UInt8 { UInt8(clamping: configuration.buffers) }

  private var localFeatures: LEFeatures {
    var features: LEFeatures = [.extendedReject, .peripheralInitiatedFeatures]
    if configuration.dataLength > 27 { features.insert(.dataLengthExtension) }
    if configuration.phys.contains(.le2M) { features.insert(.phy2M) }
    if configuration.phys.contains(.coded) { features.insert(.phyCoded) }
    if configuration.extended { features.formUnion([.extendedAdvertising, .channelSelection2]) }
    return features
  }

  /// Selects legacy or extended commands.
  /// - Throws: Command Disallowed if the host used the other set since Reset.
  func use(_ set: CommandSet, for command: some Command) throws(ControllerErrorCode) {
    if let commandSet, commandSet != set {
      violate("\(command.opcode): legacy and extended commands mixed")
      throw .commandDisallowed
    }
    commandSet = set
  }

  /// Returns whether the host may use an Own_Address_Type: 0 and 2 (public), or 1 and 3 (random) if the host has set a random address.
  func isOwnAddress(_ type: UInt8) -> Bool { type == 0 || type == 2 || (type == 1 || type == 3) && randomAddress != nil }

  /// Returns the PHYs that the host prefers, by direction.
  /// - Throws: Unsupported Feature if the host names no PHY, or a PHY that this controller lacks.
  func preferences(allPHYs: UInt8, tx: PHYMask, rx: PHYMask) throws(ControllerErrorCode) -> (tx: PHYMask, rx: PHYMask) {
    let own = PHYMask(configuration.phys)
    let tx = allPHYs & 1 != 0 ? own : tx
    let rx = allPHYs & 2 != 0 ? own : rx
    guard !tx.isEmpty, !rx.isEmpty, own.isSuperset(of: tx), own.isSuperset(of: rx) else { throw .unsupportedFeature }
    return (tx, rx)
  }

  /// Returns the air time in µs of a data PDU with MIC on 1M, for the time fields of data length commands and events.
  static func time(octets: Int) -> UInt16 { UInt16(clamping: (octets + 14) * 8) }

  static func isDataLength(_ octets: UInt16, _ time: UInt16) -> Bool {
    (27...251).contains(octets) && (328...17_040).contains(time)
  }
}

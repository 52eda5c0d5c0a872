// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A virtual Bluetooth LE controller in both roles. It speaks HCI to a host and works in a simulated air, also with other controllers.
/// Like real controllers, it hides masked events and refuses new parameters while it scans or advertises.
/// It also refuses a mix of legacy and extended commands, and loses ACL packets beyond its buffers.
@LoopActor
package final class VirtualController: Transport {
  package struct Configuration: Sendable {
    /// Whether the controller scans and connects with extended commands (Core 5). Otherwise it has only the legacy commands of Core 4.2.
    package var extended = true
    /// The length of an LE ACL data buffer, 27–251 bytes. `buffers` is the number of buffers.
    package var bufferLength = 251
    package var buffers = 8
    /// The largest LL payload in both directions, 27–251 bytes. 27 means no data length extension.
    package var dataLength = 251
    package var phys: Set<PHY> = [.le1M, .le2M, .coded]
    package var maxConnections = 8
    /// The connection handle of the first link. Other links have the following handles.
    package var firstHandle: UInt16 = 0x0040

    package init() {}

    /// A copy of the configuration with every number limited to its valid range.
    fileprivate var limited: Configuration {
      var limited = self
      limited.bufferLength = min(max(bufferLength, 27), 251)
      limited.buffers = min(max(buffers, 1), 255)
      limited.dataLength = min(max(dataLength, 27), 251)
      limited.maxConnections = min(max(maxConnections, 1), 0x0F00)
      limited.firstHandle = min(firstHandle, 0x0F00 - UInt16(limited.maxConnections))
      return limited
    }
  }

  /// The default address, from the block for documentation (RFC 7042 §2.1.1).
  package static let defaultAddress = Address(rawValue: 0x0000_5E00_5301)

  package var handler: (@LoopActor (TransportEvent) -> Void)? { didSet { scheduleDelivery() } }
  /// Descriptions of the host's violations of HCI. The controller keeps the first 100.
  package private(set) var violations: [String] = []

  /// A function that returns whether the host reads too slowly. The controller then drops advertising reports, but no other packets.
  var isHostBehind: @LoopActor () -> Bool = { false }
  /// The number of advertising events that the controller dropped because the host was too slow.
  private(set) var droppedReports = 0

  let air: Air
  let address: Address
  let configuration: Configuration
  let commands: Commands

  // The state that Reset clears.
  var eventMask = defaultEventMask
  var leEventMask = defaultLEEventMask
  var randomAddress: Address?
  var suggestedDataLength = 27
  var defaultTxPHYs = PHYMask()
  var defaultRxPHYs = PHYMask()
  var commandSet: CommandSet?
  var scanner = Scanner()
  var initiator: Initiator?
  var connections: [ConnectionHandle: Connection] = [:]
  /// The advertising sets by their handles. Legacy commands have the set 0.
  var advertisingSets: [UInt8: AdvertisingSet] = [:]

  /// The function to call after the answer to the current command. Nil if the command has no immediate effect.
  var afterAnswer: (@LoopActor () -> Void)?

  private var outgoing: [TransportEvent] = []
  private var isDelivering = false
  private var isDeliveryScheduled = false
  private(set) var isClosed = false

  /// The set of commands that a host uses. The controller refuses the other set until Reset (Vol 4 Part E §3.1.1).
  enum CommandSet { case legacy, extended }

  /// The default event mask (Vol 4 Part E §7.3.1). It hides LE Meta and other events of later versions.
  static let defaultEventMask: UInt64 = 0x0000_1FFF_FFFF_FFFF
  /// The default LE event mask (Vol 4 Part E §7.8.1).
  static let defaultLEEventMask: UInt64 = 0x1F

  package init(air: Air, address: Address = defaultAddress, configuration: Configuration = Configuration()) {
    self.air = air
    self.address = address
    let configuration = air.limited(configuration).limited
    self.configuration = configuration
    commands = Self.commands(of: configuration)
  }

  // MARK: HCI.Transport

  package func send(_ packet: [UInt8]) {
    guard !isClosed else { return }
    do throws(MalformedPacket) {
      switch try Packet(packet) {
      case .command(let command): execute(command)
      case .acl(let data): transmit(data)
      case .event, .unknown: violate("a packet that is neither a command nor ACL data")
      }
    } catch {
      guard packet.count >= 4, packet[0] == Packet.commandIndicator else { return violate("\(error)") }
      let opcode = Opcode(rawValue: packet.uint16(at: 1))
      violate("\(opcode): \(error)")
      emit(commands.refusal(opcode, .invalidParameters))
    }
  }

  private func execute(_ command: CommandPacket) {
    emit(commands.answer(command, by: self) { opcode, error in violate("\(opcode): \(error)") })
    let next = afterAnswer
    afterAnswer = nil
    next?()
  }

  /// Closes the controller like an unplugged adapter. The host receives no event for the links that end.
  package func close() {
    guard !isClosed else { return }
    reset()
    isClosed = true
    outgoing = []
  }

  /// Simulates a firmware fault: sends Hardware Error with `code` (Vol 4 Part E §7.7.16) and resets the controller.
  func fail(_ code: UInt8) {
    emit(.hardwareError(code))
    reset()
  }

  /// Returns whether the host reads fast enough to receive an advertising report. If not, increments `droppedReports`.
  func hasRoomForReport() -> Bool {
    guard isHostBehind() else { return true }
    droppedReports += 1
    return false
  }

  func violate(_ text: String) {
    // The first violations are enough. A hostile host must not fill the memory.
    if violations.count < 100 { violations.append(text) }
  }

  // MARK: Events

  /// Queues an event for the host, unless the host masked the event.
  func emit(_ event: Event) {
    guard !isClosed, isWanted(event) else { return }
    outgoing.append(.received(event.encoded))
    scheduleDelivery()
  }

  func emit(_ data: ACLData) {
    guard !isClosed else { return }
    outgoing.append(.received(data.encoded))
    scheduleDelivery()
  }

  /// Schedules the delivery of events for the loop's next turn. A controller never answers inside the host's call.
  private func scheduleDelivery() {
    guard !isDeliveryScheduled, handler != nil, !outgoing.isEmpty else { return }
    isDeliveryScheduled = true
    EventLoop.shared.schedule(after: .zero) {
      self.isDeliveryScheduled = false
      self.deliver()
    }
  }

  /// Delivers queued packets to the host until the queue is empty.
  func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    while let handler, !outgoing.isEmpty {
      let batch = outgoing
      outgoing = []
      for event in batch { handler(event) }
    }
  }

  func isWanted(_ event: Event) -> Bool {
    func subevent(_ code: UInt8) -> Bool { eventMask & 1 << 61 != 0 && leEventMask & 1 << (UInt64(code) - 1) != 0 }
    return switch event {
    case .disconnectionComplete: eventMask & 1 << 4 != 0
    case .encryptionChange: eventMask & 1 << 7 != 0
    case .readRemoteVersionComplete: eventMask & 1 << 11 != 0
    case .encryptionKeyRefreshComplete: eventMask & 1 << 47 != 0
    case .leConnectionComplete(let complete): subevent(complete.form.rawValue)
    case .leAdvertisingReports: subevent(0x02)
    case .leConnectionUpdateComplete: subevent(0x03)
    case .leReadRemoteFeaturesComplete: subevent(0x04)
    case .leDataLengthChange: subevent(0x07)
    case .leLongTermKeyRequest: subevent(0x05)
    case .lePHYUpdateComplete: subevent(0x0C)
    case .leAdvertisingSetTerminated: subevent(0x12)
    case .leExtendedAdvertisingReports: subevent(0x0D)
    case .leOther(let code?, _) where code > 0 && code <= 64: subevent(code)
    default: true
    }
  }

  /// Returns to the state after power-on, and drops all links silently. Their peers notice the loss after the supervision timeout.
  func reset() {
    for connection in connections.values { connection.drop() }
    connections = [:]
    for set in advertisingSets.values { set.stop() }
    advertisingSets = [:]
    scanner.timer?.cancel()
    scanner = Scanner()
    initiator = nil
    air.stopListening(self)
    eventMask = Self.defaultEventMask
    leEventMask = Self.defaultLEEventMask
    randomAddress = nil
    suggestedDataLength = 27
    defaultTxPHYs = PHYMask()
    defaultRxPHYs = PHYMask()
    commandSet = nil
  }
}

/// The commands that a virtual controller supports, and from which it derives its Supported Commands.
extension VirtualController {
  typealias Commands = CommandTable<VirtualController>

  static func commands(of configuration: Configuration) -> Commands {
    var commands = Commands()
    enterGeneral(&commands)
    enterScanning(&commands)
    enterLinks(&commands)
    enterAdvertising(&commands)
    if configuration.dataLength > 27 { enterDataLength(&commands) }
    if configuration.phys.count > 1 { enterPHYs(&commands) }
    if configuration.extended {
      enterExtendedScanning(&commands)
      enterExtendedAdvertising(&commands)
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
      let advertises = controller.commandSet == .legacy && controller.advertisingSets.values.contains(where: \.isEnabled)
      guard !controller.scanner.isEnabled, controller.initiator == nil, !advertises else { throw .commandDisallowed }
      controller.randomAddress = command.address
    }
  }

  private static func enterDataLength(_ commands: inout Commands) {
    commands.reply(to: LEReadMaximumDataLength.self) { controller, _ in
      let (bytes, time) = (UInt16(controller.configuration.dataLength), time(bytes: controller.configuration.dataLength))
      return .init(txOctets: bytes, txTime: time, rxOctets: bytes, rxTime: time)
    }
    commands.reply(to: LEReadSuggestedDefaultDataLength.self) { controller, _ in
      .init(txOctets: UInt16(controller.suggestedDataLength), txTime: time(bytes: controller.suggestedDataLength))
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
      let (tx, rx) = (connection.phy(of: connection.side), connection.phy(of: connection.side.other))
      return .init(handle: command.handle, tx: tx.rawValue, rx: rx.rawValue)
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
    var features: LEFeatures = [.encryption, .extendedReject, .peripheralInitiatedFeatures]
    if configuration.dataLength > 27 { features.insert(.dataLengthExtension) }
    if configuration.phys.contains(.le2M) { features.insert(.phy2M) }
    if configuration.phys.contains(.coded) { features.insert(.phyCoded) }
    if configuration.extended { features.formUnion([.extendedAdvertising, .channelSelection2]) }
    return features
  }

  /// Selects the set of commands that the host uses until Reset.
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
  static func time(bytes: Int) -> UInt16 { UInt16(clamping: (bytes + 14) * 8) }

  static func isDataLength(_ bytes: UInt16, _ time: UInt16) -> Bool { (27...251).contains(bytes) && (328...17_040).contains(time) }
}

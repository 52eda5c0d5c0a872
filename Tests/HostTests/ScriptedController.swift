import TestSupport

/// A controller with scripted answers to each command. By default it starts, scans, and connects to the requested peer.
@LoopActor
final class ScriptedController: Transport {
  var handler: (@LoopActor (TransportEvent) -> Void)?
  private(set) var commands: [CommandPacket] = []
  private(set) var data: [ACLData] = []
  private(set) var isClosed = false
  var droppedPackets: Int?
  /// Answers that replace the default ones. Nil means silence.
  var rules: [Opcode: @LoopActor (CommandPacket) -> [Event]?] = [:]
  /// Changes every packet to the host.
  var mangle: (@LoopActor ([UInt8]) -> [[UInt8]])?
  var supported: [Opcode] = ScriptedController.legacy
  var features: LEFeatures = []
  var address = Address(rawValue: 0x00_1B_DC_00_00_01)
  var aclLength: UInt16 = 27
  var aclCount: UInt8 = 4
  /// Whether every ACL packet completes immediately.
  var completesPackets = true
  var nextHandle: ConnectionHandle = 0x40
  /// The callback for each frame from the host.
  var onFrame: (@LoopActor (ConnectionHandle, L2CAPFrame) -> Void)?
  private var recombinations: [ConnectionHandle: Recombination] = [:]
  private var connecting: PeerAddress?

  static let legacy: [Opcode] = [
    LESetScanParameters.opcode, LESetScanEnable.opcode, LECreateConnection.opcode, LECreateConnectionCancel.opcode,
    LEConnectionUpdate.opcode, LEReadRemoteFeatures.opcode,
    Disconnect.opcode, ReadRSSI.opcode, LEReadPHY.opcode,
  ]
  static let extended =
    legacy + [
      LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode, LEExtendedCreateConnection.opcode, LESetPHY.opcode,
      LESetDataLength.opcode,
      LEReadMaximumDataLength.opcode, LEWriteSuggestedDefaultDataLength.opcode, LERemoteConnectionParameterRequestReply.opcode,
    ]

  static let advertising =
    legacy + [
      LESetAdvertisingParameters.opcode, LESetAdvertisingData.opcode, LESetScanResponseData.opcode, LESetAdvertisingEnable.opcode,
      LELongTermKeyRequestReply.opcode, LELongTermKeyRequestNegativeReply.opcode,
    ]
  static let advertisingExtended =
    extended + advertising + [
      LESetAdvertisingSetRandomAddress.opcode, LESetExtendedAdvertisingParameters.opcode, LESetExtendedAdvertisingData.opcode,
      LESetExtendedScanResponseData.opcode, LESetExtendedAdvertisingEnable.opcode, LEReadMaximumAdvertisingDataLength.opcode,
      LEReadNumberOfSupportedAdvertisingSets.opcode, LERemoveAdvertisingSet.opcode, LEClearAdvertisingSets.opcode,
    ]

  var opcodes: [Opcode] { commands.map(\.opcode) }

  func count(_ opcode: Opcode) -> Int { commands.count { $0.opcode == opcode } }

  func send(_ packet: [UInt8]) {
    guard !isClosed, let packet = try? Packet(packet) else { return }
    switch packet {
    case .command(let command):
      commands.append(command)
      let events = if let rule = rules[command.opcode] { rule(command) } else { answer(command) }
      for event in events ?? [] { emit(event) }
    case .acl(let fragment):
      data.append(fragment)
      if let frame = recombinations[fragment.handle, default: Recombination()].add(fragment) { onFrame?(fragment.handle, frame) }
      if completesPackets { complete(fragment.handle, 1) }
    case .event, .unknown: break
    }
  }

  func close() { isClosed = true }

  func emit(_ event: Event) { emit(event.encoded) }

  /// Sends a packet one turn later, as a descriptor would.
  func emit(_ packet: [UInt8]) {
    EventLoop.shared.schedule(after: .zero) { [self] in
      for one in mangle?(packet) ?? [packet] { handler?(.received(one)) }
    }
  }

  func lose(_ error: any Error) { handler?(.closed(error)) }

  func complete(_ handle: ConnectionHandle, _ count: UInt16) {
    emit(.numberOfCompletedPackets([Event.CompletedPackets(handle: handle, count: count)]))
  }

  /// Sends an L2CAP frame from the peer.
  func frame(_ channel: ChannelIdentifier, _ payload: [UInt8], handle: ConnectionHandle = 0x40) {
    for fragment in L2CAPFrame(channel: channel, payload: payload).fragments(handle: handle, length: 27, first: .firstFlushable) {
      emit(fragment.encoded)
    }
  }

  /// The recombined frames from the host.
  var frames: [L2CAPFrame] {
    var recombination = Recombination()
    return data.compactMap { recombination.add($0) }
  }

  func complete(_ command: CommandPacket, _ returned: some ReturnParameters = NoReturnParameters()) -> [Event] {
    [.complete(command.opcode, returned)]
  }

  func complete(_ command: CommandPacket, failed status: ControllerErrorCode) -> [Event] { [.complete(command.opcode, failed: status)] }

  func status(_ command: CommandPacket, _ status: ControllerErrorCode = .success) -> [Event] {
    [.commandStatus(Event.CommandStatus(status: status, opcode: command.opcode))]
  }

  func connected(_ peer: PeerAddress, status: ControllerErrorCode = .success, role: UInt8 = 0, handle: ConnectionHandle? = nil) -> Event {
    defer { if handle == nil, status == .success { nextHandle = ConnectionHandle(nextHandle.rawValue + 1) } }
    return .leConnectionComplete(
      Event.ConnectionComplete(
        status: status, handle: handle ?? nextHandle, role: role, peer: peer, interval: 24, latency: 0, supervisionTimeout: 400))
  }

  private func answer(_ command: CommandPacket) -> [Event]? {
    switch command.opcode {
    case ReadLocalVersion.opcode:
      return complete(
        command, ReadLocalVersion.Return(hciVersion: 9, hciSubversion: 0, lmpVersion: 9, company: 2, lmpSubversion: 0))
    case ReadLocalSupportedCommands.opcode: return complete(command, ReadLocalSupportedCommands.Return(SupportedCommands(supported)))
    case ReadLocalSupportedFeatures.opcode: return complete(command, ReadLocalSupportedFeatures.Return(1 << 38))
    case LEReadLocalSupportedFeatures.opcode: return complete(command, LEReadLocalSupportedFeatures.Return(features))
    case ReadBDADDR.opcode: return complete(command, ReadBDADDR.Return(address))
    case LEReadBufferSize.opcode: return complete(command, LEReadBufferSize.Return(aclLength: aclLength, aclCount: aclCount))
    case ReadBufferSize.opcode:
      return complete(command, ReadBufferSize.Return(aclLength: 1021, synchronousLength: 64, aclCount: 6, synchronousCount: 1))
    case LEReadMaximumDataLength.opcode:
      return complete(command, LEReadMaximumDataLength.Return(txOctets: 251, txTime: 2120, rxOctets: 251, rxTime: 2120))
    case LECreateConnectionCancel.opcode:
      guard let peer = connecting else { return complete(command, failed: .commandDisallowed) }
      connecting = nil
      return complete(command) + [connected(peer, status: .unknownConnectionIdentifier, handle: 0)]
    case ReadRemoteVersion.opcode: return status(command, .unknownCommand)
    case LESetExtendedAdvertisingParameters.opcode:
      return complete(command, LESetExtendedAdvertisingParameters.Return(selectedTXPower: 0))
    case LEReadMaximumAdvertisingDataLength.opcode:
      return complete(command, LEReadMaximumAdvertisingDataLength.Return(600))
    default: return answerWithParameters(command) ?? complete(command)
    }
  }

  private func answerWithParameters(_ packet: CommandPacket) -> [Event]? {
    if let read = ReadRSSI(packet) { return complete(packet, ReadRSSI.Return(handle: read.handle, rssi: -60)) }
    if let read = LEReadPHY(packet) { return complete(packet, LEReadPHY.Return(handle: read.handle, tx: 1, rx: 1)) }
    if let create = LECreateConnection(packet) { return connect(packet, create.peer) }
    if let create = LEExtendedCreateConnection(packet) { return connect(packet, create.peer) }
    if let end = Disconnect(packet) {
      return status(packet) + [.disconnectionComplete(status: .success, handle: end.handle, reason: .terminatedByLocalHost)]
    }
    if let read = LEReadRemoteFeatures(packet) {
      return status(packet) + [.leReadRemoteFeaturesComplete(status: .success, handle: read.handle, features: features)]
    }
    if let update = LEConnectionUpdate(packet) {
      let wanted = update.parameters
      return status(packet) + [
        .leConnectionUpdateComplete(
          status: .success, handle: update.handle, interval: wanted.intervalMax, latency: wanted.latency,
          supervisionTimeout: wanted.supervisionTimeout)
      ]
    }
    if let set = LESetPHY(packet) {
      let phy = (set.tx.phys.first ?? .le1M).rawValue
      return status(packet) + [.lePHYUpdateComplete(status: .success, handle: set.handle, tx: phy, rx: phy)]
    }
    if let set = LESetDataLength(packet) {
      return complete(packet, HandleReturned(set.handle)) + [
        .leDataLengthChange(
          handle: set.handle, maxTxOctets: set.txOctets, maxTxTime: set.txTime, maxRxOctets: 27, maxRxTime: 328)
      ]
    }
    if let reply = LELongTermKeyRequestReply(packet) { return complete(packet, HandleReturned(reply.handle)) }
    if let reply = LELongTermKeyRequestNegativeReply(packet) { return complete(packet, HandleReturned(reply.handle)) }
    if let reply = LERemoteConnectionParameterRequestReply(packet) { return complete(packet, HandleReturned(reply.handle)) }
    if let reply = LERemoteConnectionParameterRequestNegativeReply(packet) { return complete(packet, HandleReturned(reply.handle)) }
    return nil
  }

  /// Connects to a peer. Peers with an odd address never answer.
  private func connect(_ command: CommandPacket, _ peer: PeerAddress) -> [Event] {
    guard connecting == nil else { return status(command, .commandDisallowed) }
    if peer.address.rawValue & 1 == 1 {
      connecting = peer
      return status(command)
    }
    return status(command) + [connected(peer)]
  }
}

/// Addresses of a device that answers and one that does not.
let lock = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_02), .random)
let absent = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_01), .random)

/// Returns a started central on a scripted controller.
@LoopActor
func started(_ controller: ScriptedController = ScriptedController()) async throws -> (HostCentral, ScriptedController) {
  let central = HostCentral(controller, name: "tcp:test")
  try await central.start()
  return (central, controller)
}

/// Returns the virtual time that an operation takes.
@LoopActor
func duration(of operation: @LoopActor () async throws -> Void) async rethrows -> Duration {
  let start = EventLoop.shared.now
  try await operation()
  return start.duration(to: EventLoop.shared.now)
}

/// Returns the error of an operation that must fail.
@LoopActor
func failure(_ operation: @LoopActor () async throws -> Void) async -> (any Error)? {
  do {
    try await operation()
  } catch {
    return error
  }
  return nil
}

/// Waits until everything that is due has happened.
@LoopActor
func settle() async throws { try await EventLoop.shared.sleep(for: .milliseconds(1)) }

import Bluetooth
import EventLoop
import HCI
import L2CAP
import LEHost

/// A controller whose answers a test decides, command by command. By default it starts well, scans, and connects to whom it is told.
@LoopActor
final class ScriptedController: HCI.Channel {
  var handler: (@LoopActor (HCI.ChannelEvent) -> Void)?
  private(set) var commands: [Command] = []
  private(set) var data: [ACLData] = []
  private(set) var isClosed = false
  /// Instead of the default answer; nil is silence.
  var rules: [Opcode: @LoopActor (Command) -> [Event]?] = [:]
  /// Changes every packet on its way to the host.
  var mangle: (@LoopActor ([UInt8]) -> [[UInt8]])?
  var supported: [Opcode] = ScriptedController.legacy
  var features: LEFeatures = []
  var address = Address(rawValue: 0x00_1B_DC_00_00_01)
  var aclLength: UInt16 = 27
  var aclCount: UInt8 = 4
  /// Answers every ACL packet at once.
  var completesPackets = true
  var nextHandle: UInt16 = 0x40
  private var connecting: PeerAddress?

  static let legacy: [Opcode] = [
    .leSetScanParameters, .leSetScanEnable, .leCreateConnection, .leCreateConnectionCancel, .leConnectionUpdate, .leReadRemoteFeatures,
    .disconnect, .readRSSI, .leReadPHY,
  ]
  static let extended =
    legacy + [
      .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection, .leSetPHY, .leSetDataLength,
      .leReadMaximumDataLength, .leWriteSuggestedDefaultDataLength, .leRemoteConnectionParameterRequestReply,
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
      if completesPackets { complete(fragment.handle, 1) }
    case .event, .unknown: break
    }
  }

  func close() { isClosed = true }

  func emit(_ event: Event) { emit(event.encoded) }

  /// One turn later, as from a descriptor.
  func emit(_ packet: [UInt8]) {
    EventLoop.shared.schedule(after: .zero) { [self] in
      for one in mangle?(packet) ?? [packet] { handler?(.received(one)) }
    }
  }

  func lose(_ message: String) { handler?(.closed(BluetoothError(.adapter, message))) }

  func complete(_ handle: UInt16, _ count: UInt16) {
    emit(.numberOfCompletedPackets([Event.CompletedPackets(handle: handle, count: count)]))
  }

  /// An L2CAP frame from the peer.
  func frame(_ channel: ChannelIdentifier, _ payload: [UInt8], handle: UInt16 = 0x40) {
    for fragment in L2CAPFrame(channel: channel, payload: payload).fragments(handle: handle, length: 27, first: .firstFlushable) {
      emit(fragment.encoded)
    }
  }

  /// The frames that the host sent, put together.
  var frames: [L2CAPFrame] {
    var recombination = Recombination()
    return data.compactMap { recombination.add($0) }
  }

  func complete(_ command: Command, _ returned: ReturnParameters) -> [Event] {
    [.commandComplete(Event.CommandComplete(opcode: command.opcode, returned))]
  }

  func status(_ command: Command, _ status: ControllerErrorCode = .success) -> [Event] {
    [.commandStatus(Event.CommandStatus(status: status, opcode: command.opcode))]
  }

  func connected(_ peer: PeerAddress, status: ControllerErrorCode = .success, handle: UInt16? = nil) -> Event {
    defer { if handle == nil, status == .success { nextHandle += 1 } }
    return .leConnectionComplete(
      Event.ConnectionComplete(
        status: status, handle: handle ?? nextHandle, peer: peer, interval: 24, latency: 0, supervisionTimeout: 400))
  }

  private func answer(_ command: Command) -> [Event]? {
    switch command {
    case .readLocalVersion:
      return complete(
        command,
        .localVersion(ReturnParameters.LocalVersion(hciVersion: 9, hciSubversion: 0, lmpVersion: 9, company: 2, lmpSubversion: 0)))
    case .readLocalSupportedCommands: return complete(command, .supportedCommands(SupportedCommands(supported)))
    case .readLocalSupportedFeatures: return complete(command, .localFeatures(1 << 38))
    case .leReadLocalSupportedFeatures: return complete(command, .leFeatures(features))
    case .readBDADDR: return complete(command, .address(address))
    case .leReadBufferSize: return complete(command, .leBufferSize(aclLength: aclLength, aclCount: aclCount))
    case .readBufferSize:
      return complete(command, .bufferSize(aclLength: 1021, synchronousLength: 64, aclCount: 6, synchronousCount: 1))
    case .leReadMaximumDataLength:
      return complete(command, .maximumDataLength(txOctets: 251, txTime: 2120, rxOctets: 251, rxTime: 2120))
    case .readRSSI(let handle): return complete(command, .rssi(handle: handle, -60))
    case .leReadPHY(let handle): return complete(command, .phy(handle: handle, tx: 1, rx: 1))
    case .leCreateConnection(let create): return connect(command, create.peer)
    case .leExtendedCreateConnection(let create): return connect(command, create.peer)
    case .leCreateConnectionCancel:
      guard let peer = connecting else { return complete(command, .failed(.commandDisallowed)) }
      connecting = nil
      return complete(command, .success) + [connected(peer, status: .unknownConnectionIdentifier, handle: 0)]
    case .disconnect(let handle, _):
      return status(command) + [.disconnectionComplete(status: .success, handle: handle, reason: .terminatedByLocalHost)]
    case .leReadRemoteFeatures(let handle):
      return status(command) + [.leReadRemoteFeaturesComplete(status: .success, handle: handle, features: features)]
    case .leConnectionUpdate(let handle, let wanted):
      return status(command) + [
        .leConnectionUpdateComplete(
          status: .success, handle: handle, interval: wanted.intervalMax, latency: wanted.latency,
          supervisionTimeout: wanted.supervisionTimeout)
      ]
    case .leSetPHY(let handle, _, let tx, _, _):
      let phy = (tx.phys.first ?? .le1M).rawValue
      return status(command) + [.lePHYUpdateComplete(status: .success, handle: handle, tx: phy, rx: phy)]
    case .leSetDataLength(let handle, let octets, let time):
      return complete(command, .handle(handle)) + [
        .leDataLengthChange(handle: handle, maxTxOctets: octets, maxTxTime: time, maxRxOctets: 27, maxRxTime: 328)
      ]
    case .leRemoteConnectionParameterRequestReply(let handle, _): return complete(command, .handle(handle))
    case .leRemoteConnectionParameterRequestNegativeReply(let handle, _): return complete(command, .handle(handle))
    case .readRemoteVersion: return status(command, .unknownCommand)
    default: return complete(command, .success)
    }
  }

  /// Peers with an odd address never answer.
  private func connect(_ command: Command, _ peer: PeerAddress) -> [Event] {
    guard connecting == nil else { return status(command, .commandDisallowed) }
    if peer.address.rawValue & 1 == 1 {
      connecting = peer
      return status(command)
    }
    return status(command) + [connected(peer)]
  }
}

/// A device that answers, and one that does not.
let lock = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_02), .random)
let absent = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_01), .random)

/// A started central on a scripted controller.
@LoopActor
func started(_ controller: ScriptedController = ScriptedController()) async throws -> (HostCentral, ScriptedController) {
  let central = HostCentral(controller, name: "tcp:test")
  try await central.start()
  return (central, controller)
}

/// Elapsed virtual time of an operation.
@LoopActor
func duration(of operation: @LoopActor () async throws -> Void) async rethrows -> Duration {
  let start = EventLoop.shared.now
  try await operation()
  return start.duration(to: EventLoop.shared.now)
}

/// The error of an operation that must fail.
@LoopActor
func failure(_ operation: @LoopActor () async throws -> Void) async -> BluetoothError? {
  do {
    try await operation()
  } catch {
    return error as? BluetoothError
  }
  return nil
}

/// Lets everything that is due now happen.
@LoopActor
func settle() async throws { try await EventLoop.shared.sleep(for: .milliseconds(1)) }

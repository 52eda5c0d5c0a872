import CBluetoothLEBlueZ
import Glibc
import SystemPackage

/// An open management channel for one adapter, which receives events until it closes.
@LoopActor
final class ManagementSocket {
  /// The time limit for the answer to a command that the kernel answers without a device.
  static let limit = Duration.seconds(5)

  private let socket: PacketSocket
  private let adapter: AdapterInfo
  private var pending: [(opcode: UInt16, answer: Wait<ManagementChannel.Answer>)] = []
  /// The handler of all events of the adapter. Only one pairing at a time needs it: see `KernelSettings`.
  var observer: (@LoopActor (ManagementEvent) -> Void)?

  /// Opens the channel.
  /// - Throws: AdapterProblem.
  convenience init(_ adapter: AdapterInfo) throws(AdapterProblem) {
    do throws(Errno) {
      let descriptor = try ManagementChannel.open()
      // Older kernels have a fixed limit of 1028 bytes, which is enough for 28 keys.
      try? SystemCall.setOption(descriptor.rawValue, SOL_BLUETOOTH, BT_SNDMTU, UInt16.max)
      self.init(descriptor, adapter)
    } catch { throw AdapterProblem.of(error, adapter: adapter.name, .opening) }
  }

  /// Wraps an open channel, or one end of a socket pair in tests.
  init(_ descriptor: consuming OwnedDescriptor, _ adapter: AdapterInfo) {
    self.adapter = adapter
    socket = PacketSocket(descriptor, largest: 4096)
    socket.handler = { [weak self] in self?.received($0) }
  }

  var isOver: Bool { socket.isOver }

  func close() { socket.close() }

  /// Reads the events that wait in the kernel.
  func pump() { socket.pump() }

  /// Sends a command. The result gets the kernel's answer, whenever that arrives.
  /// - Throws: AdapterProblem.
  @discardableResult
  func start(_ command: ManagementCommand) throws(AdapterProblem) -> Wait<ManagementChannel.Answer> {
    let answer = Wait<ManagementChannel.Answer>()
    do throws(Errno) {
      try socket.send(ManagementChannel.request(command.opcode, adapter: UInt16(clamping: adapter.index), command.parameters))
    } catch { throw AdapterProblem.of(error, adapter: adapter.name, .using) }
    pending.append((command.opcode, answer))
    return answer
  }

  /// Sends a command, and waits for its answer.
  /// - Returns: The return parameters.
  /// - Throws: AdapterProblem, KernelPairingProblem, CancellationError.
  @discardableResult
  func send(_ command: ManagementCommand) async throws -> [UInt8] {
    let answer = try start(command)
    guard let answer = try await answer.value(until: EventLoop.shared.now.advanced(by: Self.limit)) else {
      throw KernelPairingProblem.silent(adapter.name, command: command.opcode)
    }
    guard answer.status == 0 else { throw KernelPairingProblem(adapter.name, command, answer.status) }
    return answer.parameters
  }

  private func received(_ event: PacketSocket.Event) {
    switch event {
    case .packet(let packet):
      // The kernel's other events, and events of other adapters, are ignored; a malformed one is too, and its command then times out.
      guard let (index, event) = try? ManagementEvent.parse(packet), index == UInt16(clamping: adapter.index) else { return }
      if case .answer(let opcode, let answer) = event, let position = pending.firstIndex(where: { $0.opcode == opcode }) {
        pending.remove(at: position).answer.resume(returning: answer)
      }
      observer?(event)
    case .cut, .dropped: break
    case .ended:
      for entry in pending { entry.answer.resume(throwing: AdapterProblem.unplugged(adapter.name)) }
      pending = []
    }
  }
}

/// Status codes of the management channel.
enum ManagementStatus {
  static let failed: UInt8 = 0x03
  static let authenticationFailed: UInt8 = 0x05
  static let timeout: UInt8 = 0x08
  static let busy: UInt8 = 0x0A
  static let disconnected: UInt8 = 0x0E
  static let canceled: UInt8 = 0x10
  static let permissionDenied: UInt8 = 0x14
}

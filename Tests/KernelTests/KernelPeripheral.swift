import BluetoothLESimulator
import Glibc
import SystemPackage
import TestSupport

@testable import BluetoothLELinux

/// A peripheral on the kernel's stack: legacy advertising by raw HCI commands, and a listener on the ATT fixed channel. It counts bytes at
/// its ATT layer in this process, and sends faster than a Python peripheral can.
@LoopActor
final class KernelPeripheral {
  nonisolated static let adapter = "hci2"
  nonisolated static let name = "Kernel-01"

  /// The bytes written to ff01.
  private(set) var arrived: [UInt8] = []
  /// Called when the first bytes arrive.
  var onFirstArrival: () -> Void = {}
  private(set) var confirmations = 0
  /// The number of values that a subscriber of ff02 (notifications) or ff03 (indications) gets immediately.
  var burstLength = 0
  /// The number of bytes to ff01 after which this side ends the link.
  var endsAfter: Int?

  private let rxMTU: Int
  private let address: Address
  private var listener: OwnedDescriptor
  private var watch: Watch?
  private var servers: [Server] = []
  private var channels: [L2CAPSocket] = []
  private let store: AttributeStore
  private let sink, ticks, asks: AttributeHandle

  private static let service: AttributeDatabase.ServiceDescription = {
    var service = AttributeDatabase.ServiceDescription(UUID(0xFF00))
    var large = AttributeDatabase.CharacteristicDescription(UUID(0xFF04), .read)
    large.value = (0..<512).map { UInt8(truncatingIfNeeded: $0) }
    service.characteristics = [
      .init(UUID(0xFF01), [.write, .writeWithoutResponse]), .init(UUID(0xFF02), .notify), .init(UUID(0xFF03), .indicate), large,
      .init(UUID(0xFF05), [.read, .write]),
    ]
    return service
  }()

  /// Creates the peripheral. Its adapter must be up. `advertise` starts advertising.
  init(rxMTU: Int = 517) throws {
    self.rxMTU = rxMTU
    let info = try AdapterList.choose(2)
    guard let address = info.address else { throw Errno.noSuchAddressOrDevice }
    self.address = address
    let database = try AttributeDatabase(services: [Self.service])
    store = AttributeStore(database)
    let handles = database.valueHandles[0]
    (sink, ticks, asks) = (handles[0], handles[1], handles[2])
    listener = try SystemCall.socket(AF_BLUETOOTH, SOCK_SEQPACKET, 0)
    let number = listener.rawValue
    SystemCall.raiseReceiveBuffer(number, to: 8 << 20)
    try SystemCall.bind(number, .att(address, .public))
    try SystemCall.call { Glibc.listen(number, 4) }
    watch = EventLoop.shared.watch(number, .readable) { [weak self] _ in self?.accept() }
  }

  nonisolated var peer: String { "\(address)/public" }

  private func accept() {
    let number = listener.rawValue
    guard let taken = try? SystemCall.call({ Glibc.accept(number, nil, nil) }) else { return }
    _ = fcntl(taken, F_SETFL, O_NONBLOCK)
    _ = fcntl(taken, F_SETFD, FD_CLOEXEC)
    SystemCall.raiseReceiveBuffer(taken, to: 8 << 20)
    let channel = L2CAPSocket(OwnedDescriptor(taken)) { [address] in SocketEnd(PeerAddress(address, .public), .errno($0)) }
    let server = Server(store: store, bearer: Bearer(channel, rxMTU: rxMTU))
    server.onWrite = { [unowned self] handle, value, _ in wrote(handle, value) }
    server.onSubscription = { [unowned self, unowned server] handle, bits in
      if bits != 0 { handle == ticks ? burst(server) : indicate(server) }
    }
    servers.append(server)
    channels.append(channel)
    server.start()
  }

  private func wrote(_ handle: AttributeHandle, _ value: [UInt8]) {
    guard handle == sink else { return }
    if arrived.isEmpty { onFirstArrival() }
    arrived += value
    if let limit = endsAfter, arrived.count >= limit { for server in servers { server.close() } }
  }

  /// Sends numbers from 0, as four bytes little-endian, as fast as the kernel accepts them.
  private func burst(_ server: Server) {
    for number in 0..<burstLength { server.notify(ticks, Bytes.u32le(UInt32(number))) }
  }

  func notifyOnce(_ number: UInt32) { for server in servers { server.notify(ticks, Bytes.u32le(number)) } }

  /// Returns when the kernel has taken every notification. The controller may still hold the last few, which the kernel does not report.
  func allIsSent() async throws {
    while !channels.allSatisfy({ $0.isDrained }) { try await EventLoop.shared.sleep(for: .milliseconds(100)) }
  }

  private func indicate(_ server: Server) {
    let (handle, count) = (asks, burstLength)
    EventLoop.shared.spawn {
      for number in 0..<count where (try? await server.indicate(handle, [UInt8(truncatingIfNeeded: number)])) == true {
        self.confirmations += 1
      }
    }
  }

  func stop() {
    watch?.cancel()
    listener.close()
    for server in servers { server.close() }
    servers = []
    channels = []
  }

  /// Starts connectable undirected advertising every 20 ms, with the name, until the next link.
  nonisolated static func advertise() throws {
    // While the last link is going down, the controller may refuse to advertise, or stop together with the link.
    try Guest.waitForNoLink(adapter)
    let name = Array(Self.name.utf8)
    let data: [UInt8] = [2, 1, 6, UInt8(name.count + 1), 9] + name
    try command(0x0A, [0], mayFail: true)
    try command(0x08, [UInt8(data.count)] + data + [UInt8](repeating: 0, count: 31 - data.count))
    try command(0x06, [0x20, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0])
    try command(0x0A, [1])
  }

  /// Sends an LE controller command. - Throws: An error if its status is not Success.
  private nonisolated static func command(_ ocf: UInt8, _ parameters: [UInt8], mayFail: Bool = false) throws {
    let command = ["hcitool", "-i", adapter, "cmd", "0x08", Bytes.hex([ocf])] + parameters.map { Bytes.hex([$0]) }
    let result = try RunningProcess.run(command)
    let status = result.text.split(whereSeparator: \.isWhitespace).last
    guard mayFail || status == "00" else { throw Guest.ToolFailed(description: "\(command): \(result.text)\(result.errors)") }
  }
}

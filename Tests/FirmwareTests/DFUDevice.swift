import BluetoothLEText
import TestSupport

@testable import BluetoothLEFirmware

/// A device with the bootloader of the nRF5 SDK (`nrf_dfu_req_handler.c`). Loses links, packets and answers where a test asks for it.
@LoopActor
final class DFUDevice: UpdateDevice {
  /// The characteristic with which the application starts the bootloader. Nil if it has none.
  var button: UInt64? = 0x8EC9_0003
  /// The address of the bootloader minus that of the application.
  var distance = 1
  var (commandLimit, objectLimit, mtu) = (512, 256, 23)
  /// The numbers of connection attempts after lost links, and of restarts after which the device is found, that are left.
  var (attempts, returns) = (3, 9)
  /// The error of the connection to the application after a restart.
  var problem: (any Error)?
  /// Whether a lost link is also a restart, after which the unfinished object is gone.
  var (isSDK12, losesPower) = (false, false)
  /// Replaces the answers to a request, which then has no effect. Nil for those of the SDK.
  var answers: @LoopActor ([UInt8]) -> [[UInt8]]? = { _ in nil }
  /// Changes a packet. Nil loses it.
  var radio: @LoopActor ([UInt8]) -> [UInt8]? = { $0 }
  /// The zero-based numbers of the packet and of the request after which the link ends, and of the receipt that is lost.
  var (lastPacket, lastRequest, lostReceipt) = (-1, -1, -1)
  /// Whether the application reports its version: `v0`, and `v1` after an update.
  var hasVersion = false
  /// The extended error for a part that is not an application, once there is one.
  var presence: UInt8 = 5
  /// Whether the device answers each packet, without values.
  var answersPackets = false
  /// Whether the last request of a link has an effect.
  var doesLast = false

  private(set) var (requests, packets): ([[UInt8]], [[UInt8]]) = ([], [])
  /// The numbers of receipts, and of bytes of images on the link.
  private(set) var (receipts, imageBytes) = (0, 0)
  /// The images that the device received, verified and started.
  private(set) var installed: [[UInt8]] = []
  private(set) var searches: [RestartedIdentity] = []
  private(set) var (events, outcome): ([UpdateEvent], UpdateOutcome) = ([], UpdateOutcome())

  private(set) var (isBootloader, name) = (false, "DfuTarg")
  /// The init packet, whether it was accepted, and the image, of which the first `executed` bytes are permanent.
  private(set) var (command, accepted, data, executed): ([UInt8], InitPacket?, [UInt8], Int) = ([], nil, [], 0)
  private var (commandSize, objectSize, isCommand, prn, uncounted, isDone) = (0, 0, true, 0, 0, false)
  /// The address now, and that of the last link.
  private var (place, linkPlace) = (0, 0)
  private var (server, channel, link): (PlainServer, MemoryChannel?, Client?) = (PlainServer([]), nil, nil)

  /// Updates, and keeps the events, also those before an error.
  func update(_ package: DFUPackage? = nil, _ options: UpdateOptions = UpdateOptions()) async throws {
    let update = SecureDFUUpdate(try package ?? SecureDFUTests.package(), options: options)
    outcome = try await update.run(self) { self.events.append($0) }
  }

  func client() async throws -> Client {
    if let link, link.closed == nil { return link }
    let (near, far) = MemoryChannel.pair()
    far.handler = { event in if case .received(let pdu) = event, !far.isClosed { self.receive(pdu) } }
    let client = Client(near)
    (server, channel, link, linkPlace) = (PlainServer(items), far, client, place)
    server.largestMTU = mtu
    return client
  }

  func reconnect(after error: any Error) async throws -> Client {
    guard attempts > 0, place == linkPlace else { throw error }
    attempts -= 1
    return try await client()
  }

  func restarted(as identity: RestartedIdentity, within patience: Duration) async throws -> Client? {
    searches.append(identity)
    try await EventLoop.shared.sleep(for: .seconds(1))
    #expect(link?.closed != nil, "the link does not end with a restart")
    let isFound =
      switch identity {
      case .same: place == linkPlace
      case .nextAddress: place == linkPlace + 1
      case .previousAddress: place == linkPlace - 1
      case .original: false
      case .named(let name): isBootloader && name == self.name
      }
    guard isFound, returns > 0 else { return nil }
    returns -= 1
    if !isBootloader, let problem { throw problem }
    return try await client()
  }

  /// Starts the bootloader with what an earlier update left. The image has some permanent bytes, and then an object of a size.
  func resume(_ packet: [UInt8], _ bytes: [UInt8], executed count: Int, object: Int) throws {
    restart(bootloader: true)
    (command, commandSize, accepted, data, executed, objectSize) = (packet, packet.count, try InitPacket(packet), bytes, count, object)
  }

  func lose() {
    if losesPower { (data, objectSize) = (Array(data[..<executed]), 0) }
    channel?.lose(LinkLost("cut"))
  }

  func restart(bootloader: Bool) {
    (isBootloader, place) = (bootloader, bootloader ? distance : 0)
    channel?.lose(LinkLost("restart"))
  }

  private var items: [PlainServer.Item] {
    func item(_ handle: UInt16, _ type: UUID, _ value: [UInt8]) -> PlainServer.Item {
      .init(handle: AttributeHandle(rawValue: handle), type: type, value: value)
    }
    func characteristic(_ handle: UInt8, _ number: UInt64, _ properties: UInt8) -> [PlainServer.Item] {
      let declaration = item(UInt16(handle) - 1, UUID(0x2803), [properties, handle, 0] + UUID.dfu(number).attBytes)
      return [declaration, item(UInt16(handle), .dfu(number), []), item(UInt16(handle) + 1, UUID(0x2902), [0, 0])]
    }
    guard !isBootloader else {
      return [item(1, UUID(0x2800), [0x59, 0xFE])] + characteristic(3, 0x8EC9_0001, 0x18) + characteristic(6, 0x8EC9_0002, 4)
    }
    let service = item(0x20, UUID(0x2800), button == 0x8E40_0001 ? UUID.dfu(0x8E40_0001).attBytes : [0x59, 0xFE])
    let version = [item(0x25, UUID(0x2803), [2, 0x26, 0, 0x26, 0x2A]), item(0x26, UUID(0x2A26), Array("v\(installed.count)".utf8))]
    return [service] + (button.map { characteristic(0x22, $0, 0x38) } ?? []) + (hasVersion ? version : [])
  }

  private var isIndication: Bool { !isBootloader && button != 0x8E40_0001 }
  var isSubscribed: Bool { server.items.first { $0.type == UUID(0x2902) }?.value == [isIndication ? 2 : 1, 0] }

  private func send(_ value: [UInt8]) { channel?.send((isIndication ? [0x1D] : [0x1B]) + [isBootloader ? 3 : 0x22, 0] + value) }

  private func receive(_ pdu: [UInt8]) {
    if let response = server.answer(pdu) { channel?.send(response) }
    guard pdu.count > 3, isSubscribed else { return }
    let value = Array(pdu[3...])
    if pdu[0] == 0x52 { take(value) } else if pdu[1] == 3 { answer(value) } else if pdu[1] == 0x22 { press(value) }
  }

  // MARK: Secure DFU

  private func press(_ request: [UInt8]) {
    let replies = answers(request)
    if request[0] == 2, replies == nil {
      name = String(decoding: request.dropFirst(2), as: UTF8.self)
      return send([0x20, 2, request[1] == request.count - 2 ? 1 : 5])
    }
    for reply in replies ?? (distance < 2 ? [[0x20, 1, 1]] : []) { send(reply) }
    if replies == nil, request[0] == 1 { restart(bootloader: true) }
  }

  private func answer(_ request: [UInt8]) {
    let isLast = requests.count == lastRequest
    requests.append(request)
    if isLast, !doesLast { return lose() }
    let replies = answers(request) ?? [[0x60, request[0]] + perform(request)]
    if isLast { lose() }
    for reply in replies { send(reply) }
    guard isDone, let accepted else { return }
    installed.append(data)
    reset()
    restart(bootloader: accepted.type != .application)
  }

  private func reset() { (command, accepted, data, executed, objectSize, isDone) = ([], nil, [], 0, 0, false) }

  private var state: [UInt8] {
    var crc = CRC32()
    crc.add((isCommand ? command : data)[...])
    return Fixture.little(isCommand ? command.count : data.count, 4) + Fixture.little(Int(crc.value), 4)
  }

  /// Does what a request asks. Returns the result and the values of the answer.
  private func perform(_ request: [UInt8]) -> [UInt8] {
    let size = request.dropFirst(request[0] == 2 ? 1 : 2).reversed().reduce(0) { $0 << 8 | Int($1) }
    if request[0] == 1 || request[0] == 6 { isCommand = request[1] == 1 }
    switch request[0] {
    case 1 where isCommand:
      guard size <= commandLimit else { return [4] }
      reset()
      commandSize = size
    case 1:
      guard let total = accepted?.size else { return [8] }
      guard size == objectLimit || executed + size == total else { return [3] }
      guard executed + size <= total else { return [8] }
      (objectSize, data) = (size, Array(data[..<executed]))
      if isSDK12 { uncounted = 0 }
    case 2:
      prn = size
      if !isSDK12 { uncounted = 0 }
    case 3: return [1] + state
    case 4 where isCommand:
      guard command.count == commandSize else { return [8] }
      accepted = try? accepted ?? InitPacket(command)
      guard installed.isEmpty || accepted?.type == .application else { return [11, presence] }
      return accepted == nil ? [11, 4] : [1]
    case 4:
      guard let accepted, data.count - executed == objectSize else { return [8] }
      executed = data.count
      // Only newer bootloaders take a second `execute`.
      if !isSDK12 { objectSize = 0 }
      guard data.count == accepted.size else { break }
      guard SHA2.sha256.hash(data) == accepted.hash else { return [11, 12] }
      isDone = true
    case 6: return [1] + Fixture.little(isCommand ? commandLimit : objectLimit, 4) + state
    default: return [2]
    }
    return [1]
  }

  private func take(_ packet: [UInt8]) {
    packets.append(packet)
    defer { if packets.count - 1 == lastPacket { lose() } }
    if !isCommand { imageBytes += packet.count }
    guard let packet = radio(packet) else { return }
    if isCommand, command.count + packet.count <= commandSize { command += packet }
    if !isCommand, data.count - executed + packet.count <= objectSize { data += packet }
    if answersPackets { send([0x60, 3, 1]) }
    uncounted += prn > 0 ? 1 : 0
    guard prn > 0, uncounted >= prn else { return }
    if receipts != lostReceipt { send([0x60, 3, 1] + state) }
    (uncounted, receipts) = (0, receipts + 1)
  }
}

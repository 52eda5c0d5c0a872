import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText
import TestSupport

/// A device with MCUmgr in a few lines, and its links. It models what clients depend on: buffers, reassembly, the state of an upload in RAM,
/// two slots, trials and resets.
@LoopActor
final class ManagementServer: UpdateDevice {
  struct Slot {
    var bytes: [UInt8] = [] { didSet { image = try? ImageFile(bytes) } }
    private(set) var image: ImageFile?
    /// The entry of a running image in a list, without flags that are not set.
    var entry: CBOR {
      .map([
        "slot": .integer(0), "version": .text("\(image?.version.major ?? 0).0.0.4"), "hash": .bytes(image?.hash ?? []),
        "active": .bool(true),
      ])
    }
  }

  var mtu = 247
  var bufferSize = 384
  var bufferCount = 4
  var joinsParts = true
  var mode: BootloaderMode? = .swapMove
  var forbidsDowngrade = false
  var running = Slot()
  var other = Slot()
  var (isPending, isPermanent, isConfirmed) = (false, false, true)
  var slotSize = 100_000
  /// The bytes that the flash takes at a time. The server drops the rest of a request that is not the last one.
  var word = 1
  /// The number of the only image in the lists. Requests without a hash are about image 0.
  var number = 0
  /// The requests that the device does not have.
  var missing: Set<ManagementOperation> = []
  /// Whether errors of groups have the form of version 1.
  var hasGroupErrors = true
  /// Replaces the answer to a request: nil for the usual one, no bytes for silence.
  var onRequest: (@LoopActor (ManagementOperation, CBOR) -> [UInt8]?)?
  /// The time for a request, and for the values of the link.
  var (processing, delay) = (Duration.zero, Duration.zero)
  /// What the device does at a reset, instead of MCUboot's swap.
  var onReset: (@LoopActor () -> Void)?
  /// Whether the device comes back after a reset, and when.
  var (comesBack, downtime) = (true, Duration.zero)
  /// The error of the connection after a reset, and whether the device has the service.
  var restartError: (any Error)?
  var hasService = true
  /// Whether the power fails, once, before the answer to a request that was done.
  var losesAnswer = false
  /// The number of upload requests after which the link ends, again and again.
  var cutsAfter: Int?

  private(set) var requests: [(operation: ManagementOperation, body: CBOR, length: Int)] = []
  private(set) var writes: [[UInt8]] = []
  private(set) var configurations: [UInt8] = []
  private(set) var identities: [RestartedIdentity] = []
  private(set) var reconnects = 0
  /// The greatest number of requests that the device had at a time.
  private(set) var depth = 0
  private(set) var setting: [UInt8]?
  private(set) var bootMode: Int?
  private var waiting = 0
  private var session: (hash: [UInt8]?, total: Int, bytes: [UInt8])?
  private var attributes = PlainServer([])
  private var channel: MemoryChannel?
  private var open: Client?
  private var part: [UInt8] = []

  init(running: [UInt8] = Fixture.update(version: 1)) { self.running.bytes = running }

  func sent(_ operation: ManagementOperation) -> [CBOR] { requests.filter { $0.operation == operation }.map(\.body) }
  func clear() { (requests, writes, depth) = ([], [], 0) }

  // MARK: Links

  func client() async throws -> Client {
    if let open, open.closed == nil { return open }
    let (near, far) = MemoryChannel.pair()
    attributes = PlainServer([
      PlainServer.Item(handle: 1, type: UUID(0x2800), value: hasService ? little(ManagementClient.service) : [0x0F, 0x18]),
      PlainServer.Item(handle: 2, type: UUID(0x2803), value: [0x14, 3, 0] + little("DA2E7828-FBCE-4E01-AE9E-261174997C48")),
      PlainServer.Item(handle: 3, type: UUID(littleEndian: little("DA2E7828-FBCE-4E01-AE9E-261174997C48")) ?? UUID(0), value: []),
      PlainServer.Item(handle: 4, type: UUID(0x2902), value: [0, 0]),
    ])
    attributes.largestMTU = mtu
    (near.delay, far.delay, channel, part, waiting) = (delay, delay, far, [], 0)
    far.handler = { [weak self] in if case .received(let pdu) = $0 { self?.receive(pdu) } }
    let client = Client(near)
    open = client
    return client
  }

  private func little(_ uuid: UUID) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: uuid.low >> (8 * $0)) } + (0..<8).map { UInt8(truncatingIfNeeded: uuid.high >> (8 * $0)) }
  }
  private func little(_ text: String) -> [UInt8] { little(UUID(text) ?? UUID(0)) }

  func cut() {
    channel?.lose(LinkLost("cut"))
    (channel, open) = (nil, nil)
  }

  func reconnect(after error: any Error) async throws -> Client {
    reconnects += 1
    guard reconnects < 300 else { throw error }
    try await EventLoop.shared.sleep(for: .seconds(1))
    return try await client()
  }

  func restarted(as identity: RestartedIdentity, within patience: Duration) async throws -> Client? {
    identities.append(identity)
    cut()
    try await EventLoop.shared.sleep(for: downtime)
    if let restartError { throw restartError }
    return comesBack ? try await client() : nil
  }

  // MARK: Requests

  private func receive(_ pdu: [UInt8]) {
    if pdu.starts(with: [0x12, 4, 0]) { configurations.append(pdu[3]) }
    if pdu.starts(with: [0x12, 4, 0, 0]) { part = [] }
    if let answer = attributes.answer(pdu) { channel?.send(answer) }
    guard pdu.starts(with: [0x52, 3, 0]) else { return }
    writes.append(Array(pdu[3...]))
    part = joinsParts ? part + pdu[3...] : Array(pdu[3...])
    guard part.count >= 8 else { return }
    let length = 8 + Int(part[2]) << 8 + Int(part[3])
    if part.count < length {
      if !joinsParts { answer(to: part, CBOR.map(["rc": .integer(part[0] >> 3 & 3 > 1 ? 13 : 9)]).encoded) }
      return
    }
    let message = part
    part = []
    guard message.count <= bufferSize else { return }
    waiting += 1
    depth = max(depth, waiting)
    let link = channel
    EventLoop.shared.schedule(after: processing * waiting) { [weak self] in
      guard let self, link === channel, link != nil else { return }
      waiting -= 1
      handle(message)
    }
  }

  func answer(to request: [UInt8], _ body: [UInt8], sequence: UInt8? = nil) {
    let group = UInt16(request[4]) << 8 | UInt16(request[5])
    let bytes = ManagementMessage(
      operation: (request[0] & 7) + 1, group: group, sequence: sequence ?? request[6], command: request[7], body: body
    ).encoded
    for start in stride(from: 0, to: bytes.count, by: mtu - 3) {
      channel?.send([0x1B, 3, 0] + bytes[start..<min(start + mtu - 3, bytes.count)])
    }
  }

  private func handle(_ message: [UInt8]) {
    let codes: [[UInt8]: ManagementOperation] = [
      [2, 0, 0]: .echo, [2, 0, 5]: .reset, [0, 0, 6]: .parameters, [0, 0, 7]: .applicationInfo, [0, 0, 8]: .bootloaderInfo,
      [0, 1, 0]: .images, [2, 1, 0]: .setState, [2, 1, 1]: .upload, [2, 1, 5]: .erase, [0, 1, 6]: .slotInfo, [2, 3, 0]: .writeSetting,
      [2, 3, 3]: .saveSettings,
    ]
    guard let operation = codes[[message[0] & 7, message[5], message[7]]], let body = try? CBOR(decoding: message[8...]) else {
      return answer(to: message, CBOR.map(["rc": .integer(8)]).encoded)
    }
    requests.append((operation, body, message.count))
    if operation == .upload, let limit = cutsAfter, sent(.upload).count.isMultiple(of: limit) { return cut() }
    if let bytes = onRequest?(operation, body) {
      if !bytes.isEmpty { answer(to: message, bytes) }
      return
    }
    let values = missing.contains(operation) ? CBOR.map(["rc": .integer(8)]) : perform(operation, body)
    if losesAnswer { losePower() } else { answer(to: message, values.encoded) }
    losesAnswer = false
    if operation == .reset { reset() }
  }

  func refusal(_ code: Int) -> CBOR {
    hasGroupErrors ? .map(["err": .map(["group": .integer(1), "rc": .integer(code)])]) : .map(["rc": .integer(1), "rsn": .text("no")])
  }

  private func perform(_ operation: ManagementOperation, _ body: CBOR) -> CBOR {
    switch operation {
    case .echo: return .map(["r": body["d"] ?? .null])
    case .parameters: return .map(["buf_size": .integer(bufferSize), "buf_count": .integer(bufferCount)])
    case .applicationInfo: return .map(["output": .text("Zephyr 4.3")])
    case .bootloaderInfo:
      guard body["query"] != nil else { return .map(["bootloader": .text("MCUboot")]) }
      guard let mode else { return .map(["err": .map(["group": .integer(0), "rc": .integer(3)])]) }
      return .map(["mode": .integer(mode.rawValue), "no-downgrade": .bool(forbidsDowngrade)])
    case .images: return list
    case .slotInfo:
      let slots = (0...1).map { CBOR.map(["slot": .integer($0), "size": .integer(slotSize), "upload_image_id": .integer($0 + 1)]) }
      return .map(["images": .array([.map(["image": .integer(number), "slots": .array(slots)])])])
    case .setState: return setState(body)
    case .upload: return upload(body)
    case .erase: other = Slot()
    case .writeSetting: setting = body["val"]?.bytes
    case .reset: bootMode = body["boot_mode"]?.integer
    case .saveSettings: break
    }
    return .map([:])
  }

  private var list: CBOR {
    func entry(_ slot: Int, _ image: ImageFile, _ flags: [String]) -> CBOR {
      let hash = (slot == 0 ? image.runningHash : image.hash) ?? []
      let version = image.version.description.replacing("+", with: ".")
      var members: [(String, CBOR)] = [
        ("image", .integer(number)), ("slot", .integer(slot)), ("version", .text(version)), ("hash", .bytes(hash)),
      ]
      members += flags.map { ($0, .bool(true)) }
      return .map(members.map { CBOR.Member(key: .text($0.0), value: $0.1) })
    }
    let first = running.image.map { entry(0, $0, ["active", "bootable"] + (isConfirmed ? ["confirmed"] : [])) }
    let second = other.image.map {
      entry(1, $0, (isPending ? ["pending"] : []) + (isPermanent ? ["permanent"] : []) + (isConfirmed ? [] : ["confirmed"]))
    }
    return .map(["images": .array([first, second].compactMap(\.self)), "splitStatus": .integer(0)])
  }

  private func setState(_ body: CBOR) -> CBOR {
    let confirms = body["confirm"]?.bool == true
    if isPending { return refusal(28) }
    switch body["hash"]?.bytes {
    case nil: isConfirmed = isConfirmed || number == 0
    case running.image?.runningHash: isConfirmed = isConfirmed || confirms
    case let hash? where hash == other.image?.hash: (isPending, isPermanent) = (true, confirms)
    default: return refusal(8)
    }
    return list
  }

  private func upload(_ body: CBOR) -> CBOR {
    guard let data = body["data"]?.bytes, let offset = body["off"]?.integer else { return refusal(20) }
    if offset == 0 {
      guard let total = body["len"]?.integer, data.count >= 32 else { return refusal(data.count < 32 ? 22 : 21) }
      if isPending || !isConfirmed && mode != .ramLoad { return refusal(9) }
      if total > slotSize { return refusal(30) }
      let hash = body["sha"]?.bytes
      if session == nil || session?.hash != hash || hash == nil || session?.total != total { session = (hash, total, []) }
    }
    guard let state = session else { return .map(["off": .integer(0)]) }
    guard state.bytes.count == offset else { return .map(["off": .integer(state.bytes.count)]) }
    let bytes = state.bytes + (offset + data.count < state.total ? data.dropLast(data.count % word) : data[...])
    session?.bytes = bytes
    guard bytes.count >= state.total else { return .map(["off": .integer(bytes.count)]) }
    session = nil
    if mode == .firmwareLoader { running.bytes = bytes } else { other.bytes = bytes }
    let matches = state.hash == nil || state.hash == SHA2.sha256.hash(bytes)
    return .map(["off": .integer(bytes.count), "match": .bool(matches)])
  }

  /// Forgets the upload, as after a restart or a power cut.
  func losePower() {
    session = nil
    cut()
  }

  private func reset() {
    session = nil
    if let onReset { return onReset() }
    if isPending {
      (running, other, isConfirmed) = (other, running, isPermanent)
    } else if !isConfirmed {
      (running, other, isConfirmed) = (other, running, true)
    }
    (isPending, isPermanent) = (false, false)
  }
}

extension Fixture {
  /// An image of a version, with more code than a few messages.
  static func update(version: UInt8, size: Int = 8_000, flags: Int = 0, protected: [UInt8] = [], function: SHA2 = .sha256) -> [UInt8] {
    let code = (0..<size).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 8 + Int(version)) }
    let head =
      little(0x96F3_B83D, 4) + little(0, 4) + little(32, 2) + little(protected.count, 2) + little(size, 4) + little(flags, 4)
      + [version, 0] + little(0, 2) + little(4, 4) + little(0, 4) + code + protected
    return head + area(0x6907, [tlv(function == .sha512 ? 0x12 : 0x10, function.hash(head))])
  }
}

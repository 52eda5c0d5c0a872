// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
import BluetoothLEText

/// The size and the number of a device's buffers for messages.
package struct ManagementParameters: Hashable, Sendable {
  /// The maximum length of a message, in bytes, with its header.
  package let bufferSize: Int
  /// The number of buffers, which requests and answers share.
  package let bufferCount: Int

  /// The number of requests without an answer at a time. A server drops an answer if requests fill all its buffers (zephyr#44898).
  var window: Int { min(max(1, bufferCount - 1), 64) }
}

/// A client of MCUmgr on one link (Zephyr, `smp_protocol.rst`). Allows one caller at a time.
@LoopActor
package final class ManagementClient {
  package nonisolated static let service = UUID(high: 0x8D53_DC1D_1DB7_4CD3, low: 0x868B_8A52_7460_AA84)
  package nonisolated static let characteristic = UUID(high: 0xDA2E_7828_FBCE_4E01, low: 0xAE9E_2611_7499_7C48)

  struct Answer: Sendable {
    let sequence: UInt8
    let result: Result<CBOR, ManagementError>

    /// The code of an error that the device answered. Nil for other errors, and for success.
    var refusal: ManagementRefusal? { if case .failure(.refused(_, let refusal, _)) = result { refusal } else { nil } }
  }

  package let client: Client
  /// Whether the device joins the parts of a message that needs several writes. Nil until `prepareUpload`, or a long request, has asked.
  package internal(set) var joinsParts: Bool?
  private let characteristic: Characteristic
  private var answers: Subscription
  private var joiner = MessageJoiner()
  private var lastSequence: UInt8 = 0
  /// The requests without an answer, by sequence number.
  private var open: [UInt8: ManagementOperation] = [:]
  /// The parameters that the device reported. Nil inside if it does not support the request.
  private var reported: ManagementParameters??

  package nonisolated static func isServer(_ table: AttributeTable) -> Bool { find(table) != nil }

  private nonisolated static func find(_ table: AttributeTable) -> Characteristic? {
    table.services.filter { $0.uuid == service }.flatMap(\.characteristics).first { $0.uuid == characteristic }
  }

  /// Discovers the service, exchanges the MTU, and subscribes to answers.
  /// - Throws: `ManagementError.noService`; the errors of discovery and of the subscription.
  package init(_ client: Client) async throws {
    guard let characteristic = Self.find(try await client.discover()) else { throw ManagementError.noService }
    if client.requestedMTU == nil { try await client.exchangeMTU() }
    (self.client, self.characteristic) = (client, characteristic)
    answers = try await Self.subscribe(client, characteristic)
  }

  /// Subscribes to answers. Some servers fill the MTU with them, also where an attribute cannot have so many bytes.
  private static func subscribe(_ client: Client, _ characteristic: Characteristic) async throws -> Subscription {
    let answers = try await client.subscribe(characteristic, kind: .notification)
    answers.keepsLongValues = true
    return answers
  }

  /// Ends the subscription. Each client needs it: a second subscription on the link keeps the CCCD from being written in `clearServer`.
  package func close() async { await answers.close() }

  /// Runs an operation with a client, and closes it on every path.
  package static func use<T: Sendable>(_ client: Client, _ body: @LoopActor (ManagementClient) async throws -> T) async throws -> T {
    let management = try await ManagementClient(client)
    let result = await Result(of: { try await body(management) })
    await management.close()
    return try result.get()
  }

  // MARK: Requests

  /// The number of bytes in one write.
  var writeSize: Int { WriteProcedure.largestSegment(mtu: client.mtu) }

  /// Sends a request and waits for its answer. Sends it again, for up to 30 s, while the device is busy.
  func request(_ operation: ManagementOperation, _ body: CBOR = .map([:]), within limit: Duration = .seconds(10)) async throws -> CBOR {
    let message = ManagementMessage.headerSize + body.encoded.count
    if message > writeSize, joinsParts == nil { try await askForReassembly() }
    let end = EventLoop.shared.now.advanced(by: Self.busyLimit)
    while true {
      let sequence = try await send(operation, body)
      defer { forgetOpen() }
      guard let answer = try await answer(until: EventLoop.shared.now.advanced(by: limit)), answer.sequence == sequence else {
        throw ManagementError.noAnswer(operation, after: limit)
      }
      guard answer.refusal == .busy, EventLoop.shared.now < end else { return try answer.result.get() }
      try await EventLoop.shared.sleep(for: Self.busyPause)
    }
  }

  static let busyLimit = Duration.seconds(30)
  static let busyPause = Duration.milliseconds(500)

  /// Sends a request, in several writes if the device joins them.
  /// - Returns: The sequence number of the answer.
  /// - Throws: `ManagementError.messageTooLong`; the errors of a Write Command.
  func send(_ operation: ManagementOperation, _ body: CBOR, joining: Bool? = nil) async throws -> UInt8 {
    repeat { lastSequence &+= 1 } while open[lastSequence] != nil
    let (code, sequence) = (operation.code, lastSequence)
    let bytes = ManagementMessage(
      operation: code.isWrite ? 2 : 0, group: code.group, sequence: sequence, command: code.command, body: body.encoded
    ).encoded
    guard bytes.count <= writeSize || joining ?? joinsParts ?? false else {
      throw ManagementError.messageTooLong(operation, bytes.count, limit: writeSize)
    }
    open[sequence] = operation
    for start in stride(from: 0, to: bytes.count, by: writeSize) {
      try await client.writeCommand(bytes[start..<min(start + writeSize, bytes.count)], to: characteristic.valueHandle)
    }
    return sequence
  }

  /// Waits for the next answer to an open request. Drops messages that answer none, such as late ones. Returns nil at the deadline.
  func answer(until deadline: LoopClock.Instant) async throws -> Answer? {
    while let event = try await answers.next(until: deadline) {
      guard let message = joiner.add(event.value), let operation = open[message.sequence] else { continue }
      guard ManagementOperation(message) == operation, message.operation & 1 == 1 else { continue }
      open[message.sequence] = nil
      return Answer(sequence: message.sequence, result: Result { () throws(ManagementError) in try Self.values(message.body, operation) })
    }
    return nil
  }

  /// Reads the body of an answer.
  /// - Throws: The error in it; `ManagementError.invalidAnswer`.
  nonisolated static func values(_ body: [UInt8], _ operation: ManagementOperation) throws(ManagementError) -> CBOR {
    guard let values = try? CBOR(decoding: body), case .map = values else { throw .invalidAnswer(operation) }
    if let refusal = try ManagementRefusal(answer: values, to: operation) {
      throw .refused(operation, refusal, reason: values["rsn"]?.text)
    }
    return values
  }

  /// Stops waiting for answers to open requests, and forgets a message that did not arrive whole.
  func forgetOpen() {
    open = [:]
    joiner.reset()
  }

  /// Subscribes again, which makes Zephyr's server forget a message that did not arrive whole.
  func clearServer() async throws {
    try await answers.cancel()
    forgetOpen()
    answers = try await Self.subscribe(client, characteristic)
  }

  // MARK: Commands

  package func echo(_ text: String) async throws -> String {
    guard let answer = try await request(.echo, .map(["d": .text(text)]))["r"]?.text else { throw ManagementError.invalidAnswer(.echo) }
    return answer
  }

  /// Asks for the parameters, once per link. Returns nil if the device does not support the request, or has impossible values.
  package func parameters() async throws -> ManagementParameters? {
    if let reported { return reported }
    let answer = try await supported(.parameters)
    var parameters: ManagementParameters?
    if let size = answer?["buf_size"]?.integer, let count = answer?["buf_count"]?.integer, size > ManagementMessage.headerSize, count > 0 {
      parameters = ManagementParameters(bufferSize: min(size, 0xFFFF), bufferCount: count)
    }
    reported = .some(parameters)
    return parameters
  }

  /// Sends a request that devices may lack. Returns nil if this device does.
  private func supported(_ operation: ManagementOperation, _ body: CBOR = .map([:])) async throws -> CBOR? {
    do { return try await request(operation, body) } catch ManagementError.refused(_, let refusal, _)
      where refusal == .notSupported || refusal.group == 0
    { return nil }
  }

  package func bootloader() async throws -> BootloaderInfo {
    let name = try await supported(.bootloaderInfo)?["bootloader"]?.text
    return BootloaderInfo(name: name, mode: try await supported(.bootloaderInfo, .map(["query": .text("mode")])))
  }

  /// Returns the facts about the kernel and the application as one line. Returns nil if the device does not support the request.
  package func applicationInfo() async throws -> String? {
    try await supported(.applicationInfo, .map(["format": .text("a")]))?["output"]?.text
  }

  package func images() async throws -> ImageList {
    guard let list = ImageList(try await request(.images)) else { throw ManagementError.invalidAnswer(.images) }
    return list
  }

  /// Returns nil if the device does not support the request.
  package func slotInfo() async throws -> [SlotInfo]? { try await supported(.slotInfo).flatMap { SlotInfo.list($0) } }

  /// Returns the number for `upload` that directs an image to a slot, counted over all images.
  /// - Throws: `ManagementError.slotNotAddressable`.
  package func uploadImage(forSlot slot: Int) async throws -> Int {
    guard let number = try await slotInfo()?.first(where: { $0.number == slot })?.uploadImage else {
      throw ManagementError.slotNotAddressable(slot)
    }
    return number
  }

  /// Marks an image for one trial after the next reset, or confirms it, so that it stays.
  /// - Parameter hash: The hash of the image. Nil for the running one.
  /// - Returns: The images with their new states.
  @discardableResult
  package func setState(hash: [UInt8]?, confirm: Bool) async throws -> ImageList {
    let answer = try await request(.setState, Self.state(hash, confirm))
    // Some servers answer without the list.
    if let list = ImageList(answer) { return list }
    return try await images()
  }

  private nonisolated static func state(_ hash: [UInt8]?, _ confirm: Bool) -> CBOR {
    .present([("hash", hash.map { .bytes($0) }), ("confirm", .bool(confirm))])
  }

  /// Checks that `setState` with this hash fits a message. Call `prepareUpload` before.
  /// - Throws: `ManagementError.messageTooLong`.
  func checkState(hash: [UInt8]?) throws(ManagementError) {
    let count = ManagementMessage.headerSize + Self.state(hash, false).encoded.count
    guard count <= writeSize || joinsParts == true else { throw .messageTooLong(.setState, count, limit: writeSize) }
  }

  /// Erases a slot, counted over all images. Nil for the device's default. Waits up to 75 s.
  package func erase(slot: Int? = nil) async throws {
    _ = try await request(.erase, .present([("slot", slot.map { .integer($0) })]), within: Self.longLimit)
  }

  /// The time in which a device must erase or hash a slot.
  static let longLimit = Duration.seconds(75)

  /// Resets the device, which ends the link. A link that ends before the answer is success.
  /// - Parameter bootMode: 1 for the bootloader, or the firmware loader, instead of the application.
  package func reset(bootMode: Int? = nil) async throws {
    let body = CBOR.present([("boot_mode", bootMode.map { .integer($0) })])
    do { _ = try await request(.reset, body) } catch  where client.isLost(by: error) {}
  }

  /// Sets the name with which the firmware loader advertises.
  func setLoaderName(_ name: String) async throws {
    _ = try await request(.writeSetting, .map(["name": .text("fw_loader/adv_name"), "val": .bytes(Array(name.utf8))]))
    _ = try await request(.saveSettings)
  }
}

extension CBOR {
  /// A map with text keys, without the values that are nil.
  static func present(_ members: [(String, CBOR?)]) -> CBOR {
    .map(members.compactMap { key, value in value.map { Member(key: .text(key), value: $0) } })
  }
}

// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText

/// A simulated device with MCUmgr over Bluetooth LE, as Zephyr serves it, and with MCUboot. Upload state is in RAM, images are in flash.
@LoopActor
package final class ManagementDevice: UpdatableFirmware {
  /// The reason why a request has no result: a code of the protocol, a code of the request's group, or no power.
  enum Failure: Error {
    case code(Int)
    case groupCode(Int)
    case powerLost
  }

  package weak var host: VirtualPeripheral?
  package var ledger = UpdateLedger()
  package let images: ImageSlots
  package let running: PeripheralDescription
  let settings: ManagementSettings
  private let handle: AttributeHandle?
  /// The requests in the buffers, without the one that is being processed.
  private var queue: [(bytes: [UInt8], client: Server)] = []
  /// The writes of an incomplete message.
  private var partial: [UInt8] = []
  /// The end of the request that is being processed, and the restart after a reset request.
  private var work, reset: LoopTimer?
  /// The upload in progress.
  var upload: Upload?

  init(_ settings: ManagementSettings, _ application: PeripheralDescription) {
    (self.settings, running) = (settings, application)
    handle = application.valueHandle(ManagementClient.characteristic)
    images = ImageSlots(settings)
  }

  // MARK: UpdatableFirmware

  package func decision(on handle: AttributeHandle, _ value: [UInt8], from client: Server) -> Server.Decision? {
    guard handle == self.handle else { return nil }
    var decision = Server.Decision()
    decision.then = { [weak self, weak client] in if let client { self?.receive(value, client) } }
    return decision
  }

  package func forgetClient() { partial = [] }

  package func stop() -> Duration {
    work?.cancel()
    reset?.cancel()
    (work, reset, partial, queue, upload) = (nil, nil, [], [], nil)
    images.decide()
    return settings.bootTime
  }

  package func start() -> Duration? {
    guard images.isSwapping else { return nil }
    images.step()
    if ledger.page() { host?.restart(.outOfRange) }
    return settings.pageSwapTime
  }

  func losePower() -> Failure {
    host?.restart(.outOfRange)
    return .powerLost
  }

  // MARK: Messages

  private func receive(_ value: [UInt8], _ client: Server) {
    let bytes = partial + value
    partial = []
    // A message that needs more than a buffer, or a free buffer that is not there, is dropped. Its later writes may begin another one.
    let size = settings.reassembles ? ManagementMessage.size(of: bytes) : bytes.count
    guard let size, size <= settings.bufferSize, hasBuffer else { return }
    if bytes.count < size { partial = bytes }
    guard bytes.count == size else { return }
    queue.append((bytes, client))
    process()
  }

  /// Whether a buffer is free. A request that is being processed has one, and its answer another one.
  private var hasBuffer: Bool { queue.count + (work == nil ? 0 : 2) < settings.buffers }

  private func process() {
    while work == nil, !queue.isEmpty {
      let (request, client) = queue.removeFirst()
      var time = settings.requestTime
      guard let answer = answer(to: request, &time) else { continue }
      guard time > .zero else {
        send(answer, client)
        continue
      }
      work = EventLoop.shared.schedule(after: time) { [weak self] in
        self?.work = nil
        self?.send(answer, client)
        self?.process()
      }
    }
  }

  private func send(_ bytes: [UInt8], _ client: Server) {
    guard let handle else { return }
    let size = max(1, client.bearer.mtu - 3)
    for start in stride(from: 0, to: bytes.count, by: size) { client.notify(handle, Array(bytes[start..<min(start + size, bytes.count)])) }
  }

  /// Performs a request, and adds to the time until its answer. Returns nil for a request without a header, and if the power is lost.
  private func answer(to request: [UInt8], _ time: inout Duration) -> [UInt8]? {
    guard var message = ManagementMessage(request), let size = ManagementMessage.size(of: request) else { return nil }
    let values: CBOR
    do throws(Failure) {
      guard message.version <= 1 else { throw .code(13) }
      guard request.count >= size else { throw .code(9) }
      values = try perform(message, &time)
    } catch {
      switch error {
      case .code(let code): values = .map(["rc": .integer(code)])
      case .groupCode(let code): values = .map(["err": .map(["group": .integer(Int(message.group)), "rc": .integer(code)])])
      case .powerLost: return nil
      }
    }
    (message.operation, message.body) = (message.operation | 1, values.encoded)
    return message.encoded
  }

  private func perform(_ message: ManagementMessage, _ time: inout Duration) throws(Failure) -> CBOR {
    guard let body = try? CBOR(decoding: message.body), case .map = body else { throw .code(3) }
    switch ManagementOperation(message) {
    case .echo:
      guard let text = body["d"]?.text else { throw .code(3) }
      return .map(["r": .text(text)])
    case .reset:
      reset?.cancel()
      reset = EventLoop.shared.schedule(after: time + settings.resetTime) { [weak self] in self?.host?.restart(.outOfRange) }
      return .map([:])
    case .parameters: return .map(["buf_size": .integer(settings.bufferSize), "buf_count": .integer(settings.buffers)])
    case .bootloaderInfo:
      guard let query = body["query"]?.text else { return .map(["bootloader": .text("MCUboot")]) }
      guard query == "mode" else { throw .groupCode(3) }
      return .map(["mode": .integer(settings.mode.rawValue), "no-downgrade": .bool(settings.refusesDowngrade)])
    case .images: return list
    case .setState: return try setState(body)
    case .upload: return try receive(body, &time)
    case .erase: return try erase(body, &time)
    case .slotInfo: return slotInfo
    case .applicationInfo, .writeSetting, .saveSettings, nil: throw .code(8)
    }
  }
}

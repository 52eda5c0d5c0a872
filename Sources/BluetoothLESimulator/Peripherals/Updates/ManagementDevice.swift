// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText

/// A simulated device with MCUmgr over Bluetooth LE, as Zephyr serves it, and with MCUboot. Upload state is in RAM, images are in flash.
@LoopActor
package final class ManagementDevice: UpdatableFirmware {
  package weak var host: (any UpdateHost)?
  package var ledger = UpdateLedger()
  package let images: ImageSlots
  let settings: ManagementSettings
  private let application: PeripheralDescription
  private let handle: AttributeHandle?
  /// The requests in the buffers, the first of which is being processed.
  private var queue: [(bytes: ArraySlice<UInt8>, client: Server)] = []
  /// The writes of an incomplete message.
  private var partial: [UInt8] = []
  private var work, reset: LoopTimer?
  /// The upload in progress.
  var upload: Upload?
  /// The boot mode of the last reset request. RAM that survives a reset holds it.
  private var bootMode = 0
  private var loaderName = "FW_LOADER"
  /// Whether the firmware loader runs, so that uploads go to the application's slot.
  private(set) var isLoader = false

  init(_ settings: ManagementSettings, _ application: PeripheralDescription) {
    (self.settings, self.application) = (settings, application)
    handle = application.valueHandle(ManagementSettings.characteristic)
    images = ImageSlots(settings)
  }

  // MARK: UpdatableFirmware

  package var running: PeripheralDescription {
    guard isLoader else { return application }
    var loader = application
    loader.rename(loaderName, services: [])
    loader.address = application.address.next
    return loader
  }

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
    images.powerOff()
    (work, reset, partial, queue, bootMode, upload) = (nil, nil, [], [], 0, nil)
    ledger.restarts += 1
    return settings.bootTime
  }

  package func start() -> Duration? {
    images.begin()
    guard images.isSwapping else {
      isLoader = settings.mode == .firmwareLoader && (bootMode == 1 || images.running == nil)
      return nil
    }
    _ = images.step()
    if ledger.page() { host?.restart(.outOfRange) }
    return settings.pageSwapTime
  }

  // MARK: Messages

  private func receive(_ value: [UInt8], _ client: Server) {
    guard settings.reassembles else { return accept(value, client) }
    // A message that needs more than a buffer, or a free buffer that is not there, is dropped. Its later writes may begin another one.
    if partial.isEmpty {
      guard let message = ManagementMessage(value[...]), 8 + message.length <= settings.bufferSize, hasBuffer else { return }
    }
    partial += value
    guard let message = ManagementMessage(partial[...]), partial.count >= 8 + message.length else { return }
    let whole = partial
    partial = []
    if message.rest.isEmpty { accept(whole, client) }
  }

  private func accept(_ value: [UInt8], _ client: Server) {
    guard value.count <= settings.bufferSize, hasBuffer else { return }
    queue.append((value[...], client))
    process()
  }

  /// Whether a buffer is free. The answer to the request that is being processed takes one, too.
  private var hasBuffer: Bool { queue.count + (work == nil ? 0 : 1) < settings.buffers }

  private func process() {
    while work == nil, let request = queue.first {
      guard let message = ManagementMessage(request.bytes) else {
        queue.removeFirst()
        continue
      }
      let isWhole = message.version <= 1 && message.body.count == message.length
      queue[0].bytes = isWhole ? message.rest : []
      var outcome = isWhole ? respond(message) : Outcome { .failure(message.version > 1 ? 13 : 9) }
      outcome.pause += settings.requestTime
      guard finish(outcome, message, request.client) else { return }
    }
  }

  /// Erases the pages of a request, one after the other, and answers. Returns false if that goes on later, or not at all.
  private func finish(_ outcome: Outcome, _ message: ManagementMessage, _ client: Server) -> Bool {
    var rest = outcome
    guard outcome.pages.isEmpty else {
      return wait(settings.pageEraseTime) { [self] in
        images.erase(page: rest.pages.removeFirst(), slot: rest.slot)
        if ledger.page() {
          host?.restart(.outOfRange)
          return false
        }
        return finish(rest, message, client)
      }
    }
    return wait(outcome.pause) { [self] in
      guard let answer = outcome.answer() else { return false }
      send(message.encoded(answer, isOld: settings.isOld), client)
      if queue.first?.bytes.isEmpty ?? false { queue.removeFirst() }
      return true
    }
  }

  private func wait(_ time: Duration, _ action: @escaping @LoopActor () -> Bool) -> Bool {
    guard time > .zero else { return action() }
    work = EventLoop.shared.schedule(after: time) { [weak self] in
      self?.work = nil
      if action() { self?.process() }
    }
    return false
  }

  private func send(_ bytes: [UInt8], _ client: Server) {
    guard let handle else { return }
    let size = max(1, client.bearer.mtu - 3)
    for start in stride(from: 0, to: bytes.count, by: size) { client.notify(handle, Array(bytes[start..<min(start + size, bytes.count)])) }
  }

  // MARK: Groups

  private func respond(_ message: ManagementMessage) -> Outcome {
    guard let body = try? CBOR(decoding: message.body), case .map = body else { return Outcome { .invalid } }
    switch (message.group, message.command, message.isWrite) {
    case (1, let command, let isWrite): return imageGroup(command, isWrite: isWrite, body)
    case (0, _, _): return Outcome { self.operatingSystem(message, body) }
    case (3, 0, true):
      guard let name = body["name"]?.text, let value = body["val"]?.bytes else { return Outcome { .invalid } }
      // An unknown setting: SETTINGS_MGMT_ERR_KEY_NOT_FOUND.
      guard name == "fw_loader/adv_name" else { return Outcome { .groupFailure(3) } }
      loaderName = String(decoding: value, as: UTF8.self)
      return Outcome { .map([:]) }
    default: return Outcome { .unsupported }
    }
  }

  private func operatingSystem(_ message: ManagementMessage, _ body: CBOR) -> ManagementMessage.Answer {
    switch (message.command, message.isWrite) {
    case (0, _): return body["d"]?.text.map { .map(["r": .text($0)]) } ?? .invalid
    case (5, true):
      let mode = body["boot_mode"]?.integer ?? 0
      // The device restarts after its answer.
      reset?.cancel()
      reset = EventLoop.shared.schedule(after: settings.resetTime) { [weak self] in
        self?.host?.restart(.outOfRange)
        self?.bootMode = mode
      }
      return .map([:])
    case (6, false) where settings.reportsParameters:
      return .map(["buf_size": .integer(settings.bufferSize), "buf_count": .integer(settings.buffers)])
    case (8, false):
      guard let query = body["query"]?.text else { return .map(["bootloader": .text("MCUboot")]) }
      guard query == "mode" else { return .groupFailure(3) }
      let mode = CBOR.integer(settings.mode.rawValue)
      return settings.refusesDowngrade ? .map(["mode": mode, "no-downgrade": .bool(true)]) : .map(["mode": mode])
    default: return .unsupported
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText

/// A simulated device with Nordic Secure DFU: the bootloader of nRF5 SDK 17 (`nrf_dfu_req_handler.c`), and an application that starts it.
/// Executed objects are in flash. The current object and an init packet that was not executed are in RAM.
@LoopActor
package final class SecureBootloader: UpdatableFirmware {
  /// What is in flash: the installed firmware, and an update.
  struct Flash {
    var application: [UInt8]?
    var applicationVersion, bootloaderVersion, softdevice: UInt32
    var update = Update()
  }

  /// The executed part of an update.
  struct Update {
    var initPacket: [UInt8] = []
    var image: [UInt8] = []
    /// The CRC-32 of `image`.
    var crc = CRC32()
    var isComplete = false
    /// The pages of a complete update that the bootloader has copied.
    var copied = 0
  }

  /// What is in RAM.
  struct Memory {
    /// The kind of object that the client selected or created last.
    var current: DFUObjectType?
    var initPacket: [UInt8] = []
    var initPacketSize = 0
    var object: [UInt8] = []
    /// The size of the current object. Nil without one.
    var objectSize: Int?
    var (receipts, packets) = (0, 0)
  }

  package weak var host: (any UpdateHost)?
  package var ledger = UpdateLedger()
  /// Whether the bootloader runs, not the application.
  package private(set) var isActive: Bool
  var flash: Flash
  var memory = Memory()
  /// A register that a reset keeps, but no power cut: the next start stays in the bootloader.
  private var staysInBootloader = false
  private var name = "DfuTarg"
  var refusals = 0
  var timer: LoopTimer?
  /// The end of a bootloader that no client uses. Nil for one that was never left.
  private var idle: LoopTimer?
  let settings: BootloaderSettings
  private let description: PeripheralDescription
  package private(set) var running: PeripheralDescription

  init(_ settings: BootloaderSettings, _ application: PeripheralDescription) {
    (self.settings, description, running) = (settings, application, application)
    flash = Flash(
      application: [UInt8](repeating: 0xA5, count: 4096), applicationVersion: settings.applicationVersion,
      bootloaderVersion: settings.bootloaderVersion, softdevice: settings.softdevice)
    isActive = settings.buttonless == nil
    if isActive { running = settings.bootloader(application, name: name) }
  }

  /// The application in flash. Empty if there is none that the bootloader starts.
  package var application: [UInt8] { flash.application ?? [] }
  package var applicationVersion: UInt32 { flash.applicationVersion }
  package var bootloaderVersion: UInt32 { flash.bootloaderVersion }
  package var softdevice: UInt32 { flash.softdevice }
  /// The bytes in executed objects of the current update.
  package var executed: Int { flash.update.image.count }

  /// Restarts into the bootloader, as a held button does.
  package func enterBootloader() { restart(.outOfRange, staysInBootloader: true) }

  // MARK: UpdatableFirmware

  package func decision(on handle: AttributeHandle, _ value: [UInt8], from client: Server) -> Server.Decision? {
    let control = running.valueHandle(isActive ? BootloaderSettings.uuid(1) : settings.button)
    var decision = Server.Decision()
    if idle != nil { waitForClient() }
    if handle == control {
      guard client.configuration(ofValue: handle) & (isActive ? 1 : 2) != 0 else {
        // Client Characteristic Configuration Descriptor Improperly Configured.
        decision.error = ErrorCode(rawValue: 0xFD)
        return decision
      }
      decision.then = { [weak self, weak client] in
        guard let self, let client else { return }
        if isActive { answer(value, handle, client) } else { press(value, handle, client) }
      }
    } else if isActive, handle == running.valueHandle(BootloaderSettings.uuid(2)) {
      decision.then = { [weak self, weak client] in if let client { self?.take(value, control, client) } }
    } else {
      return nil
    }
    return decision
  }

  package func forgetClient() { (memory.receipts, memory.packets) = (0, 0) }

  package func stop() -> Duration {
    timer?.cancel()
    idle?.cancel()
    (timer, idle, memory, staysInBootloader) = (nil, nil, Memory(), false)
    (memory.initPacket, memory.initPacketSize) = (flash.update.initPacket, flash.update.initPacket.count)
    ledger.restarts += 1
    return settings.bootTime
  }

  package func start() -> Duration? {
    guard flash.update.isComplete, let packet = try? InitPacket(flash.update.initPacket) else {
      isActive = staysInBootloader || flash.application == nil
      running = isActive ? settings.bootloader(description, name: name) : description
      if isActive { waitForClient() } else { name = "DfuTarg" }
      return nil
    }
    // The bootloader copies an application from the second bank.
    if settings.hasTwoBanks, flash.update.copied * 4096 < flash.update.image.count {
      flash.update.copied += 1
      if ledger.page() { host?.restart(.outOfRange) }
      return settings.pageEraseTime
    }
    install(packet)
    return .zero
  }

  /// Returns to the application after a time without a request (`NRF_BL_DFU_INACTIVITY_TIMEOUT_MS`).
  private func waitForClient() {
    idle?.cancel()
    guard flash.application != nil else { return }
    idle = EventLoop.shared.schedule(after: .seconds(120)) { [weak self] in
      self?.restart(.terminate(.remoteUserTerminated), staysInBootloader: false)
    }
  }

  private func install(_ packet: InitPacket) {
    switch packet.type {
    case .application, .externalApplication, .unknown:
      (flash.application, flash.applicationVersion) = (flash.update.image, packet.firmwareVersion ?? 0)
    case .bootloader: flash.bootloaderVersion = packet.firmwareVersion ?? 0
    case .softdevice, .softdeviceBootloader:
      if packet.type == .softdeviceBootloader { flash.bootloaderVersion = packet.firmwareVersion ?? 0 }
      // The new SoftDevice is in the place of the application, which does not fit it.
      (flash.softdevice, flash.application) = (packet.softdevices.max() ?? flash.softdevice, nil)
    }
    flash.update = Update()
  }

  func restart(_ how: Reaction.Disconnection, staysInBootloader stays: Bool) {
    host?.restart(how)
    staysInBootloader = stays
  }

  /// Disconnects and restarts after the answer was sent.
  func restartSoon(staysInBootloader stays: Bool) {
    timer?.cancel()
    timer = EventLoop.shared.schedule(after: .milliseconds(100)) { [weak self] in
      self?.restart(.terminate(.remoteUserTerminated), staysInBootloader: stays)
    }
  }

  // MARK: Application

  private func press(_ value: [UInt8], _ handle: AttributeHandle, _ client: Server) {
    var result: UInt8 = 1
    switch value.first {
    case 1:
      if settings.buttonless == .bonds, !(host?.isBonded(client) ?? false) { result = 7 } else { restartSoon(staysInBootloader: true) }
    case 2 where settings.buttonless == .noBonds:
      let text = value.dropFirst(2)
      if value.count > 2, value[1] == text.count, text.count <= 20 { name = String(decoding: text, as: UTF8.self) } else { result = 5 }
    default: result = 2
    }
    client.indicateWhenFree(handle, [0x20, value.first ?? 0, result])
  }
}

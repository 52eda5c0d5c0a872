// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText

/// A simulated device with Nordic Secure DFU: the bootloader of nRF5 SDK 17 (`nrf_dfu_req_handler.c`), and an application that starts it.
/// Executed objects are in flash. The current object and an init packet that was not executed are in RAM.
@LoopActor
package final class SecureBootloader: UpdatableFirmware {
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

  /// The state in RAM, which a power cut loses.
  struct Memory {
    /// The kind of object that the client selected or created last.
    var current: DFUObjectType?
    var initPacket: [UInt8] = []
    var initPacketSize = 0
    var object: [UInt8] = []
    /// The size of the current object. Nil if there is none.
    var objectSize: Int?
    var (receipts, packets) = (0, 0)
  }

  package weak var host: VirtualPeripheral?
  package var ledger = UpdateLedger()
  /// Whether the bootloader runs, not the application.
  package private(set) var isActive: Bool
  /// The application in flash. Empty if there is none.
  package internal(set) var application = [UInt8](repeating: 0xA5, count: 4096)
  package private(set) var applicationVersion, softdevice: UInt32
  package private(set) var bootloaderVersion: UInt32 = 1
  /// The name of the bootloader, which the application may change.
  private var name = "DfuTarg"
  var update = Update()
  var memory = Memory()
  /// A register that a reset keeps, but no power cut: the next start stays in the bootloader.
  private var staysInBootloader = false
  var refusals = 0
  var timer: LoopTimer?
  let settings: BootloaderSettings
  private let description: PeripheralDescription
  package var running: PeripheralDescription { isActive ? settings.bootloader(description, name: name) : description }

  init(_ settings: BootloaderSettings, _ application: PeripheralDescription) {
    (self.settings, description, isActive) = (settings, application, settings.buttonless == nil)
    (applicationVersion, softdevice) = (settings.applicationVersion, settings.softdevice)
  }

  /// The bytes in executed objects of the current update.
  package var executed: Int { update.image.count }

  /// Restarts into the bootloader, as a held button does.
  package func enterBootloader() { restart(.outOfRange, staysInBootloader: true) }

  // MARK: UpdatableFirmware

  package func decision(on handle: AttributeHandle, _ value: [UInt8], from client: Server) -> Server.Decision? {
    guard let shown = host?.description else { return nil }
    let control = shown.valueHandle(isActive ? BootloaderSettings.control : settings.button)
    let isPacket = isActive && handle == shown.valueHandle(BootloaderSettings.packets)
    guard handle == control || isPacket, let control else { return nil }
    var decision = Server.Decision()
    decision.then = { [weak self, weak client] in
      guard let self, let client else { return }
      if isPacket { return take(value, control, client) }
      if isActive { answer(value, control, client) } else { press(value, control, client) }
    }
    return decision
  }

  package func forgetClient() { (memory.receipts, memory.packets) = (0, 0) }

  package func stop() -> Duration {
    timer?.cancel()
    (timer, memory, staysInBootloader) = (nil, Memory(), false)
    (memory.initPacket, memory.initPacketSize) = (update.initPacket, update.initPacket.count)
    return settings.bootTime
  }

  package func start() -> Duration? {
    // The bootloader copies a complete update from the second bank.
    if update.isComplete, settings.hasTwoBanks, update.copied * 4096 < executed {
      update.copied += 1
      if ledger.page() { host?.restart(.outOfRange) }
      return settings.pageEraseTime
    }
    if update.isComplete { install() }
    isActive = staysInBootloader || application.isEmpty
    return nil
  }

  /// The checked init packet. Nil before it was executed.
  var packet: InitPacket? { try? InitPacket(update.initPacket) }

  private func install() {
    guard let packet else { return }
    let version = packet.firmwareVersion ?? 0
    switch packet.type {
    case .application, .externalApplication, .unknown: (application, applicationVersion) = (update.image, version)
    case .bootloader: bootloaderVersion = version
    case .softdevice, .softdeviceBootloader:
      if packet.type == .softdeviceBootloader { bootloaderVersion = version }
      // The new SoftDevice is in the place of the application, which does not fit it.
      (softdevice, application) = (packet.softdevices.max() ?? softdevice, [])
    }
    update = Update()
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
    let isName = value.first == 2 && value.count > 2 && value.count <= 22 && value.count == Int(value[1]) + 2
    if isName { name = String(decoding: value[2...], as: UTF8.self) }
    if value.first == 1 { restartSoon(staysInBootloader: true) }
    let result: UInt8 = isName || value.first == 1 ? 1 : value.first == 2 ? 5 : 2
    client.indicateWhenFree(handle, [0x20, value.first ?? 0, result])
  }
}

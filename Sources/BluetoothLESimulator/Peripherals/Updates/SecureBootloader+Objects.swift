// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText

/// The control point and the packets of the bootloader.
extension SecureBootloader {
  /// A result code of the control point, and the values that follow it.
  typealias Result = (code: UInt8, values: [UInt8])

  func answer(_ value: [UInt8], _ handle: AttributeHandle, _ client: Server) {
    guard let code = value.first else { return }
    let (operation, arguments) = (DFUOperation(rawValue: code), Array(value.dropFirst()))
    let result: Result = operation.map { refusal(of: $0, arguments.first) ?? perform($0, arguments) } ?? (2, [])
    let send: @LoopActor () -> Void = { client.notify(handle, [0x60, code, result.code] + result.values) }
    guard operation == .create, memory.current == .data, result.code == 1 else { return send() }
    if ledger.page() { return restart(.outOfRange, staysInBootloader: false) }
    guard settings.pageEraseTime > .zero else { return send() }
    timer = EventLoop.shared.schedule(after: settings.pageEraseTime) { send() }
  }

  private func refusal(of operation: DFUOperation, _ object: UInt8?) -> Result? {
    guard let refusal = settings.refusal, refusal.operation == operation, refusals < refusal.times else { return nil }
    let current = operation == .create || operation == .select ? object : memory.current?.rawValue
    guard refusal.object == nil || refusal.object?.rawValue == current else { return nil }
    refusals += 1
    return (refusal.result, refusal.extended.map { [$0] } ?? [])
  }

  private func perform(_ operation: DFUOperation, _ arguments: [UInt8]) -> Result {
    let lengths: [DFUOperation: Int] = [.create: 5, .setPRN: 2, .select: 1]
    guard arguments.count == lengths[operation, default: arguments.count] else { return (3, []) }
    if operation == .create || operation == .select {
      guard let type = DFUObjectType(rawValue: arguments[0]) else { return (7, []) }
      memory.current = type
    }
    switch (operation, memory.current) {
    case (.setPRN, _):
      (memory.receipts, memory.packets) = (Int(arguments.uint16(at: 0)), 0)
      return (1, [])
    case (_, nil): return (5, [])
    case (.create, let type):
      let size = Int(ByteOrder.little.number(arguments[1...]))
      return (type == .command ? createInitPacket(size) : createObject(size), [])
    case (.crc, _): return (1, state)
    case (.execute, let type): return type == .command ? executeInitPacket() : executeObject()
    case (.select, let type): return (1, little(type == .command ? settings.initPacketSize : BootloaderSettings.objectSize) + state)
    }
  }

  private func little(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

  /// The offset and the CRC-32 of the current kind of object. The CRC of an image runs over its objects.
  private var state: [UInt8] {
    let isImage = memory.current == .data
    var crc = isImage ? update.crc : CRC32()
    crc.add(isImage ? memory.object : memory.initPacket)
    return little(isImage ? executed + memory.object.count : memory.initPacket.count) + little(Int(crc.value))
  }

  // MARK: Init packet

  private func createInitPacket(_ size: Int) -> UInt8 {
    guard size > 0 else { return 3 }
    guard size <= settings.initPacketSize else { return 4 }
    update = Update()
    (memory.initPacket, memory.initPacketSize, memory.object, memory.objectSize) = ([], size, [], nil)
    ledger.beginImage()
    return 1
  }

  private func executeInitPacket() -> Result {
    guard !memory.initPacket.isEmpty, memory.initPacket.count == memory.initPacketSize else { return (8, []) }
    let result = check(memory.initPacket)
    if result.code == 1 { update.initPacket = memory.initPacket }
    return result
  }

  /// Checks an init packet in the order of the bootloader (`nrf_dfu_validation.c`).
  private func check(_ bytes: [UInt8]) -> Result {
    func extended(_ code: UInt8) -> Result { (0x0B, [code]) }
    let packet: InitPacket
    do throws(InitPacket.Failure) { packet = try InitPacket(bytes) } catch {
      switch error {
      case .malformed: return (5, [])
      case .noInitCommand: return extended(3)
      case .missingField: return extended(4)
      case .hashType: return extended(9)
      }
    }
    guard let signature = packet.signature else { return extended(8) }
    guard signature == .ecdsaP256 else { return extended(0x0B) }
    guard let size = packet.size else { return extended(4) }
    guard packet.hardwareVersion == settings.hardwareVersion else { return extended(6) }
    // 0xFFFE stands for any SoftDevice.
    guard packet.softdevices.contains(where: { $0 == softdevice || $0 == 0xFFFE }) else { return extended(7) }
    let version = packet.firmwareVersion ?? 0
    switch packet.type {
    case .application where version < applicationVersion: return extended(5)
    case .bootloader where version <= bootloaderVersion, .softdeviceBootloader where version <= bootloaderVersion: return extended(5)
    default: break
    }
    guard size > 0 else { return (3, []) }
    return size <= settings.flashSize ? (1, []) : extended(0x0D)
  }

  // MARK: Image

  private func createObject(_ size: Int) -> UInt8 {
    guard let total = packet?.size else { return 8 }
    guard size > 0, size % BootloaderSettings.objectSize == 0 || executed + size == total else { return 3 }
    guard size <= BootloaderSettings.objectSize else { return 4 }
    guard executed + size <= total else { return 8 }
    if !settings.hasTwoBanks { application = [] }
    (memory.object, memory.objectSize) = ([], size)
    return 1
  }

  private func executeObject() -> Result {
    guard let packet, memory.object.count == memory.objectSize ?? 0 else { return (8, []) }
    update.image += memory.object
    update.crc.add(memory.object)
    (memory.object, memory.objectSize) = ([], nil)
    guard executed == packet.size else { return (1, []) }
    guard SHA2.sha256.hash(update.image) == packet.hash else {
      // The client must begin again.
      (update, memory.initPacket) = (Update(), [])
      return (0x0B, [0x0C])
    }
    update.isComplete = true
    restartSoon(staysInBootloader: false)
    return (1, [])
  }

  /// Takes a packet of the current object, and reports after each group of packets that the client asked for.
  func take(_ value: [UInt8], _ control: AttributeHandle, _ client: Server) {
    switch memory.current {
    case .command where memory.initPacket.count + value.count <= memory.initPacketSize: memory.initPacket += value
    case .data where memory.object.count + value.count <= memory.objectSize ?? 0:
      let kept = ledger.receive(value.count, at: executed + memory.object.count)
      memory.object += value.prefix(kept ?? value.count)
      if kept != nil { return restart(.outOfRange, staysInBootloader: false) }
    default:
      // Without an object, or beyond its end: the bootloader drops the packet, and its CRC will tell.
      _ = ledger.receive(value.count, at: 0, isTaken: false)
      return
    }
    guard memory.receipts > 0 else { return }
    memory.packets += 1
    guard memory.packets == memory.receipts else { return }
    memory.packets = 0
    client.notify(control, [0x60, 3, 1] + state)
  }
}

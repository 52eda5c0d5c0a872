// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEFirmware
import BluetoothLEText

/// The control point and the packets of the bootloader.
extension SecureBootloader {
  /// A result code of the control point, and the values that follow it.
  typealias Result = (code: UInt8, values: [UInt8])

  func answer(_ value: [UInt8], _ handle: AttributeHandle, _ client: Server) {
    guard let operation = value.first else { return }
    let arguments = Array(value.dropFirst())
    let result = refusal(of: operation, arguments.first) ?? perform(operation, arguments)
    let send: @LoopActor () -> Void = { client.notify(handle, [0x60, operation, result.code] + result.values) }
    guard operation == 1, memory.current == .data, result.code == 1 else { return send() }
    if ledger.page() { return restart(.outOfRange, staysInBootloader: false) }
    guard settings.pageEraseTime > .zero else { return send() }
    timer = EventLoop.shared.schedule(after: settings.pageEraseTime) { send() }
  }

  private func refusal(of operation: UInt8, _ object: UInt8?) -> Result? {
    guard let refusal = settings.refusal, refusal.operation.rawValue == operation, refusals < refusal.times else { return nil }
    let current = operation == 1 || operation == 6 ? object : memory.current?.rawValue
    guard refusal.object == nil || refusal.object?.rawValue == current else { return nil }
    refusals += 1
    return (refusal.result, refusal.extended.map { [$0] } ?? [])
  }

  private func perform(_ operation: UInt8, _ arguments: [UInt8]) -> Result {
    func number(_ range: Range<Int>) -> Int? {
      arguments.count == range.upperBound ? Int(truncatingIfNeeded: ByteOrder.little.number(arguments[range])) : nil
    }
    switch operation {
    case 0: return (1, [1])
    case 1:
      guard let size = number(1..<5) else { return (3, []) }
      guard let type = DFUObjectType(rawValue: arguments[0]) else { return (7, []) }
      memory.current = type
      return (type == .command ? createInitPacket(size) : createObject(size), [])
    case 2:
      guard let receipts = number(0..<2) else { return (3, []) }
      (memory.receipts, memory.packets) = (receipts, 0)
      return (1, [])
    case 3: return memory.current == nil ? (5, []) : (1, state)
    case 4: return memory.current == .command ? executeInitPacket() : memory.current == .data ? executeObject() : (5, [])
    case 6:
      guard arguments.count == 1 else { return (3, []) }
      guard let type = DFUObjectType(rawValue: arguments[0]) else { return (7, []) }
      memory.current = type
      return (1, little(type == .command ? settings.initPacketSize : settings.objectSize) + state)
    case 9: return (1, Array(arguments.prefix(1)))
    case 0x0A: return (1, [settings.hardwareVersion].flatMap { little(Int($0)) })
    case 0x0B:
      guard let image = number(0..<1), image < 3 else { return (3, []) }
      let versions = [softdevice, bootloaderVersion, applicationVersion]
      return (1, [UInt8(image)] + little(Int(versions[image])) + little(0) + little(image == 2 ? application.count : 0))
    case 0x0C:
      restartSoon(staysInBootloader: false)
      return (1, [])
    default: return (2, [])
    }
  }

  private func little(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

  /// The offset and the CRC-32 of the current kind of object. The CRC of an image runs over its objects.
  private var state: [UInt8] {
    let isImage = memory.current == .data
    var crc = isImage ? flash.update.crc : CRC32()
    crc.add(isImage ? memory.object : memory.initPacket)
    return little(isImage ? executed + memory.object.count : memory.initPacket.count) + little(Int(crc.value))
  }

  // MARK: Init packet

  private func createInitPacket(_ size: Int) -> UInt8 {
    guard size > 0 else { return 3 }
    guard size <= settings.initPacketSize else { return 4 }
    flash.update = Update()
    (memory.initPacket, memory.initPacketSize, memory.object, memory.objectSize) = ([], size, [], nil)
    ledger.beginImage()
    return 1
  }

  private func executeInitPacket() -> Result {
    guard !memory.initPacket.isEmpty, memory.initPacket.count == memory.initPacketSize else { return (8, []) }
    let result = check(memory.initPacket)
    if result.code == 1 { flash.update.initPacket = memory.initPacket }
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
    switch packet.signature {
    case nil where settings.requiresSignature: return extended(8)
    case nil, .ecdsaP256: break
    case .ed25519, .unknown: return extended(0x0B)
    }
    guard let size = packet.size else { return extended(4) }
    guard packet.hardwareVersion == settings.hardwareVersion else { return extended(6) }
    // 0xFFFE stands for any SoftDevice.
    guard packet.softdevices.contains(where: { $0 == softdevice || $0 == 0xFFFE }) else { return extended(7) }
    switch packet.type {
    case .application where packet.firmwareVersion ?? 0 < applicationVersion: return extended(5)
    case .bootloader where packet.firmwareVersion ?? 0 <= bootloaderVersion: return extended(5)
    case .softdeviceBootloader where packet.firmwareVersion ?? 0 <= bootloaderVersion: return extended(5)
    default: break
    }
    guard size > 0 else { return (3, []) }
    guard size <= settings.flashSize else { return extended(0x0D) }
    return (1, [])
  }

  // MARK: Image

  /// The checked init packet. Nil before it was executed.
  private var packet: InitPacket? { flash.update.initPacket.isEmpty ? nil : try? InitPacket(flash.update.initPacket) }

  private func createObject(_ size: Int) -> UInt8 {
    guard let total = packet?.size else { return 8 }
    guard size > 0, size % settings.objectSize == 0 || executed + size == total else { return 3 }
    guard size <= settings.objectSize else { return 4 }
    guard executed + size <= total else { return 8 }
    if !settings.hasTwoBanks { flash.application = nil }
    (memory.object, memory.objectSize) = ([], size)
    return 1
  }

  private func executeObject() -> Result {
    guard let packet, memory.object.count == memory.objectSize ?? 0 else { return (8, []) }
    flash.update.image += memory.object
    flash.update.crc.add(memory.object)
    (memory.object, memory.objectSize) = ([], nil)
    guard executed == packet.size else { return (1, []) }
    guard SHA2.sha256.hash(flash.update.image) == packet.hash else {
      // The client must begin again.
      (flash.update, memory.initPacket) = (Update(), [])
      return (0x0B, [0x0C])
    }
    flash.update.isComplete = true
    restartSoon(staysInBootloader: false)
    return (1, [])
  }

  /// Takes a packet of the current object, and reports after each group of packets that the client asked for.
  func take(_ value: [UInt8], _ control: AttributeHandle?, _ client: Server) {
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
    guard memory.receipts > 0, let control else { return }
    memory.packets += 1
    guard memory.packets == memory.receipts else { return }
    memory.packets = 0
    client.notify(control, [0x60, 3, 1] + state)
  }
}

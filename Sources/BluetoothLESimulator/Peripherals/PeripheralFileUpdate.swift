// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEDeviceFiles
import BluetoothLEFirmware

/// A reader of `update`: how a device takes firmware, by MCUmgr or by Nordic Secure DFU.
enum UpdateReader {
  private static let managementKeys: FileEntry.Keys<ManagementSettings> = [
    "version": { settings, value in
      guard let version = ImageVersion(try value.string()) else { throw value.error("Use a version such as \"1.2.3\".") }
      settings.version = version
    },
    "image_size": { $0.imageSize = try $1.integer(1...1_000_000) },
    "slot_size": { settings, value in
      settings.slotSize = try value.integer(8192...1_048_576)
      guard settings.slotSize % ImageSlots.pageSize == 0 else { throw value.error("Use a multiple of \(ImageSlots.pageSize).") }
    },
    "mode": { settings, value in
      let number = try value.integer(0...9)
      guard let mode = ManagementSettings.modes.first(where: { $0.rawValue == number }) else { throw value.error("Use 0, 1, 2, 9.") }
      settings.mode = mode
    },
    "no_downgrade": { $0.refusesDowngrade = try $1.bool() },
    "reassembly": { $0.reassembles = try $1.bool() },
    "buffer_size": { $0.bufferSize = try $1.integer(32...65_535) },
    "buffers": { $0.buffers = try $1.integer(2...255) },
    "access": { $0.access = try choice(["open": .none, "encrypted": .encrypted, "authenticated": .authenticated], $1) },
    "page_erase_ms": { $0.pageEraseTime = try $1.milliseconds(0...60_000) },
    "page_swap_ms": { $0.pageSwapTime = try $1.milliseconds(0...60_000) },
    "hash_ms": { $0.hashTime = try $1.milliseconds(0...600_000) },
    "request_ms": { $0.requestTime = try $1.milliseconds(0...600_000) },
    "reset_ms": { $0.resetTime = try $1.milliseconds(0...60_000) },
    "boot_ms": { $0.bootTime = try $1.milliseconds(1...600_000) },
  ]

  private static let bootloaderKeys: FileEntry.Keys<BootloaderSettings> = [
    "buttonless": { $0.buttonless = try choice(["bonds": .bonds, "no_bonds": .noBonds], $1) },
    "application_version": { $0.applicationVersion = try number($1) },
    "hardware_version": { $0.hardwareVersion = try number($1) },
    "softdevice": { $0.softdevice = try number($1) },
    "init_packet_size": { $0.initPacketSize = try $1.integer(64...4096) },
    "flash_size": { $0.flashSize = try $1.integer(4096...4_194_304) },
    "banks": { $0.hasTwoBanks = try $1.integer(1...2) == 2 },
    "page_erase_ms": { $0.pageEraseTime = try $1.milliseconds(0...60_000) },
    "boot_ms": { $0.bootTime = try $1.milliseconds(1...600_000) },
    "refuses": { $0.refusal = try read($1, refusalKeys, BootloaderSettings.Refusal()) },
  ]

  private static let refusalKeys: FileEntry.Keys<BootloaderSettings.Refusal> = [
    "operation": {
      $0.operation = try choice(["create": .create, "set_prn": .setPRN, "crc": .crc, "execute": .execute, "select": .select], $1)
    },
    "object": { $0.object = try choice(["command": .command, "data": .data], $1) },
    "result": { $0.result = UInt8(clamping: try $1.integer(0...255)) },
    "extended": { $0.extended = UInt8(clamping: try $1.integer(0...255)) },
    "times": { $0.times = try $1.integer(1...1_000_000) },
  ]

  private static func number(_ entry: FileEntry) throws(FileEntryError) -> UInt32 { UInt32(clamping: try entry.integer(0...0xFFFF_FFFF)) }

  private static func choice<T>(_ names: KeyValuePairs<String, T>, _ entry: FileEntry) throws(FileEntryError) -> T {
    let name = try entry.string()
    guard let found = names.first(where: { $0.key == name }) else {
      throw entry.error("Use \(names.map(\.key).joined(separator: ", ")).")
    }
    return found.value
  }

  private static func read<T>(_ entry: FileEntry, _ keys: FileEntry.Keys<T>, _ defaults: T) throws(FileEntryError) -> T {
    var settings = defaults
    _ = try entry.read(keys, into: &settings)
    return settings
  }

  static func read(_ entry: FileEntry) throws(FileEntryError) -> any UpdateDescription {
    let (key, value) = try entry.single(of: ["mcumgr", "dfu"])
    if key == "dfu" { return try read(value, bootloaderKeys, BootloaderSettings()) }
    let settings = try read(value, managementKeys, ManagementSettings())
    let needed = settings.imageSize + ImageSlots.overhead + ImageSlots.pageSize
    guard needed <= settings.slotSize else {
      throw value.error("The image and the marks of MCUboot need a \"slot_size\" of \(needed) bytes.")
    }
    return settings
  }
}

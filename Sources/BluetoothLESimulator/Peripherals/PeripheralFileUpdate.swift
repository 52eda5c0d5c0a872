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
    "image_size": { $0.imageSize = try $1.integer(1...4_000_000) },
    "slot_size": { settings, value in
      settings.slotSize = try value.integer(8192...4_194_304)
      guard settings.slotSize % ImageSlots.pageSize == 0 else { throw value.error("Use a multiple of \(ImageSlots.pageSize).") }
    },
    "mode": { $0.mode = BootMode(rawValue: try $1.integer(0...9)) ?? .swapScratch },
    "no_downgrade": { $0.refusesDowngrade = try $1.bool() },
    "reassembly": { $0.reassembles = try $1.bool() },
    "buffer_size": { $0.bufferSize = try $1.integer(32...65_535) },
    "buffers": { $0.buffers = try $1.integer(2...255) },
    "params": { $0.reportsParameters = try $1.bool() },
    "smp_version": { $0.isOld = try $1.integer(1...2) == 1 },
    "access": { settings, value in
      let names: [String: ServerSession.Security] = ["open": .none, "encrypted": .encrypted, "authenticated": .authenticated]
      guard let access = names[try value.string()] else { throw value.error("Use open, encrypted or authenticated.") }
      settings.access = access
    },
    "direct_upload": { $0.allowsDirectUpload = try $1.bool() },
    "confirm_other": { $0.confirmsOthers = try $1.bool() },
    "page_erase_ms": { $0.pageEraseTime = try $1.milliseconds(0...60_000) },
    "page_swap_ms": { $0.pageSwapTime = try $1.milliseconds(0...60_000) },
    "hash_ms": { $0.hashTime = try $1.milliseconds(0...600_000) },
    "request_ms": { $0.requestTime = try $1.milliseconds(0...600_000) },
    "reset_ms": { $0.resetTime = try $1.milliseconds(0...60_000) },
    "boot_ms": { $0.bootTime = try $1.milliseconds(1...600_000) },
  ]

  private static let bootloaderKeys: FileEntry.Keys<BootloaderSettings> = [
    "buttonless": { $0.buttonless = try $1.choice("Use bonds or no_bonds.") },
    "application_version": { $0.applicationVersion = try version($1) },
    "bootloader_version": { $0.bootloaderVersion = try version($1) },
    "hardware_version": { $0.hardwareVersion = try version($1) },
    "softdevice": { $0.softdevice = try version($1) },
    "signed": { $0.requiresSignature = try $1.bool() },
    "object_size": { $0.objectSize = try $1.integer(1...1_048_576) },
    "init_packet_size": { $0.initPacketSize = try $1.integer(64...4096) },
    "flash_size": { $0.flashSize = try $1.integer(4096...4_194_304) },
    "banks": { $0.hasTwoBanks = try $1.integer(1...2) == 2 },
    "page_erase_ms": { $0.pageEraseTime = try $1.milliseconds(0...60_000) },
    "boot_ms": { $0.bootTime = try $1.milliseconds(1...600_000) },
    "refuses": { settings, value in
      var refusal = BootloaderSettings.Refusal()
      _ = try value.read(refusalKeys, into: &refusal)
      settings.refusal = refusal
    },
  ]

  private static let refusalKeys: FileEntry.Keys<BootloaderSettings.Refusal> = [
    "operation": { refusal, value in
      let names: [String: DFUOperation] = ["create": .create, "set_prn": .setPRN, "crc": .crc, "execute": .execute, "select": .select]
      guard let operation = names[try value.string()] else { throw value.error("Use create, set_prn, crc, execute or select.") }
      refusal.operation = operation
    },
    "object": { refusal, value in
      let names: [String: DFUObjectType] = ["command": .command, "data": .data]
      guard let object = names[try value.string()] else { throw value.error("Use command or data.") }
      refusal.object = object
    },
    "result": { $0.result = UInt8(clamping: try $1.integer(0...255)) },
    "extended": { $0.extended = UInt8(clamping: try $1.integer(0...255)) },
    "times": { $0.times = try $1.integer(1...1_000_000) },
  ]

  private static func version(_ entry: FileEntry) throws(FileEntryError) -> UInt32 { UInt32(clamping: try entry.integer(0...0xFFFF_FFFF)) }

  /// The settings of one of the two kinds.
  enum Settings {
    case management(ManagementSettings)
    case secureDFU(BootloaderSettings)

    /// The service of the application that updates need.
    var service: AttributeDatabase.ServiceDescription? {
      switch self {
      case .management(let settings): settings.service
      case .secureDFU(let settings): settings.applicationService
      }
    }
  }

  static func read(_ entry: FileEntry) throws(FileEntryError) -> Settings {
    let (key, value) = try entry.single(of: ["mcumgr", "dfu"])
    if key == "dfu" {
      var settings = BootloaderSettings()
      _ = try value.read(bootloaderKeys, into: &settings)
      return .secureDFU(settings)
    }
    var settings = ManagementSettings()
    _ = try value.read(managementKeys, into: &settings)
    // The last page has the marks of the bootloader.
    guard settings.imageSize + 72 <= settings.slotSize - ImageSlots.pageSize else {
      throw value.error(
        "\"image_size\" does not fit in \"slot_size\": the image and its header need \(settings.imageSize + 72 + ImageSlots.pageSize) bytes."
      )
    }
    return .management(settings)
  }

  /// Adds how a device takes updates, and describes the device while its bootloader runs.
  static func add(_ settings: Settings, to peripheral: inout PeripheralDescription, _ entry: FileEntry) throws(FileEntryError) {
    switch settings {
    case .management(let settings): peripheral.update = .management(settings)
    case .secureDFU(let settings):
      var bootloader = peripheral
      do { bootloader.database = try AttributeDatabase(services: BootloaderSettings.services) } catch { throw entry.error(error.reason) }
      (bootloader.behaviours, bootloader.variables, bootloader.timers, bootloader.onConnect, bootloader.onDisconnect) = (
        [:], [], [], [], []
      )
      if settings.buttonless == .noBonds { bootloader.security = nil }
      peripheral.update = .secureDFU(settings, bootloader)
    }
  }
}

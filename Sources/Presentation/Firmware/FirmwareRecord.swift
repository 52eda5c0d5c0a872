package import BluetoothLEFirmware
package import BluetoothLEText

/// The JSON record of a firmware file.
package enum FirmwareRecord {
  package static func write(_ json: inout RecordWriter, _ file: FirmwareFile) {
    json.string("event", "firmware")
    switch file.contents {
    case .image(let image):
      json.string("format", "mcuboot")
      json.string("encoding", file.isHex ? "intel_hex" : "binary")
      write(&json, image)
    case .package(let package):
      json.string("format", "nordic_dfu")
      json.objects("parts", package.parts) { write(&$0, $1) }
    }
  }

  private static func write(_ json: inout RecordWriter, _ image: ImageFile) {
    json.string("version", "\(image.version)")
    json.integer("size", image.end)
    json.integer("header_size", image.headerSize)
    json.integer("image_size", image.imageSize)
    json.integer("protected_size", image.protectedSize)
    json.integer("load_address", image.loadAddress)
    json.integer("flags", image.flags.rawValue)
    json.strings("flag_names", image.flags.names.compactMap(\.name))
    json.string("hash_type", image.hashFunction.map { "\($0)" })
    hex(&json, "hash", image.hash)
    json.string("hash_check", Self.name(image.hashCheck))
    hex(&json, "running_hash", image.runningHash)
    json.string("signature", image.signature?.rawValue)
    json.bool("pure_signature", image.isPureSignature)
    hex(&json, "key_hash", image.value(of: 0x01))
    hex(&json, "public_key", image.value(of: 0x02))
    json.bool("compressed", image.isCompressed)
    json.objects("dependencies", image.dependencies) {
      $0.integer("image", $1.image)
      $0.string("version", "\($1.version)")
    }
    for (key, tlvs) in [("protected_tlvs", image.protectedTLVs), ("tlvs", image.tlvs)] {
      json.objects(.init(key), tlvs) {
        $0.integer("type", $1.type)
        $0.string("name", $1.name)
        $0.hex("value", $1.value)
      }
    }
    json.integer("padding", image.padding)
    guard let trailer = image.trailer else { return json.string("trailer", nil) }
    json.object("trailer") {
      $0.integer("alignment", trailer.alignment)
      for (key, value) in [("image_ok", trailer.imageOK), ("copy_done", trailer.copyDone), ("swap_info", trailer.swapInfo)] {
        $0.integer(.init(key), value)
      }
      $0.integer("swap_size", trailer.swapSize)
    }
  }

  private static func write(_ json: inout RecordWriter, _ part: DFUPackage.Part) {
    let packet = part.initPacket
    json.string("part", part.kind.rawValue)
    json.string("type", packet.type.text)
    json.string("file", part.name)
    json.integer("size", part.binary.count)
    json.integer("firmware_version", packet.firmwareVersion)
    json.integer("hardware_version", packet.hardwareVersion)
    json.literals("softdevices", packet.softdevices.map(\.description))
    json.integer("softdevice_size", packet.softdeviceSize)
    json.integer("bootloader_size", packet.bootloaderSize)
    json.integer("application_size", packet.applicationSize)
    json.hex("hash", packet.hash)
    json.bool("valid", part.problem == nil)
    json.string("signature", packet.signature?.text)
    json.bool("debug", packet.isDebug)
    json.literals("boot_validations", packet.bootValidations.map(\.description))
  }

  private static func name(_ check: ImageFile.HashCheck) -> String {
    switch check {
    case .matches: "matches"
    case .differs: "differs"
    case .encrypted: "encrypted"
    case .noHash: "none"
    }
  }

  private static func hex(_ json: inout RecordWriter, _ key: RecordWriter.Text, _ bytes: [UInt8]?) {
    if let bytes { json.hex(key, bytes) } else { json.string(key, nil) }
  }
}

extension InitPacket.SignatureType {
  /// The name in snake case, or the number of an unknown type.
  var text: String {
    switch self {
    case .ecdsaP256: "ecdsa_p256"
    case .ed25519: "ed25519"
    case .unknown(let type): "\(type)"
    }
  }
}

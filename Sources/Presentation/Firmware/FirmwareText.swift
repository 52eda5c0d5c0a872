import BluetoothLE
package import BluetoothLEFirmware
import Terminal

/// The lines that describe a firmware file.
package enum FirmwareText {
  /// - Parameter width: The width of the terminal in columns. Nil shows values in full.
  package static func lines(_ file: FirmwareFile, width: Int?) -> [String] {
    switch file.contents {
    case .image(let image):
      return ["MCUboot image \(image.version)" + (file.isHex ? ", as Intel HEX" : "")] + facts(image, width) + [""]
        + table(image).lines(width: width)
    case .package(let package): return ["Nordic Secure DFU package"] + package.parts.flatMap { facts($0, width) }
    }
  }

  private static func facts(_ image: ImageFile, _ width: Int?) -> [String] {
    let metadata = image.end - image.headerSize - image.imageSize
    var rows = [
      ("Size", "\(Quantity.bytes(image.end)): header \(image.headerSize), code \(image.imageSize), metadata \(metadata)"),
      ("Hash", hash(image)), ("Signature", signature(image)),
    ]
    if image.isCompressed, let hash = image.runningHash { rows.append(("Running", "hash \(Hex.encode(hash)) after decompression")) }
    if let key = image.value(of: 0x01) { rows.append(("Key", "hash \(Hex.encode(key))")) }
    if let key = image.value(of: 0x02) { rows.append(("Key", Hex.encode(key))) }
    let flags = image.flags.names.map { $0.name?.replacing("_", with: " ") ?? "0x" + String($0.bit, radix: 16) }
    if !flags.isEmpty { rows.append(("Flags", flags.joined(separator: ", "))) }
    if image.loadAddress != 0 { rows.append(("Address", "0x" + Hex.encode(UInt64(image.loadAddress), bytes: 4))) }
    rows += image.dependencies.map { ("Needs", "image \($0.image), version \($0.version) or later") }
    if image.padding > 0 { rows.append(("Padding", padding(image))) }
    return text(rows, width)
  }

  private static func hash(_ image: ImageFile) -> String {
    guard let hash = image.hash, let function = image.hashFunction else { return "none" }
    let check =
      switch image.hashCheck {
      case .matches: "correct"
      case .differs: "wrong"
      case .encrypted: "of the plain image, so it cannot be checked"
      case .noHash: "invalid"
      }
    return "SHA-\(function.rawValue) \(Hex.encode(hash)) (\(check))"
  }

  private static func signature(_ image: ImageFile) -> String {
    let name =
      switch image.signature {
      case .rsa2048?: "RSA 2048"
      case .rsa3072?: "RSA 3072"
      case .ecdsaP224?: "ECDSA P-224"
      case .ecdsaP256?: "ECDSA P-256"
      case .ecdsaP384?: "ECDSA P-384"
      case .ed25519?: "Ed25519"
      case nil: "none"
      }
    return name + (image.isPureSignature ? ", of the image itself" : "")
  }

  private static func padding(_ image: ImageFile) -> String {
    let state = image.trailer.map { $0.isConfirmed ? " with a trailer (confirmed)" : " with a trailer (not confirmed)" } ?? ""
    return "\(Quantity.bytes(image.padding))\(state). Updates leave it out."
  }

  private static func table(_ image: ImageFile) -> Table {
    var table = Table(["TYPE", "NAME", "BYTES", "VALUE"])
    for (tlvs, isProtected) in [(image.protectedTLVs, true), (image.tlvs, false)] {
      for tlv in tlvs {
        let name = (tlv.name ?? "custom") + (isProtected ? " (protected)" : "")
        table.add(["0x" + Hex.encode(tlv.type), name, "\(tlv.value.count)", Hex.encode(tlv.value)])
      }
    }
    return table
  }

  private static func facts(_ part: DFUPackage.Part, _ width: Int?) -> [String] {
    let packet = part.initPacket
    // nrfutil writes the greatest numbers if the user gave none.
    var rows = [("Version", number(packet.firmwareVersion, unless: .max) ?? "none")]
    if packet.type == .externalApplication { rows.append(("Type", "external application")) }
    if let version = number(packet.hardwareVersion, unless: .max) { rows.append(("Hardware", version)) }
    let softdevices = packet.softdevices.filter { $0 != 0xFFFE }.map { "0x" + String($0, radix: 16) }
    if !softdevices.isEmpty { rows.append(("Needs", "SoftDevice " + softdevices.joined(separator: " or "))) }
    rows.append(("Hash", "SHA-256 \(Hex.encode(packet.hash)) (\(part.problem == nil ? "correct" : "wrong"))"))
    rows.append(("Signature", packet.signature.map(name) ?? "none, so most bootloaders refuse it"))
    if packet.isDebug { rows.append(("Debug", "yes: the bootloader skips the check of versions")) }
    return ["\(DisplayText.escape(part.name)): \(part.kind.noun), \(Quantity.bytes(part.binary.count))"] + text(rows, width)
  }

  private static func name(_ signature: InitPacket.SignatureType) -> String {
    switch signature {
    case .ecdsaP256: "ECDSA P-256"
    case .ed25519: "Ed25519"
    case .unknown(let type): "unknown type \(type)"
    }
  }

  private static func number(_ number: UInt32?, unless none: UInt32) -> String? { number.flatMap { $0 == none ? nil : "\($0)" } }

  /// Aligns facts below a title.
  private static func text(_ rows: [(String, String)], _ width: Int?) -> [String] {
    let indent = rows.map(\.0.count).max() ?? 0
    return rows.flatMap { row in
      let lines = width.map { DisplayText.fold(row.1, to: max(20, $0 - indent - 4)) } ?? [row.1]
      return lines.enumerated().map { index, line in
        "  " + (index == 0 ? row.0 : "") + String(repeating: " ", count: indent + 2 - (index == 0 ? row.0.count : 0)) + line
      }
    }
  }
}

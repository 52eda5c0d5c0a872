package import BluetoothLEFirmware
import BluetoothLEText

extension ManagementError: FailureConvertible {
  package var failure: Failure {
    switch self {
    case .noService: return .notFound("The device has no MCUmgr service. List its services: blectl services PEER")
    case .refused(let operation, let refusal, let reason):
      let reason = reason.map { " It says: \(DisplayText.quote($0))." } ?? ""
      let advice = refusal.advice.map { " \($0)" } ?? ""
      return Failure(
        .device, "The device refused the request \"\(operation.caseWords)\": \(refusal.text).\(reason)\(advice)", code: refusal.code,
        name: refusal.name?.replacing(" ", with: "_"))
    case .noAnswer(let operation, let time, let tries):
      let count = tries == 1 ? "" : ", which was sent \(tries) times"
      return .timeout(
        "The device did not answer within \(time.secondsText) s to \"\(operation.caseWords)\"\(count). Try again, or reset it.")
    case .invalidAnswer(let operation): return .protocolViolation("The device answered the request \"\(operation.caseWords)\" incorrectly.")
    case .messageTooLong(let operation, let count, let limit):
      return Failure(
        .device,
        "The request \"\(operation.caseWords)\" has \(Quantity.bytes(count)), but the device takes at most \(limit). Use a larger MTU.")
    case .mtuTooSmall(let mtu):
      return Failure(
        .device,
        "The MTU of \(Quantity.bytes(mtu)) is too small for an upload, because the device takes one write per message. It needs 65 bytes.")
    case .uploadStuck(let offset, let tries):
      return Failure(.device, "The upload stays at byte \(offset), after \(tries) attempts. Reset the device, then try again.")
    case .uploadMismatch:
      return .expectation("The hash of the uploaded image is wrong on the device. Run the same command again with --no-resume.")
    case .imageTooLarge(let count, let limit):
      return .input("The image has \(Quantity.bytes(count)), but its slot takes at most \(limit). Nothing was uploaded.")
    case .noSuchImage(let number): return .usage("The device has no image \(number). List its images: blectl firmware PEER list")
    case .slotNotAddressable(let slot): return .usage("The device does not allow uploads to slot \(slot). Omit --slot, or use --image N.")
    case .downgradeForbidden(let running, let file):
      return Failure(.device, "The device runs \(running) and refuses older versions, but the file has \(file). Use a newer image.")
    case .versionNotHigher(let running, let file):
      return Failure(.device, "The device starts the highest version. It runs \(running), but the file has \(file). Use a newer image.")
    case .pendingStays(let pending, let file):
      return Failure(
        .device,
        "The device runs this image, but its next restart starts \(pending), which is pending. It does not go back to \(file) then: "
          + "use a newer image.")
    case .noTrials(let mode):
      return .usage("--no-confirm has no meaning, because the bootloader (mode \(mode.caseWords)) never returns to the old image. Omit it.")
    case .notBack(let time):
      return .expectation(
        "The device did not come back within \(time.secondsText) s after a restart, before the upload. Nothing was uploaded.")
    case .stillBlocked:
      return Failure(.device, "Another image is still pending or on trial after a reset. List the images: blectl firmware PEER list")
    }
  }
}

extension ManagementRefusal {
  /// The names of the codes that all groups share, from 1 on, and then those of the groups. They follow Zephyr's headers.
  private static let shared = """
    unknown error, not enough memory, invalid value, timeout, no entry, bad state, answer too long, not supported, corrupt message, busy, \
    access denied, protocol too old, protocol too new
    """
  private static let groups: [UInt16: (String, String)] = [
    0: ("OS group", "unknown error, invalid format, no answer to the query, clock not set, clock command failed, invalid query value"),
    1: (
      "image group",
      """
      unknown error, flash configuration query failed, no image, no TLVs, invalid TLV, several hashes, invalid TLV size, hash not found, \
      no free slot, flash open failed, flash read failed, flash write failed, flash erase failed, invalid slot, not enough memory, \
      flash context already set, flash context not set, no flash device, invalid page offset, invalid offset, invalid length, \
      invalid image header, invalid image magic, invalid hash, invalid flash address, version not readable, current version is newer, \
      image already pending, invalid vector table, image too large, image data overrun, confirmation denied, \
      test of the active image denied, active slot not known
      """
    ),
    3: (
      "settings group",
      """
      unknown error, key too long, key not found, reading not supported, root key not found, writing not supported, \
      deleting not supported, saving not supported
      """
    ),
  ]

  /// The name of the code, such as `no free slot`. Nil for an unknown code.
  fileprivate var name: String? {
    let names = (group.map { Self.groups[$0]?.1 ?? "" } ?? Self.shared).split(separator: ", ")
    return code > 0 && code <= names.count ? String(names[code - 1]) : nil
  }

  fileprivate var text: String {
    let group = group.map { Self.groups[$0]?.0 ?? "group \($0)" } ?? "general"
    return "\(name ?? "unknown error") (\(group), code \(code))"
  }

  fileprivate var advice: String? {
    switch (group, code) {
    case (nil, 2): "Try again later."
    case (nil, 8): "The firmware of the device was built without it."
    case (nil, 11): "The device may need a pairing: --pair"
    case (1?, 9): "If another image is pending or on trial, reset the device: blectl firmware PEER reset"
    case (1?, 8), (1?, 3): "List the images: blectl firmware PEER list"
    case (1?, 25): "The image is for another slot of the device."
    case (1?, 27): "The device refuses older versions."
    case (1?, 28): "Reset the device first: blectl firmware PEER reset"
    case (1?, 30): "The image needs a larger slot."
    case (1?, 32): "Only the running image can be confirmed: blectl firmware PEER confirm"
    case (1?, 33): "The image runs already."
    default: nil
    }
  }
}

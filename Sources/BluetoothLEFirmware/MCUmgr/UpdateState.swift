// SPDX-License-Identifier: Apache-2.0

/// The state of a device as an update has read it, and the steps that are left.
struct UpdateState: Sendable {
  let file: ImageFile
  let options: UpdateOptions
  var bootloader = BootloaderInfo(name: nil, mode: nil)
  /// The images. Nil while the main application of a device with a firmware loader runs, which has no image commands.
  var list: ImageList?

  private var mode: BootloaderMode { bootloader.mode }
  private var number: Int { options.image ?? 0 }
  private var images: [ImageState] { list?.images.filter { $0.image == number } ?? [] }

  /// The image that runs. Firmware loaders, and the images of other processors, are not active. Theirs is in slot 0.
  var running: ImageState? {
    images.first { $0.isActive } ?? (mode.hasTrials && number == 0 ? nil : images.first { $0.slot == 0 })
  }

  /// Whether the wanted image runs. The hash decides. Only without one, and only if `isSent`, the version does.
  func isInstalled(isSent: Bool = false) -> Bool {
    guard let running else { return false }
    if let hash = running.hash { return hash == file.hash || hash == file.runningHash }
    return isSent && running.version.flatMap { ImageVersion($0) } == file.version
  }

  /// The wanted image in a slot that does not run.
  var stored: ImageState? { images.first { $0 != running && $0.hash == file.hash } }

  /// Whether the device returns from a trial. Most devices that do not tell their mode do.
  private var reverts: Bool { mode.canRevert || mode == .unknown }

  /// Another image than the wanted one, which the next restart would start.
  private var pending: ImageState? { images.first { $0.isPending && $0 != running && $0.hash != file.hash } }

  /// Whether an image is on trial: it runs, but is not confirmed. Modes that cannot revert confirm none, so the other slot must tell.
  private var isOnTrial: Bool {
    guard mode.hasTrials, let running, !running.isConfirmed else { return false }
    return running.isActive && mode.canRevert || images.contains { $0 != running && $0.isConfirmed }
  }

  /// Whether the running image stays. Nil if the device does not know trials.
  var isConfirmed: Bool? { mode.hasTrials && running?.isConfirmed == true ? true : isOnTrial ? false : nil }

  /// Another image than the wanted one, which is on trial or pending. Then the device has no free slot until a restart. Servers refuse to
  /// erase a pending image, and to confirm the running one instead (Zephyr, `img_mgmt_state.c`).
  var blocking: ImageState? {
    // Where the highest version runs, the marks stay for ever.
    if isInstalled() { return reverts || mode == .overwriteOnly ? pending : nil }
    return mode.hasTrials ? isOnTrial ? running : pending : nil
  }

  private var isUnmarked: Bool { mode.hasTrials && stored?.isPending != true }
  var needsTest: Bool { isUnmarked && !isInstalled() }
  var needsConfirmation: Bool { options.confirms && isOnTrial }

  /// The steps that are left, as far as the device's state tells.
  var steps: [UpdateStep] {
    let upload = UpdateStep.upload(0, of: 1)
    guard list != nil else { return [.enterBootloader, upload, .restart, .compare] }
    if mode == .firmwareLoader { return (isInstalled() ? [] : [upload]) + [.restart, .compare] }
    if isInstalled(), blocking == nil { return needsConfirmation ? [.confirm] : [] }
    // The restarts return to the confirmed image.
    if isOnTrial ? stored?.isConfirmed == true : isInstalled() && reverts && blocking?.isPermanent == false {
      return [.finishEarlier, .compare]
    }
    let ending: [UpdateStep] = reverts && options.confirms && stored?.isPermanent != true ? [.confirm] : []
    // A swap keeps the image that runs now.
    let isHere = stored != nil || isInstalled() && reverts
    return (blocking == nil ? [] : [.finishEarlier]) + (isHere ? [] : [upload]) + (isUnmarked ? [.test] : [])
      + [.restart, .compare] + ending
  }

  /// Checks what the device would refuse only after bytes were sent.
  /// - Throws: `ManagementError.noSuchImage`, `imageTooLarge`, `versionNotHigher`, `downgradeForbidden`.
  func check(_ slots: [SlotInfo]?) throws(ManagementError) {
    let own = slots?.filter { $0.image == number }
    guard !images.isEmpty || own.map({ !$0.isEmpty }) ?? (number == 0) else { throw .noSuchImage(number) }
    let target = mode.hasTrials || mode == .directXIP ? 1 - min(1, running?.slot ?? 0) : 0
    let limit = own?.lazy.compactMap(\.maximumImageSize).first ?? own?.first { $0.slot == target }?.size
    if let limit, file.upload.count > limit { throw .imageTooLarge(file.upload.count, limit: limit) }
    try checkVersion()
  }

  /// Checks whether the bootloader would ever start the image, also if the device has it already. An image that blocks another one ends first.
  /// - Throws: `ManagementError.versionNotHigher`, `downgradeForbidden`, `pendingStays`.
  func checkVersion() throws(ManagementError) {
    let staying = pending?.isPermanent == true || !reverts ? pending : nil
    let other = isInstalled() ? staying : blocking == nil ? running : nil
    guard let version = other?.version.flatMap({ ImageVersion($0) }) else { return }
    let isLower = [.directXIP, .directXIPRevert, .ramLoad].contains(mode) && file.version <= version
    let isForbidden =
      bootloader.forbidsDowngrade && file.version < version
      && (file.version.major, file.version.minor, file.version.revision) != (version.major, version.minor, version.revision)
    guard isLower || isForbidden else { return }
    if isInstalled() { throw .pendingStays(version, file: file.version) }
    throw isLower ? .versionNotHigher(running: version, file: file.version) : .downgradeForbidden(running: version, file: file.version)
  }
}

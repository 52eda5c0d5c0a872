package import BluetoothLE
package import BluetoothLEFirmware
import BluetoothLEText
package import Terminal

/// The output of the commands that list and change the images of one device.
@LoopActor
package final class ManagementText {
  package let title: String
  package let progress: UploadProgress
  private let output: Output
  private let device: RecordWriter.Members

  package init(_ output: Output, _ connection: Connection) {
    (self.output, title, device) = (output, connection.title, connection.identity)
    progress = UploadProgress(device, output)
  }

  package func show(_ list: ImageList) async throws {
    if list.unreadable > 0 { output.note("The list has \(list.unreadable) more entries without a slot number.") }
    var table = Table(["IMAGE", "SLOT", "VERSION", "FLAGS", "HASH"])
    for image in list.images {
      let flags: [(String, Bool)] = [
        ("active", image.isActive), ("confirmed", image.isConfirmed), ("pending", image.isPending), ("permanent", image.isPermanent),
        ("bootable", image.isBootable),
      ]
      guard output.style.json else {
        let names = flags.filter(\.1).map(\.0).joined(separator: " ")
        let version = image.version.map { output.displayText(DisplayText.escape($0)) } ?? "-"
        // The first digits suffice for commands.
        let hash = image.hash.map { Hex.encode(output.outIsTerminal ? $0.prefix(8) : $0[...]) } ?? "-"
        table.add(["\(image.image)", "\(image.slot)", version, names.isEmpty ? "-" : names, hash])
        continue
      }
      try await output.record {
        $0.string("event", "image")
        $0.integer("image", image.image)
        $0.integer("slot", image.slot)
        $0.string("version", image.version)
        $0.string("hash", image.hash.map { Hex.encode($0) })
        $0.bool("active", image.isActive)
        $0.bool("confirmed", image.isConfirmed)
        $0.bool("pending", image.isPending)
        $0.bool("permanent", image.isPermanent)
        $0.bool("bootable", image.isBootable)
        $0.members(device)
      }
    }
    guard !output.style.json else { return }
    if list.images.isEmpty { return output.note("The device reports no images.") }
    for line in output.outIsTerminal ? table.folded(width: output.width) : table.lines(width: nil) { try await output.line(line) }
  }

  /// Shows the bootloader, the buffers, the application and the slots. Nil for facts that the device does not report.
  package func show(
    _ bootloader: BootloaderInfo, _ buffers: ManagementParameters?, _ application: String?, _ slots: [SlotInfo]?
  ) async throws {
    let (mode, name) = (bootloader.mode.caseWords, DisplayText.escape(bootloader.name ?? "unknown"))
    let revert = bootloader.mode.canRevert ? "the device reverts if a new image fails" : "the device cannot return to an old image"
    var lines = ["Bootloader   \(name)", "Mode         \(mode): \(revert)\(bootloader.forbidsDowngrade ? ", no downgrades" : "")"]
    if let application { lines.append("Application  \(DisplayText.escape(application))") }
    if let buffers { lines.append("Buffers      \(buffers.bufferCount) of \(Quantity.bytes(buffers.bufferSize))") }
    for slot in slots ?? [] {
      lines.append("Slot \(slot.number)       image \(slot.image), \(slot.size.map(Quantity.bytes) ?? "unknown size")")
    }
    try await show("firmware_info", lines) {
      $0.string("bootloader", bootloader.name)
      $0.string("mode", mode.replacing(" ", with: "_"))
      $0.bool("can_revert", bootloader.mode.canRevert)
      $0.bool("no_downgrade", bootloader.forbidsDowngrade)
      $0.string("application", application)
      $0.integer("buffer_size", buffers?.bufferSize)
      $0.integer("buffer_count", buffers?.bufferCount)
      $0.objects("slots", slots ?? []) {
        $0.integer("image", $1.image)
        $0.integer("slot", $1.number)
        $0.integer("size", $1.size)
        $0.integer("upload_image", $1.uploadImage)
        $0.integer("maximum_image_size", $1.maximumImageSize)
      }
    }
  }

  package func show(echo text: String) async throws {
    try await show("echo", [DisplayText.escape(text)]) { $0.string("text", text) }
  }

  package func show(erased slot: Int?) async throws {
    try await show("erased", ["Erased \(slot.map { "slot \($0)" } ?? "the unused slot") of \(title)."]) { $0.integer("slot", slot) }
  }

  package func showReset() async throws { try await show("reset", ["\(title) restarts."]) { _ in } }

  /// - Parameter firmware: The words before an action in advice, such as `blectl firmware Sensor`.
  package func show(uploaded image: ImageFile, to number: Int, _ sent: UploadCount, _ firmware: String) async throws {
    let what = sent.bytes == 0 ? "\(title) has \(image.version) already." : "Uploaded \(image.version) to \(title): \(sent.text)."
    let next = image.hash.map { " To start it once: \(firmware) test \(Hex.encode($0.prefix(4)))" } ?? ""
    try await show("uploaded", [what + next]) {
      $0.integer("image", number)
      $0.string("version", "\(image.version)")
      $0.string("hash", image.hash.map { Hex.encode($0) })
      $0.integer("bytes", sent.bytes)
      $0.number("seconds", sent.seconds)
    }
  }

  private func show(_ event: String, _ lines: [String], _ members: (inout RecordWriter) -> Void) async throws {
    guard output.style.json else {
      for line in lines { try await output.sentence(output.displayText(line)) }
      return
    }
    try await output.record {
      $0.string("event", event)
      members(&$0)
      $0.members(device)
    }
  }
}

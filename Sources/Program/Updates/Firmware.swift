import BluetoothLEFirmware
import BluetoothLELinux
import BluetoothLEText
import CommandLine

package struct Firmware: PeerCommand {
  static let configuration = CommandConfiguration(
    named: "firmware", abstract: "List and change the firmware images of a device (MCUmgr).",
    discussion: """
      list shows the images, and info the bootloader and the slots. upload FILE sends an image. test HASH starts an image at the next reset, once. confirm [HASH] keeps it, by default the running one. erase clears a slot, reset restarts the device, echo TEXT tries the service. The first digits of a hash suffice.

      Before upload, confirm, erase and reset, blectl asks on a terminal. Elsewhere, it needs --yes. The command update does all steps of an update.
      """)
  static let examples = [
    "blectl -i sim:sensor.json firmware Sensor list", "blectl -i sim:sensor.json firmware Sensor upload app.bin --yes",
  ]
  static let traits = CommandTraits(usesNames: false)

  enum Action: String, CaseIterable, ExpressibleByArgument { case list, upload, test, confirm, erase, reset, echo, info }

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @Argument(help: "list, upload, test, confirm, erase, reset, echo or info") var action: Action

  @Argument(help: "The file of upload, the hash of test or confirm, the text of echo", completion: .file(extensions: ["bin", "hex"]))
  var word: String?

  @OptionGroup var choices: UploadOptions
  @Option("The slot of upload or erase, 0-31 (default: chosen by the device)", value: "n", parsing: .unconditional) var slot: Int?

  static func hint(_ value: String, for place: String) -> String? {
    place == "<action>" ? "The device comes first, then the action. To install a file, use `update`." : nil
  }

  private var asks: Bool { [.upload, .confirm, .erase, .reset].contains(action) }

  func validate() throws {
    let needed: [Action: String] = [.upload: "FILE", .test: "HASH", .echo: "TEXT"]
    if let name = needed[action], word == nil { throw ValidationError("firmware \(action.rawValue) needs \(name).") }
    if word != nil, needed[action] == nil, action != .confirm { throw ValidationError("firmware \(action.rawValue) takes no more words.") }
    try limit("--slot", slot, to: 0...31)
    if slot != nil, action != .upload, action != .erase { throw ValidationError("--slot is for upload and erase.") }
    if choices.image != nil, action != .upload { throw ValidationError("--image is for upload.") }
    if choices.noResume, action != .upload { throw ValidationError("--no-resume is for upload.") }
    if slot != nil, choices.image != nil { throw ValidationError("--slot and --image exclude each other.") }
  }

  @LoopActor func name(_ files: inout CommandFiles) { if action == .upload { files.reads(word, as: "FILE") } }

  mutating func placeFile(_ path: (String, ScriptFile) -> String) { if action == .upload { word = word.map { path($0, .firmware) } } }

  func checkForScript() throws {
    if asks, !choices.yes { throw Failure(.usage, "A script cannot ask. Add --yes to agree to \(action.rawValue).") }
  }

  var recordedForm: RecordedForm { RecordedForm(agreement: asks && !choices.yes ? "--yes" : nil) }

  func run(in context: Context) async throws {
    let image = action == .upload ? try await image(word ?? "", context) : nil
    try await UpdatedLink.use(who, context) { device, firmware in
      try await ManagementClient.use(try await device.client()) { client in
        guard let connection = device.connection else { return }
        let text = ManagementText(context.output, connection)
        @LoopActor func demand(_ question: String) async throws {
          try await Confirmation.demand(question, of: text.title, isGiven: choices.yes, context)
        }
        switch action {
        case .list: try await text.show(try await client.images())
        case .info:
          try await text.show(
            try await client.bootloader(), try await client.parameters(), try await client.applicationInfo(), try await client.slotInfo())
        case .echo: try await text.show(echo: try await client.echo(word ?? ""))
        case .test:
          try await text.show(try await client.setState(hash: try await hash(word ?? "", client), confirm: false))
        case .confirm:
          let hash = if let word { try await hash(word, client) } else { [UInt8]?.none }
          try await demand("Confirm \(word == nil ? "the running image" : "the image") of \(text.title)? It then stays after each restart.")
          try await text.show(try await client.setState(hash: hash, confirm: true))
        case .erase:
          try await demand("Erase \(slot.map { "slot \($0)" } ?? "the unused slot") of \(text.title)?")
          try await client.erase(slot: slot)
          try await text.show(erased: slot)
        case .reset:
          try await demand("Reset \(text.title)?")
          try await client.reset()
          try await text.showReset()
          // The next line of a session means the device as it is after the restart.
          let patience = Duration.seconds(20)
          if context.isInSession, try await device.restarted(as: .same, within: patience) == nil {
            context.output.note("\(text.title) did not come back within \(patience.secondsText) s.")
          }
        case .upload:
          guard let image else { return }
          let number = if let slot { try await client.uploadImage(forSlot: slot) } else { choices.image ?? 0 }
          try await demand("Upload \(image.version) (\(Quantity.bytes(image.upload.count))) to \(text.title)?")
          // The upload has a client for each link.
          await client.close()
          try await upload(image, number, device, text, firmware)
        }
      }
    }
  }

  @LoopActor private func upload(
    _ image: ImageFile, _ number: Int, _ device: LinkedUpdateDevice, _ text: ManagementText, _ firmware: String
  ) async throws {
    var (sent, confirmed) = (UploadCount(), 0)
    do {
      defer { text.progress.end() }
      try await device.resuming { client in
        // After a lost link, nothing is sent twice.
        try await ManagementClient.use(client) { management in
          try await management.prepareUpload(image.upload, image: number)
          sent.begin()
          try await management.upload(image.upload, image: number, resumes: !choices.noResume || confirmed > 0) {
            device.follow(.progress(sent: $0, confirmed: $1, total: image.upload.count))
            sent.add(upTo: $0)
            confirmed = max(confirmed, $1)
            try text.progress.show($0, $1, of: image.upload.count)
          }
        }
      }
    } catch { throw Failure(update: error, text.progress) }
    try await text.show(uploaded: image, to: number, sent, firmware)
  }

  @LoopActor private func image(_ path: String, _ context: Context) async throws -> ImageFile {
    guard case .image(let image) = try await UpdatedLink.file(path, context).contents else { throw FirmwareUpdateError.packageForMCUmgr }
    return image
  }

  /// Returns the hash of an image on the device from its first digits. A whole hash need not be on the device.
  @LoopActor private func hash(_ text: String, _ client: ManagementClient) async throws -> [UInt8] {
    guard let bytes = Hex.decode(text), !bytes.isEmpty else {
      throw Failure(.usage, "\(DisplayText.quote(text)) is no hash. List the hashes: blectl firmware PEER list")
    }
    if [32, 48, 64].contains(bytes.count) { return bytes }
    let found = Set(try await client.images().images.compactMap(\.hash).filter { $0.starts(with: bytes) })
    guard let hash = found.first, found.count == 1 else {
      let count = found.isEmpty ? "No image has" : "Several images have"
      throw Failure(
        found.isEmpty ? .notFound : .ambiguous, "\(count) a hash that starts with \(text). List them: blectl firmware PEER list")
    }
    return hash
  }
}

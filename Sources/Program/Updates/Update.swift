import BluetoothLEFirmware
import BluetoothLELinux
import BluetoothLEText
import CommandLine

package struct Update: PeerCommand {
  static let configuration = CommandConfiguration(
    named: "update", abstract: "Update the firmware of devices (MCUmgr, Nordic Secure DFU).",
    discussion: """
      The last word is the file: an MCUboot image (.bin, .hex) or a package for Nordic Secure DFU (.zip). The words before it are devices. They are updated one after the other. PEER - reads one device per line from standard input.

      An image is uploaded and tested. blectl confirms it after the device has restarted with it. A lost connection is restored, and the upload continues. A device that runs the image already gets nothing.

      On a terminal, blectl asks before it writes. Elsewhere, it needs --yes.
      """)
  static let examples = [
    "blectl -i sim:sensor.json update Sensor app.bin --dry-run", "blectl -i sim:sensor.json update Sensor app.bin --yes --json",
  ]
  static let traits = CommandTraits(rareOptions: ["--image", "--prn"], usesNames: false)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: ArgumentHelp("The file, after further devices", valueName: "file"), completion: .file(extensions: ["zip", "bin", "hex"]))
  var words: [String]

  @Flag(help: "Show what the update would do, and write nothing") var dryRun = false
  @OptionGroup var choices: UploadOptions
  @Flag(help: "Leave the new image on trial until the next restart") var noConfirm = false
  @Option("Ask for a receipt after N packets, 0-65535 (Nordic DFU, default: auto)", value: "n", parsing: .unconditional) var prn: Int?

  func validate() throws { try limit("--prn", prn, to: 0...65_535) }

  func check(_ words: [String], _ commands: CommandSet, isSession: Bool) throws {
    let files = ([who.peer.typed] + self.words).filter { "./".contains(where: $0.contains) && InputFile.exists($0) }
    guard let last = self.words.last, last != "-", !InputFile.exists(last), let file = files.first, let index = words.firstIndex(of: file)
    else { return }
    throw ValidationError(UsageText.deviceFirst(words, moving: index, to: words.count - 1, isSession: isSession))
  }

  @LoopActor func name(_ files: inout CommandFiles) { files.reads(words.last, as: "FILE") }

  mutating func placeFile(_ path: (String, ScriptFile) -> String) { words = words.dropLast() + words.suffix(1).map { path($0, .firmware) } }

  func checkForScript() throws {
    if words.count > 1 { throw Failure(.usage, "A script updates one device. Use one line per device.") }
    if !choices.yes, !dryRun { throw Failure(.usage, "A script cannot ask. Add --yes to agree to the update.") }
  }

  var recordedForm: RecordedForm { RecordedForm(agreement: choices.yes || dryRun ? nil : "--yes") }

  private var options: UpdateOptions {
    var options = UpdateOptions()
    (options.resumes, options.confirms, options.prn, options.image) = (!choices.noResume, !noConfirm, prn, choices.image)
    return options
  }

  func run(in context: Context) async throws {
    let path = words.last ?? ""
    let peers = try await peers(context)
    let file = try await UpdatedLink.file(path, context)
    // Nothing is remembered of devices that are done: those with MCUmgr report what runs. With Nordic Secure DFU, a note of the last Execute could
    // be out of date, because another program may have changed the device since. A device with old firmware would then be skipped.
    var fleet = Fleet()
    for peer in peers {
      var who = who
      who.peer = peer
      if peers.count == 1 { return _ = try await update(who, file, context) }
      try await fleet.add(peer.typed, context.output) { [who] in try await update(who, file, context) }
    }
    try await fleet.finish(context.output)
  }

  /// Returns the devices in the order of the command line. A device that is named twice counts once.
  @LoopActor private func peers(_ context: Context) async throws -> [PeerArgument] {
    var names = [who.peer.typed] + words.dropLast()
    if let index = names.firstIndex(of: "-") {
      try context.refuseInput()
      guard words.last != "-" else { throw Failure(.usage, "Standard input cannot be both the list of devices and the file.") }
      let list = try await context.output.readingInput { try await InputFile.read("-", limit: 1 << 20, whenIdle: $0) }
      let lines = String(decoding: list, as: UTF8.self).split(separator: "\n").map { String($0.prefix { $0 != "#" }).trimmed }
      names.replaceSubrange(index...index, with: lines.filter { !$0.isEmpty })
    }
    var peers: [PeerArgument] = []
    for name in names {
      guard let peer = PeerArgument(argument: name) else { throw Failure(.usage, "\(DisplayText.quote(name)) is not a device.") }
      if !peers.contains(peer) { peers.append(peer) }
    }
    guard !peers.isEmpty else { throw Failure(.usage, "The list of devices is empty.") }
    guard peers.count == 1 || !context.isInSession else { throw Failure(.usage, "A session updates one device per line.") }
    return peers
  }

  /// Updates one device.
  /// - Returns: A row for the table of several devices.
  @LoopActor private func update(_ who: PeerOptions, _ file: FirmwareFile, _ context: Context) async throws -> [String]? {
    let update = FirmwareUpdate(file, options)
    return try await UpdatedLink.use(who, context) { device, firmware in
      let plan = try await update.plan(device)
      guard let connection = device.connection, let kind = update.kind else { return nil }
      let text = UpdateText(context.output, connection, kind, plan)
      try await text.announce(isDry: dryRun)
      if dryRun { return text.row(nil) }
      guard !plan.steps.isEmpty else {
        try await text.show(nil, firmware)
        return text.row(nil)
      }
      try await Confirmation.demand(text.question, of: text.title, isGiven: choices.yes, context)
      let outcome: UpdateOutcome
      do {
        defer { text.progress.end() }
        outcome = try await update.run(device) { event in
          device.follow(event)
          try text.show(event)
        }
      } catch {
        var failure = Failure(update: error, text.progress)
        if let peer = device.newPeer { failure.add("The device now has the address \(peer).") }
        throw failure
      }
      try await text.show(outcome, firmware)
      return text.row(outcome)
    }
  }
}

/// The options of an upload, and the answer to the question before it.
package struct UploadOptions: ParsableArguments {
  @Flag(help: "Do not ask before the first write") var yes = false
  @Flag(help: "Upload from the first byte (default: resume)") var noResume = false

  /// Whether the user gave the default, which has no effect.
  @Flag(help: ArgumentHelp("Continue an interrupted upload", visibility: .hidden)) var resume = false
  @Option("The image of a device with several, 0-15 (MCUmgr, default: 0)", value: "n", parsing: .unconditional) var image: Int?

  package init() {}

  package func validate() throws {
    if resume, noResume { throw ValidationError("--resume and --no-resume exclude each other.") }
    try limit("--image", image, to: 0...15)
  }
}

import BluetoothLELinux
import CommandLine

package struct Unpair: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "unpair", abstract: "Remove the keys of a device.",
    discussion: "The device keeps its own keys. Remove them on the device as well, or it may refuse to pair again.")
  static let examples = ["blectl -i sim pair SafeLock --passkey 246810 && blectl unpair SafeLock", "blectl unpair --all"]
  static let traits = CommandTraits(unusedOptions: Bonds.unused, usesNames: false, turn: .ofCurrentDevice, isLeftOut: true)

  @OptionGroup var process: ProcessOptions
  @Argument(help: "The device (in a session, default: the current one)") var peer: PeerArgument?
  @Flag(help: "Remove all keys that blectl has") var all = false

  var isAboutCurrent: Bool { !all && (peer ?? .current) == .current }

  mutating func use(_ device: PeerArgument) { peer = device }

  func validate() throws { if all, peer != nil { throw ValidationError("--all takes no PEER.") } }

  func checkForScript() throws { if all { throw Failure(.usage, "A script cannot remove all keys. Name a device: unpair PEER") } }

  func run(in context: Context) async throws {
    var bonds = try context.process.bonds.all()
    // All devices of bluetoothd would include those that other programs use.
    if !all {
      var selector = context.links.currentDevice
      if let peer, peer != .current { selector = try await context.configuration.resolve(peer) }
      let resolver = IdentityResolver(bonds.identityKeys)
      selector = selector?.identified { resolver.identity(of: $0)?.address }
      guard let selector else { throw Failure(.usage, "Name the device, or use --all.") }
      func isMeant(_ peer: PeerAddress, _ name: String?) -> Bool { selector.means(peer, named: name.map { UntrustedText($0) }) }
      let link = isAboutCurrent ? context.session.connections.first { context.links.keeps($0) } : nil
      bonds = bonds.filter { stored in link.map { stored.bond.isOf($0.peer) } ?? isMeant(stored.bond.identity, stored.name) }
      var isFound = !bonds.isEmpty
      try await SystemBonds.use(context, isNeeded: !isFound) { daemon, devices in
        for device in devices where link.map({ $0.peer == device.peer }) ?? isMeant(device.peer, device.name) {
          try await daemon.forget(device)
          try await show(device.peer, device.name, context)
          isFound = true
        }
      }
      guard isFound else { throw Failure(.notFound, "There is no bond with \(selector). List the bonds: blectl bonds") }
    }
    try context.process.bonds.remove(bonds)
    for stored in bonds {
      let identity = stored.bond.identity
      if context.session.connections.contains(where: { stored.bond.isOf($0.peer) }) {
        context.output.note(
          "The connection to \(stored.name.map { "\(UntrustedText($0))" } ?? "\(identity)") stays encrypted until it ends.")
      }
      if !KernelKeyring.forget(identity, of: stored.adapter) {
        context.output.note("The kernel keeps its copy of the keys until a restart: removing them needs CAP_NET_ADMIN.")
      }
      try await show(identity, stored.name, context)
    }
  }

  @LoopActor private func show(_ peer: PeerAddress, _ name: String?, _ context: Context) async throws {
    let title = name.map { "\(UntrustedText($0)) (\(peer))" } ?? "\(peer)"
    try await context.output.show("Removed the bond with \(title)") {
      $0.string("event", "unpaired")
      $0.peer("identity", "identity_type", peer)
      $0.string("name", name)
    }
  }
}

package struct Bonds: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "bonds", abstract: "List the devices that blectl is paired with, or copy the bonds.",
    discussion: """
      Shows no keys. The keys are in the folder bonds, see FILES in blectl(1).

      export writes all bonds with their keys to a file that only you can read. import adds the bonds of such a file, or those of bluetoothd: a file info, or a folder of them. A bond works only with the adapter of the same address.
      """)
  static let examples = [
    "blectl bonds", "blectl bonds --json",
    "blectl -i sim pair SafeLock --passkey 246810 && blectl bonds export b.json",
  ]
  static let traits = CommandTraits(printsRecords: true, unusedOptions: unused, usesNames: false, isLeftOut: true)
  static let unused = ["--adapter", "--timeout", "--trace", "--trace-secrets"]

  enum Action: String, CaseIterable, ExpressibleByArgument { case export, `import` }

  static func hint(_ value: String, for place: String) -> String? {
    guard place == "<action>" else { return nil }
    return ["delete", "remove", "rm", "clear"].contains(value)
      ? "To remove a bond: unpair PEER" : "Without an action, bonds lists the bonds."
  }

  @OptionGroup var process: ProcessOptions
  @Argument(help: ArgumentHelp("export or import (default: list the bonds)", valueName: "action")) var action: Action?
  @Argument(help: "The file to write or read", completion: .file()) var file: String?

  var usesAdapter: Bool { false }
  var recordFields: RecordFields? {
    RecordFields([
      "identity", "identity_type", "name", "created", "method", "authenticated", "secure_connections", "key_size", "adapter",
      "adapter_type", "kept_by",
    ])
  }

  func validate() throws {
    guard let action else { return }
    guard let file else { throw ValidationError("Name the file: blectl bonds \(action.rawValue) FILE") }
    if action == .export, file == "-" || OutputFile.isDescriptor(file) {
      throw ValidationError("blectl does not print keys. Name a file: blectl bonds export FILE")
    }
  }

  func checkForScript() throws {
    guard let action else { return }
    throw Failure(.usage, "A script cannot \(action.rawValue) keys. Before or after it, run: blectl bonds \(action.rawValue) FILE")
  }

  @LoopActor func name(_ files: inout CommandFiles) {
    if action == .export { files.writes(file, as: "FILE") } else { files.reads(file, as: "FILE") }
  }

  func run(in context: Context) async throws {
    let store = context.process.bonds
    switch (action, file) {
    case (.export?, let file?):
      let bonds = try store.all()
      guard !bonds.isEmpty else { throw Failure(.notFound, "There are no bonds to export.") }
      try await OutputFile.write(keys: BondStore.file(bonds), to: file)
      if context.output.style.json { return try await show(bonds, context.output) }
      let exported = "Exported \(bonds.count.counted("bond")) to \(DisplayText.quote(file))"
      try await context.output.show("\(exported). Keep the file secret: it contains the keys.") { _ in }
    case (.import?, let file?):
      let found = try await BondSource.read(file)
      let note = BondSource.note(on: found.bonds, context)
      try store.add(found.bonds)
      try await show(found.bonds, context.output)
      if let note { context.output.note(note) }
      if let failure = found.failure { throw failure }
    default:
      let bonds = try store.all()
      var others: [BluetoothDaemon.Device] = []
      try await SystemBonds.use(context, isNeeded: false) { others = $1 }
      if bonds.isEmpty, others.isEmpty, !context.output.style.json {
        return context.output.note("No bonds. To pair: \(context.process.commands.program)pair PEER")
      }
      try await show(bonds, context.output, others)
    }
  }

  @LoopActor private func show(_ bonds: [StoredBond], _ output: Output, _ others: [BluetoothDaemon.Device] = []) async throws {
    var table = Table(["IDENTITY", "NAME", "METHOD", "KEY", "ADAPTER", "PAIRED (UTC)"])
    func add(_ identity: PeerAddress, _ name: String?, _ method: String, _ key: String, _ adapter: PeerAddress, _ time: String) {
      table.add(["\(identity)", name.map { output.displayText("\(UntrustedText($0))") } ?? "-", method, key, "\(adapter)", time])
    }
    for stored in bonds {
      let size = stored.bond.security.map { "\($0.keySize) bytes" + ($0.isSecureConnections ? "" : ", legacy") } ?? "-"
      let time = String(Timestamp.text(stored.created).prefix(16)).replacing("T", with: " ")
      add(stored.bond.identity, stored.name, stored.bond.method.snakeName.replacing("_", with: " "), size, stored.adapter, time)
    }
    for device in others { add(device.peer, device.name, "-", "in bluetoothd", device.adapter, "-") }
    if !output.style.json, !bonds.isEmpty || !others.isEmpty { return try await output.show(table, folds: true) }
    for stored in bonds {
      try await output.record {
        $0.string("event", "bond")
        stored.describe(in: &$0)
        $0.string("kept_by", "blectl")
      }
    }
    for device in others {
      try await output.record {
        $0.string("event", "bond")
        $0.peer("identity", "identity_type", device.peer)
        $0.string("name", device.name)
        for key: RecordWriter.Text in ["created", "method", "authenticated", "secure_connections", "key_size"] { $0.string(key, nil) }
        $0.peer("adapter", "adapter_type", device.adapter)
        $0.string("kept_by", "bluetoothd")
      }
    }
  }
}

/// The bonds of bluetoothd.
enum SystemBonds {
  /// Runs `body` with the bonds of bluetoothd, if it runs and the command's adapter is the kernel's.
  /// - Parameter isNeeded: Whether the command fails if bluetoothd cannot be asked. If false, a note reports the failure.
  @LoopActor static func use(
    _ context: Context, isNeeded: Bool, _ body: @LoopActor (BluetoothDaemon, [BluetoothDaemon.Device]) async throws -> Void
  ) async throws {
    guard case .kernel = try context.process.adapter(), BluetoothDaemon.isRunning else { return }
    // libdbus runs without rights. The kernel's own keys are not touched next to bluetoothd.
    if !context.isInSession { Capabilities.drop() }
    do {
      let daemon = try await BluetoothDaemon()
      defer { daemon.close() }
      try await body(daemon, try await daemon.devices().filter(\.isPaired))
    } catch let problem as BluetoothDaemonProblem where !isNeeded {
      context.output.note("The bonds of bluetoothd are missing here. \(Failure(problem).message)")
    }
  }
}

import BluetoothLELinux
import CommandLine

package struct Pair: PeerCommand {
  static let configuration = CommandConfiguration(
    named: "pair", abstract: "Pair with a device, and store the keys.",
    discussion: """
      On a terminal, asks for the passkey or whether the numbers are the same. Elsewhere, give --passkey or --confirm. All commands then encrypt their connections to the device. An answer makes --level 3 the minimum, otherwise it is 2. Other users can see a command line: to hide the passkey, use @FILE or -.
      """)
  static let examples = ["blectl -i sim pair SafeLock --passkey 246810", "blectl -i sim pair SafeLock --passkey 246810 --level 4 --json"]
  // The line could contain a passkey, so scripts leave it out.
  static let traits = CommandTraits(rareOptions: ["--min-key-size", "--legacy", "--no-bond"], usesNames: false, isLeftOut: true)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @OptionGroup var pairing: PairingOptions

  func validate() throws {
    guard who.link.leastSecurity == .secureConnections, let size = pairing.minKeySize, size < 16 else { return }
    throw ValidationError("--level 4 needs a key of 16 bytes, not --min-key-size \(size).")
  }

  @LoopActor func name(_ files: inout CommandFiles) { files.reads(pairing.file, as: "--passkey") }

  func run(in context: Context) async throws {
    try pairing.checkAdapter(context)
    let wish = try await pairing.wish(context, who.link.leastSecurity)
    try await context.withPeer(who, exchangingMTU: false, pairing: wish) { connection in
      // From here on, only bluetoothd needs rights. The kernel ends the connection.
      if !context.isInSession, BluetoothDaemon.isRunning { Capabilities.drop() }
      guard let security = connection.security else { throw Failure(.usage, "The adapter cannot pair.") }
      // From then on, Security Requests are declined with a note, as on any link.
      defer { security.take(nil) }
      var wish = wish
      // The default for the device, as the option.
      wish.parameters.level = max(wish.parameters.level, context.leastSecurity(nil, else: context.options(for: connection).level))
      if let result = try await security.existingBond(for: wish.parameters) {
        return try await show(
          result, again: "\(context.process.commands.program)unpair \(connection.typedName)", connection, context.output)
      }
      let result = try await security.pair(wish)
      try await show(result, connection, context.output)
      if result.identity == nil, wish.parameters.isBonding, !context.isInSession {
        context.output.note(
          "The device stores no keys, so the pairing ends here. Pair in the command itself: blectl read \(connection.typedName) ATTR --pair"
        )
      }
    }
  }

  @LoopActor private func show(_ result: PairingResult, again: String? = nil, _ connection: Connection, _ output: Output) async throws {
    guard output.style.json else {
      return try await output.sentence(
        again.map { "Already paired with \(connection.title) (\(result.text)). To pair again: \($0)" }
          ?? "Paired with \(connection.title): \(result.text)")
    }
    try await output.record {
      $0.string("event", "paired")
      $0.members(connection.identity)
      $0.string("method", result.method?.snakeName)
      $0.bool("secure_connections", result.isSecureConnections)
      $0.bool("authenticated", result.security.isAuthenticated)
      $0.integer("key_size", Int(result.security.keySize))
      $0.bool("bonded", result.identity != nil)
      $0.peer("identity", "identity_type", result.identity)
    }
  }
}

import BluetoothLELinux

/// The options that say how our device pairs.
package struct PairingOptions: OptionSection {
  package static let title = "PAIRING"
  private static let abilities = IOCapability.allCases.map(\.name)

  @Option("none, display, yesno, keyboard or keyboard-display", value: "ability", completion: .list(abilities)) var io: String?
  @Option("The passkey: six digits, @FILE, or - for standard input", value: "n", completion: .file()) var passkey: String?

  @Option("Say whether both devices show the same number: yes or no", value: "answer", completion: .list(["yes", "no"]))
  var confirm: String?

  @Option("Shortest key to accept, 7-16 bytes (default: 16)", value: "n", parsing: .unconditional) package var minKeySize: Int?
  @Flag(help: "Store no keys: the pairing ends with the connection") var noBond = false
  @Option("allow or refuse LE legacy pairing (default: allow)", value: "what", completion: .list(["allow", "refuse"])) var legacy: String?

  package init() {}

  package func validate() throws {
    try limit("--min-key-size", minKeySize, to: 7...16, "bytes")
    try choose("--io", io, Self.abilities)
    try choose("--confirm", confirm, ["yes", "no"])
    try choose("--legacy", legacy, ["allow", "refuse"])
    if let passkey, passkey != "-", !passkey.hasPrefix("@"), SixDigits(passkey) == nil {
      throw ValidationError("--passkey takes six digits, @FILE or -.")
    }
    guard let ability else { return }
    func refuse(_ option: String) throws { throw ValidationError("\(option) has no effect with --io \(ability.name).") }
    if passkey != nil, !ability.mayLead(to: \.usesPasskey) { try refuse("--passkey") }
    if confirm != nil, !ability.mayLead(to: { $0 == .numericComparison }) { try refuse("--confirm") }
  }

  /// The ability of `--io`. Nil without the option.
  private var ability: IOCapability? { IOCapability.allCases.first { $0.name == io } }

  /// Refuses options that the kernel, or bluetoothd, cannot honor, before the command connects.
  /// - Throws: `Failure(.usage)`.
  @LoopActor package func checkAdapter(_ context: Context) throws {
    if case .replay? = try? context.process.adapter() { throw Failure(.usage, "A recording cannot pair: keys are new in each pairing.") }
    guard case .kernel = try context.process.adapter() else { return }
    let reason =
      if minKeySize != nil {
        "--min-key-size needs blectl's own host: the kernel has no call for it."
      } else if passkey != nil, let io, io == "display" || io == "yesno" {
        "--passkey with --io \(io) needs blectl's own host: the kernel chooses the passkey that it displays."
      } else if legacy == "refuse" {
        "--legacy refuse needs blectl's own host: the kernel refuses LE legacy pairing only together with Just Works."
      } else if noBond, BluetoothDaemon.isRunning {
        "--no-bond needs blectl's own host: bluetoothd stores the keys of each pairing."
      } else { "" }
    if !reason.isEmpty { throw Failure(.usage, "\(reason) Use -i user:N, tcp:, unix: or serial:.") }
  }

  private func choose(_ option: String, _ value: String?, _ choices: [String]) throws {
    guard let value, !choices.contains(value) else { return }
    throw ValidationError("\(option) takes \(choices.alternatives), not \(DisplayText.quote(value)).")
  }

  /// Whether the passkey comes from standard input.
  package var readsInput: Bool { passkey == "-" }
  /// The file of the passkey. Nil without one.
  package var file: String? { passkey.flatMap { $0.hasPrefix("@") ? String($0.dropFirst()) : nil } }

  /// Returns the wish to pair, with a minimum level, and reads the passkey's file.
  /// - Throws: `Failure` or `FileError` if the passkey cannot be read.
  @LoopActor package func wish(_ context: Context, _ level: SecurityLevel?) async throws -> PairingWish {
    let way = PairingDialogue.way(context)
    var answers = PairingAnswers()
    answers.confirms = confirm.map { $0 == "yes" }
    if readsInput { try context.refuseInput() }
    if let passkey {
      var text = passkey
      if let file { text = String(decoding: try await InputFile.read(file, limit: 64), as: UTF8.self).trimmed }
      if readsInput { text = try await Self.input(way, context.output) }
      guard let digits = SixDigits(text) else {
        throw Failure(.input, "\(file.map { DisplayText.quote($0) } ?? "Standard input") contains no passkey of six digits.")
      }
      answers.passkey = digits
    } else if io != "none" {
      answers.passkey = try Self.passkeyOfEnvironment(context)
    }
    var wish = Self.wish(ability, answers, way, context, isOfCommand: true)
    if let level { wish.parameters.level = level }
    wish.parameters.keySizes = UInt8(clamping: minKeySize ?? 16)...16
    wish.parameters.isBonding = !noBond
    if legacy == "refuse" { wish.parameters.secureConnections = .required }
    return wish
  }

  /// Returns the wish to pair of `--pair`: the terminal or the variable BLECTL_PASSKEY answers questions.
  @LoopActor static func usualWish(_ context: Context) throws -> PairingWish {
    let way = PairingDialogue.way(context)
    var answers = PairingAnswers()
    answers.passkey = try passkeyOfEnvironment(context)
    var wish = wish(nil, answers, way, context)
    wish.attempts = context.pairings
    return wish
  }

  @LoopActor private static func passkeyOfEnvironment(_ context: Context) throws -> SixDigits? {
    guard let text = context.configuration.variable("BLECTL_PASSKEY") else { return nil }
    guard let digits = SixDigits(text) else { throw Failure(.usage, "BLECTL_PASSKEY is not a passkey of six digits.") }
    return digits
  }

  /// Returns a wish with abilities that fit the available answers. A device then asks no question that has no answer.
  @LoopActor private static func wish(
    _ io: IOCapability?, _ answers: PairingAnswers, _ way: PairingDialogue.Way, _ context: Context, isOfCommand: Bool = false
  ) -> PairingWish {
    let asks = if case .never = way { false } else { true }
    let fitting: IOCapability =
      switch (answers.passkey != nil, answers.confirms != nil) {
      case (true, true): .keyboardDisplay
      case (true, false): asks ? .keyboardDisplay : .keyboardOnly
      case (false, true): asks ? .keyboardDisplay : .displayYesNo
      case (false, false): asks ? .keyboardDisplay : .noInputNoOutput
      }
    let capability = io ?? fitting
    var parameters = PairingParameters(ioCapability: capability, requestsMITM: capability != .noInputNoOutput)
    parameters.passkey = answers.passkey
    // A passkey in vain would be a false safety: an attacker can ask for Just Works.
    if answers.passkey != nil || answers.confirms != nil { parameters.level = .authenticated }
    var wish = PairingWish(parameters, user: PairingDialogue(context.output, answers, way), isOfCommand: isOfCommand)
    wish.isUnattended = io == nil && fitting == .noInputNoOutput
    return wish
  }

  /// Reads the passkey from the keys of the user, or the line of standard input, whose writer may stay.
  /// - Throws: `Failure(.input)` for more text after the line.
  @LoopActor private static func input(_ way: PairingDialogue.Way, _ output: Output) async throws -> String {
    if case .terminal(let output, _) = way {
      return try await PairingDialogue.typedPasskey(output) { typed, _ in "Passkey: \(typed)" }?.description ?? ""
    }
    var bytes: [UInt8] = []
    while !bytes.contains(UInt8(ascii: "\n")), bytes.count < 64 {
      let more = try await StandardInput.beginning { output.note("Waiting for the passkey on standard input. Press Ctrl-C to cancel.") }
      if more.isEmpty { break }
      bytes += more
    }
    let lines = String(decoding: bytes, as: UTF8.self).trimmed.split(separator: "\n")
    if lines.count > 1 { throw Failure(.input, "Standard input contains more than the passkey. Put the passkey alone into it.") }
    return lines.first.map { String($0).trimmed } ?? ""
  }
}

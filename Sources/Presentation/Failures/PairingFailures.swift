package import BluetoothLE

extension PairingFailure: FailureConvertible {
  package var failure: Failure {
    let (kind, code): (Failure.Kind, (any FailureCode)?) =
      switch self {
      case .silent: (.timeout, nil)
      case .disconnected(let code): (.linkLost, code)
      case .closed: (.linkLost, nil)
      case .encryptionFailed(let code), .bondRejected(let code): (.pairing, code)
      case .cryptography(.libraryMissing): (.internal, nil)
      default: (.pairing, reason)
      }
    let isOfBond = if case .bondRejected = self { true } else { self == .noBond }
    return Failure(kind, "Cannot \(isOfBond ? "encrypt the connection" : "pair"): \(sentence)", code)
  }

  /// The cause, and what to do next.
  private var sentence: String {
    switch self {
    case .wrongPasskey:
      "the passkey differs from the passkey of the device."
    case .numberRefused(.us): "you said that the numbers differ. If they really did, another device may be in the middle."
    case .numberRefused(.peer): "the user of the device said that the numbers differ."
    case .passkeyNotEntered(.us): "you entered no passkey."
    case .passkeyNotEntered(.peer): "the user of the device entered no passkey."
    case .canceled: "canceled."
    case .refused(let reason): "the device refused (\(reason.name), SMP 0x\(Hex.encode(reason.rawValue))).\(Self.advice(reason))"
    case .silent(let limit):
      "the device sent nothing for \(limit.secondsText) s." + (limit < Self.longestSilence ? " To wait longer: --timeout SECONDS" : "")
    case .disconnected(let code): "the connection ended (\(code.name), \(code.tag))."
    case .keySize(let agreed, let minimum):
      "the device offers a key of \(agreed) bytes, and the minimum is \(minimum). To accept it: --min-key-size \(agreed), without --level 4"
    case .legacyPairing: "the device has only LE legacy pairing, which --legacy refuse and --level 4 exclude."
    case .notAuthenticated:
      "the abilities of the devices allow only Just Works, which checks for no attacker in the middle. Try --passkey N or --io keyboard-display."
    case .weakerThanBond: "it offers less security than the bond with it. \(Self.impostor)"
    case .identityTaken(let identity):
      "it claims to be \(identity), of which there is a bond already. If it is that device: blectl unpair \(identity.address)"
    case .outOfBandWanted: "the device wants out-of-band data, which blectl does not support."
    case .invalidPublicKey: "the device sent a public key that is not on the curve (an attack, or a defect)."
    case .debugKey: "the device uses the public debug key, with which anybody can listen."
    case .reflected: "the device sent our own values back (an attack, or a defect)."
    case .confirmMismatch, .checkMismatch: "the check values of the device are wrong (an attack, or a defect)."
    case .unrequestedKeys: "the device announced keys that blectl did not ask for."
    case .unexpectedPDU(let code): "the device sent an unexpected packet (SMP code 0x\(Hex.encode(code)))."
    case .malformedPDU(let error): "the device sent a malformed packet: \(error)."
    case .encryptionFailed(let code): "the controllers did not encrypt the connection (\(code.name), \(code.tag))."
    case .encryptionLost: "the encryption ended before the devices had all keys."
    case .bondRejected(.pinOrKeyMissing): "the device has lost the bond. \(Self.impostor)"
    case .bondRejected(let code):
      "the device rejects the key of the bond (\(code.name), \(code.tag)). It may have lost the bond. \(Self.impostor)"
    case .cryptography(.libraryMissing): "libcrypto.so.3 is missing. Install OpenSSL 3 (Debian: apt install libssl3)."
    case .cryptography: "no key could be computed."
    case .busy: "another pairing on this connection has not ended."
    case .closed: "the connection takes no more pairing. Connect again."
    case .noBond: "there is no bond with the device."
    }
  }

  private static let impostor = "Or another device uses its address: only pairing with a passkey or a number tells them apart."

  private static func advice(_ reason: PairingFailedReason) -> String {
    switch reason {
    case .pairingNotSupported: " It may need no pairing: read and write without it. Some devices pair only after a key is pressed."
    case .authenticationRequirements: " It demands protection against an attacker in the middle. Try --io keyboard-display."
    case .repeatedAttempts: " Wait before the next attempt."
    default: ""
    }
  }

  /// Whether only the removal of the bond helps.
  package var needsUnpairing: Bool { if case .bondRejected = self { true } else { self == .weakerThanBond } }
}

extension PairingFailedReason: FailureCode { package var number: Int { Int(rawValue) } }

extension SecurityEvent {
  /// One line for users. - Parameter pair: The command that pairs with the device.
  package func text(_ pair: String) -> String {
    switch self {
    case .pairingWanted(hasBond: false): "The device asks for pairing, which blectl declined. To pair: \(pair)"
    case .pairingWanted(hasBond: true): "The device asks for authentication, which the bond with it lacks. To pair again: \(pair) --level 3"
    case .unattended:
      "The pairing is Just Works: level 2, without protection against an attacker in the middle. If the device has a display or keys: "
        + "\(pair) --level 3, with --passkey N or --confirm yes"
    case .pairing: "The device demands pairing. Pairing …"
    case .paired(let result): "Paired: \(result.text)."
    case .failed(let error): Failure(error).message
    }
  }

  /// Whether the line is progress rather than a note.
  package var isProgress: Bool {
    switch self {
    // A device that accepted Just Works may always ask for more.
    case .pairing, .paired, .pairingWanted(hasBond: true): true
    case .pairingWanted, .unattended, .failed: false
    }
  }
}

extension InsufficientSecurity: FailureConvertible {
  package var failure: Failure {
    let state =
      switch found {
      case nil: "is not encrypted, because there is no bond with the device"
      case _? where isOfSystem: "is encrypted, but Linux does not tell whether the bond of bluetoothd is authenticated"
      case let found?: "has only level \(Self.text(found))"
      }
    return Failure(.pairing, "Sent no request: the connection \(state). The command demands level \(Self.text(demanded)).")
  }

  private static func text(_ level: SecurityLevel) -> String {
    "\(level.rawValue) (\(level == .secureConnections ? "authenticated, LE Secure Connections, 16-byte key" : "\(level)"))"
  }

  /// Returns the failure with the command `program` + `pair`, for the device as typed.
  package func explained(_ program: String, _ device: String) -> Failure {
    var failure = failure
    let pair = "To pair\(found == nil ? "" : " again"): \(program)pair \(device) --level \(demanded.rawValue)"
    failure.add(isOfSystem ? "Use blectl's own host: -i user:N" : pair)
    return failure
  }
}

extension PairingResult {
  /// The method, the security and the bond in a few words.
  package var text: String {
    let method =
      switch method {
      case .justWorks: "Just Works (not authenticated)"
      case .numericComparison: "numeric comparison"
      case .passkeyEntry: "passkey"
      case nil: security.isAuthenticated ? "authenticated" : "not authenticated"
      }
    let kind = isSecureConnections.map { $0 ? "LE Secure Connections, " : "LE legacy pairing, " } ?? ""
    return "\(method), \(kind)\(security.keySize)-byte key, "
      + (identity == nil ? "no bond" : systemIdentity == nil ? "bonded" : "bonded by bluetoothd")
  }
}

extension Connection {
  /// The device in the form in which a command finds it again, and no other device with a bond.
  package var typedName: String {
    if let bond = security?.stored?.bond, selector.map({ !$0.isPlain }) ?? true { return "\(bond.identity)" }
    return ShellWords.quoteForShell(selector.map { "\($0)" } ?? "\(peer)")
  }

  /// Adds the reason of the security to the error of a request that needs more security, or of a link that ended after a Security Request.
  /// - Parameter program: `blectl ` before the commands of the advice. Empty in a session.
  @LoopActor
  func explainedBySecurity(_ failure: Failure, _ program: String) -> Failure {
    var failure = failure
    let pair = "\(program)pair \(typedName)"
    let needsSecurity = [0x05, 0x0C, 0x0F].contains(failure.code)
    if let shortage = security?.shortage, failure.kind == .att, needsSecurity {
      switch shortage {
      case .noBond: failure.add("To pair: \(pair)")
      case .notAuthenticated:
        failure.add("The bond with \(title) is not authenticated. To pair again: \(pair) --passkey N")
      case .shortKey(let size): failure.add("The bond with \(title) has a key of \(size) bytes. To pair again: \(pair)")
      }
    } else {
      if failure.kind == .linkLost, !(failure.origin.error is SecurityDemanded) { failure = Failure(withDemand(failure)) }
      failure.addPairing(with: typedName, program)
    }
    return failure
  }
}

extension Failure {
  /// Adds how to pair, if the connection failed because the device lost its bond or demands pairing.
  /// - Parameters:
  ///   - device: The PEER for the commands of the advice.
  ///   - program: `blectl ` before the commands. Empty in a session.
  package mutating func addPairing(with device: String, _ program: String) {
    if (origin.error as? PairingFailure)?.needsUnpairing ?? false {
      add("To pair again: \(program)unpair \(device)\(program.isEmpty ? ";" : " &&") \(program)pair \(device)")
    } else if origin.error is SecurityDemanded {
      add("To pair: \(program)pair \(device)")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
/// Phase 2 of LE Secure Connections pairing (Vol 3 Part H §2.3.5.6).
///
/// Both devices exchange public keys, commit to random numbers, and prove that they have the same Diffie-Hellman key.
/// In 20 rounds, Passkey Entry commits to one bit of the passkey each, so that a wrong guess reveals only one bit before the pairing fails.
struct SecureAuthentication: Authentication {
  private enum Stage {
    case publicKey, confirm, random
    /// Our initiator waits for its user, who compares numbers.
    case comparison
    case check, done
  }

  private static let rounds = 20
  /// The x coordinate of the debug key, whose private key is public (§2.3.5.6.1).
  private static let debugX: [UInt8] = [
    0x20, 0xB0, 0x03, 0xD2, 0xF2, 0x97, 0xBE, 0x2C, 0x5E, 0x2C, 0x83, 0xA7, 0xE9, 0xF9, 0xA5, 0xB9,
    0xEF, 0xF4, 0x91, 0x11, 0xAC, 0xF4, 0xFD, 0xDB, 0xCC, 0x03, 0x01, 0x48, 0x0E, 0x35, 0x9D, 0xE6,
  ]

  private let terms: PairingTerms
  private let pair: P256KeyPair
  private var stage = Stage.publicKey
  private var passkey: SixDigits?
  /// The peer's public key, and the Diffie-Hellman key.
  private var peer: (x: [UInt8], secret: [UInt8])?
  /// The number of completed rounds of Passkey Entry.
  private var round = 0
  private var ownRandom: UInt128 = 0
  /// The confirm value that we sent in this round. Nil until then.
  private var ownConfirm: UInt128?
  private var peerConfirm: UInt128?
  /// The long term key in 16 bytes, and the check values of both devices.
  private var keys: (longTermKey: UInt128, ownCheck: UInt128, peerCheck: UInt128)?
  /// Whether our user has confirmed the number, or need not.
  private var isConfirmed: Bool
  /// Whether the peer's check value was right.
  private var isChecked = false

  /// - Parameter passkey: The displayed passkey. Nil if the user enters it, or for another method.
  init(_ terms: PairingTerms, _ pair: P256KeyPair, passkey: SixDigits?) {
    (self.terms, self.pair, self.passkey) = (terms, pair, terms.method.usesPasskey ? passkey : nil)
    isConfirmed = terms.method != .numericComparison
  }

  var key: UInt128? { stage == .done ? keys?.longTermKey : nil }
  var isComparing: Bool { keys != nil && !isConfirmed }

  private var isCentral: Bool { terms.role == .central }
  private var usesPasskey: Bool { terms.method.usesPasskey }

  mutating func begin(_ random: inout RandomSource) -> [Pairing.Action] { isCentral ? [.send(.publicKey(pair.publicKey))] : [] }

  mutating func enter(_ passkey: SixDigits, _ random: inout RandomSource) throws(PairingFailure) -> [Pairing.Action] {
    guard usesPasskey, self.passkey == nil else { return [] }
    self.passkey = passkey
    guard stage == .confirm, isCentral || peerConfirm != nil else { return [] }
    return try beginRound(&random)
  }

  mutating func confirmNumber() -> [Pairing.Action] {
    guard isComparing, let keys else { return [] }
    isConfirmed = true
    if isCentral {
      stage = .check
      return [.send(.dhKeyCheck(keys.ownCheck))]
    }
    return answerCheck()
  }

  mutating func receive(_ pdu: PairingPDU, _ random: inout RandomSource) throws(PairingFailure) -> [Pairing.Action] {
    switch (pdu, stage) {
    case (.publicKey(let key), .publicKey): return try take(key, &random)
    case (.confirm(let value), .confirm) where peerConfirm == nil && (!usesPasskey || !isCentral || ownConfirm != nil):
      peerConfirm = value
      if !usesPasskey || ownConfirm != nil { return try revealRandom() }
      return passkey == nil ? [] : try beginRound(&random)
    case (.random(let value), .random): return try take(value, &random)
    case (.dhKeyCheck(let value), .check) where !isChecked:
      guard value == keys?.peerCheck else { throw .checkMismatch }
      isChecked = true
      if isCentral { stage = .done }
      return isCentral ? [] : answerCheck()
    default: throw .unexpectedPDU(code: pdu.code)
    }
  }

  // MARK: Public keys

  private mutating func take(_ key: P256PublicKey, _ random: inout RandomSource) throws(PairingFailure) -> [Pairing.Action] {
    // The x coordinate alone decides, because the confirm values cover no other (CVE-2020-26558).
    guard key.x != pair.publicKey.x else { throw .reflected }
    guard key.x != Self.debugX else { throw .debugKey }
    do throws(P256Error) { peer = (key.x, try pair.sharedSecret(with: key)) } catch {
      throw error == .notOnCurve ? .invalidPublicKey : .cryptography(error)
    }
    stage = .confirm
    let answer: [Pairing.Action] = isCentral ? [] : [.send(.publicKey(pair.publicKey))]
    if usesPasskey { return isCentral && passkey != nil ? try beginRound(&random) : answer }
    ownRandom = random.number()
    guard !isCentral else { return [] }
    stage = .random
    return answer + [.send(.confirm(confirm(ownRandom, isOwn: true)))]
  }

  // MARK: Random numbers

  /// Returns the confirm value of a random number of either device. 0 without a public key of the peer, which cannot happen.
  private func confirm(_ random: UInt128, isOwn: Bool) -> UInt128 {
    guard let peer else { return 0 }
    let own = pair.publicKey.x
    let bit = passkey.map { 0x80 | UInt8(truncatingIfNeeded: $0.number >> UInt32(round) & 1) } ?? 0
    return Toolbox.f4(u: isOwn ? own : peer.x, v: isOwn ? peer.x : own, x: random, z: bit)
  }

  /// Sends the confirm value of a round of Passkey Entry. The responder then has the initiator's.
  private mutating func beginRound(_ random: inout RandomSource) throws(PairingFailure) -> [Pairing.Action] {
    ownRandom = random.number()
    let value = confirm(ownRandom, isOwn: true)
    ownConfirm = value
    guard let peerConfirm else { return [.send(.confirm(value))] }
    guard peerConfirm != value else { throw .reflected }
    stage = .random
    return [.send(.confirm(value))]
  }

  /// Sends the initiator's random number, after the responder committed to its own.
  private mutating func revealRandom() throws(PairingFailure) -> [Pairing.Action] {
    guard peerConfirm != ownConfirm else { throw .reflected }
    stage = .random
    return [.send(.random(ownRandom))]
  }

  private mutating func take(_ peerRandom: UInt128, _ random: inout RandomSource) throws(PairingFailure) -> [Pairing.Action] {
    guard peerRandom != ownRandom else { throw .reflected }
    // The responder of the methods without a passkey has no confirm value to check.
    if isCentral || usesPasskey, confirm(peerRandom, isOwn: false) != peerConfirm {
      throw usesPasskey ? .wrongPasskey(.us) : .confirmMismatch
    }
    var steps: [Pairing.Action] = isCentral ? [] : [.send(.random(ownRandom))]
    round += 1
    if usesPasskey, round < Self.rounds {
      stage = .confirm
      (ownConfirm, peerConfirm) = (nil, nil)
      return isCentral ? steps + (try beginRound(&random)) : steps
    }
    steps += computeKeys(peerRandom)
    return steps
  }

  // MARK: Check values

  private mutating func computeKeys(_ peerRandom: UInt128) -> [Pairing.Action] {
    guard let peer else { return [] }
    let (n1, n2) = isCentral ? (ownRandom, peerRandom) : (peerRandom, ownRandom)
    let (a1, a2) = (terms.initiator, terms.responder)
    let (macKey, longTermKey) = Toolbox.f5(w: peer.secret, n1: n1, n2: n2, a1: a1, a2: a2)
    let r = UInt128(passkey?.number ?? 0)
    let initiatorCheck = Toolbox.f6(w: macKey, n1: n1, n2: n2, r: r, ioCapabilities: terms.request.checked, a1: a1, a2: a2)
    let responderCheck = Toolbox.f6(w: macKey, n1: n2, n2: n1, r: r, ioCapabilities: terms.response.checked, a1: a2, a2: a1)
    keys = (longTermKey, isCentral ? initiatorCheck : responderCheck, isCentral ? responderCheck : initiatorCheck)
    stage = .check
    if terms.method == .numericComparison {
      if isCentral { stage = .comparison }
      let (u, v) = isCentral ? (pair.publicKey.x, peer.x) : (peer.x, pair.publicKey.x)
      return [.compare(SixDigits(lastOf: Toolbox.g2(u: u, v: v, x: n1, y: n2)))]
    }
    return isCentral ? [.send(.dhKeyCheck(initiatorCheck))] : []
  }

  /// Sends the responder's check value after the user and the initiator's check value agreed.
  private mutating func answerCheck() -> [Pairing.Action] {
    guard isConfirmed, isChecked, let keys else { return [] }
    stage = .done
    return [.send(.dhKeyCheck(keys.ownCheck))]
  }
}

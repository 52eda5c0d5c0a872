// SPDX-License-Identifier: Apache-2.0
/// A state machine for phase 2 of a pairing, which authenticates the devices and makes the key (Vol 3 Part H §2.3.5).
/// Its only actions are `send` and `compare`.
protocol Authentication: Sendable {
  /// The key with which the link is encrypted, in 16 bytes. Nil until the peer proved that it has the key too.
  var key: UInt128? { get }
  /// Whether the user compares numbers now.
  var isComparing: Bool { get }

  /// Begins after the Pairing Response.
  mutating func begin(_ random: inout RandomSource) throws(PairingFailure) -> [Pairing.Action]
  mutating func receive(_ pdu: PairingPDU, _ random: inout RandomSource) throws(PairingFailure) -> [Pairing.Action]
  /// Continues with the passkey that the user entered.
  mutating func enter(_ passkey: SixDigits, _ random: inout RandomSource) throws(PairingFailure) -> [Pairing.Action]
  /// Continues after the user confirmed that the numbers are the same.
  mutating func confirmNumber() -> [Pairing.Action]
}

/// Phase 2 of LE legacy pairing (Vol 3 Part H §2.3.5.2 to §2.3.5.5).
///
/// Legacy pairing is weak: a listener tries a million passkeys in a second.
struct LegacyAuthentication: Authentication {
  private enum Stage {
    case confirm, random, done
  }

  private let terms: PairingTerms
  /// The temporary key (TK): the passkey, 0 for Just Works. Nil until the user enters it.
  private var temporaryKey: UInt128?
  private var stage = Stage.confirm
  private var ownRandom: UInt128 = 0
  /// The confirm value that we sent. Nil until then.
  private var ownConfirm: UInt128?
  private var peerConfirm: UInt128?
  private(set) var key: UInt128?
  let isComparing = false

  /// - Parameter passkey: The displayed passkey. Nil if the user enters it, or for Just Works.
  init(_ terms: PairingTerms, passkey: SixDigits?) {
    self.terms = terms
    temporaryKey = terms.method.usesPasskey ? passkey.map { UInt128($0.number) } : 0
  }

  mutating func begin(_ random: inout RandomSource) -> [Pairing.Action] {
    ownRandom = random.number()
    return terms.role == .central ? sendConfirm() : []
  }

  mutating func enter(_ passkey: SixDigits, _ random: inout RandomSource) throws(PairingFailure) -> [Pairing.Action] {
    guard terms.method.usesPasskey, temporaryKey == nil else { return [] }
    temporaryKey = UInt128(passkey.number)
    // The responder answers the initiator's confirm value, and never sends the first one.
    return terms.role == .central || peerConfirm != nil ? try answerConfirm() : []
  }

  mutating func confirmNumber() -> [Pairing.Action] { [] }

  mutating func receive(_ pdu: PairingPDU, _ random: inout RandomSource) throws(PairingFailure) -> [Pairing.Action] {
    switch (pdu, stage) {
    case (.confirm(let value), .confirm) where peerConfirm == nil && (terms.role == .peripheral || ownConfirm != nil):
      peerConfirm = value
      return terms.role == .peripheral && temporaryKey == nil ? [] : try answerConfirm()
    case (.random(let value), .random): return try check(value)
    default: throw .unexpectedPDU(code: pdu.code)
    }
  }

  private func confirm(_ random: UInt128, _ temporaryKey: UInt128) -> UInt128 {
    Toolbox.c1(
      k: temporaryKey, r: random, request: terms.request.number(code: PairingPDU.requestCode),
      response: terms.response.number(code: PairingPDU.responseCode), initiator: terms.initiator, responder: terms.responder)
  }

  private mutating func sendConfirm() -> [Pairing.Action] {
    guard let temporaryKey else { return [] }
    let value = confirm(ownRandom, temporaryKey)
    ownConfirm = value
    return [.send(.confirm(value))]
  }

  private mutating func answerConfirm() throws(PairingFailure) -> [Pairing.Action] {
    let steps = terms.role == .peripheral || ownConfirm == nil ? sendConfirm() : [.send(.random(ownRandom))]
    guard let peerConfirm else { return steps }
    // Otherwise the peer could send all our values back, and would never need the passkey.
    guard peerConfirm != ownConfirm else { throw .reflected }
    stage = .random
    return steps
  }

  private mutating func check(_ peerRandom: UInt128) throws(PairingFailure) -> [Pairing.Action] {
    guard let temporaryKey, peerRandom != ownRandom else { throw .reflected }
    // Integers are compared whole: the time does not depend on the position of a difference.
    guard confirm(peerRandom, temporaryKey) == peerConfirm else {
      throw terms.method.usesPasskey ? .wrongPasskey(.us) : .confirmMismatch
    }
    stage = .done
    let isCentral = terms.role == .central
    key = Toolbox.s1(k: temporaryKey, r1: isCentral ? peerRandom : ownRandom, r2: isCentral ? ownRandom : peerRandom)
    return isCentral ? [] : [.send(.random(ownRandom))]
  }
}

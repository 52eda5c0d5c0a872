import TestSupport

/// Every PDU in every state. The states are snapshots of whole pairings.
@Suite(.timeLimit(.minutes(15))) struct WrongStateTests {
  /// One state of a device in a pairing, and the PDU that it waits for.
  private struct Snapshot {
    let pairing: Pairing
    /// The code of the next PDU, nil at the end.
    let next: UInt8?
  }

  /// Returns the states of a device before each PDU that it gets, and after the last one.
  private static func snapshots(_ kind: PairingKind, _ role: LinkRole) -> [Snapshot] {
    let air = TwoPairings(peripheral: kind.peripheral)
    var snapshots: [Snapshot] = []
    air.onDelivery = { to, bytes in if to == role { snapshots.append(Snapshot(pairing: air[role], next: bytes.first)) } }
    air.pair(kind.central)
    air.onDelivery = nil
    return snapshots + [Snapshot(pairing: air[role], next: nil)]
  }

  private static let pdus: [PairingPDU] =
    PairingPDUTests.all.map(\.0) + [
      P256PublicKey(x: [UInt8](repeating: 1, count: 32), y: [UInt8](repeating: 2, count: 32)).map { .publicKey($0) } ?? .reserved(0),
      .reserved(0x0F), .reserved(0xFF),
    ]

  @Test(arguments: PairingKind.all, LinkRole.allCases) func everyPDUInEveryState(_ kind: PairingKind, _ role: LinkRole) {
    for snapshot in Self.snapshots(kind, role) {
      for pdu in Self.pdus where pdu.code != snapshot.next {
        var pairing = snapshot.pairing
        let (bond, wasBusy) = (pairing.bond, pairing.isBusy)
        let actions = pairing.receive(pdu.bytes)
        switch (pdu, wasBusy) {
        case (.reserved, _), (.keypress, true): #expect(actions.isEmpty)
        case (.securityRequest, true) where role == .central: #expect(actions.isEmpty)
        case (.failed, true): #expect(actions.count == 2)
        case (_, true):
          #expect(actions == [.send([0x05, 0x08]), .stopTimer, .failed(.unexpectedPDU(code: pdu.code))], "\(pdu) in \(snapshot)")
        // An authenticated link needs no more security.
        case (.securityRequest, false) where role == .central: #expect(actions.count == (pairing.security?.isAuthenticated == true ? 0 : 1))
        case (.pairingRequest, false), (.securityRequest, false): #expect(actions.count == 1)
        case (_, false): #expect(actions.isEmpty, "\(pdu) in \(snapshot)")
        }
        #expect(pairing.bond == bond)
        for action in actions { if case .paired = action { Issue.record("paired by \(pdu)") } }
        // Nothing follows a failed pairing.
        if wasBusy, !actions.isEmpty {
          #expect(!pairing.isBusy)
          #expect(pairing.encryptionChanged(.on).isEmpty)
          #expect(pairing.security == nil)
          #expect(pairing.timedOut().isEmpty)
        }
      }
      // Every truncated PDU too.
      for count in 0..<17 where snapshot.pairing.isBusy {
        var pairing = snapshot.pairing
        let bytes = [UInt8](([snapshot.next ?? 3] + [UInt8](repeating: 0, count: 16)).prefix(count))
        guard (try? PairingPDU(parsing: bytes)) == nil else { continue }
        #expect(pairing.receive(bytes).first == .send([0x05, 0x0A]))
      }
    }
  }

  /// All events in all states end in a state without a pairing, when time runs out or the link ends.
  @Test(arguments: PairingKind.all, LinkRole.allCases) func everyEventInEveryState(_ kind: PairingKind, _ role: LinkRole) {
    for snapshot in Self.snapshots(kind, role) {
      let bond = snapshot.pairing.bond
      let events: [(inout Pairing) -> [Pairing.Action]] = [
        { $0.timedOut() }, { $0.disconnected(.connectionTimeout) }, { $0.cancel() }, { $0.encryptionChanged(.on) },
        { $0.encryptionChanged(.off) }, { $0.encryptionChanged(.failed(.connectionTimeout)) },
        { $0.longTermKeyRequested(ediv: 0, rand: 0) }, { $0.longTermKeyRequested(ediv: 7, rand: 9) },
        { pairing in SixDigits(5).map { pairing.enter($0) } ?? [] }, { $0.answerComparison(true) }, { $0.answerComparison(false) },
        { $0.declineRequest() },
      ]
      for (first, event) in events.enumerated() {
        for second in events {
          var pairing = snapshot.pairing
          var actions = event(&pairing)
          if first < 3 { #expect(!pairing.isBusy) }
          actions += second(&pairing)
          actions += pairing.disconnected(.connectionTimeout)
          #expect(!pairing.isBusy)
          #expect(pairing.security == nil)
          #expect(pairing.timedOut().isEmpty)
          #expect(pairing.bond == bond)
          #expect(actions.count { if case .failed = $0 { true } else { false } } <= 1)
          // A key is given only after both devices proved that they have it.
          if snapshot.next != nil { #expect(!actions.contains { if case .paired = $0 { true } else { false } }) }
        }
      }
    }
  }

  /// Random PDUs and events. Nothing traps, and no bond comes from them without encryption.
  @Test(arguments: LinkRole.allCases, [0, 1, 2]) func randomInputs(_ role: LinkRole, _ part: Int) throws {
    var random = SplitMix64(seed: UInt64(part))
    let snapshots = Self.snapshots(PairingKind.all[part * 4], role)
    for _ in 0..<2500 {
      var pairing = try #require(snapshots.randomElement(using: &random)).pairing
      let bond = pairing.bond
      var wasEncrypted = pairing.security != nil
      for _ in 0..<4 {
        let code = UInt8.random(in: 0...16, using: &random)
        let valid = Self.pdus.first { $0.code == code }?.bytes ?? [code]
        let bytes =
          Bool.random(using: &random)
          ? valid : [code] + (1..<max(2, valid.count)).map { _ in UInt8.random(in: 0...255, using: &random) }
        _ = pairing.receive(bytes)
        if Bool.random(using: &random) { _ = pairing.encryptionChanged(.on) }
        _ = pairing.longTermKeyRequested(ediv: 0, rand: 0)
        wasEncrypted = wasEncrypted || pairing.security != nil
      }
      // On an encrypted link, even random keys can be the right ones.
      if !wasEncrypted { #expect(pairing.bond == bond) }
    }
  }
}

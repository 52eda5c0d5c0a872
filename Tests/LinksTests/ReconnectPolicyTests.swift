import Testing

@testable import BluetoothLE

@Suite(.timeLimit(.minutes(15))) struct ReconnectPolicyTests {
  /// What another attempt may cure, and what stays as it is.
  @Test func errorsThatPass() {
    let peer = PeerAddress(Address(rawValue: 0xD100_0000_0050), .random)
    let loss = Disconnection(peer, .lost(.connectionTimeout))
    func gaveUp(_ last: (any Error)?) -> RestorationError { .gaveUp(after: .zero, tries: 1, last: last) }
    let passing: [any Error] = [
      loss, GAPError.noConnection(peer, within: .seconds(1)), GAPError.scanEnded(adapter: "hci0", connecting: peer),
      ATTError.noResponse(to: .read, handle: 3, within: .seconds(1)), PairingFailure.timedOut,
      PairingFailure.disconnected(.connectionTimeout), gaveUp(nil), gaveUp(loss),
    ]
    for error in passing { #expect(ReconnectPolicy.mayPass(error), "\(error)") }
    let lasting: [any Error] = [
      PairingFailure.bondRejected(.pinOrKeyMissing), PairingFailure.weakerThanBond, PairingFailure.wrongPasskey(.us),
      GATTError.errorResponse(.insufficientAuthentication, to: .read(3), on: nil),
      SecurityDemanded(cause: loss, hasAsked: true, mayPass: false), gaveUp(PairingFailure.bondRejected(.micFailure)),
      GAPError.connectionFailed(peer, .hardwareFailure), CancellationError(),
    ]
    for error in lasting { #expect(!ReconnectPolicy.mayPass(error), "\(error)") }
  }

  private static func pauses(_ policy: ReconnectPolicy, _ count: Int = 10) -> [Duration?] {
    var policy = policy
    return (0..<count).map { _ in policy.next() }
  }

  @Test func pausesGrowToTheLongest() {
    let pauses = Self.pauses(.forever, 8)
    #expect(pauses == [0.5, 1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
  }

  @Test func pausesDoNotExceedTheLongest() {
    let equal = ReconnectPolicy(attempts: 2, longestPause: .milliseconds(500))
    #expect(Self.pauses(equal, 4) == [.milliseconds(500), .milliseconds(500), nil, nil])
    #expect(Self.pauses(.never, 1) == [nil])
  }

  @Test func aLinkThatHeldStartsOver() {
    var policy = ReconnectPolicy.forever
    (_, _) = (policy.next(), policy.next())
    policy.restart()
    #expect(policy.next() == .milliseconds(500))
  }
}

import TestSupport

/// A pairing with one method, in which something goes wrong.
struct PairingKind: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let central: PairingParameters
  let peripheral: PairingParameters

  private init(_ name: String, _ central: IOCapability, _ peripheral: IOCapability, _ use: SecureConnectionsUse) {
    testDescription = "\(name), \(use == .never ? "legacy" : "secure")"
    self.central = .device(.central, central, mitm: true, use)
    self.peripheral = .device(.peripheral, peripheral)
  }

  static let all =
    [SecureConnectionsUse.required, .never].flatMap { use in
      [
        PairingKind("Just Works", .noInputNoOutput, .noInputNoOutput, use),
        PairingKind("passkey of the central", .displayOnly, .keyboardOnly, use),
        PairingKind("passkey of the peripheral", .keyboardOnly, .displayOnly, use),
        PairingKind("passkey of the user", .keyboardOnly, .keyboardOnly, use),
      ]
    } + [PairingKind("numbers", .displayYesNo, .displayYesNo, .required)]

  /// Pairs two devices without a fault.
  func pair() -> TwoPairings {
    let air = TwoPairings(peripheral: peripheral)
    air.pair(central)
    return air
  }
}

@Suite(.timeLimit(.minutes(15))) struct FaultTests {
  private static func bond(_ role: LinkRole) -> Bond {
    let security = LinkSecurity(keySize: 7, isAuthenticated: false, isSecureConnections: false)
    return Bond(
      identity: role == .central ? TwoPairings.peripheralAddress : TwoPairings.centralAddress, irk: 1,
      keys: [LongTermKey(key: 2, ediv: 3, rand: 4, role: role, security: security)], method: .justWorks)
  }

  /// A lost, cut or doubled PDU, or a lost link, at each PDU. Before the central begins to send its keys, nobody has a bond after it.
  /// The central completes when it sends them, and cannot know that the peripheral never gets them. The peripheral never has a bond
  /// without all of them. An earlier bond stays as it was.
  @Test(arguments: PairingKind.all, TwoPairings.Fault.allCases) func faultAtEachPDU(_ kind: PairingKind, _ fault: TwoPairings.Fault) throws
  {
    let trace = kind.pair().trace
    let count = trace.count
    let ownKeys = try #require(trace.lastIndex { $0.from == .peripheral })
    let (ours, theirs) = (Self.bond(.central), Self.bond(.peripheral))
    for number in 1...count {
      let air = TwoPairings(peripheral: kind.peripheral, centralBond: ours, peripheralBond: theirs)
      air.fault = (fault, number)
      air.pair(kind.central)
      for role in LinkRole.allCases {
        #expect(!air[role].isBusy, "PDU \(number)")
        #expect(air.outcomes[role]?.count ?? 0 <= 1, "PDU \(number)")
        if let bond = air.result(role)?.bond {
          #expect(air[role].bond == bond)
        } else {
          #expect(air[role].bond == (role == .central ? ours : theirs))
        }
      }
      // A doubled last key arrives at a device that is done.
      let isHarmless = fault == .double && (number == ownKeys + 1 || number == count)
      #expect((air.result(.central) != nil) == (isHarmless || number > ownKeys + 1), "PDU \(number): \(air.outcomes)")
      #expect((air.result(.peripheral) != nil) == isHarmless, "PDU \(number): \(air.outcomes)")
      if number == 1, fault != .double { #expect(air.linkKeys.isEmpty) }
    }
  }

  /// The last PDU of the peripheral is its last key. If it arrives twice, the central is already done or refuses the second one.
  @Test func doubledLastKeyOfThePeripheral() throws {
    var central = PairingParameters.device(.central)
    central.ownKeys = []
    let count = {
      let air = TwoPairings(peripheral: .device(.peripheral))
      air.pair(central)
      return air.trace.count
    }()
    for fault in TwoPairings.Fault.allCases {
      let air = TwoPairings(peripheral: .device(.peripheral))
      air.fault = (fault, count)
      air.pair(central)
      // The peripheral needs no key of the central, and completes when it sends its last one.
      #expect(air.result(.peripheral)?.bond != nil)
      #expect((air.result(.central)?.bond != nil) == (fault == .double))
    }
  }

  /// Each bit of each PDU, changed on its way: the pairing fails, or the change does not matter to the keys.
  @Test(arguments: PairingKind.all) func changedBits(_ kind: PairingKind) {
    let trace = kind.pair().trace
    var random = SplitMix64(seed: 5)
    for number in trace.indices {
      for _ in 0..<3 {
        let bit = Int.random(in: 0..<8 * trace[number].bytes.count, using: &random)
        let air = TwoPairings(peripheral: kind.peripheral)
        var count = 0
        air.change = { _, bytes in
          count += 1
          guard count == number + 1, bit / 8 < bytes.count else { return bytes }
          var bytes = bytes
          bytes[bit / 8] ^= 1 << UInt8(bit % 8)
          return bytes
        }
        air.pair(kind.central)
        for role in LinkRole.allCases { #expect(!air[role].isBusy) }
        guard let ours = air.result(.central)?.bond, let theirs = air.result(.peripheral)?.bond else { continue }
        // A change before encryption could only go through in the features of legacy pairing and in key distribution flags.
        let isFeature = trace[number].bytes[0] <= 2
        let isKey = trace[number].bytes[0] >= 6 && trace[number].bytes[0] <= 9
        #expect(isFeature != isKey, "PDU \(number), bit \(bit)")
        if isFeature { #expect(ours.security == theirs.security) }
      }
    }
  }
}

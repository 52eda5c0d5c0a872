import TestSupport

/// Pairs two of our state machines with all capabilities (Vol 3 Part H Table 2.8).
@Suite(.timeLimit(.minutes(15))) struct AssociationTests {
  private static let capabilities: [IOCapability] = [.displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay]

  @Test(arguments: 0..<5, [true, false]) func allCapabilities(_ initiator: Int, _ isSecure: Bool) throws {
    for responder in 0..<5 {
      for (centralMITM, peripheralMITM) in [(false, false), (true, false), (false, true), (true, true)] {
        let method = AssociationTable.method(
          initiator: initiator, responder: responder, mitm: centralMITM || peripheralMITM, isSecure: isSecure)
        #expect(
          PairingMethod(
            initiator: Self.capabilities[initiator], responder: Self.capabilities[responder], mitm: centralMITM || peripheralMITM,
            secureConnections: isSecure) == method)
        // Either device can be the one that supports only legacy pairing.
        let central = PairingParameters.device(.central, Self.capabilities[initiator], mitm: centralMITM, isSecure ? .required : .preferred)
        let peripheral = PairingParameters.device(
          .peripheral, Self.capabilities[responder], mitm: peripheralMITM, isSecure ? .preferred : .never)
        let air = TwoPairings(peripheral: peripheral)
        air.pair(central)
        try check(air, method, isSecure)
      }
    }
  }

  private func check(_ air: TwoPairings, _ method: PairingMethod, _ isSecure: Bool) throws {
    let security = LinkSecurity(keySize: 16, isAuthenticated: method != .justWorks, isSecureConnections: isSecure)
    let central = try #require(air.result(.central)), peripheral = try #require(air.result(.peripheral))
    for (role, result) in [(LinkRole.central, central), (.peripheral, peripheral)] {
      #expect(result.method == method)
      #expect(result.security == security)
      #expect(air[role].security == security)
      #expect(!air[role].isBusy)
      let bond = try #require(result.bond)
      #expect(air[role].bond == bond)
      // These addresses are no private ones, so the devices cannot claim another identity.
      #expect(bond.identity == (role == .central ? TwoPairings.peripheralAddress : TwoPairings.centralAddress))
      #expect(bond.irk == PairingParameters.identity(role.other).irk)
      #expect(bond.security == security)
      #expect(bond.keys.count == (isSecure ? 1 : 2))
    }
    // Both have the same keys. Each legacy key belongs to the device that is the peripheral then.
    let (ours, theirs) = (try #require(central.bond), try #require(peripheral.bond))
    for key in ours.keys {
      #expect(theirs.keys.contains(LongTermKey(key: key.key, ediv: key.ediv, rand: key.rand, role: key.role?.other, security: security)))
    }
    if isSecure { #expect(ours.keys.map(\.key) == air.linkKeys) } else { #expect(!ours.keys.map(\.key).contains(air.linkKeys[0])) }
    switch method {
    case .justWorks: #expect(air.displayed.isEmpty && air.numbersShown.isEmpty)
    case .numericComparison: #expect(air.numbersShown[.central] != nil && air.numbersShown[.central] == air.numbersShown[.peripheral])
    case .passkeyEntry(let displayer): #expect(Set(air.displayed.keys) == Set(displayer.map { [$0] } ?? []))
    }

    // The next link is encrypted with the bond, and nothing else is needed.
    let next = TwoPairings(centralBond: ours, peripheralBond: theirs)
    next.encrypt()
    #expect(next.trace.isEmpty)
    #expect(next.outcomes == [.central: [.encrypted(security)], .peripheral: [.encrypted(security)]])
    #expect(next.linkKeys.allSatisfy { key in ours.keys.contains { $0.key == key && $0.role != .peripheral } })
  }

  /// Each pairing has new keys, and a new passkey where our device chooses it.
  @Test func everyPairingIsFresh() throws {
    var passkeys: Set<SixDigits> = [], keys: Set<UInt128> = []
    for _ in 0..<16 {
      let air = TwoPairings(
        central: Pairing(role: .central, own: TwoPairings.centralAddress, peer: TwoPairings.peripheralAddress),
        peripheral: .device(.peripheral, .keyboardOnly))
      air.pair(.device(.central, .displayOnly, mitm: true))
      passkeys.insert(try #require(air.displayed[.central]))
      keys.formUnion(air.linkKeys)
    }
    // Equal ones among 16 have a probability of 1 in 8,000. Three equal ones do not happen.
    #expect(passkeys.count >= 14)
    #expect(keys.count == 16)
  }

  /// Key sizes, bonding and keys that only one device wants.
  @Test(arguments: [true, false]) func agreesOnLess(_ isSecure: Bool) throws {
    for (size, other) in [(UInt8(7), UInt8(16)), (16, 9), (7, 7)] {
      var central = PairingParameters.device(.central, .noInputNoOutput, isSecure ? .required : .never)
      var peripheral = PairingParameters.device(.peripheral, .noInputNoOutput, isSecure ? .preferred : .never)
      (central.keySizes, peripheral.keySizes) = (7...size, 7...other)
      let air = TwoPairings(peripheral: peripheral)
      air.pair(central)
      let bond = try #require(air.result(.central)?.bond)
      let agreed = min(size, other)
      #expect(bond.security?.keySize == agreed)
      for key in bond.keys.map(\.key) + air.linkKeys {
        #expect(key >> (8 * UInt128(agreed)) == 0, "a key of \(agreed) bytes")
        #expect(key >> (8 * UInt128(agreed) - 24) != 0)
      }
    }
    for (centralBonds, peripheralBonds) in [(true, false), (false, true), (false, false)] {
      var central = PairingParameters.device(.central, .noInputNoOutput, isSecure ? .required : .never)
      var peripheral = PairingParameters.device(.peripheral)
      (central.isBonding, peripheral.isBonding) = (centralBonds, peripheralBonds)
      let air = TwoPairings(peripheral: peripheral)
      air.pair(central)
      for role in LinkRole.allCases {
        #expect(
          air.result(role)
            == PairingResult(
              method: .justWorks, security: LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: isSecure), bond: nil))
        #expect(air[role].bond == nil)
      }
      #expect(air.trace.allSatisfy { ![6, 7, 8, 9].contains($0.bytes.first ?? 0) })
    }
    for own in [[], KeyDistribution.encryption, .identity] {
      var central = PairingParameters.device(.central, .noInputNoOutput, isSecure ? .required : .never)
      central.ownKeys = own
      central.peerKeys = own
      let air = TwoPairings(peripheral: .device(.peripheral))
      air.pair(central)
      #expect(air.result(.central)?.security.isSecureConnections == isSecure)
      // Without a long term key, there is nothing to store.
      guard isSecure || own.contains(.encryption) else {
        #expect(LinkRole.allCases.allSatisfy { air[$0].bond == nil })
        continue
      }
      let bond = try #require(air.result(.central)?.bond)
      #expect(bond.identity == TwoPairings.peripheralAddress)
      #expect((bond.irk != nil) == own.contains(.identity))
      #expect(bond.keys.count == (isSecure ? 1 : 2))
    }
  }
}

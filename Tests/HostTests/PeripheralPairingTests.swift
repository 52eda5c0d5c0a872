import TestSupport

/// Pairing as peripheral, over a link of the host: the controller asks for the key, and the Security Manager answers.
@Suite(.timeLimit(.minutes(15))) struct PeripheralPairingTests {
  /// The central with its controller, on the other end of the scripted link with handle 0x41.
  @LoopActor private final class Phone: SecurityLink {
    let manager: SecurityManager
    private unowned let controller: ScriptedController

    init(_ it: Centrals) {
      controller = it.controller
      manager = SecurityManager(Pairing(role: .central, own: Centrals.phone(1), peer: PeerAddress(it.controller.address, .public)))
      manager.link = self
      controller.onFrame = { [weak self] _, frame in if frame.channel == 6 { self?.manager.receive(frame.payload) } }
    }

    func sendSecurity(_ pdu: [UInt8]) { controller.frame(6, pdu, handle: 0x41) }

    func encrypt(key: UInt128, ediv: UInt16, rand: UInt64) {
      controller.rules[LELongTermKeyRequestReply.opcode] = { [weak self, weak controller] command in
        guard let self, let controller, let reply = LELongTermKeyRequestReply(command) else { return nil }
        #expect(reply.handle == 0x41 && reply.key == key)
        manager.encryptionChanged(.on)
        return controller.complete(command, HandleReturned(reply.handle)) + [
          .encryptionChange(status: .success, handle: reply.handle, isEnabled: true)
        ]
      }
      controller.rules[LELongTermKeyRequestNegativeReply.opcode] = { [weak self, weak controller] command in
        self?.manager.encryptionChanged(.failed(.pinOrKeyMissing))
        return controller?.complete(command, HandleReturned(0x41))
      }
      controller.emit(.leLongTermKeyRequest(handle: 0x41, random: rand, ediv: ediv))
    }

    func answerKeyRequest(_ key: UInt128?) {}
  }

  private final class Person: PairingUser {
    var shown: SixDigits?
    func passkey() async -> SixDigits? { SixDigits(246_810) }
    func show(_ passkey: SixDigits) { shown = passkey }
    func isSame(_ number: SixDigits) async -> Bool { true }
  }

  @Test(
    .onLoop,
    arguments: [
      (true, true, .secureConnections), (true, false, .encrypted), (false, true, .authenticated), (false, false, .encrypted),
    ] as [(Bool, Bool, SecurityLevel)])
  @LoopActor func pairsAndComesBack(_ row: (isSecure: Bool, hasPasskey: Bool, level: SecurityLevel)) async throws {
    let it = try await advertised()
    let link = try #require(try await it.connect(1))
    let manager = try #require(link.manager)
    var levels: [SecurityLevel] = []
    link.onSecurityLevel = { levels.append($0) }
    let person = Person()
    manager.user = person
    var parameters = PairingParameters(ioCapability: row.hasPasskey ? .displayOnly : .noInputNoOutput)
    parameters.passkey = SixDigits(246_810)
    manager.acceptance = .accept(parameters)
    var result: PairingResult?
    manager.onEncrypted = { result = $1 }

    let phone = Phone(it)
    var wanted = PairingParameters(ioCapability: row.hasPasskey ? .keyboardOnly : .noInputNoOutput, requestsMITM: row.hasPasskey)
    wanted.secureConnections = row.isSecure ? .preferred : .never
    #expect(link.securityLevel == .unencrypted)
    let pairing = try await phone.manager.pair(wanted, user: Person())
    try await settle()
    let bond = try #require(result?.bond)
    #expect(link.securityLevel == row.level && levels == [row.level] && result?.method == pairing.method)
    #expect((person.shown != nil) == row.hasPasskey)

    // The next link: the controller asks with the identifiers of the key.
    try await it.lose(1)
    #expect(levels == [row.level, .unencrypted])
    for isKnown in [true, false] {
      let again = try #require(try await it.connect(1))
      if isKnown { again.manager?.bond = bond }
      let phone = Phone(it)
      let error = await failure { try await phone.manager.encrypt(with: try #require(pairing.bond)) }
      try await settle()
      #expect(again.securityLevel == (isKnown ? row.level : .unencrypted))
      #expect(isKnown ? error == nil : error as? PairingFailure == .bondRejected(.pinOrKeyMissing))
      try await it.lose(1)
    }
    await it.central.close()
  }

  /// Our peripheral asks for pairing with a Security Request. Without permission, it refuses.
  @Test(.onLoop) @LoopActor func asksAndRefuses() async throws {
    let it = try await advertised()
    let link = try #require(try await it.connect(1))
    let phone = Phone(it)
    let refusal = await failure { _ = try await phone.manager.pair(PairingParameters(), user: Person()) }
    #expect((refusal as? PairingFailure)?.reason == .pairingNotSupported)
    phone.manager.onRequest = { [weak phone] _ in
      EventLoop.shared.spawn { _ = try? await phone?.manager.pair(PairingParameters(), user: Person()) }
    }
    let result = try await link.manager?.pair(PairingParameters(), user: Person())
    #expect(result?.method == .justWorks && link.securityLevel == .encrypted)
    await it.central.close()
  }
}

import SystemPackage
import TestSupport

@testable import BluetoothLELinux

private let device = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)
private let adapter = PeerAddress(Address(rawValue: 0x0011_2233_4455), .public)
private let path = "/org/bluez/hci3/dev_F0_F1_F2_F3_F4_F5"

private func refused(_ name: String, _ method: String = "Pair") -> BluetoothDaemonProblem {
  .refused("org.bluez.Device1.\(method)", name: name, text: "why")
}

private func dictionary(_ entries: KeyValuePairs<String, BusValue>) -> BusValue { .list(entries.map { .list([.text($0), $1]) }) }

/// A message bus with a bluetoothd that knows one device. Its agent calls are made by the test.
@LoopActor private final class FakeBus: MessageBus {
  var partner = ""
  var onMessage: (@LoopActor (BusMessage) -> Void)?
  /// The methods that were called, in order, without those of the bus itself.
  private(set) var calls: [String] = []
  private(set) var arguments: [String: [BusValue]] = [:]
  private(set) var isClosed = false
  /// What bluetoothd does in a method. Without an entry, it answers without values.
  var methods: [String: @LoopActor (FakeBus) async throws -> [BusValue]] = [:]
  var isPaired = false
  /// The name of bluetoothd on the bus. Nil if it is not there.
  var owner: String? = ":1.5"

  func call(_ method: String, at path: String, _ values: [BusValue]) async throws -> [BusValue] {
    let method = method.split(separator: ".").last.map(String.init) ?? ""
    switch method {
    case "Hello": return []
    case "GetNameOwner":
      guard let owner else { throw refused("org.freedesktop.DBus.Error.NameHasNoOwner") }
      return [.text(owner)]
    case "GetManagedObjects": return [tree]
    case "Get": return [.number(isPaired ? 1 : 0)]
    default:
      calls.append(method)
      arguments[method] = values
      return try await methods[method]?(self) ?? []
    }
  }

  /// The objects of bluetoothd: an adapter, a device, and entries that are none.
  var tree: BusValue {
    func object(_ address: String, _ type: String, _ more: [BusValue] = []) -> BusValue {
      guard case .list(let entries) = dictionary(["Address": .text(address), "AddressType": .text(type)]) else { return .list([]) }
      return .list(entries + more)
    }
    let more: [BusValue] = [
      .list([.text("Adapter"), .text("/org/bluez/hci3")]), .list([.text("Paired"), .number(isPaired ? 1 : 0)]),
      .list([.text("Name"), .text("Lock-01")]),
    ]
    return .list([
      .number(1), .list([.text("/broken")]),
      .list([.text("/org/bluez/hci3/dev_0"), dictionary(["org.bluez.Device1": object("no address", "random", more)])]),
      .list([.text("/org/bluez/hci3"), dictionary(["org.bluez.Adapter1": object("00:11:22:33:44:55", "public")])]),
      .list([.text(path), dictionary(["org.bluez.Device1": object("F0:F1:F2:F3:F4:F5", "random", more)])]),
    ])
  }

  func close() { isClosed = true }

  /// Calls a method of our agent. - Returns: Its answer: nil for an error.
  func ask(_ method: String, _ values: [BusValue] = [], of object: String = path) async -> [BusValue]? {
    let answer = Wait<[BusValue]?>()
    onMessage?(
      BusMessage(path: DaemonPairing.agent, member: method, values: [.text(object)] + values) {
        answer.resume(returning: $0)
      })
    let deadline = EventLoop.shared.now.advanced(by: .seconds(20))
    guard let values = try? await answer.value(until: deadline) else { return [.text("no answer")] }
    return values
  }
}

/// Pairing through bluetoothd, as a conversation of messages.
@Suite(.timeLimit(.minutes(15))) struct DaemonPairingTests {
  private static let full = PairingParameters(ioCapability: .keyboardDisplay, requestsMITM: true)
  private static func full(_ level: SecurityLevel) -> PairingParameters {
    var parameters = full
    parameters.level = level
    return parameters
  }
  private static let seen = LinkSecurity(keySize: 16, isAuthenticated: true, isSecureConnections: true)
  private static let weak = LinkSecurity(keySize: 16, isAuthenticated: false, isSecureConnections: false)

  /// Runs `body` next to bluetoothd, with virtual time.
  private func with(_ body: @escaping @LoopActor (KernelRig, FakeBus) async throws -> Void) async throws {
    try await onLoop {
      let (rig, bus) = (KernelRig(peer: device), FakeBus())
      rig.keyring.hasDaemon = { true }
      rig.keyring.openDaemon = { try await BluetoothDaemon(bus) }
      try await body(rig, bus)
      // Neither the kernel's keys nor its settings are touched.
      #expect(rig.commands.isEmpty)
      #expect(bus.isClosed)
    }
  }

  /// The agent's questions, by the method that they tell.
  @Test(arguments: ["RequestPasskey", "DisplayPasskey", "RequestConfirmation", "RequestAuthorization", ""])
  func methods(_ question: String) async throws {
    try await with { rig, bus in
      let number: [BusValue] =
        switch question {
        case "DisplayPasskey": [.number(7), .number(0)]
        case "RequestConfirmation": [.number(7)]
        default: []
        }
      bus.methods["Pair"] = { bus in
        if !question.isEmpty {
          let answer = await bus.ask(question, number)
          #expect(answer == (question == "RequestPasskey" ? [.number(246_810)] : []))
        }
        rig.socket.security = number.isEmpty && question != "RequestPasskey" ? Self.weak : Self.seen
        bus.isPaired = true
        return []
      }
      let result = try await rig.security.pair(Self.full, user: rig.user)
      let methods: [String: PairingMethod] = [
        "RequestPasskey": .passkeyEntry(displayedBy: .peripheral), "DisplayPasskey": .passkeyEntry(displayedBy: .central),
        "RequestConfirmation": .numericComparison,
      ]
      #expect(result.method == methods[question, default: .justWorks])
      #expect(result.bond == nil && result.systemIdentity == device && result.identity == device)
      #expect(result.isSecureConnections == (methods[question] == nil ? nil : true))
      #expect(rig.user.shown == (question == "DisplayPasskey" ? [SixDigits(lastOf: 7)] : []))
      #expect(rig.user.compared == (question == "RequestConfirmation" ? [SixDigits(lastOf: 7)] : []))
      #expect(bus.calls == ["RegisterAgent", "Pair"] && bus.partner == ":1.5")
      #expect(bus.arguments["RegisterAgent"] == [.path(DaemonPairing.agent), .text("KeyboardDisplay")])
    }
  }

  /// bluetoothd does not answer Pair while our connection occupies the channel that it wants for its services.
  @Test func pairedWithoutAnAnswer() async throws {
    try await with { rig, bus in
      bus.methods["Pair"] = { bus in
        rig.socket.security = Self.weak
        bus.isPaired = true
        try await EventLoop.shared.sleep(for: .seconds(1000))
        return []
      }
      let result = try await rig.security.pair(PairingParameters(), user: rig.user)
      #expect(result.method == .justWorks && result.systemIdentity == device)
    }
  }

  /// Messages that are not for this pairing.
  @Test func strangers() async throws {
    try await with { rig, bus in
      bus.methods["Pair"] = { bus in
        for (method, object) in [("RequestPinCode", path), ("AuthorizeService", path), ("RequestPasskey", "\(path)0"), ("Unknown", path)] {
          #expect(await bus.ask(method, of: object) == nil)
        }
        #expect(await bus.ask("RequestConfirmation", [.number(1_000_000)]) == nil)
        #expect(await bus.ask("Cancel") == [])
        rig.socket.security = Self.weak
        return []
      }
      let result = try await rig.security.pair(Self.full, user: rig.user)
      #expect(result.method == .justWorks)
    }
  }

  struct Failing: CustomTestStringConvertible {
    let testDescription: String
    let error: any Error
    /// The agent's question before the error.
    var question: (String, [BusValue])?
    var level = SecurityLevel.encrypted

    init(_ name: String, _ error: any Error, after question: (String, [BusValue])? = nil, level: SecurityLevel = .encrypted) {
      (testDescription, self.error, self.question, self.level) = (name, error, question, level)
    }
  }

  static let failureCases = [
    Failing("org.bluez.Error.AuthenticationFailed", PairingFailure.refused(.unspecifiedReason)),
    Failing("org.bluez.Error.AuthenticationFailed", PairingFailure.wrongPasskey(.peer), after: ("RequestPasskey", [])),
    Failing("org.bluez.Error.AuthenticationFailed", PairingFailure.numberRefused(.peer), after: ("RequestConfirmation", [.number(1)])),
    Failing("org.bluez.Error.AuthenticationRejected", PairingFailure.refused(.unspecifiedReason)),
    Failing("org.bluez.Error.AuthenticationCanceled", PairingFailure.canceled),
    Failing(
      "org.bluez.Error.AuthenticationCanceled", PairingFailure.notAuthenticated, after: ("RequestAuthorization", []), level: .authenticated),
    Failing("org.bluez.Error.AuthenticationTimeout", PairingFailure.timedOut),
    Failing("org.bluez.Error.InProgress", PairingFailure.busy),
    Failing("org.bluez.Error.AlreadyExists", refused("org.bluez.Error.AlreadyExists")),
    Failing("org.bluez.Error.ConnectionAttemptFailed", refused("org.bluez.Error.ConnectionAttemptFailed")),
    Failing("org.freedesktop.DBus.Error.AccessDenied", refused("org.freedesktop.DBus.Error.AccessDenied")),
  ]

  @Test(arguments: failureCases) func errors(_ failing: Failing) async throws {
    try await with { rig, bus in
      bus.methods["Pair"] = { bus in
        if let (method, values) = failing.question { _ = await bus.ask(method, values) }
        throw refused(failing.testDescription)
      }
      let parameters = Self.full(failing.level)
      let thrown = await #expect(throws: (any Error).self) { _ = try await rig.security.pair(parameters, user: rig.user) }
      #expect(thrown.map { "\($0)" } == "\(failing.error)")
      // It may be another program's pairing that goes on.
      #expect(bus.calls == ["RegisterAgent", "Pair"])
    }
  }

  /// The user's no reaches bluetoothd, and is the reason that is reported.
  @Test(arguments: [true, false]) func theUserRefuses(_ isNumber: Bool) async throws {
    try await with { rig, bus in
      (rig.user.agrees, rig.user.digits) = (false, nil)
      bus.methods["Pair"] = { bus in
        #expect(await (isNumber ? bus.ask("RequestConfirmation", [.number(1)]) : bus.ask("RequestPasskey")) == nil)
        throw refused("org.bluez.Error.AuthenticationFailed")
      }
      let expected: PairingFailure = isNumber ? .numberRefused(.us) : .passkeyNotEntered(.us)
      await #expect(throws: expected) { _ = try await rig.security.pair(Self.full, user: rig.user) }
    }
  }

  /// A silent pairing ends after 35 s, a canceled one immediately. bluetoothd learns of both.
  @Test(arguments: [true, false]) func itEnds(_ isCanceled: Bool) async throws {
    try await with { rig, bus in
      let started = Wait<Void>()
      bus.methods["Pair"] = { _ in
        started.resume(returning: ())
        try await EventLoop.shared.sleep(for: .seconds(1000))
        return []
      }
      let start = EventLoop.shared.now
      let task = EventLoop.shared.spawn { () -> (any Error)? in
        do { _ = try await rig.security.pair(Self.full, user: rig.user) } catch { return error }
        return nil
      }
      try await started.value()
      if isCanceled { task.cancel() }
      let error = await task.value
      #expect(isCanceled ? error is CancellationError : error as? PairingFailure == .timedOut)
      #expect(start.duration(to: EventLoop.shared.now) < .seconds(isCanceled ? 1 : 36))
      #expect(bus.calls.last == "CancelPairing")
    }
  }

  /// bluetoothd has stored what we do not accept.
  @Test func belowTheLevel() async throws {
    try await with { rig, bus in
      bus.methods["Pair"] = { _ in
        rig.socket.security = Self.weak
        return []
      }
      let parameters = Self.full(.secureConnections)
      await #expect(throws: PairingFailure.legacyPairing) { _ = try await rig.security.pair(parameters, user: rig.user) }
      #expect(bus.arguments["RemoveDevice"] == [.path(path)])
    }
  }

  @Test func nothingToPair() async throws {
    try await with { rig, bus in
      bus.isPaired = true
      await #expect(throws: BluetoothDaemonProblem.isPaired(device)) { _ = try await rig.security.pair(Self.full, user: rig.user) }
    }
    try await with { rig, bus in
      bus.owner = nil
      await #expect(throws: BluetoothDaemonProblem.silent) { _ = try await rig.security.pair(Self.full, user: rig.user) }
    }
    try await with { rig, bus in
      let other = KernelSecurity(rig.keyring, rig.socket, adapter) { nil }
      await #expect(throws: BluetoothDaemonProblem.silent) { _ = try await other.pair(Self.full, user: rig.user) }
    }
  }

  // MARK: Bonds

  @Test func itsBonds() async throws {
    try await with { rig, bus in
      rig.socket.raised = .success(Self.seen)
      let before = try await rig.security.encryptWithSystemBond()
      #expect(before == nil && rig.socket.levels.isEmpty)
      bus.isPaired = true
      let identity = try await rig.security.encryptWithSystemBond()
      #expect(identity == device)
      #expect(rig.socket.levels == [.encrypted] && rig.security.security == Self.seen)
      let daemon = try await BluetoothDaemon(bus)
      let found = try await daemon.devices()
      #expect(found.map(\.name) == ["Lock-01"] && found.first?.adapter == adapter && found.first?.isPaired == true)
    }
  }

  @Test func aBondThatTheDeviceLost() async throws {
    try await with { rig, bus in
      bus.isPaired = true
      rig.socket.raised = .failure(SocketEnd(device, .errno(.permissionDenied)))
      await #expect(throws: PairingFailure.bondRejected(.authenticationFailure)) {
        _ = try await rig.security.encryptWithSystemBond()
      }
    }
  }
}

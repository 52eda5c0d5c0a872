import BluetoothLEDeviceFiles
import BluetoothLESimulator
import TestSupport

@LoopActor private func pairingFailure(_ body: @LoopActor () async throws -> Void) async -> PairingFailure? {
  do { try await body() } catch { return error as? PairingFailure }
  return nil
}

/// The user of our side: enters a passkey, and notes what the pairing shows.
private final class TestUser: PairingUser {
  let known: SixDigits?
  let agrees: Bool
  var shown: [String] = []

  init(_ passkey: String?, agrees: Bool = true) {
    known = passkey.flatMap { SixDigits($0) }
    self.agrees = agrees
  }

  func passkey() async -> SixDigits? { known }
  func show(_ passkey: SixDigits) { shown.append("\(passkey)") }
  func isSame(_ number: SixDigits) async -> Bool {
    shown.append("\(number)")
    return agrees
  }
}

/// A pairing of our host with a device of a file, and what follows from it.
struct PairingCase: Sendable, CustomTestStringConvertible {
  let device: String
  var capability = IOCapability.noInputNoOutput
  var passkey: String?
  var shows: String?
  var agrees = true
  /// The method, and the level of the link. Nil for a failure.
  var result: (PairingMethod, SecurityLevel)?
  var failure: PairingFailure?

  var testDescription: String { "\(device) with \(capability)" }

  static let all: [PairingCase] = [
    .init(device: "{}", result: (.justWorks, .encrypted)),
    .init(device: #"{"sc": false}"#, result: (.justWorks, .encrypted)),
    .init(
      device: #"{"passkey": "246810"}"#, capability: .keyboardOnly, passkey: "246810",
      result: (.passkeyEntry(displayedBy: .peripheral), .secureConnections)),
    .init(
      device: #"{"passkey": "246810", "sc": false}"#, capability: .keyboardOnly, passkey: "246810",
      result: (.passkeyEntry(displayedBy: .peripheral), .authenticated)),
    .init(
      device: #"{"passkey": "000001", "io": "keyboard"}"#, capability: .displayOnly, shows: "000001",
      result: (.passkeyEntry(displayedBy: .central), .secureConnections)),
    .init(device: #"{"io": "yesno"}"#, capability: .displayYesNo, result: (.numericComparison, .secureConnections)),
    .init(device: #"{"passkey": "246810"}"#, capability: .keyboardOnly, passkey: "246811", failure: .wrongPasskey(.peer)),
    .init(device: #"{"passkey": "246810", "sc": false}"#, capability: .keyboardOnly, passkey: "246811", failure: .wrongPasskey(.peer)),
    .init(device: #"{"passkey": "246810"}"#, capability: .keyboardOnly, failure: .passkeyNotEntered(.us)),
    .init(device: #"{"io": "yesno"}"#, capability: .displayYesNo, agrees: false, failure: .numberRefused(.us)),
    .init(device: #"{"refuses": "repeated_attempts"}"#, failure: .refused(.repeatedAttempts)),
    .init(device: #"{"key_size": 7}"#, failure: .keySize(agreed: 7, minimum: 16)),
  ]
}

/// Tests pairing and bonds of our host with simulated devices: both Security Managers, both hosts' encryption, and the server's permissions.
@Suite(.timeLimit(.minutes(15))) struct PairingOverAirTests {
  @LoopActor private final class Bench {
    let central: HostCentral
    let user: TestUser
    private let device: PeripheralDescription

    init(_ security: String, _ user: TestUser = TestUser(nil)) throws {
      let text = """
        {"name": "Safe", "address": "D1:00:00:00:00:50/random", "security": \(security), "services": [{"uuid": "ff00", "characteristics": [
          {"uuid": "ff01", "properties": ["read"], "permissions": ["read_encrypted"], "value": "01"},
          {"uuid": "ff02", "properties": ["read"], "permissions": ["read_authenticated"], "value": "02"}]}]}
        """
      device = try #require(try PeripheralFile.parse(Array(text.utf8), name: "test").first)
      self.user = user
      let air = Air(seed: 7)
      air.add(VirtualPeripheral(device))
      central = HostCentral(VirtualController(air: air), name: "sim")
    }

    func connect() async throws -> HostLink {
      try await central.start()
      return try #require(try await central.connect(device.address, timeout: .seconds(20)) as? HostLink)
    }

    /// The errors of reading the encrypted and the authenticated characteristic. Nil for a value.
    func errors(on link: HostLink) async throws -> [ErrorCode?] {
      let client = Client(link.channel)
      let table = try await client.discover()
      var errors: [ErrorCode?] = []
      for name in ["ff01", "ff02"] {
        do {
          _ = try await client.read(try table.resolve(Selector(name)).handle)
          errors.append(nil)
        } catch GATTError.errorResponse(let code, _, _) { errors.append(code) }
      }
      return errors
    }
  }

  @Test(.onLoop, arguments: PairingCase.all) @LoopActor func pairing(_ row: PairingCase) async throws {
    let bench = try Bench(row.device, TestUser(row.passkey, agrees: row.agrees))
    let link = try await bench.connect()
    #expect(try await bench.errors(on: link) == [.insufficientEncryption, .insufficientAuthentication])
    var parameters = PairingParameters(ioCapability: row.capability)
    parameters.passkey = row.shows.flatMap { SixDigits($0) }
    guard let (method, level) = row.result else {
      let failure = await pairingFailure { _ = try await link.securityManager.pair(parameters, user: bench.user) }
      #expect(failure == row.failure)
      #expect(link.securityManager.security == nil && link.securityManager.bond == nil)
      #expect(try await bench.errors(on: link) == [.insufficientEncryption, .insufficientAuthentication])
      return await bench.central.close()
    }
    let result = try await link.securityManager.pair(parameters, user: bench.user)
    #expect(result.method == method && result.security.level == level)
    if let shows = row.shows { #expect(bench.user.shown == [shows]) }
    let isAuthenticated = level >= .authenticated
    #expect(try await bench.errors(on: link) == [nil, isAuthenticated ? nil : .insufficientAuthentication])
    await link.disconnect()

    // The bond survives the link.
    let bond = try #require(result.bond)
    let second = try await bench.connect()
    #expect(try await bench.errors(on: second) == [.insufficientEncryption, .insufficientAuthentication])
    try await second.securityManager.encrypt(with: bond)
    #expect(second.securityManager.security == result.security)
    #expect(try await bench.errors(on: second) == [nil, isAuthenticated ? nil : .insufficientAuthentication])
    await bench.central.close()
  }

  @Test(.onLoop) @LoopActor func aDeviceThatLostItsBond() async throws {
    let bench = try Bench(#"{"forgets": true}"#)
    let link = try await bench.connect()
    let bond = try #require(try await link.securityManager.pair(PairingParameters(), user: bench.user).bond)
    await link.disconnect()
    let second = try await bench.connect()
    let lost = await pairingFailure { try await second.securityManager.encrypt(with: bond) }
    #expect(lost == .bondRejected(.pinOrKeyMissing))
    #expect(second.ended == nil)
    await bench.central.close()
  }

  @Test(.onLoop) @LoopActor func anotherKeyEndsTheLink() async throws {
    let bench = try Bench("{}")
    let link = try await bench.connect()
    let bond = try #require(try await link.securityManager.pair(PairingParameters(), user: bench.user).bond)
    await link.disconnect()
    let key = try #require(bond.centralKey)
    let wrong = Bond(
      identity: bond.identity, irk: nil, keys: [LongTermKey(key: key.key ^ 1, security: key.security)], method: bond.method)
    let second = try await bench.connect()
    let failed = await pairingFailure { try await second.securityManager.encrypt(with: wrong) }
    #expect(failed == .disconnected(.micFailure))
    await bench.central.close()
  }
}

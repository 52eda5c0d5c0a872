import BluetoothLESimulator
import Foundation
import TestSupport

/// Runs every fault at every PDU of every method, from the session with its key store to a simulated device, in virtual time. Passkey Entry
/// with LE Secure Connections has 20 equal rounds, of which three are tested, or all with BLECTL_EVERY_PACKET.
@Suite(.timeLimit(.minutes(15))) struct PairingFaultTests {
  enum Fault: CaseIterable, Sendable {
    case drop, cut, double, disconnect
  }

  struct Method: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let device: DeviceSecurity
    let parameters: PairingParameters

    init(_ name: String, _ device: IOCapability, _ own: IOCapability, isSecure: Bool) {
      testDescription = "\(name), \(isSecure ? "secure" : "legacy")"
      func parameters(_ capability: IOCapability, _ identity: UInt64) -> PairingParameters {
        var parameters = PairingParameters(ioCapability: capability, requestsMITM: capability != .noInputNoOutput)
        parameters.secureConnections = isSecure ? .preferred : .never
        parameters.identity = LocalIdentity(irk: UInt128(identity), address: PeerAddress(Address(rawValue: identity), .random))
        parameters.passkey = SixDigits(246_810)
        return parameters
      }
      self.parameters = parameters(own, 0xC000_0000_0001)
      var security = DeviceSecurity()
      (security.parameters, security.passkey) = (parameters(device, FaultyDevice.address.address.rawValue), SixDigits(246_810))
      self.device = security
    }

    static let all =
      [true, false].flatMap {
        [
          Method("Just Works", .noInputNoOutput, .noInputNoOutput, isSecure: $0),
          Method("passkey of the device", .displayOnly, .keyboardOnly, isSecure: $0),
          Method("passkey of our device", .keyboardOnly, .displayOnly, isSecure: $0),
        ]
      } + [Method("numbers", .displayYesNo, .displayYesNo, isSecure: true)]
  }

  private final class Person: PairingUser {
    func passkey() async -> SixDigits? { SixDigits(246_810) }
    func show(_ passkey: SixDigits) {}
    func isSame(_ number: SixDigits) async -> Bool { true }
  }

  private final class Keeper: BondKeeper {
    var stored: [StoredBond]
    init(_ bond: Bond?) { stored = bond.map { [StoredBond($0, of: $0.identity, created: 0, name: nil)] } ?? [] }

    func bond(of adapter: PeerAddress, with peer: PeerAddress) -> StoredBond? { stored.first { $0.bond.isOf(peer) } }
    func bonds(of adapter: PeerAddress) -> [StoredBond] { stored }
    func add(_ bonds: [StoredBond]) {
      stored = stored.filter { old in !bonds.contains { $0.bond.identity == old.bond.identity } } + bonds
    }
  }

  /// A device on whose first link one Security Manager PDU meets a fault, on its way to either side.
  @LoopActor private final class FaultyDevice: Advertiser, SecurityLink {
    nonisolated static let address = PeerAddress(Address(rawValue: 0xD100_0000_0050), .random)
    private let device: VirtualPeripheral
    private let fault: (kind: Fault, at: Int)?
    private(set) var channel: VirtualLinkChannel?
    /// The numbers of the PDUs that the device sent, and of the last PDU of either side.
    private(set) var sent: [Int] = []
    private(set) var count = 0
    /// The time of the fault.
    private(set) var time: LoopClock.Instant?
    private(set) var hasNewBond = false
    private(set) var hasTwoEnds = false

    init(_ security: DeviceSecurity, _ earlier: Bond?, _ fault: (Fault, Int)?) throws {
      let text = #"{"name": "Safe", "address": "D1:00:00:00:00:50/random", "services": []}"#
      var description = try #require(try PeripheralFile.parse(Array(text.utf8), name: "test").first)
      description.security = security
      (device, self.fault) = (VirtualPeripheral(description), fault)
      if let earlier {
        let central = PeerAddress(VirtualController.defaultAddress, .public)
        device.restore(earlier.seenByPeer(of: central), with: central)
      }
    }

    var address: PeerAddress { device.address }
    var advertising: AdvertisingSettings { device.advertising }
    var linkLimits: LinkLimits { device.linkLimits }

    func connected(_ channel: any Channel) {
      device.connected(channel)
      guard self.channel == nil, let channel = channel as? VirtualLinkChannel else { return }
      self.channel = channel
      let manager = channel.security
      let (onEncrypted, onEnd) = (manager.onEncrypted, manager.onEnd)
      manager.onEncrypted = { [weak self] in
        onEncrypted?($0, $1)
        if $1 != nil { self?.hasNewBond = true }
      }
      // Encryption with the bond ends too.
      let limit = manager.bond == nil ? 1 : 2
      var ends = 0
      manager.onEnd = { [weak self] in
        onEnd?()
        ends += 1
        if ends > limit { self?.hasTwoEnds = true }
      }
      manager.link = self
      channel.otherChannels = { [weak self, weak manager] channel, pdu in
        if channel == .securityManager { self?.carry(pdu) { manager?.receive($0) } }
      }
    }

    private func carry(_ pdu: [UInt8], _ deliver: ([UInt8]) -> Void) {
      count += 1
      guard let fault, fault.at == count else { return deliver(pdu) }
      time = EventLoop.shared.now
      switch fault.kind {
      case .drop: break
      case .cut: deliver(Array(pdu.prefix(pdu.count / 2)))
      case .double: for _ in 0..<2 { deliver(pdu) }
      case .disconnect: channel?.terminate(reason: .remoteUserTerminated)
      }
    }

    func sendSecurity(_ pdu: [UInt8]) {
      sent.append(count + 1)
      carry(pdu) { channel?.sendSecurity($0) }
    }

    func encrypt(key: UInt128, ediv: UInt16, rand: UInt64) {}
    func answerKeyRequest(_ key: UInt128?) { channel?.answerKeyRequest(key) }
  }

  /// The bond of an earlier pairing, which is weaker than all new ones.
  private static let earlier = Bond(
    identity: FaultyDevice.address, irk: nil,
    keys: [
      LongTermKey(
        key: 2, ediv: 3, rand: 4, role: .central, security: LinkSecurity(keySize: 7, isAuthenticated: false, isSecureConnections: false))
    ], method: .justWorks)

  /// Connects to a device with a fault, pairs, and connects again.
  @LoopActor private static func pair(_ method: Method, _ fault: (Fault, Int)?, hasBond: Bool) async throws -> (
    isNew: Bool, lastKeyOfDevice: Int, count: Int
  ) {
    let place: Comment = "\(method.testDescription): \(fault.map { "\($0.0) at \($0.1)" } ?? "no fault"), bonded \(hasBond)"
    let earlier = hasBond ? earlier : nil
    let device = try FaultyDevice(method.device, earlier, fault)
    let air = Air(seed: 5)
    air.add(device)
    let central = HostCentral(VirtualController(air: air), name: "sim")
    try await central.start()
    let keeper = Keeper(earlier)
    let session = Session { central }
    session.bonds = keeper
    let connection = try await session.connect(device.address)
    let security = try #require(connection.security)
    #expect((security.level != nil) == hasBond, place)
    var failure: PairingFailure?
    do { _ = try await security.pair(PairingWish(method.parameters, user: Person())) } catch {
      failure = try #require(error as? PairingFailure)
    }
    let isNew = keeper.stored.first.map { $0.bond != earlier } ?? false
    #expect(isNew == (failure == nil) && keeper.stored.count == (isNew || hasBond ? 1 : 0), place)
    let end = EventLoop.shared.now
    // Our last keys are on their way.
    try await EventLoop.shared.sleep(for: .seconds(1))
    if let limit = device.time?.advanced(by: .seconds(31)) {
      #expect(end <= limit, place)
      try await EventLoop.shared.sleep(until: limit)
    }
    // Both sides have ended, once.
    let manager = try #require(device.channel).security
    #expect(!manager.pairing.isBusy && !device.hasTwoEnds && (isNew || !device.hasNewBond), place)
    await session.disconnect(connection)

    var next: (any Error)?
    do {
      let second = try await session.connect(device.address)
      #expect((second.security?.level != nil) == !keeper.stored.isEmpty, place)
      await session.disconnect(second)
    } catch { next = error }
    #expect(
      (next == nil || next is PairingFailure)
        && next as? PairingFailure == (isNew && !device.hasNewBond ? .bondRejected(.pinOrKeyMissing) : nil), place)
    await session.close()
    return (isNew, device.sent.last ?? 0, device.count)
  }

  @Test(.onLoop, arguments: Method.all) @LoopActor func everyFault(_ method: Method) async throws {
    let (_, lastKeyOfDevice, count) = try await Self.pair(method, nil, hasBond: false)
    let isLong = count > 40 && ProcessInfo.processInfo.environment["BLECTL_EVERY_PACKET"] == nil
    let places = (1...count).filter { !isLong || $0 <= 8 || 41...44 ~= $0 || $0 > count - 10 }
    for place in places {
      for (number, fault) in Fault.allCases.enumerated() {
        let isNew = try await Self.pair(method, (fault, place), hasBond: (place + number).isMultiple(of: 2)).isNew
        // The PDUs after the last key of the device are our keys. A doubled last PDU arrives at a side that is done.
        if fault != .double || place > lastKeyOfDevice { #expect(isNew == (place > lastKeyOfDevice), "\(fault) at \(place)") }
      }
    }
  }
}

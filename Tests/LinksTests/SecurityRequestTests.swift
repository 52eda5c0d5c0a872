import BluetoothLESimulator
import TestSupport

/// A device that sends a Security Request on each connection, as some embedded stacks do.
@Suite(.timeLimit(.minutes(15))) struct SecurityRequestTests {
  private final class Person: PairingUser {
    func passkey() async -> SixDigits? { SixDigits(246_810) }
    func show(_ passkey: SixDigits) {}
    func isSame(_ number: SixDigits) async -> Bool { true }
  }

  private final class Keeper: BondKeeper {
    var stored: [StoredBond] = []
    func bond(of adapter: PeerAddress, with peer: PeerAddress) -> StoredBond? { stored.first { $0.bond.isOf(peer) } }
    func bonds(of adapter: PeerAddress) -> [StoredBond] { stored }
    func add(_ bonds: [StoredBond]) { stored = stored.filter { old in !bonds.contains { $0.replaces(old) } } + bonds }
  }

  @LoopActor private final class AskingDevice: Advertiser {
    static let address = PeerAddress(Address(rawValue: 0xD100_0000_0050), .random)
    private let device: VirtualPeripheral
    private let parameters: PairingParameters
    /// The time from the connection to the request.
    var delay = Duration.zero
    private(set) var pairings = 0
    private(set) var encryptions = 0

    init(_ io: IOCapability) throws {
      let text = #"{"name": "Safe", "address": "D1:00:00:00:00:50/random", "services": []}"#
      var description = try #require(try PeripheralFile.parse(Array(text.utf8), name: "test").first)
      var parameters = PairingParameters(ioCapability: io, requestsMITM: true)
      parameters.passkey = SixDigits(246_810)
      var security = DeviceSecurity()
      security.parameters = parameters
      description.security = security
      (device, self.parameters) = (VirtualPeripheral(description), parameters)
    }

    var address: PeerAddress { device.address }
    var advertising: AdvertisingSettings { device.advertising }
    var linkLimits: LinkLimits { device.linkLimits }

    func connected(_ channel: any Channel) {
      device.connected(channel)
      guard let channel = channel as? VirtualLinkChannel else { return }
      let manager = channel.security
      let onEncrypted = manager.onEncrypted
      manager.onEncrypted = { [weak self] in
        onEncrypted?($0, $1)
        if $1 == nil { self?.encryptions += 1 } else { self?.pairings += 1 }
      }
      var parameters = parameters
      // A device that accepted Just Works may ask for more later.
      parameters.requestsMITM = parameters.ioCapability != .noInputNoOutput || pairings > 0
      EventLoop.shared.schedule(after: delay) { [parameters] in
        EventLoop.shared.spawn { _ = try? await manager.pair(parameters, user: Person()) }
      }
    }
  }

  /// The request arrives with the connection, during the encryption, or after it. Each command ends at once.
  @Test(
    .onLoop, arguments: [IOCapability.displayOnly, .noInputNoOutput], [Duration.zero, .milliseconds(40), .milliseconds(120), .seconds(2)])
  @LoopActor func eachConnection(_ io: IOCapability, _ delay: Duration) async throws {
    let device = try AskingDevice(io)
    device.delay = delay
    let air = Air(seed: 5)
    air.add(device)
    let central = HostCentral(VirtualController(air: air), name: "sim")
    try await central.start()
    let (session, keeper) = (Session { central }, Keeper())
    session.bonds = keeper
    var notes: [String] = []
    session.onSecurity = { event, _ in if case .paired = event {} else if case .pairing = event {} else { notes.append("\(event)") } }
    let wish = PairingWish(PairingParameters(ioCapability: .keyboardOnly), user: Person())
    for _ in 0..<3 {
      let connection = try await session.connect(device.address, security: (wish, .unencrypted))
      try await EventLoop.shared.sleep(for: delay + .milliseconds(50))
      await session.disconnect(connection)
      try await EventLoop.shared.sleep(for: .seconds(1))
    }
    // The first connection pairs to the end, the others use its bond.
    #expect(device.pairings == 1 && device.encryptions == 2, "\(notes)")
    #expect(keeper.stored.map(\.bond.method) == [io == .displayOnly ? .passkeyEntry(displayedBy: .peripheral) : .justWorks])
    // The bond is no answer to a request for authentication on the encrypted link, but it stays.
    let count = io == .displayOnly ? 0...0 : delay == .seconds(2) ? 2...2 : 0...2
    #expect(count.contains(notes.count) && notes.allSatisfy { $0.contains("hasBond: true") }, "\(notes)")
    await session.close()
  }
}

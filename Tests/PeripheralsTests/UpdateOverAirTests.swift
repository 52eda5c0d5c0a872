import BluetoothLESimulator
import TestSupport

/// Tests devices that take updates with our host: how their links end, and what is left of a bond.
@Suite(.timeLimit(.minutes(15))) struct UpdateOverAirTests {
  private final class Person: PairingUser {
    func passkey() async -> SixDigits? { SixDigits("123456") }
    func show(_ passkey: SixDigits) {}
    func isSame(_ number: SixDigits) async -> Bool { true }
  }

  @LoopActor
  private struct Bench {
    let peripheral: VirtualPeripheral
    let central: HostCentral

    init(_ update: String, security: String) async throws {
      peripheral = try UpdateTestClient.device(update, more: #", "advertisement": {"name": "Again"}, "security": \#(security)"#)
      let air = Air(seed: 3)
      air.add(peripheral)
      central = HostCentral(VirtualController(air: air), name: "sim")
      try await central.start()
    }

    func connect() async throws -> (HostLink, Client) {
      let link = try #require(try await central.connect(peripheral.address, timeout: .seconds(20)) as? HostLink)
      return (link, Client(link.channel))
    }
  }

  /// The application disconnects, and its bootloader keeps address and bond. A power cut silences the device in the middle of a link.
  @Test func theBondSurvivesTheBootloader() async throws {
    try await onLoop {
      let bench = try await Bench(#""dfu": {"buttonless": "bonds"}"#, security: "{}")
      let address = bench.peripheral.address
      let (link, client) = try await bench.connect()
      let button = try #require(try await client.discover().services.last?.characteristics.first)
      let bond = try #require(try await link.securityManager.pair(PairingParameters(), user: Person()).bond)
      let answers = try await client.subscribe(button, kind: .indication)
      try await client.writeRequest([1], to: button.valueHandle)
      #expect(try await answers.next(until: nil)?.value == [0x20, 1, 1])
      #expect("\(try await client.untilClosed())".contains("13"))
      #expect(!bench.peripheral.advertising.isOn)
      try await EventLoop.shared.sleep(for: .seconds(2))
      #expect(bench.peripheral.bootloader?.isActive == true && bench.peripheral.address == address)
      let (second, bootloader) = try await bench.connect()
      try await second.securityManager.encrypt(with: bond)
      #expect(try await bootloader.discover().services.last?.characteristics.count == 2)
      bench.peripheral.powerCut()
      let start = EventLoop.shared.now
      let match = try await bench.central.find(PeerSearch(.name("Again"), takesFirst: true))
      #expect(match.peer == address && bootloader.closed == nil, "it advertises before we notice")
      #expect(start.duration(to: EventLoop.shared.now) > .seconds(1))
      #expect("\(try await bootloader.untilClosed())".contains("08"))
      #expect(bench.peripheral.bootloader?.isActive == false)
      await bench.central.close()
    }
  }

  @Test func managementNeedsAuthentication() async throws {
    try await onLoop {
      let bench = try await Bench(#""mcumgr": {"access": "authenticated"}"#, security: #"{"passkey": "123456"}"#)
      let (link, client) = try await bench.connect()
      let smp = try #require(try await client.discover().services.last?.characteristics.first)
      let refused = try? await client.subscribe(smp, kind: .notification)
      #expect(refused == nil)
      _ = try await link.securityManager.pair(PairingParameters(ioCapability: .keyboardOnly), user: Person())
      let answers = try await client.subscribe(smp, kind: .notification)
      try await client.writeCommand(UpdateTestClient.message(0, 5, write: true, [0xA0])[...], to: smp.valueHandle)
      #expect(try await answers.next(until: nil)?.value == [0x0B, 0, 0, 1, 0, 0, 0, 5, 0xA0])
      #expect("\(try await client.untilClosed())".contains("08"))
      await bench.central.close()
    }
  }
}

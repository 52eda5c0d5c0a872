import BluetoothLESimulator
import TestSupport

@testable import BluetoothLE
@testable import BluetoothLEFirmware

/// A simulated device that takes updates, and the commands that update it over our host. Links and power go where a test asks for it.
@LoopActor final class UpdateAir {
  let device: Device
  let session: Session
  let bonds = Bonds()
  /// Whether the commands pair if the device demands it, and the number of pairings.
  var pairs = false
  private(set) var pairings = 0
  /// Whether the link was encrypted during all uploads, and whether the last error is explained by a missing bond.
  private(set) var (isSecure, lacksBond) = (true, false)

  nonisolated static func image(_ major: UInt8, _ minor: UInt8 = 0, size: Int = 10_000) -> [UInt8] {
    ImageSlots.image(version: ImageVersion(major: major, minor: minor, revision: 0), size: size)
  }

  /// - Parameter update: The value of the key `update` in the file of the device.
  /// - Parameter others: The number of devices of the same kind in the air.
  init(_ update: String, _ more: String = "", others: Int = 0) async throws {
    func make(_ number: Int) throws -> Device {
      let text = #"[{"name": "T", "address": "D1:00:00:00:0\#(number):FF/random", "update": {\#(update)}\#(more)}]"#
      return try Device(VirtualPeripheral(try PeripheralFile.parse(Array(text.utf8), name: "test")[0]))
    }
    device = try make(0)
    let air = Air()
    air.add(device)
    for number in 0..<others { air.add(try make(number + 1)) }
    let central = HostCentral(VirtualController(air: air), name: "sim")
    try await central.start()
    session = Session { central }
    session.bonds = bonds
    session.onSecurity = { [weak self] event, _ in if case .paired = event { self?.pairings += 1 } }
  }

  var ledger: UpdateLedger {
    get { device.firmware.ledger }
    set { device.firmware.ledger = newValue }
  }

  /// The slots, or the application.
  var flash: [[UInt8]?] { device.peripheral.management?.images.slots ?? [device.peripheral.bootloader?.application] }

  /// Waits for the end of a start.
  func untilRunning() async throws {
    while !device.peripheral.isRunning { try await EventLoop.shared.sleep(for: .milliseconds(100)) }
  }

  /// Returns the device as a command reaches it.
  func linked() -> LinkedUpdateDevice {
    var request = LinkRequest(.address(device.address.address, device.address.type))
    let wish = pairs ? PairingWish(PairingParameters(ioCapability: .keyboardOnly), user: Person()) : nil
    request.security = { _, _ in (wish, .unencrypted) }
    return LinkedUpdateDevice(OneShotLinks(session, SilentReporter(), nil), request) { [session] in await session.disconnect($0) }
  }

  /// Runs the command `update`: it finds the device, plans, updates, and disconnects.
  @discardableResult
  func update(
    _ file: [UInt8], _ options: UpdateOptions = UpdateOptions(), _ onEvent: @escaping @LoopActor (UpdateEvent) throws -> Void = { _ in }
  ) async throws -> UpdateOutcome {
    try await untilRunning()
    let linked = linked()
    func end() async { if let connection = linked.connection { await session.disconnect(connection) } }
    do {
      let outcome = try await FirmwareUpdate(FirmwareFile(reading: file), options).run(linked) { [self] event in
        linked.follow(event)
        if case .progress = event {
          isSecure = isSecure && linked.connection?.security?.level != nil
        }
        try onEvent(event)
      }
      await end()
      return outcome
    } catch {
      if case .noBond? = linked.connection?.security?.shortage { lacksBond = true }
      await end()
      throw error
    }
  }

  /// The device, and the versions that ran whenever it advertised.
  @LoopActor final class Device: Advertiser {
    let peripheral: VirtualPeripheral
    private(set) var versions: Set<String> = []
    fileprivate let firmware: any UpdatableFirmware
    private var channel: VirtualLinkChannel?

    init(_ peripheral: VirtualPeripheral) throws {
      (self.peripheral, firmware) = (peripheral, try #require(peripheral.management ?? peripheral.bootloader))
    }

    var address: PeerAddress { peripheral.address }
    var linkLimits: LinkLimits { peripheral.linkLimits }
    var advertising: AdvertisingSettings {
      if peripheral.isRunning { versions.insert(version) }
      return peripheral.advertising
    }

    private var version: String {
      if let management = peripheral.management { return management.images.running.map { "\($0.version)" } ?? "none" }
      guard let bootloader = peripheral.bootloader, !bootloader.isActive else { return "bootloader" }
      return bootloader.application.isEmpty ? "none" : "\(bootloader.applicationVersion)"
    }

    func connected(_ channel: any Channel) {
      self.channel = channel as? VirtualLinkChannel
      peripheral.connected(channel)
    }

    /// Breaks the link. Returns false without one, or if it is broken already.
    func cut() -> Bool {
      defer { channel = nil }
      return channel?.cut() != nil
    }
  }

  @LoopActor final class Bonds: BondKeeper {
    private(set) var stored: [StoredBond] = []
    func bond(of adapter: PeerAddress, with peer: PeerAddress) -> StoredBond? { stored.first { $0.bond.isOf(peer) } }
    func bonds(of adapter: PeerAddress) -> [StoredBond] { stored }
    func add(_ bonds: [StoredBond]) { stored = stored.filter { old in !bonds.contains { $0.replaces(old) } } + bonds }
  }

  private final class Person: PairingUser {
    func passkey() async -> SixDigits? { SixDigits(123_456) }
    func show(_ passkey: SixDigits) {}
    func isSame(_ number: SixDigits) async -> Bool { true }
  }
}

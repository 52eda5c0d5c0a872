import ATT
import Bluetooth
import EventLoop
import GAP
import GATT
import LinuxIO
import Operations

/// What a command hears and finds, kept for the completion of later command lines: written once, when it ends. Nothing is kept of a simulated or a
/// recorded air, whose devices stand in its file.
@LoopActor
final class AirMemory {
  private let adapter: @LoopActor () throws -> AdapterSpec
  private let configuration: Configuration
  private let seen = SeenDevices()
  /// The latest last.
  private var found: [KnownAttributes.Record] = []
  /// What earlier commands found, once it was looked up.
  private var known: [PeerAddress: KnownAttributes.Record?] = [:]

  /// The last answer of `meaning` that every value of an attribute has, because values arrive by the thousand.
  var lastMeaning: LastMeaning?

  struct LastMeaning {
    /// As of `Client.descriptionVersion`.
    let version: Int
    let handle: AttributeHandle
    let uuid: UUID?
    let meaning: ValueMeaning
  }

  init(_ configuration: Configuration, adapter: @escaping @LoopActor () throws -> AdapterSpec) {
    self.configuration = configuration
    self.adapter = adapter
  }

  private var air: String? { try? adapter().air }

  func hear(_ report: AdvertisingReport) { seen.add(report) }

  func hear(_ devices: [DeviceView]) {
    guard air != nil else { return }
    // Of too many those that were added first are forgotten.
    for device in devices.sorted(by: { $0.rssi ?? -128 < $1.rssi ?? -128 }) { seen.add(device.peer, name: device.name, rssi: device.rssi) }
  }

  /// At the end of a link.
  func keep(_ connection: Connection) {
    guard let air else { return }
    seen.add(connection.peer, name: connection.name, rssi: nil)
    guard let table = connection.client.table else { return }
    let items = KnownAttributes.Item.all(of: table) { description(of: $0, on: connection) }
    found.removeAll { $0.peer == connection.peer }
    found.append(
      .init(
        air: air, peer: connection.peer, name: connection.name, selector: connection.selector, items: items))
    if found.count > KnownAttributes.capacity { found.removeFirst() }
  }

  /// What was found of this very device, by this process or by the one before: a hint, because a device may have changed since.
  func attributes(of peer: PeerAddress) -> KnownAttributes.Record? {
    if let latest = found.last(where: { $0.peer == peer }) { return latest }
    if let known = known[peer] { return known }
    let record = air.flatMap { air in configuration.attributes(limit: 1) { $0.air == air && $0.peer == peer }.first }
    known[peer] = .some(record)
    return record
  }

  func write() {
    let devices = seen.heard
    guard let air, !devices.isEmpty else { return }
    configuration.remember(
      HeardDevices.Record(air: air, time: RealTime.now / 1_000_000_000, devices: devices), found)
  }
}

extension AdapterSpec {
  /// Those who hear the same devices share it: all adapters of the machine. Nil where the devices stand in a file.
  var air: String? {
    switch self {
    case .kernel, .user: "hci"
    case .stream(let address): address.description
    case .simulation, .replay: nil
    }
  }

  /// Where the devices stand in a file: that air; nil for a radio. A controller behind a socket is a radio too, whatever it is made of.
  var fileAir: String? {
    switch self {
    case .simulation(let file): file.map { "sim:\($0)" } ?? "sim"
    case .replay(let file): "replay:\(file)"
    case .kernel, .user, .stream: nil
    }
  }
}

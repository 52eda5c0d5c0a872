import ATT
import Bluetooth
package import EventLoop
package import Finding
package import GAP
import GATT
import LinuxIO
import Operations
import Presentation
package import Text

/// Remembers devices and attributes for the completion of later command lines. Written once, when the command ends.
/// A simulated or recorded air needs no memory, because its file lists the devices.
@LoopActor
package final class AirMemory {
  private let adapter: @LoopActor () throws -> AdapterSpec
  private let configuration: Configuration
  private let seen = SeenDevices()
  /// The attributes found by this command, the latest last.
  private var found: [KnownAttributes.Record] = []
  /// The results of lookups among earlier commands' attributes.
  private var known: [PeerAddress: KnownAttributes.Record?] = [:]

  /// The cached last result of `meaning`, because values arrive by the thousand.
  var lastMeaning: LastMeaning?

  struct LastMeaning {
    /// The value of `Client.descriptionVersion`.
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

  package func hear(_ report: AdvertisingReport) { seen.add(report) }

  /// The names of the devices that this process has heard.
  package var names: [UntrustedText] { seen.heard.compactMap(\.name) }

  package func hear(_ devices: [DeviceView]) {
    // Add the strongest last: beyond the limit, the first ones are dropped.
    for device in devices.sorted(by: { $0.rssi ?? -128 < $1.rssi ?? -128 }) { seen.add(device.peer, name: device.name, rssi: device.rssi) }
  }

  /// Stores the attributes of a device at the end of its link.
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

  /// Returns the attributes found by this process or an earlier one. A hint only, because the device may have changed.
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
  /// The name of the air, which all kernel adapters share because they hear the same devices. Nil if a file lists the devices.
  package var air: String? {
    switch self {
    case .kernel, .user: "hci"
    case .stream(let address): address.description
    case .simulation, .replay: nil
    }
  }

  /// The name of an air whose file lists the devices. Nil for a radio. A controller on a socket counts as a radio.
  var fileAir: String? {
    switch self {
    case .simulation(let file): file.map { "sim:\($0)" } ?? "sim"
    case .replay(let file): "replay:\(file)"
    case .kernel, .user, .stream: nil
    }
  }
}

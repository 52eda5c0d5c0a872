/// Remembers devices for the completion of later command lines and for the meaning of values. Stores nothing for a
/// simulation or recording.
@LoopActor
package final class DeviceMemory {
  private let adapter: @LoopActor () throws -> AdapterSpec
  private let configuration: Configuration
  private let seen = RecentDevices()
  /// The attributes that this command discovered, one record per device, the latest record last.
  private var found: [KnownAttributes.Record] = []
  /// The cached attribute records of earlier commands. The inner nil marks a device for which no earlier command stored a record.
  private var known: [PeerAddress: KnownAttributes.Record?] = [:]

  /// The latest result of `meaning` with `isOfAll`, and the `Client.descriptionVersion` at that time. Nil before the first such result.
  private var last: (version: UInt64, handle: AttributeHandle, uuid: UUID?, meaning: ValueMeaning)?

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
    for device in devices.sorted(by: { $0.rssi ?? -128 < $1.rssi ?? -128 }) {
      seen.add(device.identityAddress, name: device.name, rssi: device.rssi)
    }
  }

  /// Keeps the attributes of a device until the command ends. Does nothing for a simulation or recording.
  func keep(_ connection: Connection) {
    guard let air else { return }
    seen.add(connection.identityAddress, name: connection.name, rssi: nil)
    guard let table = connection.client.table else { return }
    let items = KnownAttributes.Item.all(of: table) { description(of: $0, on: connection) }
    found.removeAll { $0.peer == connection.identityAddress }
    found.append(.init(air: air, peer: connection.identityAddress, name: connection.name, selector: connection.selector, items: items))
    if found.count > KnownAttributes.capacity { found.removeFirst() }
  }

  /// Returns the attributes of a device as this or an earlier process found them, perhaps outdated. Nil if no process found any.
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
    configuration.remember(HeardDevices.Record(air: air, time: RealTime.now / 1_000_000_000, devices: devices), found)
  }
}

extension AdapterSpec {
  /// The radio name in the files of known devices. All kernel adapters share the name `hci`. Nil for a simulation or recording.
  package var air: String? {
    switch self {
    case .kernel, .user: "hci"
    case .stream(let address): address.description
    case .simulation, .replay: nil
    }
  }

  /// The name of a simulation or recording, such as `sim:FILE`. Nil for a kernel adapter or another controller.
  var fileAir: String? {
    switch self {
    case .simulation(let file): file.map { "sim:\($0)" } ?? "sim"
    case .replay(let file): "replay:\(file)"
    case .kernel, .user, .stream: nil
    }
  }
}

extension DeviceMemory {
  /// Returns the meaning of a value, as known from this connection or an earlier one to the same device.
  /// - Parameters:
  ///   - value: The received or read bytes. The memory ignores an earlier description that does not fit these bytes.
  ///   - uuid: The type of the attribute. Nil if the caller knows only the handle.
  package func meaning(of value: [UInt8], at handle: AttributeHandle, _ uuid: UUID?, on connection: Connection) -> ValueMeaning {
    let client = connection.client
    if let last, last.version == client.descriptionVersion, last.handle == handle, last.uuid == uuid { return last.meaning }
    let (meaning, isOfAll) = meaning(at: handle, uuid, on: connection, of: value)
    if isOfAll { last = (client.descriptionVersion, handle, uuid, meaning) }
    return meaning
  }

  /// Returns the meaning of a value. `isOfAll` is true if the meaning applies to every value of the attribute.
  private func meaning(
    at handle: AttributeHandle, _ uuid: UUID?, on connection: Connection, of value: [UInt8]
  ) -> (ValueMeaning, isOfAll: Bool) {
    if let table = connection.client.table {
      guard case .characteristic(let item, _) = table.attribute(at: handle), uuid == nil || item.uuid == uuid else {
        return (ValueMeaning(uuid: uuid), true)
      }
      let index = table.index(of: item)
      if let read = connection.client.description(of: item) {
        return (ValueMeaning(uuid: item.uuid, description: read, index: index), true)
      }
      let meaning = ValueMeaning(uuid: item.uuid, description: description(of: item, on: connection), index: index)
      return Self.fitting(value, meaning, else: item.uuid)
    }
    let known = attributes(of: connection.identityAddress)?.items.first { $0.handle == handle }
    guard let item = known, uuid == nil || item.uuid == uuid else { return (ValueMeaning(uuid: uuid), true) }
    return Self.fitting(value, ValueMeaning(uuid: item.uuid, description: item.description), else: uuid)
  }

  private static func fitting(_ value: [UInt8], _ meaning: ValueMeaning, else uuid: UUID?) -> (ValueMeaning, isOfAll: Bool) {
    if meaning.description == ValueDescription(), meaning.uuid == uuid { return (meaning, true) }
    do {
      _ = try DecodedValue.of(value, type: meaning.uuid, formats: meaning.description.formats)
      return (meaning, false)
    } catch { return (ValueMeaning(uuid: uuid, index: meaning.index), false) }
  }

  /// Returns the contents of a characteristic's descriptors, as read now or by an earlier command. Empty if blectl knows no contents.
  func description(of item: Characteristic, on connection: Connection) -> ValueDescription {
    if let read = connection.client.description(of: item) { return read }
    guard item.descriptors.contains(where: \.uuid.describesValue) else { return ValueDescription() }
    let known = attributes(of: connection.identityAddress)?.items.first { $0.handle == item.valueHandle && $0.uuid == item.uuid }
    return known?.description ?? ValueDescription()
  }
}

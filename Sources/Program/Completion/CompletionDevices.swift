import BluetoothLEDeviceFiles
import BluetoothLELinux
import BluetoothLESimulator
import CommandLine

/// The devices and attributes that blectl knows without a radio, from earlier commands or from the file of a simulation.
struct CompletionDevices {
  private(set) var devices: [CompletionModel.Device] = []
  private let find: (PeerSelector) -> Facts?

  /// The name and the attributes of a device, as far as blectl knows them.
  struct Facts {
    var name: UntrustedText?
    var attributes: [CompletionModel.Attribute]

    /// Returns whether all known facts match a device file. False if the device file names neither a known service nor a name.
    func fits(_ match: DeviceMatch) -> Bool {
      let services = Set(attributes.compactMap(\.service))
      var facts: [Bool] = []
      if !match.services.isEmpty { facts.append(services.isSuperset(of: match.services)) }
      if let name, !match.names.isEmpty { facts.append(match.names.contains { Glob.matches($0, name.raw) }) }
      return !facts.isEmpty && facts.allSatisfy(\.self)
    }
  }

  func facts(of selector: PeerSelector) -> Facts? { find(selector) }

  /// Loads the devices that blectl knows on an adapter.
  /// - Parameter now: The current time in seconds since 1970-01-01T00:00:00Z.
  init(_ adapter: AdapterSpec, _ configuration: Configuration, now: Int64) {
    guard let air = adapter.air else {
      let peripherals = Self.peripherals(adapter)
      devices = peripherals.map { .init(address: "\($0.view.peer)", name: $0.view.name, hint: $0.view.rssi.map { "\($0) dBm" } ?? "") }
      find = { selector in
        let meant = peripherals.filter { selector.matches($0.view) }.max { $0.view.rssi ?? -128 < $1.view.rssi ?? -128 }
        return meant.map { Facts(name: $0.view.name, attributes: Self.attributes($0.description)) }
      }
      return
    }
    let heard = configuration.heard(on: air)
    for record in heard.records {
      let age = Self.age(now - record.time)
      for device in record.devices {
        let hint = [device.rssi.map { "\($0) dBm" }, age].compactMap(\.self).joined(separator: ", ")
        devices.append(.init(address: "\(device.peer)", name: device.name, hint: hint))
      }
    }
    find = { selector in
      // The device may have been heard by another name later.
      let peers = heard.records.lazy.flatMap(\.devices).filter { selector.means($0.peer, named: $0.name) }.map(\.peer)
      let peer = peers.first { _ in true }
      let record = configuration.attributes(limit: 1) {
        $0.air == air && ($0.isMeant(by: selector) || $0.peer == peer)
      }.first
      return record.map { record in
        Facts(
          name: record.name,
          attributes: record.items.map { .init(service: $0.service, uuid: $0.uuid, handle: $0.handle, properties: $0.properties) })
      }
    }
  }

  /// Formats an age in seconds as text, such as `5 min ago`. Nil for a negative age.
  static func age(_ seconds: Int64) -> String? {
    switch seconds {
    case ..<0: nil
    case ..<60: "just now"
    case ..<3600: "\(seconds / 60) min ago"
    case ..<172_800: "\(seconds / 3600) h ago"
    default: "\(seconds / 86_400) days ago"
    }
  }

  // MARK: A simulated air

  private struct Peripheral {
    let description: PeripheralDescription
    /// The device as a scan shows it.
    let view: DeviceView
  }

  /// Returns the devices of a simulation, the strongest first. Empty for an invalid file or another adapter.
  private static func peripherals(_ adapter: AdapterSpec) -> [Peripheral] {
    guard case .simulation(let file) = adapter else { return [] }
    let descriptions: [PeripheralDescription]?
    if let file {
      let bytes = try? InputFile.readIfThere(file, limit: PeripheralFile.maximumLength)
      descriptions = bytes.flatMap { try? PeripheralFile.parse($0, name: file) }
    } else {
      descriptions = try? BuiltInDevices.peripherals()
    }
    return (descriptions ?? []).map { description in
      var view = DeviceView(description.address)
      let advertising = description.advertising
      for (pdu, data) in [(AdvertisingReport.PDU.connectable, advertising.data), (.scanResponse, advertising.scanResponse)] {
        let report = AdvertisingReport(
          pdu: pdu, isConnectable: advertising.isConnectable, isScannable: true, peer: description.address, rssi: advertising.rssi,
          data: data)
        view.add(report, Advertisement(data))
      }
      return Peripheral(description: description, view: view)
    }.sorted { $0.view.rssi ?? -128 > $1.view.rssi ?? -128 }
  }

  private static func attributes(_ peripheral: PeripheralDescription) -> [CompletionModel.Attribute] {
    var attributes: [CompletionModel.Attribute] = []
    var service: UUID?
    for attribute in peripheral.database.attributes {
      switch attribute.role {
      case .service: service = UUID(littleEndian: attribute.value)
      case .value(let properties, _):
        attributes.append(.init(service: service, uuid: attribute.type, handle: attribute.handle, properties: properties))
      case .plain where attribute.type == UUID(0x2901) && !attributes.isEmpty:
        attributes[attributes.count - 1].description = String(validating: attribute.value, as: UTF8.self)
      case .plain, .configuration: break
      }
    }
    return attributes
  }
}

// SPDX-License-Identifier: Apache-2.0
/// The recently heard or connected devices, so that users can name a device without another scan. Each command appends a line to a log. The
/// parser skips invalid lines, which a full disk or another version may leave.
package struct HeardDevices: Sendable, Equatable {
  package struct Device: Sendable, Equatable {
    package let peer: PeerAddress
    /// The device's name. Nil if the adapter heard no name, or a name longer than `longestName` bytes.
    package var name: UntrustedText?
    /// The RSSI in dBm. Nil for a connected device without a report.
    package var rssi: Int8?

    package init(_ peer: PeerAddress, name: UntrustedText?, rssi: Int8?) {
      self.peer = peer
      self.name = name.flatMap { $0.isEmpty || $0.raw.utf8.count > HeardDevices.longestName ? nil : $0 }
      self.rssi = rssi
    }
  }

  /// The devices that one command heard.
  package struct Record: Sendable, Equatable {
    /// The name of the adapter that heard the devices. Other adapters hear other devices.
    package let air: String
    /// The time of the record in seconds since 1970-01-01T00:00:00Z.
    package let time: Int64
    /// The devices, connected devices first, then in the order of falling RSSI.
    package fileprivate(set) var devices: [Device]

    package init(air: String, time: Int64, devices: [Device]) {
      self.air = air
      self.time = time
      self.devices = Array(devices.sorted { $0.rssi ?? 127 > $1.rssi ?? 127 }.prefix(HeardDevices.capacity))
    }
  }

  /// The records, newest first. Each device of an adapter appears once, in its newest record.
  package private(set) var records: [Record] = []

  /// The maximum number of remembered devices. A log with this number of longest, fully escaped names stays below the length at which
  /// blectl rewrites the log.
  package static let capacity = 128
  /// The maximum length of a name, in bytes of UTF-8.
  package static let longestName = 64

  private struct Key: Hashable {
    let air: String
    let peer: PeerAddress
  }

  /// Parses a log.
  /// - Parameter air: The adapter whose records to keep. Nil keeps the records of all adapters.
  package init(parsing log: [UInt8], air: String? = nil) {
    var places: [Key: (record: Int, device: Int)] = [:]
    for line in log.split(separator: 0x0A).reversed() where places.count < Self.capacity {
      guard var record = Record(parsing: line), air.map({ $0 == record.air }) ?? true else { continue }
      let heard = record.devices
      record.devices = []
      for device in heard {
        let key = Key(air: record.air, peer: device.peer)
        if let place = places[key] {
          // A device that was connected without being heard keeps its earlier name.
          guard place.record < records.count, records[place.record].devices[place.device].name == nil else { continue }
          records[place.record].devices[place.device].name = device.name
        } else if places.count < Self.capacity {
          places[key] = (records.count, record.devices.count)
          record.devices.append(device)
        }
      }
      if !record.devices.isEmpty { records.append(record) }
    }
  }

  /// The shortest log that parses to an equal value.
  package var log: [UInt8] { records.reversed().flatMap(\.line) }
}

extension HeardDevices.Record {
  /// Parses a log line. Nil if the line is not a record.
  init?(parsing line: some Collection<UInt8>) {
    guard let tree = try? JSONTree.parse(Array(line)), let air = tree["air"]?.string, let time = tree["heard"]?.integer, time >= 0,
      case .array(let items)? = tree["devices"]?.kind
    else { return nil }
    let devices = items.prefix(HeardDevices.capacity).compactMap { item -> HeardDevices.Device? in
      guard case .address(let address, let type?)? = item["peer"]?.string.flatMap({ PeerSelector($0) }) else { return nil }
      return HeardDevices.Device(
        PeerAddress(address, type), name: item["name"]?.string.map { UntrustedText($0) },
        rssi: item["rssi"]?.integer.flatMap { Int8(exactly: $0) })
    }
    self.init(air: air, time: Int64(time), devices: devices)
  }

  /// The record as a line of the log.
  package var line: [UInt8] {
    var json = RecordWriter()
    json.integer("heard", time)
    json.string("air", air)
    json.objects("devices", devices) { json, device in
      json.string("peer", device.peer.description)
      if let name = device.name { json.string("name", name.raw) }
      if let rssi = device.rssi { json.integer("rssi", rssi) }
    }
    return json.finished()
  }
}

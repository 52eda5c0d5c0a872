// SPDX-License-Identifier: Apache-2.0
/// A display order of devices that avoids frequent moves. By strength, a row keeps its place while it and the rows above differ by less
/// than 6 dB.
package struct DeviceOrder {
  package enum Key: String, Sendable, CaseIterable {
    /// The strongest device first.
    case rssi
    /// The alphabetical order of names, ignoring case. Devices without a name are last.
    case name
    /// The most recently heard device first, by whole seconds.
    case last
    /// The order of the devices' first reports.
    case first
  }

  private let key: Key
  private var places: [PeerAddress: Int] = [:]

  /// The difference in strength, in dB, from which a row moves.
  private static let tolerance = 6.0

  package init(_ key: Key) { self.key = key }

  /// Returns the devices in display order.
  /// - Parameter devices: The devices in the order of their first reports.
  /// - Parameter inView: The number of visible rows. By strength, the strongest device is always among the visible rows.
  /// - Parameter time: The current time in nanoseconds since 1970-01-01T00:00:00Z.
  package mutating func arrange(_ devices: [DeviceView], inView: Int, at time: Int64) -> [DeviceView] {
    switch key {
    case .first, .name: return sorted(devices)
    case .last: return Self.sorted(devices) { Int(min(1e9, $0.signal.age(at: time) ?? 1e9)) }
    case .rssi:
      let rows = byStrength(devices, inView: inView)
      places.removeAll(keepingCapacity: true)
      for (place, row) in rows.enumerated() { places[row.device.peer] = place }
      return rows.map(\.device)
    }
  }

  /// Returns the devices in exact order, without the tolerance of the live display.
  package func sorted(_ devices: [DeviceView]) -> [DeviceView] {
    switch key {
    case .first: devices
    case .last: Self.sorted(devices) { ~($0.signal.lastHeard ?? .min) }
    case .name: Self.sorted(devices) { device in device.name.flatMap { $0.isEmpty ? nil : "0" + $0.raw.lowercased() } ?? "1" }
    case .rssi: Self.sorted(devices) { -($0.signal.level ?? -128) }
    }
  }

  private static func sorted<Value: Comparable>(_ devices: [DeviceView], by value: (DeviceView) -> Value) -> [DeviceView] {
    devices.map { (value($0), $0) }.enumerated()
      .sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }.map(\.element.1)
  }

  private struct Row {
    let device: DeviceView
    let level: Double

    init(_ device: DeviceView) {
      self.device = device
      level = device.signal.level ?? -128
    }
  }

  private func byStrength(_ devices: [DeviceView], inView: Int) -> [Row] {
    var rows: [Row] = []
    var fresh: [Row] = []
    for device in devices { if places[device.peer] != nil { rows.append(Row(device)) } else { fresh.append(Row(device)) } }
    rows = rows.map { (places[$0.device.peer] ?? 0, $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    rows = Self.settled(rows)
    // A new device has no place to keep.
    rows =
      fresh.isEmpty
      ? rows : Self.merged(rows, fresh.enumerated().sorted { ($1.element.level, $0.offset) < ($0.element.level, $1.offset) }.map(\.element))
    // Many devices may be about as strong, but the strongest must be visible.
    if let strongest = rows.indices.max(by: { rows[$0].level < rows[$1].level }), strongest >= max(1, inView) {
      rows.insert(rows.remove(at: strongest), at: 0)
    }
    return rows
  }

  /// Moves each row above the first row that is weaker by at least `tolerance`.
  private static func settled(_ rows: [Row]) -> [Row] {
    var settled: [Row] = []
    settled.reserveCapacity(rows.count)
    var weakest = Double.infinity
    for row in rows {
      if row.level >= weakest + tolerance, let place = settled.firstIndex(where: { row.level >= $0.level + tolerance }) {
        settled.insert(row, at: place)
      } else {
        settled.append(row)
      }
      weakest = min(weakest, row.level)
    }
    return settled
  }

  /// Inserts each new row before the first row that is weaker.
  private static func merged(_ rows: [Row], _ fresh: [Row]) -> [Row] {
    var merged: [Row] = []
    merged.reserveCapacity(rows.count + fresh.count)
    var next = fresh[...]
    for row in rows {
      while let first = next.first, first.level > row.level { merged.append(next.removeFirst()) }
      merged.append(row)
    }
    return merged + next
  }
}
